//! The C API. The library itself: start-up, statuses, the log, its version. See `docs/design/error.md`.
//!
//! | file | idea |
//! |---|---|
//! | `init` | start-up and backends |
//! | `log` | the log callback |
//! | `status` | status codes |
//! | `string` | strings that the caller frees |
//! | `version` | the version and the ABI number |

mod init;
mod log;
mod status;
pub(crate) mod string;
mod version;

pub use init::*;
pub use log::*;
pub use status::*;
pub use string::*;
pub use version::*;
