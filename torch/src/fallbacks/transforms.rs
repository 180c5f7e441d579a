//! Fourier transforms.

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

use super::{Place, give};
use crate::operations::signals::transforms::{complex, real};
use crate::sconce::tensor::TensorHandle;

abi_functions! {
    /// Returns the transform of complex numbers over dimensions.
    aoti_torch_cpu__fft_c2c | aoti_torch_cuda__fft_c2c(
        tensor as self: TensorHandle, dim: &[i64], normalization: i64, forward: bool, ret0: Place,
    ) {
        let result = complex(tensor, dim, normalization, forward)?;
        give(ret0, result)
    }

    /// Returns the transform of real numbers over dimensions, of the last one the first half if it is one-sided.
    aoti_torch_cpu__fft_r2c | aoti_torch_cuda__fft_r2c(
        tensor as self: TensorHandle, dim: &[i64], normalization: i64, onesided: bool, ret0: Place,
    ) {
        let result = real(tensor, dim, normalization, onesided)?;
        give(ret0, result)
    }
}
