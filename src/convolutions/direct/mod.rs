//! Convolutions whose sums are made in place: a tile of outputs is in registers while the filter is walked.
//!
//! A part is a range of lines of an image's output, for one group of channels. Its input is copied once, with channels
//! innermost and zeros where the padding is (`padded`), so that what follows has no edges. The filter lies in blocks of
//! features that fill vectors (`weights`). A tile has some positions and the features of a block; each element of the
//! input that it meets is multiplied with a vector of the filter (`tiles`).
//!
//! Elements of a sum are added in the order of the filter, its channels innermost, whatever part and tile the output is
//! in. So results depend neither on the number of threads nor on the order of memory.
//!
//! | file | idea |
//! |---|---|
//! | `padded` | the input of a part |
//! | `weights` | the filter, in blocks of features |
//! | `tiles` | sums of a tile |

mod padded;
mod tiles;
mod weights;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use padded::Padded;
use weights::Weights;

use super::ChannelOrder;
use crate::parallel::{self, Divided};
use crate::products::Real;
use crate::unfolding::{Geometry, Uncalculated};

/// Bytes of the padded input of a part, unless one line has more: it is read for each block of features.
const INPUT_BYTES: usize = 128 << 10;

/// The least and the usual work of a part, in multiplications, where there are threads to share it.
const LEAST: usize = 1 << 19;
const USUAL: usize = 1 << 22;

pub(super) fn convolve<T: Real>(
    geometry: &Geometry,
    order: ChannelOrder,
    input: &[T],
    filter: &[T],
    output: &mut [T],
) -> Result<(), Uncalculated> {
    let weights = Weights::of(geometry, order, filter)?;
    let output = Divided::new(output);
    let lines = Lines::of(geometry);
    let step = lines.of_part(geometry, size_of::<T>(), parallel::available());
    let parts_of_group = lines.count.div_ceil(step);
    let no_memory = AtomicBool::new(false);
    parallel::for_each(geometry.images * geometry.groups * parts_of_group, &|index| {
        let (group, first) = (index / parts_of_group, index % parts_of_group * step);
        let part = OutputPart {
            image: group / geometry.groups,
            group: group % geometry.groups,
            lines: first..lines.count.min(first + step),
            axis: lines.axis,
        };
        match Padded::of(geometry, order, &part, input) {
            Some(padded) => tiles::calculate(geometry, order, &part, &padded, &weights, &output),
            None => no_memory.store(true, Ordering::Relaxed),
        }
    });
    if no_memory.into_inner() { Err(Uncalculated::NoMemory) } else { Ok(()) }
}

/// Some lines of the output of an image and a group.
struct OutputPart {
    image: usize,
    group: usize,
    lines: Range<usize>,
    axis: usize,
}

impl OutputPart {
    /// The outputs of the part along an axis.
    fn along(&self, geometry: &Geometry, axis: usize) -> Range<usize> {
        if axis == self.axis { self.lines.clone() } else { 0..geometry.output[axis] }
    }

    /// Positions of the output, of those of an image.
    fn positions(&self, geometry: &Geometry) -> Range<usize> {
        let line = geometry.output[self.axis + 1..].iter().product::<usize>();
        self.lines.start * line..self.lines.end * line
    }
}

/// The axis along which the output is divided: the outermost that has several places, but never the last, whose places
/// share most of what they read.
struct Lines {
    axis: usize,
    count: usize,
}

impl Lines {
    fn of(geometry: &Geometry) -> Lines {
        let axis = usize::from(geometry.output[0] == 1);
        Lines { axis, count: geometry.output[axis] }
    }

    /// Lines of a part.
    fn of_part(&self, geometry: &Geometry, element: usize, threads: usize) -> usize {
        let groups = geometry.images * geometry.groups;
        let work = groups * geometry.positions() * geometry.taps() * geometry.features;
        let parts = (work / LEAST).min(threads).max((work / USUAL).min(4 * threads));
        let shared = if threads > 1 {
            self.count.div_ceil(parts.div_ceil(groups).max(1))
        } else {
            self.count
        };
        // The input of one more line.
        let more = padded::places(geometry, self.axis, 2) - padded::places(geometry, self.axis, 1);
        let whole: usize = (0..3)
            .filter(|axis| *axis != self.axis)
            .map(|axis| padded::places(geometry, axis, geometry.output[axis]))
            .product();
        let bytes = more * whole * geometry.channels * element;
        (INPUT_BYTES / bytes.max(1)).clamp(1, shared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_as_many_as_threads_can_share_and_fit_a_cache() {
        let mut geometry = Geometry {
            images: 1,
            groups: 1,
            channels: 16,
            features: 32,
            input: [1, 56, 56],
            filter: [1, 3, 3],
            output: [1, 56, 56],
            stride: [1; 3],
            padding: [0, 1, 1],
            dilation: [1; 3],
        };
        let step = |geometry: &Geometry, threads| {
            let lines = Lines::of(geometry);
            (lines.axis, lines.of_part(geometry, 4, threads))
        };
        // A line of the input has 58 places of 64 bytes, and 35 of them fit.
        assert_eq!(step(&geometry, 1), (1, 35));
        // 14 million multiplications are 3 parts for 2 threads, and no more for 64 than 27.
        assert_eq!(step(&geometry, 2), (1, 19));
        assert_eq!(step(&geometry, 64), (1, 3));
        geometry.images = 100;
        assert_eq!(step(&geometry, 2), (1, 35));
        geometry.channels = 1 << 20;
        assert_eq!(step(&geometry, 1), (1, 1));
        (geometry.channels, geometry.output[0], geometry.input[0]) = (1, 7, 7);
        assert_eq!(step(&geometry, 1), (0, 7));
    }
}
