//! Running sums, products, extremes.

#![allow(unsafe_code, reason = "functions of C over handles")]

use super::{Place, give, give_both};
use crate::abi::constants::dtype_of;
use crate::error::Result;
use crate::operations::running;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, operations};

abi_functions! {
    /// Returns the running sums along a dimension, in `dtype` if it is given.
    aoti_torch_cpu_cumsum | aoti_torch_cuda_cumsum(
        tensor as self: TensorHandle, dim: i64, dtype: Option<i32>, ret0: Place,
    ) {
        let sums = converted(api::SCONCE_LINE_CUMSUM, tensor, dim, dtype)?;
        give(ret0, sums)
    }

    /// Returns the running products along a dimension, in `dtype` if it is given.
    aoti_torch_cpu_cumprod | aoti_torch_cuda_cumprod(
        tensor as self: TensorHandle, dim: i64, dtype: Option<i32>, ret0: Place,
    ) {
        let products = converted(api::SCONCE_LINE_CUMPROD, tensor, dim, dtype)?;
        give(ret0, products)
    }

    /// Returns the running logarithms of sums of exponentials along a dimension.
    aoti_torch_cpu_logcumsumexp | aoti_torch_cuda_logcumsumexp(
        tensor as self: TensorHandle, dim: i64, ret0: Place,
    ) {
        give(ret0, running::log_sums(tensor, dim)?)
    }

    /// Returns the running maxima along a dimension, and where each is.
    aoti_torch_cpu_cummax | aoti_torch_cuda_cummax(
        tensor as self: TensorHandle, dim: i64, ret0: Place, ret1: Place,
    ) {
        give_both([ret0, ret1], running::extremes(tensor, dim, true)?)
    }

    /// Returns the running minima along a dimension, and where each is.
    aoti_torch_cpu_cummin | aoti_torch_cuda_cummin(
        tensor as self: TensorHandle, dim: i64, ret0: Place, ret1: Place,
    ) {
        give_both([ret0, ret1], running::extremes(tensor, dim, false)?)
    }
}

/// The results along a dimension, in another type if one is given.
fn converted(operation: i32, tensor: TensorHandle, dim: i64, dtype: Option<i32>) -> Result<Tensor> {
    let dtype = dtype.map_or(Ok(api::SCONCE_DTYPE_DEFAULT), dtype_of)?;
    operations::along(operation, tensor, dim, dtype)
}
