//! What the kernels of `kernels/sort_block.cu` are launched with.

use sconce_base::element::KeyOrder;
use sconce_driver::{Dim3, KernelArguments, LaunchShape};

use super::super::signature::SORT_BLOCK;
use super::radix::{THREADS, sort_tile};
use super::sides::{SLOTS_OF_SIDES, SORT_WIDTHS, SortSides, sort_width_index};

/// The kernel for an order.
pub fn sort_block_name(order: &KeyOrder) -> &'static str {
    const NAMES: [&str; SORT_WIDTHS] = [
        "sconce_sort_block_1",
        "sconce_sort_block_2",
        "sconce_sort_block_4",
        "sconce_sort_block_8",
    ];
    NAMES[sort_width_index(order)]
}

/// A sort of lines of 1 to [`sort_tile`] elements, a block for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockLaunch {
    pub order: KeyOrder,
    pub length: u32,
    pub sides: SortSides,
}

impl BlockLaunch {
    /// Grid and arguments.
    pub fn launch(&self) -> (LaunchShape, KernelArguments) {
        let BlockLaunch { order, length, sides } = self;
        let packing = SORT_BLOCK.pack().u32(*length).u32(sides.rank());
        let packing = packing.u64(order.mask).u64(order.infinity);
        let (grid, block) = (Dim3::line(sides.lines()), Dim3::line(THREADS));
        (LaunchShape { grid, block, shared_bytes: 0 }, sides.pack(packing).finish())
    }

    /// Reads the slots of a launch of the kernel for elements of so many bytes.
    pub fn read(slots: &[u64], bytes: usize) -> Option<BlockLaunch> {
        let (before, sides) = slots.split_at_checked(slots.len().checked_sub(SLOTS_OF_SIDES)?)?;
        let &[length, rank, mask, infinity] = before else { return None };
        let order = KeyOrder { bytes, mask, infinity };
        let sides = SortSides::read(sides, rank)?;
        let fits = (1..=u64::from(sort_tile(&order))).contains(&length);
        fits.then_some(BlockLaunch { order, length: length as u32, sides })
    }
}
