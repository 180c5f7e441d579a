//! Convolutions and their gradients. TF32 is allowed as the process allows it, which is the default, as in PyTorch.

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

use super::{give, give_all};
use crate::abi::arguments::{array, numbers, optional};
use crate::abi::tensors::sizes_of;
use crate::error::{Error, Result};
use crate::operations::convolution::{self, Steps};
use crate::sconce::operations;
use crate::sconce::tensor::TensorHandle;

/// How a filter moves.
///
/// # Safety
/// Each array has as many entries as is said beside it.
unsafe fn steps<'a>(
    [stride, padding, dilation]: [(*const i64, i64); 3],
    groups: i64,
) -> Result<Steps<'a>> {
    // SAFETY: the ABI has the number of entries of `stride.0` in `stride.1`.
    let stride = unsafe { numbers(stride.0, stride.1, "stride") }?;
    // SAFETY: the ABI has the number of entries of `padding.0` in `padding.1`.
    let padding = unsafe { numbers(padding.0, padding.1, "padding") }?;
    // SAFETY: the ABI has the number of entries of `dilation.0` in `dilation.1`.
    let dilation = unsafe { numbers(dilation.0, dilation.1, "dilation") }?;
    Ok(Steps { stride, padding, dilation, groups })
}

fallbacks! {
    /// Returns the convolution of `input` with `weight`, or the transposed one, and a bias added.
    aoti_torch_cpu_convolution | aoti_torch_cuda_convolution(
        input: TensorHandle,
        weight: TensorHandle,
        bias: *const TensorHandle,
        stride: *const i64,
        stride_len: i64,
        padding: *const i64,
        padding_len: i64,
        dilation: *const i64,
        dilation_len: i64,
        transposed: i32,
        output_padding: *const i64,
        output_padding_len: i64,
        groups: i64,
        ret0: *mut TensorHandle,
    ) {
        // SAFETY: `bias` is an optional argument of the ABI: NULL, or the address of a value.
        let bias = unsafe { optional(bias) }.unwrap_or(std::ptr::null_mut());
        let arrays = [(stride, stride_len), (padding, padding_len), (dilation, dilation_len)];
        // SAFETY: each of `arrays` comes from the ABI with its number of entries.
        let steps = unsafe { steps(arrays, groups) }?;
        let result = if transposed == 0 {
            convolution::forward(input, weight, bias, steps)?
        } else {
            // SAFETY: the ABI has the number of entries of `output_padding` in `output_padding_len`.
            let more = unsafe { numbers(output_padding, output_padding_len, "output_padding") }?;
            convolution::transposed(input, weight, bias, steps, more)?
        };
        give(ret0, result)
    }

    /// Returns the gradients of a convolution for its input, its weight and its bias, as far as `output_mask` wants
    /// them; the others are undefined tensors.
    aoti_torch_cpu_convolution_backward | aoti_torch_cuda_convolution_backward(
        grad_output: TensorHandle,
        input: TensorHandle,
        weight: TensorHandle,
        _bias_sizes: *const *const i64,
        _bias_sizes_len: i64,
        stride: *const i64,
        stride_len: i64,
        padding: *const i64,
        padding_len: i64,
        dilation: *const i64,
        dilation_len: i64,
        transposed: i32,
        _output_padding: *const i64,
        _output_padding_len: i64,
        groups: i64,
        output_mask: *const i32,
        output_mask_len: i64,
        ret0: *mut TensorHandle,
        ret1: *mut TensorHandle,
        ret2: *mut TensorHandle,
    ) {
        let arrays = [(stride, stride_len), (padding, padding_len), (dilation, dilation_len)];
        // SAFETY: each of `arrays` comes from the ABI with its number of entries.
        let steps = unsafe { steps(arrays, groups) }?;
        if output_mask_len != 3 {
            return Err(Error::invalid_argument(format!(
                "output_mask must have 3 entries, but has {output_mask_len}"
            )));
        }
        // SAFETY: the ABI gives `output_mask` 3 entries.
        let wanted = unsafe { array(output_mask, 3, "output_mask") }?;
        let (sizes, weights) = (sizes_of(input)?, sizes_of(weight)?);
        let wants = [wanted[0] != 0, wanted[1] != 0];
        let undefined = operations::undefined;
        let (for_input, for_weight) = if transposed != 0 {
            convolution::transposed_gradients(grad_output, input, weight, steps, wants)?
        } else {
            let of_input = || convolution::input_gradient(grad_output, weight, &sizes, steps);
            let of_weight = || convolution::filter_gradient(grad_output, input, &weights, steps);
            (
                if wants[0] { of_input()? } else { undefined()? },
                if wants[1] { of_weight()? } else { undefined()? },
            )
        };
        let for_bias =
            if wanted[2] == 0 { undefined()? } else { convolution::bias_gradient(grad_output)? };
        give_all([(ret0, "ret0", for_input), (ret1, "ret1", for_weight), (ret2, "ret2", for_bias)])
    }
}
