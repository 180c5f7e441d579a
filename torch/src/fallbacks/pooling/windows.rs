//! Pooling over windows of images.

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

use crate::abi::arguments::{IntList, numbers, optional};
use crate::error::Result;
use crate::fallbacks::{give, give_both};
use crate::operations::pooling::{self, Divisor, Size, Windows};
use crate::sconce::tensor::TensorHandle;

/// Windows of a fixed size.
///
/// # Safety
/// The lists have as many entries as they say.
unsafe fn fixed(
    name: &'static str,
    dims: usize,
    [kernel, stride, padding]: [IntList; 3],
    dilation: Option<IntList>,
    ceil_mode: i32,
) -> Result<Windows> {
    let read = |(list, count): IntList, what: &str| {
        // SAFETY: the ABI has the number of entries of `list` in `count`.
        unsafe { numbers(list, count, what) }.map(<[i64]>::to_vec)
    };
    let size = Size::Fixed {
        kernel: read(kernel, "kernel_size")?,
        stride: read(stride, "stride")?,
        padding: read(padding, "padding")?,
        dilation: dilation.map_or(Ok(vec![1]), |dilation| read(dilation, "dilation"))?,
        ceil_mode: ceil_mode != 0,
    };
    // PyTorch's mean of volumes is contiguous.
    Ok(Windows { name, dims, size, keeps_order: dims == 2 || name.starts_with("max") })
}

/// What a mean divides by.
///
/// # Safety
/// The pointer is NULL or valid for a read.
unsafe fn divisor(count_include_pad: i32, divisor_override: *const i64) -> Divisor {
    // SAFETY: `divisor_override` is an optional argument of the ABI: NULL, or the address of a value.
    let fixed = unsafe { optional(divisor_override) };
    Divisor { count_padding: count_include_pad != 0, fixed }
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
        fallbacks! {
            /// Returns the largest element of each window, and its number within the plane.
            $cpu | $cuda(
                tensor: TensorHandle,
                kernel_size: *const i64,
                kernel_size_len: i64,
                stride: *const i64,
                stride_len: i64,
                padding: *const i64,
                padding_len: i64,
                dilation: *const i64,
                dilation_len: i64,
                ceil_mode: i32,
                ret0: *mut TensorHandle,
                ret1: *mut TensorHandle,
            ) {
                let all = [(kernel_size, kernel_size_len), (stride, stride_len), (padding, padding_len)];
                let dilation = Some((dilation, dilation_len));
                // SAFETY: each list of the windows comes from the ABI with its number of entries.
                let windows = unsafe { fixed($name, $dims, all, dilation, ceil_mode) }?;
                let results = pooling::max(tensor, &windows)?;
                give_both([ret0, ret1], results)
            }

            /// Returns the gradient of the largest elements for the input.
            $cpu_backward | $cuda_backward(
                grad_output: TensorHandle,
                tensor: TensorHandle,
                kernel_size: *const i64,
                kernel_size_len: i64,
                stride: *const i64,
                stride_len: i64,
                padding: *const i64,
                padding_len: i64,
                dilation: *const i64,
                dilation_len: i64,
                ceil_mode: i32,
                indices: TensorHandle,
                ret0: *mut TensorHandle,
            ) {
                let all = [(kernel_size, kernel_size_len), (stride, stride_len), (padding, padding_len)];
                let dilation = Some((dilation, dilation_len));
                // SAFETY: each list of the windows comes from the ABI with its number of entries.
                let windows = unsafe { fixed($name, $dims, all, dilation, ceil_mode) }?;
                let result = pooling::max_backward(grad_output, tensor, indices, &windows)?;
                give(ret0, result)
            }
        }
    )*};
}

macro_rules! mean_pools {
    ($($dims:literal, $name:literal:
       $cpu:ident | $cuda:ident, $cpu_backward:ident | $cuda_backward:ident;)*) => {$(
        fallbacks! {
            /// Returns the mean of each window.
            $cpu | $cuda(
                tensor: TensorHandle,
                kernel_size: *const i64,
                kernel_size_len: i64,
                stride: *const i64,
                stride_len: i64,
                padding: *const i64,
                padding_len: i64,
                ceil_mode: i32,
                count_include_pad: i32,
                divisor_override: *const i64,
                ret0: *mut TensorHandle,
            ) {
                let all = [(kernel_size, kernel_size_len), (stride, stride_len), (padding, padding_len)];
                // SAFETY: each list of the windows comes from the ABI with its number of entries.
                let windows = unsafe { fixed($name, $dims, all, None, ceil_mode) }?;
                // SAFETY: `divisor_override` is an optional argument of the ABI: NULL, or the address of a value.
                let divisor = unsafe { divisor(count_include_pad, divisor_override) };
                let result = pooling::mean(tensor, &windows, divisor)?;
                give(ret0, result)
            }

            /// Returns the gradient of the means for the input.
            $cpu_backward | $cuda_backward(
                grad_output: TensorHandle,
                tensor: TensorHandle,
                kernel_size: *const i64,
                kernel_size_len: i64,
                stride: *const i64,
                stride_len: i64,
                padding: *const i64,
                padding_len: i64,
                ceil_mode: i32,
                count_include_pad: i32,
                divisor_override: *const i64,
                ret0: *mut TensorHandle,
            ) {
                let all = [(kernel_size, kernel_size_len), (stride, stride_len), (padding, padding_len)];
                // SAFETY: each list of the windows comes from the ABI with its number of entries.
                let windows = unsafe { fixed($name, $dims, all, None, ceil_mode) }?;
                // SAFETY: `divisor_override` is an optional argument of the ABI: NULL, or the address of a value.
                let divisor = unsafe { divisor(count_include_pad, divisor_override) };
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
        fallbacks! {
            /// Returns the mean of each of so many windows.
            $cpu_mean | $cuda_mean(
                tensor: TensorHandle,
                output_size: *const i64,
                output_size_len: i64,
                ret0: *mut TensorHandle,
            ) {
                // SAFETY: the ABI has the number of entries of `output_size` in `output_size_len`.
                let output = unsafe { numbers(output_size, output_size_len, "output_size") }?;
                let windows = adaptive($mean, $dims, output);
                let result = pooling::mean(tensor, &windows, Divisor::OF_INPUTS)?;
                give(ret0, result)
            }

            /// Returns the gradient of the means for the input.
            $cpu_mean_backward | $cuda_mean_backward(
                grad_output: TensorHandle,
                tensor: TensorHandle,
                ret0: *mut TensorHandle,
            ) {
                let windows = adaptive_of($mean, $dims, grad_output)?;
                let result =
                    pooling::mean_backward(grad_output, tensor, &windows, Divisor::OF_INPUTS)?;
                give(ret0, result)
            }

            /// Returns the largest element of each of so many windows, and its number within the plane.
            $cpu_max | $cuda_max(
                tensor: TensorHandle,
                output_size: *const i64,
                output_size_len: i64,
                ret0: *mut TensorHandle,
                ret1: *mut TensorHandle,
            ) {
                // SAFETY: the ABI has the number of entries of `output_size` in `output_size_len`.
                let output = unsafe { numbers(output_size, output_size_len, "output_size") }?;
                let results = pooling::max(tensor, &adaptive($max, $dims, output))?;
                give_both([ret0, ret1], results)
            }

            /// Returns the gradient of the largest elements for the input.
            $cpu_max_backward | $cuda_max_backward(
                grad_output: TensorHandle,
                tensor: TensorHandle,
                indices: TensorHandle,
                ret0: *mut TensorHandle,
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
