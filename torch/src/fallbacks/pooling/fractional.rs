//! The largest elements of windows that begin at random places, and their gradients.

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

use crate::abi::arguments::{IntList, numbers};
use crate::error::Result;
use crate::fallbacks::{give, give_both};
use crate::operations::pooling::fractional::Fractional;
use crate::sconce::tensor::TensorHandle;

/// Windows of so many dimensions.
///
/// # Safety
/// The lists have as many entries as they say.
unsafe fn windows<'a>(dims: usize, kernel: IntList, output: IntList) -> Result<Fractional<'a>> {
    // SAFETY: the ABI has the number of entries of `kernel.0` in `kernel.1`.
    let kernel = unsafe { numbers(kernel.0, kernel.1, "kernel_size") }?;
    // SAFETY: the ABI has the number of entries of `output.0` in `output.1`.
    let output = unsafe { numbers(output.0, output.1, "output_size") }?;
    Fractional::new(dims, kernel, output)
}

/// Both functions for so many dimensions.
macro_rules! fractional {
    ($($dims:literal: $cpu:ident | $cuda:ident, $cpu_backward:ident | $cuda_backward:ident;)*) => {
        fallbacks! {
            $(
            /// Returns the largest element of each window, and its place in the plane. Windows begin at places that
            /// follow from `random_samples`, numbers from 0 to 1 for each plane and dimension.
            $cpu | $cuda(
                tensor: TensorHandle,
                kernel_size: *const i64,
                kernel_size_len: i64,
                output_size: *const i64,
                output_size_len: i64,
                random_samples: TensorHandle,
                ret0: *mut TensorHandle,
                ret1: *mut TensorHandle,
            ) {
                let (kernel, output) = ((kernel_size, kernel_size_len), (output_size, output_size_len));
                // SAFETY: each list of the windows comes from the ABI with its number of entries.
                let windows = unsafe { windows($dims, kernel, output) }?;
                let largest = windows.largest(tensor, random_samples)?;
                give_both([ret0, ret1], largest)
            }

            /// Returns the gradient of the input: each element gets the gradients of the windows that it was the
            /// largest of.
            $cpu_backward | $cuda_backward(
                grad_output: TensorHandle,
                tensor: TensorHandle,
                kernel_size: *const i64,
                kernel_size_len: i64,
                output_size: *const i64,
                output_size_len: i64,
                indices: TensorHandle,
                ret0: *mut TensorHandle,
            ) {
                let (kernel, output) = ((kernel_size, kernel_size_len), (output_size, output_size_len));
                // SAFETY: each list of the windows comes from the ABI with its number of entries.
                let windows = unsafe { windows($dims, kernel, output) }?;
                let gradient = windows.gradient(grad_output, tensor, indices)?;
                give(ret0, gradient)
            }
            )*
        }
    };
}

fractional! {
    2: aoti_torch_cpu_fractional_max_pool2d | aoti_torch_cuda_fractional_max_pool2d,
        aoti_torch_cpu_fractional_max_pool2d_backward | aoti_torch_cuda_fractional_max_pool2d_backward;
    3: aoti_torch_cpu_fractional_max_pool3d | aoti_torch_cuda_fractional_max_pool3d,
        aoti_torch_cpu_fractional_max_pool3d_backward | aoti_torch_cuda_fractional_max_pool3d_backward;
}
