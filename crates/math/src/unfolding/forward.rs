//! One image of the input to one of the output.

use std::ops::Range;

use super::geometry::Geometry;
use super::unfold::{blocks, pairs};
use crate::products::{Factor, Real, WrongLengths, multiply};

/// Why a convolution was not calculated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncalculated {
    /// There was no memory of the host.
    NoMemory,
    /// Slices of other lengths than the sizes say.
    WrongLengths,
    /// The caller stopped it, for a reason with a number of its own.
    Stopped(i32),
}

impl From<WrongLengths> for Uncalculated {
    fn from(_: WrongLengths) -> Uncalculated {
        Uncalculated::WrongLengths
    }
}

/// Allocates `count` zeros.
pub fn zeros<T: Real>(count: usize) -> Result<Vec<T>, Uncalculated> {
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|_| Uncalculated::NoMemory)?;
    values.resize(count, T::default());
    Ok(values)
}

/// Writes an image of the output, from an image of the input and the whole filter, each packed. `pass` sees each
/// block of the unfolded input before it is multiplied.
pub fn forward_image<T: Real>(
    geometry: &Geometry,
    input: &[T],
    filter: &[T],
    output: &mut [T],
    mut pass: impl FnMut(&mut [T], &Range<usize>) -> Result<(), Uncalculated>,
) -> Result<(), Uncalculated> {
    let (taps, features) = (geometry.taps(), geometry.features);
    let (area, positions) = (geometry.input_area() * geometry.channels, geometry.positions());
    for group in 0..geometry.groups {
        let filter = &filter[group * features * taps..][..features * taps];
        let input = &input[group * area..][..area];
        for block in blocks(geometry) {
            let mut unfolded = zeros::<T>(block.len() * taps)?;
            pairs(geometry, &block, |to, from| unfolded[to] = input[from]);
            pass(&mut unfolded, &block)?;
            let mut part = zeros::<T>(block.len() * features)?;
            let sizes = [block.len(), features, taps];
            let (one, zero) = (T::from(1.0), T::default());
            multiply(
                sizes,
                one,
                Factor { values: &unfolded, transposed: false },
                Factor { values: filter, transposed: false },
                zero,
                &mut part,
            )?;
            for (feature, part) in part.chunks(block.len()).enumerate() {
                let first = (group * features + feature) * positions;
                output[first + block.start..first + block.end].copy_from_slice(part);
            }
        }
    }
    Ok(())
}
