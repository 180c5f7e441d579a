//! The C API. Pinned host memory. See `docs/design/host_memory.md`.
//!
//! | file | idea |
//! |---|---|
//! | `alloc` | allocating, freeing, statistics |
//! | `figures` | the struct of statistics |

mod alloc;
mod figures;

pub use alloc::*;
pub use figures::*;
