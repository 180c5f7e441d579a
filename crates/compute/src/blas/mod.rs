//! Matrix products, through cuBLAS, except small ones of tensors. See `docs/design/blas.md`.
//!
//! | file | idea |
//! |---|---|
//! | `handle` | a thread's handle, and what it is set to at each request |
//! | `workspace_size` | the size of a workspace, and what the environment says about it |
//! | `stream_workspace` | one workspace, and which handle may use it |
//! | `workspace_table` | the workspaces of a device: figures, limit, eviction |
//! | `workspaces` | obtaining and releasing: one workspace for each stream |
//! | `matrix_view` | from strides of rows and columns to the layout that cuBLAS takes |
//! | `matmul` | the call |
//! | `small_product` | products that kernels of this library calculate |

mod handle;
mod matmul;
mod matrix_view;
mod small_product;
mod stream_workspace;
mod workspace_size;
mod workspace_table;
mod workspaces;

pub use handle::{clear_workspaces, handle, set_workspace_max_bytes, workspace_figures};
pub use matmul::{Matmul, matmul};
pub use small_product::{is_small, small_product};
pub use workspace_table::WorkspaceFigures;

use sconce_base::element::Dtype;
use sconce_base::error::Result;

/// Checks that elements of a type can be multiplied.
pub fn check_dtype(dtype: Dtype) -> Result<Dtype> {
    const MULTIPLIED: [Dtype; 6] =
        [Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64, Dtype::C64, Dtype::C128];
    dtype.require(&MULTIPLIED, "a product of matrices")
}
