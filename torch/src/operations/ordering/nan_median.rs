//! Medians along a dimension of what is no NaN.

use super::{Sorted, sort, with_dimension};
use crate::error::{Error, Result};
use crate::operations::indexed::gather;
use crate::operations::layout::dimension;
use crate::sconce::operations::{self, Operand, binary};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// `nanmedian.dim(self, dim, keepdim)`: the lower one of two in the middle, and where it is; NaN of lines without numbers.
pub fn nanmedian_along(tensor: TensorHandle, dim: i64, keep: bool) -> Result<Sorted> {
    let (view, sizes) = with_dimension(tensor)?;
    let dim = dimension(dim, sizes.len())?;
    if sizes.get(dim) == Some(&0) {
        return Err(Error::invalid_argument(format!(
            "nanmedian(): Expected reduction dim {dim} to have non-zero size."
        )));
    }
    let axis = dim as i64;
    let Sorted { values, indices } = sort(view.handle(), axis, false)?;
    let is_number = binary(api::SCONCE_BINARY_EQ, &values, Operand::Tensor(&values))?;
    let (sum, long) = (api::SCONCE_REDUCE_SUM, api::SCONCE_DTYPE_I64);
    let count = operations::reduce(sum, is_number.handle(), &[axis], true, long)?;
    let behind = binary(api::SCONCE_BINARY_SUB, &count, Operand::Whole(1))?;
    let middle = binary(api::SCONCE_BINARY_FLOOR_DIVIDE, &behind, Operand::Whole(2))?;
    let middle = binary(api::SCONCE_BINARY_MAXIMUM, &middle, Operand::Whole(0))?;
    let mut reduced = sizes.clone();
    if dim < reduced.len() && keep {
        reduced[dim] = 1;
    } else if dim < reduced.len() {
        reduced.remove(dim);
    }
    let one = |tensor: &Tensor| {
        let one = gather(tensor.handle(), axis, middle.handle())?;
        operations::reshape(one.handle(), &reduced)
    };
    Ok(Sorted { values: one(&values)?, indices: one(&indices)? })
}
