//! What the kernels of `kernels/gather_select.cu` are launched with.
//!
//! A launch copies elements of a power of two of bytes along some axes, of which one may be selected
//! along by index: then an index is read at the element's place in the indices, and the element from as
//! many steps further on in the source. Addresses and strides are multiples of the element.

use sconce_base::types::DevicePtr;
use sconce_driver::{Dim3, KernelArguments, LaunchShape};
use smallvec::SmallVec;

use super::super::divisor::Divisor;
use super::super::signature::SELECT;

/// The most axes of a launch, a block's threads, and how many elements each copies;
/// `kernels/gather_select.cu` has them too.
pub const SELECT_AXES: usize = 5;
const THREADS: u32 = 128;
const EACH: u32 = 4;
/// The most elements of a launch: a kernel's arithmetic is in 32 bits.
pub const SELECT_ELEMENTS: u64 = (1 << 31) - 1;
/// Slots before the axes, and of an axis.
const BEFORE_AXES: usize = 8;
const OF_AXIS: usize = 4;

const _: () = assert!(SELECT.slots() == BEFORE_AXES + OF_AXIS * SELECT_AXES);

/// The operands of a launch.
pub const SELECT_DST: usize = 0;
pub const SELECT_SRC: usize = 1;
pub const SELECT_INDEX: usize = 2;

/// An axis of a launch; strides in bytes of destination, source and indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectAxis {
    pub size: u32,
    pub strides: [i64; 3],
}

/// A launch. Axes go from the innermost to the outermost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectLaunch {
    pub dst: DevicePtr,
    pub src: DevicePtr,
    /// The indices; 0 if nothing is selected.
    pub index: DevicePtr,
    /// Whether indices have 64 bits instead of 32.
    pub wide: bool,
    /// Indices are less than this.
    pub size: u64,
    /// Bytes from one index's elements in the source to those of the next.
    pub step: i64,
    pub axes: SmallVec<[SelectAxis; SELECT_AXES]>,
}

/// The kernel for elements of a width, which is 1, 2, 4, 8 or 16.
pub fn select_kernel_name(width: u32) -> &'static str {
    match width {
        1 => "sconce_select_1",
        2 => "sconce_select_2",
        4 => "sconce_select_4",
        8 => "sconce_select_8",
        _ => "sconce_select_16",
    }
}

impl SelectLaunch {
    /// How many elements there are.
    pub fn n(&self) -> u32 {
        self.axes.iter().map(|axis| axis.size).product()
    }

    /// Grid and arguments.
    pub fn launch(&self) -> (LaunchShape, KernelArguments) {
        let SelectLaunch { dst, src, index, wide, size, step, axes } = self;
        let n = self.n();
        let mut packing = SELECT.pack();
        packing.add(dst.0);
        packing.add(src.0);
        for word in [n, axes.len() as u32, u32::from(*wide)] {
            packing.add_u32(word);
        }
        for word in [index.0, *size, *step as u64] {
            packing.add(word);
        }
        for at in 0..SELECT_AXES {
            let none = SelectAxis { size: 1, strides: [0; 3] };
            let SelectAxis { size, strides } = axes.get(at).copied().unwrap_or(none);
            packing.add(Divisor::by(size).to_slot());
            for stride in strides {
                packing.add(stride as u64);
            }
        }
        let grid = Dim3::line(n.div_ceil(THREADS * EACH));
        (LaunchShape { grid, block: Dim3::line(THREADS), shared_bytes: 0 }, packing.finish())
    }

    /// Reads the slots of a launch.
    pub fn read(slots: &[u64]) -> Option<SelectLaunch> {
        let (before, axes) = slots.split_at_checked(BEFORE_AXES)?;
        let &[dst, src, n, rank, wide, index, size, step] = before else { return None };
        if axes.len() != OF_AXIS * SELECT_AXES || rank > SELECT_AXES as u64 {
            return None;
        }
        let axes = axes.chunks_exact(OF_AXIS).take(rank as usize).map(|slots| SelectAxis {
            size: Divisor::from_slot(slots[0]).size,
            strides: [slots[1] as i64, slots[2] as i64, slots[3] as i64],
        });
        let [dst, src, index] = [dst, src, index].map(DevicePtr);
        let (wide, step) = (wide != 0, step as i64);
        let launch = SelectLaunch { dst, src, index, wide, size, step, axes: axes.collect() };
        (u64::from(launch.n()) == n).then_some(launch)
    }

    /// Where an element goes to, comes from before an index is added, and has its index.
    pub fn element(&self, mut at: u32) -> [u64; 3] {
        let mut places = [self.dst.0, self.src.0, self.index.0];
        for axis in &self.axes {
            let here = i64::from(at % axis.size);
            at /= axis.size;
            for (place, stride) in places.iter_mut().zip(axis.strides) {
                *place = place.wrapping_add_signed(here.wrapping_mul(stride));
            }
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_is_read_as_it_was_packed() {
        let axes = [
            SelectAxis { size: 6, strides: [4, 4, 0] },
            SelectAxis { size: 100, strides: [24, 0, 8] },
            SelectAxis { size: 3, strides: [2400, -48, 0] },
        ];
        let launch = SelectLaunch {
            dst: DevicePtr(1 << 20),
            src: DevicePtr(2 << 20),
            index: DevicePtr(3 << 20),
            wide: true,
            size: 17,
            step: -24,
            axes: SmallVec::from_slice(&axes),
        };
        let (shape, arguments) = launch.launch();
        assert_eq!(shape.grid, Dim3::line(4));
        let read = SelectLaunch::read(arguments.slots()).unwrap();
        assert_eq!(read, launch);
        let at = 2 * 600 + 31 * 6 + 5;
        let expected = [(1 << 20) + 4800 + 24 * 31 + 20, (2 << 20) - 96 + 20, (3 << 20) + 8 * 31];
        assert_eq!(read.element(at), expected);
        assert_eq!(SelectLaunch::read(&arguments.slots()[1..]), None);
    }
}
