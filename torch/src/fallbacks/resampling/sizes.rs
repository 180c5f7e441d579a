//! Gradients of images that were resampled.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use crate::error::{Error, Result};
use crate::fallbacks::{Place, give};
use crate::operations::images::resampling::{Resampling, ResamplingKind};
use crate::sconce::Tensor;
use crate::sconce::tensor::TensorHandle;

/// The gradient of an image that was resampled along as many dimensions as there are scales.
fn gradient(gradient: TensorHandle, resampling: &Resampling<'_>) -> Result<Tensor> {
    let (output, dims) = (resampling.output, resampling.scales.len());
    if output.len() != dims {
        return Err(Error::invalid_argument(format!(
            "It is expected output_size equals to {dims}, but got size {}",
            output.len()
        )));
    }
    resampling.gradient(gradient)
}

abi_functions! {
    /// Returns the gradient of an image that was resampled between its elements along one dimension.
    aoti_torch_cpu_upsample_linear1d_backward | aoti_torch_cuda_upsample_linear1d_backward(
        grad_output: TensorHandle, output_size: &[i64], input_size: &[i64], align_corners: bool,
        scales: Option<f64>, ret0: Place,
    ) {
        let resampling = Resampling {
            kind: ResamplingKind::Linear,
            output: output_size,
            input: input_size,
            align_corners,
            scales: &[scales],
        };
        give(ret0, gradient(grad_output, &resampling)?)
    }

    /// Returns the gradient of an image that was resampled with cubic polynomials along two dimensions.
    aoti_torch_cpu_upsample_bicubic2d_backward | aoti_torch_cuda_upsample_bicubic2d_backward(
        grad_output: TensorHandle, output_size: &[i64], input_size: &[i64], align_corners: bool,
        scales_h: Option<f64>, scales_w: Option<f64>, ret0: Place,
    ) {
        let resampling = Resampling {
            kind: ResamplingKind::Cubic,
            output: output_size,
            input: input_size,
            align_corners,
            scales: &[scales_h, scales_w],
        };
        give(ret0, gradient(grad_output, &resampling)?)
    }

    /// Returns the gradient of a volume that was resampled between its elements along three dimensions.
    aoti_torch_cpu_upsample_trilinear3d_backward | aoti_torch_cuda_upsample_trilinear3d_backward(
        grad_output: TensorHandle, output_size: &[i64], input_size: &[i64], align_corners: bool,
        scales_d: Option<f64>, scales_h: Option<f64>, scales_w: Option<f64>, ret0: Place,
    ) {
        let resampling = Resampling {
            kind: ResamplingKind::Linear,
            output: output_size,
            input: input_size,
            align_corners,
            scales: &[scales_d, scales_h, scales_w],
        };
        give(ret0, gradient(grad_output, &resampling)?)
    }
}
