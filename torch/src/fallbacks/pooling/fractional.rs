//! The largest elements of windows that begin at random places, and their gradients.

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

use crate::fallbacks::{Place, give, give_both};
use crate::operations::pooling::fractional::Fractional;
use crate::sconce::tensor::TensorHandle;

/// Both functions for so many dimensions.
macro_rules! fractional {
    ($($dims:literal: $cpu:ident | $cuda:ident, $cpu_backward:ident | $cuda_backward:ident;)*) => {
        abi_functions! {
            $(
            /// Returns the largest element of each window, and its place in the plane. Windows begin at places that
            /// follow from `random_samples`, numbers from 0 to 1 for each plane and dimension.
            $cpu | $cuda(
                tensor: TensorHandle, kernel_size: &[i64], output_size: &[i64],
                random_samples: TensorHandle, ret0: Place, ret1: Place,
            ) {
                let windows = Fractional::new($dims, kernel_size, output_size)?;
                let largest = windows.largest(tensor, random_samples)?;
                give_both([ret0, ret1], largest)
            }

            /// Returns the gradient of the input: each element gets the gradients of the windows that it was the
            /// largest of.
            $cpu_backward | $cuda_backward(
                grad_output: TensorHandle, tensor: TensorHandle, kernel_size: &[i64],
                output_size: &[i64], indices: TensorHandle, ret0: Place,
            ) {
                let windows = Fractional::new($dims, kernel_size, output_size)?;
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
