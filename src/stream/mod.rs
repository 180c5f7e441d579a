//! The C API. Streams. See `docs/design/stream.md`.
//!
//! | file | idea |
//! |---|---|
//! | `capture_mode` | whether a stream is captured, and how strictly calls are checked then |
//! | `current` | the current stream, pools, streams of other code |
//! | `owned` | streams that the program owns |
//! | `work` | queries, waits, host functions |

mod capture_mode;
mod current;
mod owned;
mod work;

pub(super) use capture_mode::capture_mode;
pub use capture_mode::{
    SCONCE_CAPTURE_GLOBAL, SCONCE_CAPTURE_RELAXED, SCONCE_CAPTURE_STATUS_ACTIVE,
    SCONCE_CAPTURE_STATUS_INVALIDATED, SCONCE_CAPTURE_STATUS_NONE, SCONCE_CAPTURE_THREAD_LOCAL,
    sconce_capture_mode, sconce_capture_status,
};
pub use current::*;
pub use owned::*;
pub use work::*;
