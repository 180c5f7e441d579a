//! What the kernels of `kernels/copy_strided.cu` are launched with.
//!
//! A launch copies elements of a power of two of bytes along some axes. Addresses and strides are
//! multiples of the element; there are fewer than 2^31 elements, since a kernel's arithmetic is in 32
//! bits. The caller brings a copy into this form, and splits a larger one.

use sconce_base::types::DevicePtr;
use sconce_driver::{Dim3, KernelArguments, LaunchShape};

use super::divisor::Divisor;
use super::signature::COPY_STRIDED;

/// An axis of a launch; strides in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StridedAxis {
    /// Elements along the axis, at least 1.
    pub size: u32,
    /// From one element to the next in the destination.
    pub dst_stride: i64,
    /// From one element to the next in the source.
    pub src_stride: i64,
}

impl StridedAxis {
    const NONE: StridedAxis = StridedAxis { size: 1, dst_stride: 0, src_stride: 0 };
}

/// The most axes of a launch. One more than callers have: elements that are no power of two are an
/// axis of their own.
pub const STRIDED_AXES: usize = 9;
/// The most elements of a launch.
pub const STRIDED_ELEMENTS: u64 = (1 << 31) - 1;

/// A block's threads, and how many elements each copies.
const THREADS: u32 = 128;
const EACH: u32 = 4;
/// Slots before the axes, and of an axis.
const BEFORE_AXES: usize = 4;
const OF_AXIS: usize = 3;

const _: () = assert!(COPY_STRIDED.slots() == BEFORE_AXES + OF_AXIS * STRIDED_AXES);
/// The kernel for elements of a width, which is 1, 2, 4, 8 or 16.
pub fn strided_kernel_name(width: u32) -> &'static str {
    match width {
        1 => "sconce_copy_strided_1",
        2 => "sconce_copy_strided_2",
        4 => "sconce_copy_strided_4",
        8 => "sconce_copy_strided_8",
        _ => "sconce_copy_strided_16",
    }
}

/// Grid and arguments of a launch; the axes go from the innermost to the outermost.
pub fn strided_launch(
    dst: DevicePtr,
    src: DevicePtr,
    axes: &[StridedAxis],
) -> (LaunchShape, KernelArguments) {
    let n: u32 = axes.iter().map(|axis| axis.size).product();
    let rank = axes.len().max(1) as u32;
    let mut arguments = COPY_STRIDED.pack().u64(dst.0).u64(src.0).u32(n).u32(rank);
    for index in 0..STRIDED_AXES {
        let StridedAxis { size, dst_stride, src_stride } =
            axes.get(index).copied().unwrap_or(StridedAxis::NONE);
        let divisor = Divisor::by(size).to_slot();
        for word in [divisor, dst_stride as u64, src_stride as u64] {
            arguments.add(word);
        }
    }
    let grid = Dim3::line(n.div_ceil(THREADS * EACH).max(1));
    (LaunchShape { grid, block: Dim3::line(THREADS), shared_bytes: 0 }, arguments.finish())
}

/// A launch as the kernel sees it, for a backend that runs it itself.
pub struct StridedLaunch<'a> {
    pub n: u32,
    slots: &'a [u64],
}

impl<'a> StridedLaunch<'a> {
    /// Reads the slots that [`strided_launch`] made.
    pub fn read(slots: &'a [u64]) -> Option<StridedLaunch<'a>> {
        let rank = *slots.get(3)? as usize;
        let fits = (1..=STRIDED_AXES).contains(&rank) && slots.len() == COPY_STRIDED.slots();
        fits.then_some(StridedLaunch { n: slots[2] as u32, slots })
    }

    fn axis(&self, index: usize) -> (Divisor, u64, u64) {
        let at = BEFORE_AXES + OF_AXIS * index;
        (Divisor::from_slot(self.slots[at]), self.slots[at + 1], self.slots[at + 2])
    }

    /// The axes, from the innermost to the outermost.
    pub fn axes(&self) -> impl Iterator<Item = StridedAxis> {
        (0..self.slots[3] as usize).map(|index| {
            let (divisor, dst_stride, src_stride) = self.axis(index);
            let (dst_stride, src_stride) = (dst_stride as i64, src_stride as i64);
            StridedAxis { size: divisor.size, dst_stride, src_stride }
        })
    }

    /// How many elements follow each other without gaps on both sides, from any multiple of that on.
    pub fn run(&self, width: u64) -> u32 {
        let (divisor, dst_stride, src_stride) = self.axis(0);
        match (dst_stride, src_stride) == (width, width) {
            true => divisor.size,
            false => 1,
        }
    }

    /// Where an element goes to and comes from.
    pub fn element(&self, mut index: u32) -> (u64, u64) {
        let (mut to, mut from) = (self.slots[0], self.slots[1]);
        let rank = self.slots[3] as usize;
        for axis in 0..rank {
            let (divisor, dst_stride, src_stride) = self.axis(axis);
            let rest = if axis + 1 == rank { 0 } else { divisor.quotient(index) };
            let here = u64::from(index - rest * divisor.size);
            to = to.wrapping_add(here.wrapping_mul(dst_stride));
            from = from.wrapping_add(here.wrapping_mul(src_stride));
            index = rest;
        }
        (to, from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_holds_each_element_once_and_where_the_strides_say() {
        let axes = [
            StridedAxis { size: 3, dst_stride: 4, src_stride: -20 },
            StridedAxis { size: 2, dst_stride: 100, src_stride: 0 },
            StridedAxis { size: 5, dst_stride: -1000, src_stride: 8 },
        ];
        let (shape, arguments) = strided_launch(DevicePtr(9000), DevicePtr(500), &axes);
        assert_eq!((shape.grid, shape.block), (Dim3::line(1), Dim3::line(THREADS)));
        let launch = StridedLaunch::read(arguments.slots()).unwrap();
        assert_eq!((launch.n, launch.run(4)), (30, 1));
        let mut index = 0;
        for c in 0..5 {
            for b in 0..2 {
                for a in 0..3 {
                    let to = 9000 + 4 * a + 100 * b - 1000 * c;
                    let from = 500 - 20 * a + 8 * c;
                    assert_eq!(launch.element(index), (to as u64, from as u64));
                    index += 1;
                }
            }
        }
        let (shape, arguments) = strided_launch(DevicePtr(8), DevicePtr(16), &[]);
        let launch = StridedLaunch::read(arguments.slots()).unwrap();
        assert_eq!((launch.n, launch.element(0), shape.grid.x), (1, (8, 16), 1));
    }
}
