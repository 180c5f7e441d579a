//! Images at the places of a grid, and their gradients.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use crate::abi::arguments::{Out, array};
use crate::error::{Error, Result};
use crate::fallbacks::{give, give_all};
use crate::operations::sampling::{Sampling, SamplingGradients};
use crate::sconce::operations::undefined;
use crate::sconce::tensor::TensorHandle;

/// The gradients that a caller wants.
///
/// # Safety
/// The array has its length.
unsafe fn wanted(output_mask: *const i32, output_mask_len: i64) -> Result<[bool; 2]> {
    if output_mask_len != 2 {
        return Err(Error::invalid_argument(format!(
            "output_mask must have 2 entries, but has {output_mask_len}"
        )));
    }
    // SAFETY: the ABI gives `output_mask` 2 entries.
    let mask = unsafe { array(output_mask, 2, "output_mask") }?;
    Ok([mask[0] != 0, mask[1] != 0])
}

/// Writes both gradients, of which one may be undefined.
fn give_gradients(
    [image, grid]: [Out<'_, TensorHandle>; 2],
    gradients: SamplingGradients,
) -> Result<()> {
    let of_image = gradients.image.map_or_else(undefined, Ok)?;
    let of_grid = gradients.grid.map_or_else(undefined, Ok)?;
    give_all([(image, "ret0", of_image), (grid, "ret1", of_grid)])
}

fallbacks! {
    /// Returns a volume at the places of a grid.
    aoti_torch_cpu_grid_sampler_3d | aoti_torch_cuda_grid_sampler_3d(
        input: TensorHandle,
        grid: TensorHandle,
        interpolation_mode: i64,
        padding_mode: i64,
        align_corners: i32,
        ret0: *mut TensorHandle,
    ) {
        let sampling = Sampling::new(3, interpolation_mode, padding_mode, align_corners != 0)?;
        let sampled = sampling.sample(input, grid)?;
        give(ret0, sampled)
    }
}

/// The gradients for so many dimensions.
macro_rules! gradients {
    ($($(#[$doc:meta])* $dims:literal: $cpu:ident | $cuda:ident;)*) => {
        fallbacks! {
            $($(#[$doc])*
            $cpu | $cuda(
                grad_output: TensorHandle,
                input: TensorHandle,
                grid: TensorHandle,
                interpolation_mode: i64,
                padding_mode: i64,
                align_corners: i32,
                output_mask: *const i32,
                output_mask_len: i64,
                ret0: *mut TensorHandle,
                ret1: *mut TensorHandle,
            ) {
                let sampling =
                    Sampling::new($dims, interpolation_mode, padding_mode, align_corners != 0)?;
                // SAFETY: the ABI has the number of entries of `output_mask` in `output_mask_len`.
                let wanted = unsafe { wanted(output_mask, output_mask_len) }?;
                let gradients = sampling.gradients(grad_output, input, grid, wanted)?;
                give_gradients([ret0, ret1], gradients)
            })*
        }
    };
}

gradients! {
    /// Returns the gradients of an image that was read at the places of a grid, for the image and for the grid.
    2: aoti_torch_cpu_grid_sampler_2d_backward | aoti_torch_cuda_grid_sampler_2d_backward;
    /// Returns the gradients of a volume that was read at the places of a grid, for the volume and for the grid.
    3: aoti_torch_cpu_grid_sampler_3d_backward | aoti_torch_cuda_grid_sampler_3d_backward;
}
