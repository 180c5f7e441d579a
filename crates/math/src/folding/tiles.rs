//! Neighbouring results, or lines, that are calculated together.

use sconce_base::strided::{SharedAxes, SharedAxis};

use super::call::KeptAxis;

/// The axes of results or lines with more than one element, with the strides of input and output.
pub(super) fn axes_of(kept: &[KeptAxis]) -> SharedAxes<2> {
    kept.iter()
        .map(|axis| SharedAxis { size: axis.size.max(0) as u64, strides: axis.both() })
        .filter(|axis| axis.size != 1)
        .collect()
}

/// Results or lines in tiles, which follow each other along the first axis.
pub(super) struct Tiles {
    pub(super) axes: SharedAxes<2>,
    /// The most results or lines of a tile.
    pub(super) width: usize,
    /// Tiles along the first axis.
    along: u64,
    /// All tiles.
    pub(super) count: u64,
}

impl Tiles {
    pub(super) fn of(axes: SharedAxes<2>, width: u64) -> Tiles {
        let width = width.max(1);
        let along = axes.first().map_or(1, |axis| axis.size).div_ceil(width);
        let others = axes.iter().skip(1).map(|axis| axis.size).product::<u64>();
        Tiles { axes, width: width as usize, along, count: along * others }
    }

    /// Where a tile begins in the input and in the output, and how many results or lines it has.
    pub(super) fn place(&self, number: u64) -> ([i64; 2], usize) {
        let Some((first, others)) = self.axes.split_first() else { return ([0; 2], 1) };
        let begin = number % self.along * self.width as u64;
        let mut place = first.strides.map(|stride| stride.wrapping_mul(begin as i64));
        let mut rest = number / self.along;
        for axis in others {
            for (place, stride) in place.iter_mut().zip(axis.strides) {
                *place = place.wrapping_add(stride.wrapping_mul((rest % axis.size) as i64));
            }
            rest /= axis.size;
        }
        (place, self.width.min((first.size - begin) as usize))
    }
}
