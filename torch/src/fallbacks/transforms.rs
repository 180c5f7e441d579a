//! Fourier transforms.

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

use super::give;
use crate::abi::arguments::numbers;
use crate::operations::signals::transforms::{complex, real};
use crate::sconce::tensor::TensorHandle;

fallbacks! {
    /// Returns the transform of complex numbers over dimensions.
    aoti_torch_cpu__fft_c2c | aoti_torch_cuda__fft_c2c(
        tensor: TensorHandle,
        dim: *const i64,
        dim_len: i64,
        normalization: i64,
        forward: i32,
        ret0: *mut TensorHandle,
    ) {
        // SAFETY: the ABI has the number of entries of `dim` in `dim_len`.
        let dims = unsafe { numbers(dim, dim_len, "dim") }?;
        let result = complex(tensor, dims, normalization, forward != 0)?;
        give(ret0, result)
    }

    /// Returns the transform of real numbers over dimensions, of the last one the first half if it is one-sided.
    aoti_torch_cpu__fft_r2c | aoti_torch_cuda__fft_r2c(
        tensor: TensorHandle,
        dim: *const i64,
        dim_len: i64,
        normalization: i64,
        onesided: i32,
        ret0: *mut TensorHandle,
    ) {
        // SAFETY: the ABI has the number of entries of `dim` in `dim_len`.
        let dims = unsafe { numbers(dim, dim_len, "dim") }?;
        let result = real(tensor, dims, normalization, onesided != 0)?;
        give(ret0, result)
    }
}
