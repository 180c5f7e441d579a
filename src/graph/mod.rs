//! The C API. CUDA graphs. See `docs/design/graph.md`.
//!
//! | file | idea |
//! |---|---|
//! | `capture` | graphs, and how they are captured |
//! | `launch` | replay, upload, update; figures, files, native handles |
//! | `conditional` | conditional nodes |

mod capture;
mod conditional;
mod launch;

pub use capture::*;
pub use conditional::*;
pub use launch::*;
