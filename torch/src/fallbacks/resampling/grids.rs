//! Images at the places of a grid, and their gradients.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use crate::error::Result;
use crate::fallbacks::{Place, give, give_all};
use crate::operations::sampling::{Sampling, SamplingGradients};
use crate::sconce::operations::undefined;
use crate::sconce::tensor::TensorHandle;

/// Writes both gradients, of which one may be undefined.
fn give_gradients([image, grid]: [Place<'_>; 2], gradients: SamplingGradients) -> Result<()> {
    let of_image = gradients.image.map_or_else(undefined, Ok)?;
    let of_grid = gradients.grid.map_or_else(undefined, Ok)?;
    give_all([(image, "ret0", of_image), (grid, "ret1", of_grid)])
}

abi_functions! {
    /// Returns a volume at the places of a grid.
    aoti_torch_cpu_grid_sampler_3d | aoti_torch_cuda_grid_sampler_3d(
        input: TensorHandle, grid: TensorHandle, interpolation_mode: i64, padding_mode: i64,
        align_corners: bool, ret0: Place,
    ) {
        let sampling = Sampling::new(3, interpolation_mode, padding_mode, align_corners)?;
        let sampled = sampling.sample(input, grid)?;
        give(ret0, sampled)
    }
}

/// The gradients for so many dimensions.
macro_rules! gradients {
    ($($(#[$doc:meta])* $dims:literal: $cpu:ident | $cuda:ident;)*) => {
        abi_functions! {
            $($(#[$doc])*
            $cpu | $cuda(
                grad_output: TensorHandle, input: TensorHandle, grid: TensorHandle,
                interpolation_mode: i64, padding_mode: i64, align_corners: bool,
                output_mask: [bool; 2], ret0: Place, ret1: Place,
            ) {
                let sampling =
                    Sampling::new($dims, interpolation_mode, padding_mode, align_corners)?;
                let gradients = sampling.gradients(grad_output, input, grid, output_mask)?;
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
