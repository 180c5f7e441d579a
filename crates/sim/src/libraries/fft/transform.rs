//! One transform after the other, from input to output.
//!
//! As in cuFFT nothing is scaled, a real output ignores the imaginary parts that a real signal cannot
//! have, and transforms to real numbers in two and three dimensions overwrite the input, here
//! with NaNs. In one dimension the input stays as it is.
#![forbid(unsafe_code)]

use sconce_driver::{FftDirection, FftKind, FftShape};
use sconce_math::fourier::{PackedTransform, packed_transform};

use super::side::TransformSide;
use crate::codes;
use crate::memory::{DeviceMemoryView, Intent, MemoryAccess};

/// All bytes of a NaN.
const NO_NUMBER: u8 = 0xFF;

/// Where the transforms of a plan read and write.
pub(crate) struct TransformSides {
    batch: i64,
    input: TransformSide,
    output: TransformSide,
    /// Whether the input is overwritten.
    spoils_input: bool,
}

impl TransformSides {
    /// The sides of a shape that has been checked.
    pub(crate) fn new(shape: &FftShape) -> TransformSides {
        let (real, complex) = (shape.element.bytes(), 2 * shape.element.bytes());
        let side = |layout, halved, bytes| TransformSide::new(shape, layout, halved, bytes);
        let (input, output) = match shape.kind {
            FftKind::C2C => {
                (side(&shape.input, false, complex), side(&shape.output, false, complex))
            }
            FftKind::R2C => (side(&shape.input, false, real), side(&shape.output, true, complex)),
            FftKind::C2R => (side(&shape.input, true, complex), side(&shape.output, false, real)),
        };
        let spoils_input = shape.rank > 1 && shape.kind == FftKind::C2R;
        TransformSides { batch: shape.batch, input, output, spoils_input }
    }

    /// The memory that they read and write.
    pub(crate) fn accesses(&self, input: u64, output: u64) -> Vec<MemoryAccess> {
        let mut accesses = vec![
            self.input.access(Intent::Read, input, self.batch),
            self.output.access(Intent::Write, output, self.batch),
        ];
        if self.spoils_input {
            accesses.push(self.input.access(Intent::Write, input, self.batch));
        }
        accesses
    }
}

/// All transforms of a plan.
pub(crate) struct Transforms {
    pub(crate) sides: TransformSides,
    packed: Box<dyn PackedTransform>,
}

impl Transforms {
    /// The transforms of a shape that has been checked.
    pub(crate) fn new(shape: &FftShape) -> Transforms {
        let sizes = shape.sizes.map(|size| size as usize);
        let packed = packed_transform(shape.kind, shape.element, &sizes[..shape.rank]);
        Transforms { sides: TransformSides::new(shape), packed }
    }

    /// Calculates, from memory to memory.
    pub(crate) fn run(
        &self,
        memory: &DeviceMemoryView<'_>,
        input: u64,
        output: u64,
        direction: FftDirection,
    ) -> Result<(), i32> {
        let sides = &self.sides;
        let mut before = vec![0; sides.input.packed_bytes()];
        let mut after = vec![0; sides.output.packed_bytes()];
        for transform in 0..sides.batch {
            sides.input.read(memory, input, transform, &mut before)?;
            let calculated = self.packed.run(&before, &mut after, direction, 1.0);
            calculated.map_err(|_| codes::LAUNCH_FAILED)?;
            if sides.spoils_input {
                before.fill(NO_NUMBER);
                sides.input.write(memory, input, transform, &before)?;
            }
            sides.output.write(memory, output, transform, &after)?;
        }
        Ok(())
    }
}
