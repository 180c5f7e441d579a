//! The C API. The library itself: start-up, statuses and messages, its version. See `docs/design/error.md`.
//!
//! | file | idea |
//! |---|---|
//! | `init` | start-up and backends |
//! | `last_error` | the message of the thread's newest failure |
//! | `log` | the log callback |
//! | `status` | status codes |
//! | `string` | strings that the caller frees |
//! | `version` | the version and the ABI number |

mod init;
pub(in crate::ffi) mod last_error;
mod log;
mod status;
pub(in crate::ffi) mod string;
mod version;

pub use init::*;
pub use last_error::*;
pub use log::*;
pub use status::*;
pub use string::*;
pub use version::*;
