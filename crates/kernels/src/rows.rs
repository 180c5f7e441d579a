//! What the kernels of `kernels/copy_rows.cu` are launched with.
//!
//! A launch copies rows by aligned cells of the destination. Any number of rows of any width will
//! do, as long as in every row both sides are equally far from a cell's alignment.

use sconce_base::types::DevicePtr;
use sconce_driver::{Dim3, KernelArguments, LaunchShape};

use super::signature::COPY_ROWS;

/// A block's threads, and how many cells each copies.
const THREADS: u32 = 128;
const EACH: u32 = 4;
/// How far a grid reaches along x and y; kernels loop over what is beyond.
const MOST_X: u64 = (1 << 31) - 1;
const MOST_Y: u64 = 65_535;
/// Rows of fewer cells than this have no partial cells: those are copied by bytes.
const MANY_CELLS: u64 = 16;

/// Where the first row begins, and the pitch.
pub type RowsSide = (DevicePtr, u64);

/// The kernel for cells of a width, which is 1, 2, 4, 8 or 16.
pub fn rows_kernel_name(cell: u32) -> &'static str {
    match cell {
        1 => "sconce_copy_rows_1",
        2 => "sconce_copy_rows_2",
        4 => "sconce_copy_rows_4",
        8 => "sconce_copy_rows_8",
        _ => "sconce_copy_rows_16",
    }
}

/// The widest cell that both sides allow, as a power of two.
pub fn rows_cell_shift(dst: RowsSide, src: RowsSide, width: u64) -> u32 {
    let (dst, src) = ((dst.0.0, dst.1), (src.0.0, src.1));
    let apart = dst.0.wrapping_sub(src.0) | dst.1.wrapping_sub(src.1);
    let together = apart.trailing_zeros().min(4);
    let whole = (dst.0 | src.0 | dst.1 | src.1 | width).trailing_zeros().min(4);
    if width >= MANY_CELLS << together { together } else { whole }
}

/// Grid and arguments of a launch with cells of `1 << cell_shift` bytes.
pub fn rows_launch(
    cell_shift: u32,
    dst: RowsSide,
    src: RowsSide,
    width: u64,
    height: u64,
) -> (LaunchShape, KernelArguments) {
    let cell = 1_u64 << cell_shift;
    // A row that does not begin with a whole cell has one more.
    let skew = if (dst.0.0 | dst.1).is_multiple_of(cell) { 0 } else { cell - 1 };
    let cells = (width + skew).div_ceil(cell).max(1);
    let lanes_shift = cells.next_power_of_two().min(u64::from(THREADS)).trailing_zeros();
    let (lanes, lines) = (1_u64 << lanes_shift, u64::from(THREADS >> lanes_shift));
    let each = u64::from(EACH);
    // A thread's cells follow each other down the rows, unless they fill a row or rows are few.
    let along = cells >= lanes * each || height <= lines;
    let (right, down) = if along { (lanes * each, lines) } else { (lanes, lines * each) };
    let grid = Dim3 {
        x: cells.div_ceil(right).min(MOST_X) as u32,
        y: height.div_ceil(down).clamp(1, MOST_Y) as u32,
        z: 1,
    };
    let arguments = COPY_ROWS.pack().u64(dst.0.0).u64(src.0.0).u64(dst.1).u64(src.1);
    let arguments =
        arguments.u64(width).u64(height).u32(lanes_shift).u32(u32::from(along)).finish();
    (LaunchShape { grid, block: Dim3::line(THREADS), shared_bytes: 0 }, arguments)
}

/// A launch as the kernel sees it, for a backend that runs it itself.
pub struct RowsLaunch {
    dst: (u64, u64),
    src: (u64, u64),
    pub width: u64,
    pub height: u64,
}

