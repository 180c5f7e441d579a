//! The C API. The sanitizer: finds races between streams and uses of freed memory. See `docs/design/sanitizer.md`.
//!
//! | file | idea |
//! |---|---|
//! | `control` | switching it on and off, reports |
//! | `declare` | what work uses that the library does not see |

mod control;
mod declare;

pub use control::*;
pub use declare::*;
