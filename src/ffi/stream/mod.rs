//! The C API. Streams. See `docs/design/stream.md`.
//!
//! | file | idea |
//! |---|---|
//! | `current` | the current stream, pools, streams of other code |
//! | `work` | queries, waits, host functions |

mod current;
mod work;

pub use current::*;
pub use work::*;
