//! Pooling over windows of images.

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

use crate::error::Result;
use crate::fallbacks::{Place, give, give_both};
use crate::operations::pooling::{self, Divisor, Size, Windows};
use crate::sconce::tensor::TensorHandle;

/// Windows of a fixed size.
fn fixed(
    name: &'static str,
    dims: usize,
    [kernel, stride, padding, dilation]: [&[i64]; 4],
    ceil_mode: bool,
) -> Windows {
    let [kernel, stride, padding, dilation] =
        [kernel, stride, padding, dilation].map(<[i64]>::to_vec);
    // PyTorch's mean of volumes is contiguous.
    let keeps_order = dims == 2 || name.starts_with("max");
    let size = Size::Fixed { kernel, stride, padding, dilation, ceil_mode };
    Windows { name, dims, size, keeps_order }
}

/// A number of windows.
fn adaptive(name: &'static str, dims: usize, output_size: &[i64]) -> Windows {
    Windows { name, dims, size: Size::Adaptive(output_size.to_vec()), keeps_order: dims == 2 }
}

/// A number of windows as a gradient has it: that of its last dimensions.
fn adaptive_of(name: &'static str, dims: usize, gradient: TensorHandle) -> Result<Windows> {
    let sizes = crate::abi::tensors::sizes_of(gradient)?;
    Ok(adaptive(name, dims, &sizes[sizes.len().saturating_sub(dims)..]))
}

macro_rules! max_pools {
    ($($dims:literal, $name:literal:
       $cpu:ident | $cuda:ident, $cpu_backward:ident | $cuda_backward:ident;)*) => {$(
        abi_functions! {
            /// Returns the largest element of each window, and its number within the plane.
            $cpu | $cuda(
                tensor: TensorHandle, kernel_size: &[i64], stride: &[i64], padding: &[i64],
                dilation: &[i64], ceil_mode: bool, ret0: Place, ret1: Place,
            ) {
                let lists = [kernel_size, stride, padding, dilation];
                let windows = fixed($name, $dims, lists, ceil_mode);
                let results = pooling::max(tensor, &windows)?;
                give_both([ret0, ret1], results)
            }

            /// Returns the gradient of the largest elements for the input.
            $cpu_backward | $cuda_backward(
                grad_output: TensorHandle, tensor: TensorHandle, kernel_size: &[i64],
                stride: &[i64], padding: &[i64], dilation: &[i64], ceil_mode: bool,
                indices: TensorHandle, ret0: Place,
            ) {
                let lists = [kernel_size, stride, padding, dilation];
                let windows = fixed($name, $dims, lists, ceil_mode);
                let result = pooling::max_backward(grad_output, tensor, indices, &windows)?;
                give(ret0, result)
            }
        }
    )*};
}

macro_rules! mean_pools {
    ($($dims:literal, $name:literal:
       $cpu:ident | $cuda:ident, $cpu_backward:ident | $cuda_backward:ident;)*) => {$(
        abi_functions! {
            /// Returns the mean of each window.
            $cpu | $cuda(
                tensor: TensorHandle, kernel_size: &[i64], stride: &[i64], padding: &[i64],
                ceil_mode: bool, count_include_pad: bool, divisor_override: Option<i64>, ret0: Place,
            ) {
                let lists = [kernel_size, stride, padding, &[1]];
                let windows = fixed($name, $dims, lists, ceil_mode);
                let divisor = Divisor { count_padding: count_include_pad, fixed: divisor_override };
                let result = pooling::mean(tensor, &windows, divisor)?;
                give(ret0, result)
            }

            /// Returns the gradient of the means for the input.
            $cpu_backward | $cuda_backward(
                grad_output: TensorHandle, tensor: TensorHandle, kernel_size: &[i64],
                stride: &[i64], padding: &[i64], ceil_mode: bool, count_include_pad: bool,
                divisor_override: Option<i64>, ret0: Place,
            ) {
                let lists = [kernel_size, stride, padding, &[1]];
                let windows = fixed($name, $dims, lists, ceil_mode);
                let divisor = Divisor { count_padding: count_include_pad, fixed: divisor_override };
                let result = pooling::mean_backward(grad_output, tensor, &windows, divisor)?;
                give(ret0, result)
            }
        }
    )*};
}