impl RowsLaunch {
    /// Reads the slots that [`rows_launch`] made.
    pub fn read(slots: &[u64]) -> Option<RowsLaunch> {
        let &[dst, src, dst_pitch, src_pitch, width, height, lanes_shift, _along] = slots else {
            return None;
        };
        let launch = RowsLaunch { dst: (dst, dst_pitch), src: (src, src_pitch), width, height };
        (lanes_shift <= u64::from(THREADS.trailing_zeros())).then_some(launch)
    }

    /// Where a row goes to and comes from.
    pub fn row(&self, index: u64) -> (u64, u64) {
        let at = |(first, pitch): (u64, u64)| first.wrapping_add(index.wrapping_mul(pitch));
        (at(self.dst), at(self.src))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: DevicePtr = DevicePtr(1 << 20);

    #[test]
    fn cells_are_as_wide_as_both_sides_allow() {
        let shift = |dst: u64, src: u64, dst_pitch, src_pitch, width| {
            rows_cell_shift((AT.offset(dst), dst_pitch), (AT.offset(src), src_pitch), width)
        };
        assert_eq!(shift(0, 0, 4096, 8192, 4096), 4);
        // Equally far from alignment in every row, though never aligned.
        assert_eq!(shift(3, 35, 4001, 4033, 3999), 4);
        assert_eq!(shift(0, 4, 4096, 8192, 4096), 2);
        assert_eq!(shift(0, 0, 4092, 4096, 4092), 2);
        assert_eq!(shift(0, 0, 4098, 4096, 4098), 1);
        assert_eq!(shift(0, 0, 4097, 4096, 4096), 0);
        assert_eq!(shift(0, 8, 4096, 4096, 4096), 3);
        // Narrow rows have no partial cells.
        assert_eq!(shift(8, 8, 16, 32, 8), 3);
        assert_eq!(shift(0, 0, 256, 512, 100), 2);
        assert_eq!(shift(0, 0, 256, 512, 1), 0);
        assert_eq!(shift(0, 0, 256, 512, 16), 4);
    }

    #[test]
    fn a_grid_holds_all_tiles_or_is_as_large_as_grids_are() {
        let grid = |shift, skew: u64, width: u64, height| {
            let (dst, src) = ((AT.offset(skew), width + 16), (AT.offset(skew), width + 32));
            let (shape, arguments) = rows_launch(shift, dst, src, width, height);
            assert_eq!((shape.block, shape.grid.z), (Dim3::line(THREADS), 1));
            assert!(RowsLaunch::read(arguments.slots()).is_some());
            let lanes = 1 << arguments.slots()[6];
            let (right, down) = if arguments.slots()[7] == 1 { (EACH, 1) } else { (1, EACH) };
            (shape.grid.x, shape.grid.y, (right * lanes, down * THREADS / lanes))
        };
        assert_eq!(grid(4, 0, 16 << 10, 8192), (2, 8192, (512, 1)));
        assert_eq!(grid(4, 1, 16 << 10, 8192), (3, 8192, (512, 1)));
        assert_eq!(grid(4, 0, 4096, 8192), (2, 2048, (128, 4)));
        assert_eq!(grid(4, 0, 16, 8192), (1, 16, (1, 512)));
        assert_eq!(grid(0, 0, 1, 3), (1, 1, (4, 128)));
        assert_eq!(grid(0, 0, 600, 1 << 20), (2, 65_535, (512, 1)));
        assert_eq!(grid(0, 0, 1 << 41, 2), ((1 << 31) - 1, 2, (512, 1)));
        assert_eq!(grid(4, 0, 16, 1 << 40), (1, 65_535, (1, 512)));
    }

    #[test]
    fn slots_that_are_no_launch_are_refused() {
        assert!(RowsLaunch::read(&[0; COPY_ROWS.slots() - 1]).is_none());
        assert!(RowsLaunch::read(&[1, 1, 1, 1, 1, 1, 7, 0]).is_some());
        assert!(RowsLaunch::read(&[1, 1, 1, 1, 1, 1, 8, 0]).is_none());
    }
}
