//! Images of another size, and volumes at the places of a grid.

use crate::dispatcher::arguments::Arguments;
use crate::dispatcher::results::{Function, Results, one};
use crate::operations::images::resampling::ResamplingKind;
use crate::operations::images::upsampling::Upsampling;
use crate::operations::sampling::Sampling;

/// Operations on images of two dimensions, with a scale for each.
macro_rules! images {
    ($($name:literal = $kind:expr, $antialias:literal;)*) => {
        &[$(
            (
                concat!(
                    $name,
                    "(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? ",
                    "scales_w=None) -> Tensor"
                ),
                |arguments| resampled(arguments, $kind, $antialias, 2),
            ),
        )*]
    };
}

/// Images.
pub const IMAGES: &[(&str, Function)] = images! {
    "upsample_bilinear2d" = ResamplingKind::Linear, false;
    "upsample_bicubic2d" = ResamplingKind::Cubic, false;
    "_upsample_bilinear2d_aa" = ResamplingKind::Linear, true;
    "_upsample_bicubic2d_aa" = ResamplingKind::Cubic, true;
};

/// The others.
pub const OTHERS: &[(&str, Function)] = &[
    (
        "upsample_linear1d(Tensor self, SymInt[1] output_size, bool align_corners, float? scales=None) -> Tensor",
        |arguments| resampled(arguments, ResamplingKind::Linear, false, 1),
    ),
    (
        "upsample_trilinear3d(Tensor self, SymInt[3] output_size, bool align_corners, float? scales_d=None, float? \
         scales_h=None, float? scales_w=None) -> Tensor",
        |arguments| resampled(arguments, ResamplingKind::Linear, false, 3),
    ),
    (
        "grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> \
         Tensor",
        |arguments| {
            let (mode, padding) = (arguments.int(2)?, arguments.int(3)?);
            let sampling = Sampling::new(3, mode, padding, arguments.flag(4)?)?;
            one(sampling.sample(arguments.tensor(0)?, arguments.tensor(1)?))
        },
    ),
];

fn resampled(arguments: &Arguments, kind: ResamplingKind, antialias: bool, dims: usize) -> Results {
    let output = match arguments.ints(1)?.as_slice() {
        &[one] => vec![one; dims],
        sizes => sizes.to_vec(),
    };
    let scales = (3..3 + dims).map(|at| arguments.optional_real(at));
    let scales = scales.collect::<crate::error::Result<Vec<_>>>()?;
    let align_corners = arguments.flag(2)?;
    let how = Upsampling { kind, output: &output, align_corners, scales: &scales, antialias };
    one(how.of(arguments.tensor(0)?))
}
