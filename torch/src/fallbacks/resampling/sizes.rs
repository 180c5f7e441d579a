//! Gradients of images that were resampled.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use crate::abi::arguments::{numbers, optional};
use crate::error::{Error, Result};
use crate::fallbacks::give;
use crate::operations::images::resampling::{Resampling, ResamplingKind};
use crate::sconce::Tensor;
use crate::sconce::tensor::TensorHandle;

/// The arguments that all of these functions have.
struct ResamplingArguments {
    gradient: TensorHandle,
    output: (*const i64, i64),
    input: (*const i64, i64),
    align_corners: i32,
}

impl ResamplingArguments {
    /// The gradient of an image that was resampled along as many dimensions as there are scales.
    ///
    /// # Safety
    /// Arrays have their lengths; scales are NULL or valid for reads.
    unsafe fn gradient<const DIMS: usize>(
        &self,
        kind: ResamplingKind,
        scales: [*const f64; DIMS],
    ) -> Result<Tensor> {
        // SAFETY: the ABI has the number of entries of `self.output.0` in `self.output.1`.
        let output = unsafe { numbers(self.output.0, self.output.1, "output_size") }?;
        // SAFETY: the ABI has the number of entries of `self.input.0` in `self.input.1`.
        let input = unsafe { numbers(self.input.0, self.input.1, "input_size") }?;
        if output.len() != DIMS {
            return Err(Error::invalid_argument(format!(
                "It is expected output_size equals to {DIMS}, but got size {}",
                output.len()
            )));
        }
        // SAFETY: `scale` is an optional argument of the ABI: NULL, or the address of a value.
        let scales = scales.map(|scale| unsafe { optional(scale) });
        let align_corners = self.align_corners != 0;
        Resampling { kind, output, input, align_corners, scales: &scales }.gradient(self.gradient)
    }
}

fallbacks! {
    /// Returns the gradient of an image that was resampled between its elements along one dimension.
    aoti_torch_cpu_upsample_linear1d_backward | aoti_torch_cuda_upsample_linear1d_backward(
        grad_output: TensorHandle,
        output_size: *const i64,
        output_size_len: i64,
        input_size: *const i64,
        input_size_len: i64,
        align_corners: i32,
        scales: *const f64,
        ret0: *mut TensorHandle,
    ) {
        let arguments = ResamplingArguments {
            gradient: grad_output,
            output: (output_size, output_size_len),
            input: (input_size, input_size_len),
            align_corners,
        };
        // SAFETY: lists of the ABI have their count beside them; each scale is NULL or the address of a value.
        let made = unsafe { arguments.gradient(ResamplingKind::Linear, [scales]) }?;
        give(ret0, made)
    }

    /// Returns the gradient of an image that was resampled with cubic polynomials along two dimensions.
    aoti_torch_cpu_upsample_bicubic2d_backward | aoti_torch_cuda_upsample_bicubic2d_backward(
        grad_output: TensorHandle,
        output_size: *const i64,
        output_size_len: i64,
        input_size: *const i64,
        input_size_len: i64,
        align_corners: i32,
        scales_h: *const f64,
        scales_w: *const f64,
        ret0: *mut TensorHandle,
    ) {
        let arguments = ResamplingArguments {
            gradient: grad_output,
            output: (output_size, output_size_len),
            input: (input_size, input_size_len),
            align_corners,
        };
        // SAFETY: lists of the ABI have their count beside them; each scale is NULL or the address of a value.
        let made = unsafe { arguments.gradient(ResamplingKind::Cubic, [scales_h, scales_w]) }?;
        give(ret0, made)
    }

    /// Returns the gradient of a volume that was resampled between its elements along three dimensions.
    aoti_torch_cpu_upsample_trilinear3d_backward | aoti_torch_cuda_upsample_trilinear3d_backward(
        grad_output: TensorHandle,
        output_size: *const i64,
        output_size_len: i64,
        input_size: *const i64,
        input_size_len: i64,
        align_corners: i32,
        scales_d: *const f64,
        scales_h: *const f64,
        scales_w: *const f64,
        ret0: *mut TensorHandle,
    ) {
        let arguments = ResamplingArguments {
            gradient: grad_output,
            output: (output_size, output_size_len),
            input: (input_size, input_size_len),
            align_corners,
        };
        let scales = [scales_d, scales_h, scales_w];
        // SAFETY: lists of the ABI have their count beside them; each scale is NULL or the address of a value.
        let made = unsafe { arguments.gradient(ResamplingKind::Linear, scales) }?;
        give(ret0, made)
    }
}
