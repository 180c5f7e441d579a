//! What the kernels of `kernels/sort_lines.cu` are launched with.

use sconce_base::element::KeyOrder;
use sconce_driver::{Dim3, KernelArguments, LaunchShape};

use super::super::signature::SORT_LINES;
use super::sides::{SLOTS_OF_SIDES, SORT_WIDTHS, SortSides, sort_width_index};

/// Elements and threads of a block, and the shortest padded line; `kernels/sort_lines.cu` has them too.
const SHIFT: u32 = 11;
const THREADS: u32 = 256;
const LEAST_SHIFT: u32 = 3;

/// The longest line.
pub const SORT_LINES_LONGEST: u64 = 1 << SHIFT;

/// The kernel for an order.
pub fn sort_lines_name(order: &KeyOrder) -> &'static str {
    const NAMES: [&str; SORT_WIDTHS] = [
        "sconce_sort_lines_1",
        "sconce_sort_lines_2",
        "sconce_sort_lines_4",
        "sconce_sort_lines_8",
    ];
    NAMES[sort_width_index(order)]
}

/// A sort of lines of 1 to [`SORT_LINES_LONGEST`] elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinesLaunch {
    pub order: KeyOrder,
    pub length: u32,
    pub sides: SortSides,
}

impl LinesLaunch {
    /// Grid and arguments.
    pub fn launch(&self) -> (LaunchShape, KernelArguments) {
        let LinesLaunch { order, length, sides } = self;
        let shift = length.next_power_of_two().trailing_zeros().max(LEAST_SHIFT);
        let lines = sides.lines();
        // Whether the same elements of neighbouring lines are nearer than neighbours of a line.
        let nearer = |axis: &super::SortAxis| axis.strides[0].abs() < sides.steps[0].abs();
        let across = sides.axes.first().is_some_and(nearer);
        let packing = SORT_LINES.pack().u32(*length).u32(shift).u32(lines).u32(sides.rank());
        let packing = packing.u32(u32::from(across)).u64(order.mask).u64(order.infinity);
        let grid = Dim3::line(lines.div_ceil(1 << (SHIFT - shift)));
        let shape = LaunchShape { grid, block: Dim3::line(THREADS), shared_bytes: 0 };
        (shape, sides.pack(packing).finish())
    }

    /// Reads the slots of a launch of the kernel for elements of so many bytes.
    pub fn read(slots: &[u64], bytes: usize) -> Option<LinesLaunch> {
        let (before, sides) = slots.split_at_checked(slots.len().checked_sub(SLOTS_OF_SIDES)?)?;
        let &[length, _, lines, rank, _, mask, infinity] = before else { return None };
        let sides = SortSides::read(sides, rank)?;
        let fits = (1..=SORT_LINES_LONGEST).contains(&length) && lines == u64::from(sides.lines());
        let order = KeyOrder { bytes, mask, infinity };
        fits.then_some(LinesLaunch { order, length: length as u32, sides })
    }
}
