//! Medians along a dimension of what is no NaN.

use super::{Sorted, both_chosen, reduced, refuse_bool, sort, with_dimension};
use crate::error::{Error, Result};
use crate::operations::layout::dimension;
use crate::sconce::api;
use crate::sconce::operations::{self, Operand, binary};
use crate::sconce::tensor::TensorHandle;

/// `nanmedian.dim(self, dim, keepdim)`: the lower one of two in the middle, and where it is; NaN of lines without numbers.
pub fn nanmedian_along(tensor: TensorHandle, dim: i64, keep: bool) -> Result<Sorted> {
    refuse_bool("nanmedian", tensor)?;
    let (view, sizes) = with_dimension(tensor)?;
    let dim = dimension(dim, sizes.len())?;
    if sizes.get(dim) == Some(&0) {
        return Err(Error::invalid_argument(format!(
            "nanmedian(): Expected reduction dim {dim} to have non-zero size."
        )));
    }
    let axis = dim as i64;
    let sorted = sort(view.handle(), axis, false)?;
    let is_number = binary(api::SCONCE_BINARY_EQ, &sorted.values, Operand::Tensor(&sorted.values))?;
    let (sum, long) = (api::SCONCE_REDUCE_SUM, api::SCONCE_DTYPE_I64);
    let count = operations::reduce(sum, is_number.handle(), &[axis], true, long)?;
    let behind = binary(api::SCONCE_BINARY_SUB, &count, Operand::Whole(1))?;
    let middle = binary(api::SCONCE_BINARY_FLOOR_DIVIDE, &behind, Operand::Whole(2))?;
    let middle = binary(api::SCONCE_BINARY_MAXIMUM, &middle, Operand::Whole(0))?;
    both_chosen(&sorted, axis, &middle, &reduced(&sizes, dim, keep))
}
