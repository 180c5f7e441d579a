//! Elements at indices, on a device: `torch/kernels/indexed.cu`.

#![allow(unsafe_code, reason = "launches kernels")]

use super::{Access, Indexed};
use crate::error::{Error, Result};
use crate::kernels::{Grid, KernelArgument, images, launch};
use crate::operations::tensors::{bytes_of, kernel_name_of};

// These are in `torch/kernels/indexed.cu` too.
const MOST_AXES: usize = 8;
const MOST_LISTS: usize = 8;
const THREADS: u32 = 128;
const EACH: u32 = 4;

/// Elements of one launch.
const MOST_ELEMENTS: i64 = 1 << 30;

/// A dimension of the loop; strides are in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LoopAxis {
    size: i64,
    table: i64,
    other: i64,
    index: i64,
}

impl LoopAxis {
    /// Whether a step along `outer` is as long as all of this axis.
    fn continues_in(&self, outer: &LoopAxis) -> bool {
        [(self.table, outer.table), (self.other, outer.other), (self.index, outer.index)]
            .iter()
            .all(|(inner, outer)| inner * self.size == *outer)
    }
}

#[derive(Clone, Copy, Default)]
#[repr(C)]
struct AxisArgument {
    divisor: u64,
    table: i64,
    other: i64,
    index: i64,
}