macro_rules! adaptive_pools {
    ($($dims:literal:
       $mean:literal $cpu_mean:ident | $cuda_mean:ident,
       $cpu_mean_backward:ident | $cuda_mean_backward:ident;
       $max:literal $cpu_max:ident | $cuda_max:ident, $cpu_max_backward:ident | $cuda_max_backward:ident;)*) => {$(
        abi_functions! {
            /// Returns the mean of each of so many windows.
            $cpu_mean | $cuda_mean(
                tensor: TensorHandle, output_size: &[i64], ret0: Place,
            ) {
                let windows = adaptive($mean, $dims, output_size);
                let result = pooling::mean(tensor, &windows, Divisor::OF_INPUTS)?;
                give(ret0, result)
            }

            /// Returns the gradient of the means for the input.
            $cpu_mean_backward | $cuda_mean_backward(
                grad_output: TensorHandle, tensor: TensorHandle, ret0: Place,
            ) {
                let windows = adaptive_of($mean, $dims, grad_output)?;
                let result =
                    pooling::mean_backward(grad_output, tensor, &windows, Divisor::OF_INPUTS)?;
                give(ret0, result)
            }

            /// Returns the largest element of each of so many windows, and its number within the plane.
            $cpu_max | $cuda_max(
                tensor: TensorHandle, output_size: &[i64], ret0: Place, ret1: Place,
            ) {
                let results = pooling::max(tensor, &adaptive($max, $dims, output_size))?;
                give_both([ret0, ret1], results)
            }

            /// Returns the gradient of the largest elements for the input.
            $cpu_max_backward | $cuda_max_backward(
                grad_output: TensorHandle, tensor: TensorHandle, indices: TensorHandle, ret0: Place,
            ) {
                let windows = adaptive_of($max, $dims, grad_output)?;
                let result = pooling::max_backward(grad_output, tensor, indices, &windows)?;
                give(ret0, result)
            }
        }
    )*};
}

max_pools! {
    2, "max_pool2d":
        aoti_torch_cpu_max_pool2d_with_indices | aoti_torch_cuda_max_pool2d_with_indices,
        aoti_torch_cpu_max_pool2d_with_indices_backward | aoti_torch_cuda_max_pool2d_with_indices_backward;
    3, "max_pool3d":
        aoti_torch_cpu_max_pool3d_with_indices | aoti_torch_cuda_max_pool3d_with_indices,
        aoti_torch_cpu_max_pool3d_with_indices_backward | aoti_torch_cuda_max_pool3d_with_indices_backward;
}

mean_pools! {
    2, "avg_pool2d":
        aoti_torch_cpu_avg_pool2d | aoti_torch_cuda_avg_pool2d,
        aoti_torch_cpu_avg_pool2d_backward | aoti_torch_cuda_avg_pool2d_backward;
    3, "avg_pool3d":
        aoti_torch_cpu_avg_pool3d | aoti_torch_cuda_avg_pool3d,
        aoti_torch_cpu_avg_pool3d_backward | aoti_torch_cuda_avg_pool3d_backward;
}

adaptive_pools! {
    2:
        "adaptive_avg_pool2d" aoti_torch_cpu__adaptive_avg_pool2d | aoti_torch_cuda__adaptive_avg_pool2d,
        aoti_torch_cpu__adaptive_avg_pool2d_backward | aoti_torch_cuda__adaptive_avg_pool2d_backward;
        "adaptive_max_pool2d" aoti_torch_cpu_adaptive_max_pool2d | aoti_torch_cuda_adaptive_max_pool2d,
        aoti_torch_cpu_adaptive_max_pool2d_backward | aoti_torch_cuda_adaptive_max_pool2d_backward;
    3:
        "adaptive_avg_pool3d" aoti_torch_cpu__adaptive_avg_pool3d | aoti_torch_cuda__adaptive_avg_pool3d,
        aoti_torch_cpu__adaptive_avg_pool3d_backward | aoti_torch_cuda__adaptive_avg_pool3d_backward;
        "adaptive_max_pool3d" aoti_torch_cpu_adaptive_max_pool3d | aoti_torch_cuda_adaptive_max_pool3d,
        aoti_torch_cpu_adaptive_max_pool3d_backward | aoti_torch_cuda_adaptive_max_pool3d_backward;
}
