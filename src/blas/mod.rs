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

use crate::driver::Element;
use crate::error::{Error, Result};
use crate::philox::Dtype;

/// The types that can be multiplied.
pub fn element(dtype: Dtype) -> Result<Element> {
    match dtype {
        Dtype::F16 => Ok(Element::F16),
        Dtype::Bf16 => Ok(Element::Bf16),
        Dtype::F32 => Ok(Element::F32),
        Dtype::F64 => Ok(Element::F64),
        _ => Err(Error::not_supported(
            "desc.dtype must be SCONCE_DTYPE_F16, _BF16, _F32 or _F64 for a product of matrices",
        )),
    }
}
