//! The C API. Copies and fills. See `docs/design/copy.md`.
//!
//! | file | idea |
//! |---|---|
//! | `bytes` | contiguous bytes |
//! | `shapes` | rows and strided shapes |

mod bytes;
mod shapes;

pub use bytes::*;
pub use shapes::*;
