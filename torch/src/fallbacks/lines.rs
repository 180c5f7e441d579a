//! Running sums.

#![allow(unsafe_code, reason = "functions of C over handles")]

use super::give;
use crate::abi::arguments::optional;
use crate::abi::constants::dtype_of;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{api, operations};

fallbacks! {
    /// Returns the running sums along a dimension, in `dtype` if it is given.
    aoti_torch_cpu_cumsum | aoti_torch_cuda_cumsum(
        tensor: TensorHandle,
        dim: i64,
        dtype: *const i32,
        ret0: *mut TensorHandle,
    ) {
        // SAFETY: the caller's promise for the pointer.
        let dtype = unsafe { optional(dtype) }.map_or(Ok(api::SCONCE_DTYPE_DEFAULT), dtype_of)?;
        let sums = operations::along(api::SCONCE_LINE_CUMSUM, tensor, dim, dtype)?;
        // SAFETY: the caller's promise for the place.
        unsafe { give(ret0, sums) }
    }
}
