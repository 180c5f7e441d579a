//! Matrix products through cuBLAS. See `docs/design/blas.md`.
//!
//! | file | idea |
//! |---|---|
//! | `handle` | a thread's handle, and what it is set to at each request |
//! | `workspace` | the size of a workspace, and the environment's word on it |
//! | `workspaces` | who uses which workspace: one for each stream |
//! | `table` | the workspaces of a device: figures, limit, eviction |
//! | `layout` | from strides of rows and columns to what cuBLAS takes |
//! | `matmul` | the call |

mod handle;
mod layout;
mod matmul;
mod table;
mod workspace;
mod workspaces;

pub use handle::{clear_workspaces, handle, set_workspace_max_bytes, workspace_figures};
pub use matmul::{Matmul, matmul};
pub use table::Figures as WorkspaceFigures;

use crate::element::Dtype;
use crate::error::Result;

/// Checks that elements of a type can be multiplied.
pub fn check_dtype(dtype: Dtype) -> Result<Dtype> {
    dtype.require(&[Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64], "a product of matrices")
}
