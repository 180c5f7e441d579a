//! Convolutions whose sums are made in place: a tile of outputs is in registers while the filter is walked.
//!
//! A part has some lines of an image's output and one group of channels. Its input is copied once, with channels
//! innermost and zeros where the padding is (`padded`), so that what follows has no edges. The filter is copied to
//! blocks of features that fill vectors (`weights`). A tile has some positions and the features of a block; each
//! element of the input that it meets is multiplied with a vector of the filter (`tiles`).
//!
//! If the input is small, a part has some blocks of features and whole images instead: each block of the filter is
//! copied just before it is used, to memory that stays in the cache. The last layers of a network have few positions
//! and a large filter, and to write and read the whole of it would take longer than the sums.
//!
//! Elements of a sum are added in the order of the filter, its channels innermost, whatever part and tile the output is
//! in. So results depend neither on the number of threads nor on the order of memory.
//!
//! | file | idea |
//! |---|---|
//! | `padded` | the input of a part |
//! | `tiles` | sums of a tile |
//! | `turned` | lines that become columns |
//! | `weights` | the filter, in blocks of features |

mod padded;
mod tiles;
mod turned;
mod weights;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use tiles::TileTask;
use weights::Blocks;

use super::ChannelOrder;
use crate::parallel::{self, Divided};
use crate::products::Real;
use crate::unfolding::{Geometry, Uncalculated, zeros};

/// Bytes of the padded input of a part, unless one line has more: it is read for each block of features.
const INPUT_BYTES: usize = 128 << 10;

/// The most bytes of the padded input of a group for which parts have blocks of features, if the filter has as many:
/// half of a usual second cache.
const SMALL_BYTES: usize = 512 << 10;

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
    let blocks = Blocks::of(geometry, order, filter);
    let output = Divided::new(output);
    let parts = wanted_parts(geometry, parallel::available());
    let parts_of_group = parts.div_ceil(geometry.groups);
    if is_small::<T>(geometry) && parts_of_group <= blocks.count {
        return by_features((geometry, order), input, &blocks, parts_of_group, &output);
    }
    by_lines((geometry, order), input, &blocks, &output)
}

/// Each part has some lines of the output of an image and a group.
fn by_lines<T: Real>(
    (geometry, order): (&Geometry, ChannelOrder),
    input: &[T],
    blocks: &Blocks<'_, T>,
    output: &Divided<'_, T>,
) -> Result<(), Uncalculated> {
    let weights = blocks.all()?;
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
        let group = part.group;
        let Some(task) = TileTask::of(geometry, order, part, input, output) else {
            return no_memory.store(true, Ordering::Relaxed);
        };
        for block in 0..blocks.count {
            task.calculate(block, blocks.lanes, weights.block(group, block));
        }
    });
    if no_memory.into_inner() { Err(Uncalculated::NoMemory) } else { Ok(()) }
}

/// Each part has some blocks of the features of a group, and all images.
fn by_features<T: Real>(
    (geometry, order): (&Geometry, ChannelOrder),
    input: &[T],
    blocks: &Blocks<'_, T>,
    parts_of_group: usize,
    output: &Divided<'_, T>,
) -> Result<(), Uncalculated> {
    let no_memory = AtomicBool::new(false);
    parallel::for_each(geometry.groups * parts_of_group, &|index| {
        let (group, part) = (index / parts_of_group, index % parts_of_group);
        let first_of = |part: usize| part * blocks.count / parts_of_group;
        let axis = Lines::of(geometry).axis;
        let lines = 0..geometry.output[axis];
        let tasks = (0..geometry.images).map(|image| {
            let part = OutputPart { image, group, lines: lines.clone(), axis };
            TileTask::of(geometry, order, part, input, output)
        });
        let (Some(tasks), Ok(mut filter)) =
            (tasks.collect::<Option<Vec<_>>>(), zeros::<T>(blocks.size))
        else {
            return no_memory.store(true, Ordering::Relaxed);
        };
        for block in first_of(part)..first_of(part + 1) {
            // Behind the last features lie those of another block, whose sums are not written.
            blocks.write(group, block, &mut filter);
            for task in &tasks {
                task.calculate(block, blocks.lanes, &filter);
            }
        }
    });
    if no_memory.into_inner() { Err(Uncalculated::NoMemory) } else { Ok(()) }
}

/// Whether all images of a group are small enough that parts have blocks of features.
fn is_small<T>(geometry: &Geometry) -> bool {
    let places = (0..3).map(|axis| padded::places(geometry, axis, geometry.output[axis]));
    let input = places
        .chain([geometry.images, geometry.channels])
        .fold(size_of::<T>(), usize::saturating_mul);
    let filter = geometry.features * geometry.taps() * size_of::<T>();
    input <= INPUT_BYTES.max(filter.min(SMALL_BYTES))
}

/// The parts that so many threads can share.
fn wanted_parts(geometry: &Geometry, threads: usize) -> usize {
    if threads == 1 {
        return 1;
    }
    let outputs = geometry.images * geometry.groups * geometry.positions();
    let work = outputs * geometry.taps() * geometry.features;
    (work / LEAST).min(threads).max((work / USUAL).min(4 * threads)).max(1)
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
        let parts = wanted_parts(geometry, threads);
        let groups = geometry.images * geometry.groups;
        let shared = self.count.div_ceil(parts.div_ceil(groups));
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

    /// A convolution of one square image with filters of 3 x 3, whose output has the sides of the input.
    fn layer(groups: usize, [channels, features]: [usize; 2], side: usize) -> Geometry {
        Geometry {
            images: 1,
            groups,
            channels,
            features,
            input: [1, side, side],
            filter: [1, 3, 3],
            output: [1, side, side],
            stride: [1; 3],
            padding: [0, 1, 1],
            dilation: [1; 3],
        }
    }

    #[test]
    fn small_images_are_those_that_stay_in_a_cache_beside_a_filter() {
        let mut geometry = layer(2, [512, 512], 7);
        // 81 places of 2 KB, and a filter of 9 MB.
        assert!(is_small::<f32>(&geometry));
        geometry.images = 4;
        assert!(!is_small::<f32>(&geometry));
        (geometry.images, geometry.features) = (1, 7);
        // The filter has 126 KB.
        assert!(!is_small::<f32>(&geometry));
        geometry.padding = [0, i64::MAX / 8, 0];
        geometry.output[1] = usize::MAX / 8;
        assert!(!is_small::<f32>(&geometry));
    }

    #[test]
    fn parts_are_as_many_as_threads_can_share_and_fit_a_cache() {
        let mut geometry = layer(1, [16, 32], 56);
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
