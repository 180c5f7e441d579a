//! The C API. The sanitizer: finds races between streams and uses of freed memory. See `docs/design/sanitizer.md`.
//!
//! | file | idea |
//! |---|---|
//! | `control` | switching it on and off, reports |
//! | `declare` | what work uses that the library does not see |
//! | `page` | the page of a run |

mod control;
mod declare;
mod page;

pub use control::*;
pub use declare::*;
pub use page::*;
