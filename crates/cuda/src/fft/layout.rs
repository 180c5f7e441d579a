//! A shape as cuFFT takes it: types of both sides, and whether they lie packed.

use std::ffi::c_int;

use sconce_driver::{FftKind, FftLayout, FftShape};

use crate::data_types::{complex_type, real_type};

/// The types of input, output and calculation.
pub(super) struct DataTypes {
    pub(super) input: c_int,
    pub(super) output: c_int,
    pub(super) execution: c_int,
}

impl DataTypes {
    /// `None` if the library does not calculate with the type of the elements.
    pub(super) fn of(shape: &FftShape) -> Option<DataTypes> {
        let (real, complex) = (real_type(shape.element)?, complex_type(shape.element)?);
        let (input, output) = match shape.kind {
            FftKind::C2C => (complex, complex),
            FftKind::R2C => (real, complex),
            FftKind::C2R => (complex, real),
        };
        Some(DataTypes { input, output, execution: complex })
    }
}

/// Whether both sides are packed: then cuFFT needs no layouts, and chooses its simplest kernels.
pub(super) fn is_packed(shape: &FftShape) -> bool {
    let input = shape.sizes_of(shape.kind == FftKind::C2R);
    let output = shape.sizes_of(shape.kind == FftKind::R2C);
    side_is_packed(shape, &shape.input, input) && side_is_packed(shape, &shape.output, output)
}

fn side_is_packed(shape: &FftShape, layout: &FftLayout, sizes: [i64; 3]) -> bool {
    let elements = sizes.iter().try_fold(1_i64, |product, size| product.checked_mul(*size));
    layout.stride == 1
        && layout.embed[1..shape.rank] == sizes[1..shape.rank]
        && (shape.batch == 1 || elements == Some(layout.distance))
}
