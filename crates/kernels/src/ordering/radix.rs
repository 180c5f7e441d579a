//! What the kernels of `kernels/sort_radix.cu` are launched with: one that counts the digits of all
//! passes, and one for each pass.

use sconce_base::element::KeyOrder;
use sconce_base::types::DevicePtr;
use sconce_driver::{Dim3, KernelArguments, LaunchShape};

use super::super::divisor::Divisor;
use super::super::signature::{SORT_COUNT, SORT_PASS};
use super::sides::{
    SLOTS_OF_SIDES, SORT_KERNELS, SORT_WIDTHS, SortSides, sort_kernel_index, sort_width_index,
};

/// A block's threads, and the most items of a thread; `kernels/ordering/ranking.cuh` has them too.
pub(super) const THREADS: u32 = 384;
const ITEMS: u32 = 16;
const ITEMS_OF_8_BYTES: u32 = 12;
/// Threads and elements of a block that counts; `kernels/sort_radix.cu` has them too.
const COUNT_THREADS: u32 = 512;
const COUNTED: u32 = 32_768;

/// Values of a digit.
pub const SORT_BINS: usize = 256;
/// Marks a published number that counts all tiles up to this one.
pub const IS_WHOLE: u32 = 1 << 31;

/// The kernel that counts, for an order.
pub fn sort_count_name(order: &KeyOrder) -> &'static str {
    const NAMES: [&str; SORT_WIDTHS] = [
        "sconce_sort_count_1",
        "sconce_sort_count_2",
        "sconce_sort_count_4",
        "sconce_sort_count_8",
    ];
    NAMES[sort_width_index(order)]
}

/// The kernel of a pass, for an order.
pub fn sort_pass_name(order: &KeyOrder) -> &'static str {
    const NAMES: [&str; SORT_KERNELS] = [
        "sconce_sort_pass_1",
        "sconce_sort_pass_2",
        "sconce_sort_pass_i4",
        "sconce_sort_pass_i8",
        "sconce_sort_pass_f4",
        "sconce_sort_pass_f8",
    ];
    NAMES[sort_kernel_index(order)]
}

/// Elements of a tile of a pass, and the most elements that one block sorts.
pub fn sort_tile(order: &KeyOrder) -> u32 {
    THREADS * if order.bytes == 8 { ITEMS_OF_8_BYTES } else { ITEMS }
}

/// Tiles of a line.
pub fn sort_tiles(order: &KeyOrder, length: u32) -> u32 {
    length.div_ceil(sort_tile(order))
}

/// The count of the digits of all passes, into `[line][pass][digit]`, which is 0 before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountLaunch {
    pub order: KeyOrder,
    pub length: u32,
    pub histogram: DevicePtr,
    /// Only the input is read.
    pub sides: SortSides,
}

impl CountLaunch {
    /// Grid and arguments.
    pub fn launch(&self) -> (LaunchShape, KernelArguments) {
        let CountLaunch { order, length, histogram, sides } = self;
        let blocks = length.div_ceil(COUNTED);
        let packing = SORT_COUNT.pack().u32(*length).u64(Divisor::by(blocks).to_slot());
        let packing = packing.u32(sides.rank()).u64(order.mask).u64(order.infinity);
        let arguments = sides.pack(packing.u64(histogram.0)).finish();
        let grid = Dim3::line(blocks * sides.lines());
        (LaunchShape { grid, block: Dim3::line(COUNT_THREADS), shared_bytes: 0 }, arguments)
    }

    /// Reads the slots of a launch of the kernel for elements of so many bytes.
    pub fn read(slots: &[u64], bytes: usize) -> Option<CountLaunch> {
        let (before, sides) = slots.split_at_checked(slots.len().checked_sub(SLOTS_OF_SIDES)?)?;
        let &[length, _, rank, mask, infinity, histogram] = before else { return None };
        let order = KeyOrder { bytes, mask, infinity };
        let (length, histogram) = (u32::try_from(length).ok()?, DevicePtr(histogram));
        Some(CountLaunch { order, length, histogram, sides: SortSides::read(sides, rank)? })
    }
}

/// The memory of a pass beside its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassWork {
    /// What [`CountLaunch`] has counted.
    pub histogram: DevicePtr,
    /// 32-bit words `[tile][digit]`, which are 0 before.
    pub states: DevicePtr,
    /// A 32-bit word, which is 0 before.
    pub counter: DevicePtr,
    /// The places of what is read, as 32-bit numbers `[line][element]`; 0 if they are those of the
    /// elements.
    pub places: DevicePtr,
}

