//! The largest and the smallest element along a dimension, and where it is.

use super::{Sorted, chosen, reduced, with_dimension};
use crate::abi::tensors::dtype_of_tensor;
use crate::error::Result;
use crate::operations::layout::dimension;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, operations};

/// `max.dim(self, dim, keepdim)` with `SCONCE_REDUCE_ARGMAX`, `min.dim` with `SCONCE_REDUCE_ARGMIN`: the first of equal
/// elements, and of NaN if there is one. The value is the element at the index, also if it is -0.
pub fn extreme(tensor: TensorHandle, dim: i64, keep: bool, index: i32) -> Result<Sorted> {
    let (view, sizes) = with_dimension(tensor)?;
    let dim = dimension(dim, sizes.len())?;
    let axis = dim as i64;
    // Booleans are in the order of integers, which a reduction to an index takes.
    let ordered = match dtype_of_tensor(tensor)? {
        api::SCONCE_DTYPE_BOOL => operations::to_dtype(view.handle(), api::SCONCE_DTYPE_U8)?,
        _ => Tensor::retained(view.handle())?,
    };
    let same = api::SCONCE_DTYPE_DEFAULT;
    let place = operations::reduce(index, ordered.handle(), &[axis], true, same)?;
    let sizes = reduced(&sizes, dim, keep);
    let indices = operations::reshape(place.handle(), &sizes)?;
    let values = chosen(&view, axis, &place, &sizes)?;
    Ok(Sorted { values, indices })
}
