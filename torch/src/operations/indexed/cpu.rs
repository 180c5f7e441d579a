//! Elements at indices, on the CPU.
//!
//! Threads share large loops along a dimension of which no two indices write to one place. So several elements for one
//! place keep their order, and results have the same bits for any number of threads.

#![allow(unsafe_code, reason = "reads and writes elements")]

use std::ops::Range;

use super::{Access, Combine, IndexList, Indexed};
use crate::error::{Error, Result};
use crate::operations::element::{Element, Number, read, write};
use crate::operations::tensors::bytes_of;
use crate::operations::walk::try_walk;
use crate::sconce::parallel::{self, GRAIN, OnThreads};

/// Runs the loop.
///
/// # Safety
/// As for `Indexed::run`.
pub(super) unsafe fn run(indexed: &Indexed, access: Access) -> Result<()> {
    let Some(dim) = shared_dimension(indexed, access) else {
        // SAFETY: this function demands what `run_part` does, of the same loop.
        return unsafe { run_part(indexed, access) };
    };
    let size = indexed.sizes[dim];
    let line = indexed.sizes.iter().product::<i64>() / size;
    let bytes = bytes_of(indexed.dtype)?;
    // SAFETY: parts along this dimension write to different places.
    let shared = unsafe { OnThreads::new(indexed) };
    let outcome = parallel::for_range(0, size, (GRAIN / line).max(1), &|begin, end| {
        let part = part_of(shared.get(), dim, bytes, begin..end);
        // SAFETY: the part's elements are some of the loop's.
        unsafe { run_part(&part, access) }
    });
    match outcome {
        Ok(()) => Ok(()),
        // The first index that is out of bounds, whichever thread has found one first.
        // SAFETY: `run` demands that the indices can be read, and `visit` touches no operand.
        Err(error) => unsafe { each(indexed, |_, _| {}) }.and(Err(error)),
    }
}

/// The longest dimension along which threads may share the loop; `None` if it is not worth it.
fn shared_dimension(indexed: &Indexed, access: Access) -> Option<usize> {
    if indexed.sizes.iter().product::<i64>() < 2 * GRAIN {
        return None;
    }
    let written = match access {
        Access::Get => &indexed.other,
        Access::Put | Access::Combine(_) => &indexed.table,
    };
    let is_apart = |dim: &usize| written.strides[*dim] != 0 && indexed.sizes[*dim] > 1;
    (0..indexed.sizes.len()).filter(is_apart).max_by_key(|dim| indexed.sizes[*dim])
}

/// Some indices of one dimension.
fn part_of(indexed: &Indexed, dim: usize, bytes: usize, range: Range<i64>) -> Indexed {
    let mut part = indexed.clone();
    part.sizes[dim] = range.end - range.start;
    let distance =
        |strides: &[i64], bytes: usize| (range.start * strides[dim]) as isize * bytes as isize;
    for operand in [&mut part.table, &mut part.other] {
        operand.data = operand.data.wrapping_byte_offset(distance(&operand.strides, bytes));
    }
    let width = if indexed.wide { 8 } else { 4 };
    for list in &mut part.lists {
        list.data = list.data.wrapping_byte_offset(distance(&indexed.index_strides, width));
    }
    part
}

/// Runs the loop on the calling thread.
///
/// # Safety
/// As for `Indexed::run`.
unsafe fn run_part(indexed: &Indexed, access: Access) -> Result<()> {
    match access {
        Access::Get => with_bytes!(bytes_of(indexed.dtype)?, T => {
            // SAFETY: this function demands what `get` does, and `T` has the size of an element.
            unsafe { get::<T>(indexed) }
        }),
        Access::Put => with_bytes!(bytes_of(indexed.dtype)?, T => {
            // SAFETY: this function demands what `put` does, and `T` has the size of an element.
            unsafe { put::<T>(indexed) }
        }),
        Access::Combine(how) => with_element!(indexed.dtype, T => {
            // SAFETY: this function demands what `combine` does, and `T` is the type of the elements.
            unsafe { combine::<T>(indexed, how) }
        }),
    }
}

