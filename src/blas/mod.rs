//! Matrix products. Being built.

use crate::driver::Element;
use crate::error::{Error, Result};
use crate::philox::Dtype;

/// Products of matrices, row by row; see `sconce_matmul_desc`.
#[derive(Clone, Copy, Debug)]
pub struct Matmul {
    /// The type of all three.
    pub element: Element,
    /// Rows of `op(a)` and `c`.
    pub m: i64,
    /// Columns of `op(b)` and `c`.
    pub n: i64,
    /// Columns of `op(a)`, rows of `op(b)`.
    pub k: i64,
    /// How many products.
    pub batch: i64,
    /// What the product is multiplied by.
    pub alpha: f64,
    /// What `c` is multiplied by before.
    pub beta: f64,
    /// Whether `a`, and `b`, are stored transposed.
    pub transpose: [bool; 2],
    /// Batch, row, column as stored; all 0 is packed.
    pub a_strides: [i64; 3],
    /// The same of `b`.
    pub b_strides: [i64; 3],
    /// The same of `c`.
    pub c_strides: [i64; 3],
}

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

/// The calling thread's handle for the current device.
pub fn handle() -> Result<usize> {
    Err(Error::not_supported("being built"))
}

/// Gives workspaces back.
pub fn clear_workspaces() -> Result<()> {
    Err(Error::not_supported("being built"))
}

/// Multiplies.
pub fn matmul(_request: &Matmul, _a: usize, _b: usize, _c: usize) -> Result<()> {
    Err(Error::not_supported("being built"))
}
