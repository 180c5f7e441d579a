//! The C API. The sanitizer: finds races between streams and uses of freed memory. See `docs/design/sanitizer.md`.
//!
//! | file | idea |
//! |---|---|
//! | `control` | switching it on and off, reports |
//! | `declare` | what work uses that the library does not see |
//! | `operation` | operations on tensors that consist of several calls |
//! | `page` | the page of a run |

mod control;
mod declare;
mod operation;
mod page;

pub use control::*;
pub use declare::*;
pub use operation::*;
pub use page::*;
