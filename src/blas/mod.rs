//! The C API. Matrix products. See `docs/design/blas.md`.
//!
//! | file | idea |
//! |---|---|
//! | `matmul` | products, and the cuBLAS handle |
//! | `workspaces` | limits and statistics of workspaces |

mod matmul;
mod workspaces;

pub use matmul::*;
pub use workspaces::*;
