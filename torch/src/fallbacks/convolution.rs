//! Convolutions and their gradients. TF32 is allowed as the process allows it, which is the default, as in PyTorch.

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

use super::{Place, give, give_all};
use crate::abi::tensors::sizes_of;
use crate::operations::convolution::{self, Steps};
use crate::sconce::operations;
use crate::sconce::tensor::TensorHandle;

abi_functions! {
    /// Returns the convolution of `input` with `weight`, or the transposed one, and a bias added.
    aoti_torch_cpu_convolution | aoti_torch_cuda_convolution(
        input: TensorHandle, weight: TensorHandle, bias: Option<TensorHandle>, stride: &[i64],
        padding: &[i64], dilation: &[i64], transposed: bool, output_padding: &[i64], groups: i64,
        ret0: Place,
    ) {
        let bias = bias.unwrap_or(std::ptr::null_mut());
        let steps = Steps { stride, padding, dilation, groups };
        let result = if transposed {
            convolution::transposed(input, weight, bias, steps, output_padding)?
        } else {
            convolution::forward(input, weight, bias, steps)?
        };
        give(ret0, result)
    }

    /// Returns the gradients of a convolution for its input, its weight and its bias, as far as `output_mask` wants
    /// them; the others are undefined tensors.
    aoti_torch_cpu_convolution_backward | aoti_torch_cuda_convolution_backward(
        grad_output: TensorHandle, input: TensorHandle, weight: TensorHandle,
        _bias_sizes: Option<&[i64]>, stride: &[i64], padding: &[i64], dilation: &[i64],
        transposed: bool, _output_padding: &[i64], groups: i64, output_mask: [bool; 3],
        ret0: Place, ret1: Place, ret2: Place,
    ) {
        let steps = Steps { stride, padding, dilation, groups };
        let (sizes, weights) = (sizes_of(input)?, sizes_of(weight)?);
        let [wants @ .., wants_bias] = output_mask;
        let undefined = operations::undefined;
        let (for_input, for_weight) = if transposed {
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
            if wants_bias { convolution::bias_gradient(grad_output)? } else { undefined()? };
        give_all([(ret0, "ret0", for_input), (ret1, "ret1", for_weight), (ret2, "ret2", for_bias)])
    }
}