/// A pass: sorts by one digit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassLaunch {
    pub order: KeyOrder,
    pub length: u32,
    /// The number of the pass, from the lowest digit.
    pub number: u32,
    /// Whether indices have 64 bits instead of 32.
    pub wide: bool,
    pub work: PassWork,
    pub sides: SortSides,
}

impl PassLaunch {
    /// Grid and arguments.
    pub fn launch(&self) -> (LaunchShape, KernelArguments) {
        let PassLaunch { order, length, number, wide, work, sides } = self;
        let tiles = sort_tiles(order, *length);
        let packing = SORT_PASS.pack().u32(*length).u64(Divisor::by(tiles).to_slot());
        let packing = packing.u32(sides.rank()).u32(*number).u32(u32::from(*wide));
        let packing = packing.u64(order.mask).u64(order.infinity);
        let PassWork { histogram, states, counter, places } = *work;
        let packing = packing.u64(histogram.0).u64(states.0).u64(counter.0).u64(places.0);
        let grid = Dim3::line(tiles * sides.lines());
        let shape = LaunchShape { grid, block: Dim3::line(THREADS), shared_bytes: 0 };
        (shape, sides.pack(packing).finish())
    }

    /// Reads the slots of a launch of the kernel for elements of so many bytes.
    pub fn read(slots: &[u64], bytes: usize) -> Option<PassLaunch> {
        let (before, sides) = slots.split_at_checked(slots.len().checked_sub(SLOTS_OF_SIDES)?)?;
        let &[length, _, rank, number, wide, mask, infinity, ref work @ ..] = before else {
            return None;
        };
        let &[histogram, states, counter, places] = work else { return None };
        if number >= bytes as u64 {
            return None;
        }
        Some(PassLaunch {
            order: KeyOrder { bytes, mask, infinity },
            length: u32::try_from(length).ok()?,
            number: number as u32,
            wide: wide != 0,
            work: PassWork {
                histogram: DevicePtr(histogram),
                states: DevicePtr(states),
                counter: DevicePtr(counter),
                places: DevicePtr(places),
            },
            sides: SortSides::read(sides, rank)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use sconce_base::element::Dtype;
    use smallvec::SmallVec;

    use super::super::{BlockLaunch, LinesLaunch, SortAxis};
    use super::*;

    #[test]
    fn launches_are_read_as_they_were_packed() {
        let axes = [
            SortAxis { size: 7, strides: [-4, 40, 80] },
            SortAxis { size: 3, strides: [1000, 0, 8] },
        ];
        let sides = SortSides {
            addresses: [1 << 40, 2 << 40, 3 << 40].map(DevicePtr),
            steps: [400, 4, -8],
            axes: SmallVec::from_slice(&axes),
        };
        assert_eq!(sides.lines(), 21);
        assert_eq!(sides.start(15), [(1 << 40) + 2000 - 4, (2 << 40) + 40, (3 << 40) + 96]);
        let order = KeyOrder::of(Dtype::F32, true).unwrap();
        let lines = LinesLaunch { order, length: 500, sides: sides.clone() };
        let (shape, arguments) = lines.launch();
        assert_eq!(shape.grid.x, 6);
        assert_eq!(LinesLaunch::read(arguments.slots(), 4), Some(lines));
        assert_eq!(LinesLaunch::read(&arguments.slots()[1..], 4), None);

        let block = BlockLaunch { order, length: 6144, sides: sides.clone() };
        let (shape, arguments) = block.launch();
        assert_eq!(shape.grid.x, 21);
        assert_eq!(BlockLaunch::read(arguments.slots(), 4), Some(block));
        assert_eq!(BlockLaunch::read(arguments.slots(), 8), None);

        let (length, histogram) = (1_000_000, DevicePtr(64));
        let count = CountLaunch { order, length, histogram, sides: sides.clone() };
        let (shape, arguments) = count.launch();
        assert_eq!(shape.grid.x, 31 * 21);
        assert_eq!(CountLaunch::read(arguments.slots(), 4), Some(count));

        let [states, counter, places] = [128, 256, 0].map(DevicePtr);
        let work = PassWork { histogram, states, counter, places };
        let pass = PassLaunch { order, length, number: 3, wide: true, work, sides };
        let (shape, arguments) = pass.launch();
        assert_eq!(shape.grid.x, 163 * 21);
        assert_eq!(PassLaunch::read(arguments.slots(), 4), Some(pass));
        assert_eq!(PassLaunch::read(arguments.slots(), 2), None);
    }
}
