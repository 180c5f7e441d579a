//! Where the lines of a sort lie in its operands, and for which keys there are kernels.

use sconce_base::element::KeyOrder;
use sconce_base::types::DevicePtr;
use smallvec::SmallVec;

use super::super::divisor::Divisor;
use super::super::signature::Packing;

/// The kernels of a kind whose keys are calculated once: for elements of 1, 2, 4 and 8 bytes.
pub const SORT_WIDTHS: usize = 4;
/// The kernels of a kind that knows the type if an element is wide: for elements of 1 and 2 bytes, and for
/// integers and floats of 4 and 8.
pub const SORT_KERNELS: usize = 6;

/// The index of the kernel for the width of an order among those of its kind.
pub fn sort_width_index(order: &KeyOrder) -> usize {
    order.bytes.trailing_zeros() as usize
}

/// The index of the kernel for an order among those of its kind.
pub fn sort_kernel_index(order: &KeyOrder) -> usize {
    let width = sort_width_index(order);
    let is_wide_float = order.infinity != 0 && order.bytes > 2;
    if is_wide_float { 2 + width } else { width }
}

/// Axes of lines in a launch; `kernels/ordering/sides.cuh` has the number too.
pub const SORT_AXES: usize = 3;
/// The most lines of a launch: a kernel's arithmetic is in 32 bits.
pub const SORT_LINES_MOST: u64 = (1 << 31) - 1;
/// Slots of [`SortSides`].
pub(crate) const SLOTS_OF_SIDES: usize = 6 + 4 * SORT_AXES;

/// An axis of lines; strides in bytes of input, values and indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortAxis {
    pub size: u32,
    pub strides: [i64; 3],
}

/// Where lines lie in input, values and indices. Axes go from the innermost to the outermost, and there
/// are at most [`SORT_AXES`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortSides {
    pub addresses: [DevicePtr; 3],
    /// Bytes from one element of a line to the next.
    pub steps: [i64; 3],
    pub axes: SmallVec<[SortAxis; SORT_AXES]>,
}

impl SortSides {
    /// How many lines there are.
    pub fn lines(&self) -> u32 {
        self.axes.iter().map(|axis| axis.size).product()
    }

    pub(super) fn rank(&self) -> u32 {
        self.axes.len() as u32
    }

    pub(super) fn pack(&self, mut packing: Packing) -> Packing {
        for address in self.addresses {
            packing.add(address.0);
        }
        for step in self.steps {
            packing.add(step as u64);
        }
        for index in 0..SORT_AXES {
            let none = SortAxis { size: 1, strides: [0; 3] };
            let SortAxis { size, strides } = self.axes.get(index).copied().unwrap_or(none);
            packing.add(Divisor::by(size).to_slot());
            for stride in strides {
                packing.add(stride as u64);
            }
        }
        packing
    }

    /// Reads the slots that [`pack`](Self::pack) made.
    pub(super) fn read(slots: &[u64], rank: u64) -> Option<SortSides> {
        let slots: &[u64; SLOTS_OF_SIDES] = slots.try_into().ok()?;
        if rank > SORT_AXES as u64 {
            return None;
        }
        let axes = slots[6..].chunks_exact(4).take(rank as usize).map(|slots| SortAxis {
            size: Divisor::from_slot(slots[0]).size,
            strides: [slots[1] as i64, slots[2] as i64, slots[3] as i64],
        });
        Some(SortSides {
            addresses: [slots[0], slots[1], slots[2]].map(DevicePtr),
            steps: [slots[3] as i64, slots[4] as i64, slots[5] as i64],
            axes: axes.collect(),
        })
    }

    /// Where a line begins in each operand.
    pub fn start(&self, mut line: u32) -> [u64; 3] {
        let mut start = self.addresses.map(|address| address.0);
        for (index, axis) in self.axes.iter().enumerate() {
            let rest = if index + 1 == self.axes.len() { 0 } else { line / axis.size };
            let here = i64::from(line - rest * axis.size);
            for (start, stride) in start.iter_mut().zip(axis.strides) {
                *start = start.wrapping_add_signed(here.wrapping_mul(stride));
            }
            line = rest;
        }
        start
    }
}