/// Calls `visit` with the table's place and the other operand's.
///
/// # Safety
/// As for `Indexed::run`.
unsafe fn each(indexed: &Indexed, mut visit: impl FnMut(i64, i64)) -> Result<()> {
    let strides: [&[i64]; 3] =
        [&indexed.table.strides, &indexed.other.strides, &indexed.index_strides];
    try_walk(&indexed.sizes, strides, |[table, other, at]| {
        let mut place = table;
        for list in &indexed.lists {
            let index = if indexed.wide {
                // SAFETY: the list has an index at each place that the strides of the indices reach, and `wide` says
                // that it has 8 bytes.
                unsafe { read::<i64>(list.data, at) }
            } else {
                // SAFETY: the list has an index at each place that the strides of the indices reach, of 4 bytes where
                // `wide` is not set.
                i64::from(unsafe { read::<i32>(list.data, at) })
            };
            place += checked(index, list, indexed.from_end)? * list.step;
        }
        visit(place, other);
        Ok(())
    })
}

fn checked(index: i64, list: &IndexList, from_end: bool) -> Result<i64> {
    let found = if from_end && index < 0 { index + list.size } else { index };
    if (0..list.size).contains(&found) {
        return Ok(found);
    }
    Err(Error::invalid_argument(format!(
        "index {index} is out of bounds for dimension {} with size {}",
        list.dim, list.size
    )))
}

/// # Safety
/// As for `Indexed::run`; elements have the size of `T`.
unsafe fn get<T: Copy>(indexed: &Indexed) -> Result<()> {
    let (table, result) = (indexed.table.data, indexed.other.data);
    let visit = |from, to| {
        // SAFETY: the index was checked against the size of its dimension, so the table has an element there.
        let value: T = unsafe { read(table, from) };
        // SAFETY: the result has an element at each place that its strides reach, which nobody else uses.
        unsafe { write(result, to, value) };
    };
    // SAFETY: this function demands what `each` does, of the same loop.
    unsafe { each(indexed, visit) }
}

/// # Safety
/// As for `get`.
unsafe fn put<T: Copy>(indexed: &Indexed) -> Result<()> {
    let (table, values) = (indexed.table.data, indexed.other.data);
    let visit = |to, from| {
        // SAFETY: the values have an element at each place that their strides reach.
        let value: T = unsafe { read(values, from) };
        // SAFETY: the index was checked against the size of its dimension, so the table has an element there, which
        // nobody else uses.
        unsafe { write(table, to, value) };
    };
    // SAFETY: this function demands what `each` does, of the same loop.
    unsafe { each(indexed, visit) }
}

/// # Safety
/// As for `get`; `T` is the type of the elements.
unsafe fn combine<T: Element>(indexed: &Indexed, how: Combine) -> Result<()> {
    let (table, values) = (indexed.table.data, indexed.other.data);
    let visit = |to, from| {
        // SAFETY: the index was checked against the size of its dimension, so the table has an element there.
        let old: T = unsafe { read(table, to) };
        // SAFETY: the values have an element at each place that their strides reach.
        let value: T = unsafe { read(values, from) };
        let both = combined(old.widen(), value.widen(), how);
        // SAFETY: the table has the element, which was read before, and nobody else uses it.
        unsafe { write(table, to, T::narrow(both)) };
    };
    // SAFETY: this function demands what `each` does, of the same loop.
    unsafe { each(indexed, visit) }
}

fn combined<W: Number>(old: W, value: W, how: Combine) -> W {
    match how {
        Combine::Sum => old.plus(value),
        Combine::Product => old.times(value),
        Combine::Most if value > old || value.is_nan() => value,
        Combine::Least if value < old || value.is_nan() => value,
        Combine::Most | Combine::Least => old,
    }
}