#[derive(Clone, Copy, Default)]
#[repr(C)]
struct ListArgument {
    indices: u64,
    size: i64,
    step: i64,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Walk {
    table: u64,
    other: u64,
    count: u32,
    axes: u32,
    lists: u32,
    wide: u32,
    from_end: u32,
    reserved: u32,
    axis: [AxisArgument; MOST_AXES],
    list: [ListArgument; MOST_LISTS],
}

impl KernelArgument for Walk {}

/// A size, and above it the factor that divides a number below 2^31 by it: `quotient` in `kernels/types.cuh`.
fn divisor(size: i64) -> u64 {
    let size = size as u64;
    let shift = 64 - (size - 1).leading_zeros().min(64);
    // 2^32 times (2^shift - size) over size, plus 1.
    let factor = (((1_u64 << shift) - size) << 32) / size + 1;
    factor << 32 | size
}

/// The axes of the loop from the innermost to the outermost, joined where the elements of all operands allow.
fn axes(indexed: &Indexed, bytes: i64) -> Vec<LoopAxis> {
    let index_bytes = if indexed.wide { 8 } else { 4 };
    let mut axes: Vec<LoopAxis> = Vec::with_capacity(indexed.sizes.len());
    for at in (0..indexed.sizes.len()).rev() {
        let axis = LoopAxis {
            size: indexed.sizes[at],
            table: indexed.table.strides[at] * bytes,
            other: indexed.other.strides[at] * bytes,
            index: indexed.index_strides[at] * index_bytes,
        };
        match axes.last_mut() {
            _ if axis.size == 1 => {}
            Some(inner) if inner.continues_in(&axis) => inner.size *= axis.size,
            _ => axes.push(axis),
        }
    }
    axes
}

/// The bytes that a thread moves at a time: more than an element where rows are moved.
fn moved_bytes(indexed: &Indexed, axes: &[LoopAxis], bytes: i64) -> i64 {
    let Some((inner, outer)) = axes.split_first() else { return bytes };
    if (inner.table, inner.other, inner.index) != (bytes, bytes, 0) {
        return bytes;
    }
    let mut multiples = inner.size * bytes;
    multiples |= indexed.table.data as i64 | indexed.other.data as i64;
    for axis in outer {
        multiples |= axis.table | axis.other;
    }
    for list in &indexed.lists {
        multiples |= list.step * bytes;
    }
    // The largest power of two that divides all of them.
    (1_i64 << multiples.trailing_zeros().min(4)).max(bytes)
}

/// Launches the loop.
///
/// # Safety
/// As for `Indexed::run`.
pub(super) unsafe fn run(indexed: &Indexed, access: Access) -> Result<()> {
    let bytes = bytes_of(indexed.dtype)? as i64;
    let mut axes = axes(indexed, bytes);
    let kernel = match access {
        Access::Combine(_) => format!("sconce_torch_combine_{}", kernel_name_of(indexed.dtype)?),
        Access::Get | Access::Put => {
            let moved = moved_bytes(indexed, &axes, bytes);
            if moved > bytes {
                axes[0] = LoopAxis {
                    size: axes[0].size * bytes / moved,
                    table: moved,
                    other: moved,
                    index: 0,
                };
            }
            let verb = if access == Access::Get { "get" } else { "put" };
            format!("sconce_torch_{verb}_{moved}")
        }
    };
    let mut walk = walk(indexed, bytes)?;
    // SAFETY: `run` demands that the operands have the elements which sizes and strides reach; the axes are those of
    // all of them.
    unsafe { launch_parts(indexed.device, &kernel, access, &mut walk, &axes) }
}

fn walk(indexed: &Indexed, bytes: i64) -> Result<Walk> {
    if indexed.lists.len() > MOST_LISTS {
        return Err(Error::not_supported(format!(
            "{} dimensions are indexed; the most on a device are {MOST_LISTS}",
            indexed.lists.len()
        )));
    }
    let mut walk = Walk {
        table: indexed.table.data as u64,
        other: indexed.other.data as u64,
        count: 0,
        axes: 0,
        lists: indexed.lists.len() as u32,
        wide: u32::from(indexed.wide),
        from_end: u32::from(indexed.from_end),
        reserved: 0,
        axis: [AxisArgument::default(); MOST_AXES],
        list: [ListArgument::default(); MOST_LISTS],
    };
    for (to, list) in walk.list.iter_mut().zip(&indexed.lists) {
        let indices = list.data as u64;
        *to = ListArgument { indices, size: list.size, step: list.step * bytes };
    }
    Ok(walk)
}

/// Launches the loop in parts of less than 2^31 elements, along its outermost axis.
///
/// # Safety
/// As for `Indexed::run`.
unsafe fn launch_parts(
    device: i32,
    kernel: &str,
    access: Access,
    walk: &mut Walk,
    axes: &[LoopAxis],
) -> Result<()> {
    let count: i64 = axes.iter().map(|axis| axis.size).product();
    if let Some((outermost, inner)) = axes.split_last().filter(|_| count > MOST_ELEMENTS) {
        let begin = *walk;
        let of_one: i64 = inner.iter().map(|axis| axis.size).product();
        let most = (MOST_ELEMENTS / of_one).max(1);
        let mut done = 0;
        while done < outermost.size {
            let mut part = axes.to_vec();
            let size = most.min(outermost.size - done);
            *walk = begin;
            walk.table = begin.table.wrapping_add_signed(done * outermost.table);
            walk.other = begin.other.wrapping_add_signed(done * outermost.other);
            for list in &mut walk.list {
                list.indices = list.indices.wrapping_add_signed(done * outermost.index);
            }
            part.pop();
            if size > 1 {
                part.push(LoopAxis { size, ..*outermost });
            }
            // SAFETY: the part is a range of the outermost axis, so it has no elements that the axes of this call do
            // not reach.
            unsafe { launch_parts(device, kernel, access, walk, &part) }?;
            done += size;
        }
        return Ok(());
    }
    if axes.len() > MOST_AXES {
        return Err(Error::not_supported(format!(
            "the elements need {} nested loops; the most on a device are {MOST_AXES}: make the tensors contiguous",
            axes.len()
        )));
    }
    walk.count = count as u32;
    walk.axes = axes.len() as u32;
    for (to, axis) in walk.axis.iter_mut().zip(axes) {
        let divisor = divisor(axis.size);
        *to = AxisArgument { divisor, table: axis.table, other: axis.other, index: axis.index };
    }
    let grid = Grid::of(count, THREADS, EACH);
    let how = match access {
        Access::Combine(how) => how as u32,
        Access::Get | Access::Put => {
            // SAFETY: the kernel has this parameter, and `run` demands that the operands have the elements it reaches.
            return unsafe { launch(device, &images::INDEXED, kernel, grid, &[walk]) };
        }
    };
    // SAFETY: the kernel has these parameters, and `run` demands that the operands have the elements it reaches.
    unsafe { launch(device, &images::INDEXED, kernel, grid, &[walk, &how]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_divisor_divides_all_numbers_below_two_to_the_31() {
        for size in [1, 2, 3, 5, 7, 10, 127, 128, 641, 65_537, (1 << 30) - 1, 1 << 30] {
            let divisor = divisor(size);
            let (size, factor) = (divisor as u32, divisor >> 32);
            let shift = 32 - (size - 1).leading_zeros();
            for n in [0, 1, size - 1, size, size + 1, 2 * size - 1, 99_999, (1 << 31) - 1] {
                let high = (u64::from(n) * factor) >> 32;
                let found = (high + u64::from(n)) >> shift;
                assert_eq!(found, u64::from(n / size), "{n} / {size}");
            }
        }
    }

    #[test]
    fn axes_that_continue_are_one() {
        let (inner, outer) =
            (LoopAxis { size: 4, table: 8, other: 4, index: 0 }, LoopAxis::default());
        assert!(inner.continues_in(&LoopAxis { size: 9, table: 32, other: 16, index: 0 }));
        assert!(!inner.continues_in(&LoopAxis { size: 9, table: 32, other: 20, index: 0 }));
        assert!(!inner.continues_in(&outer));
    }
}
