//! Running sums.

#![allow(unsafe_code, reason = "functions of C over handles")]

use super::{give, optional};
use crate::abi::constants::dtype_of;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

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
        // SAFETY: the place is valid for a write; any number may be passed as a handle.
        let sums = Tensor::made(|made| unsafe {
            api::sconce_tensor_along(api::SCONCE_LINE_CUMSUM, tensor, dim, dtype, made)
        })?;
        // SAFETY: the caller's promise for the place.
        unsafe { give(ret0, sums) }
    }
}
