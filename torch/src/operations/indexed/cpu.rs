//! Elements at indices, on the CPU.

#![allow(unsafe_code, reason = "reads and writes elements")]

use super::{Access, Combine, IndexList, Indexed};
use crate::error::{Error, Result};
use crate::operations::element::{Element, Number, read, write};
use crate::operations::tensors::bytes_of;
use crate::operations::walk::try_walk;

/// Runs the loop.
///
/// # Safety
/// As for `Indexed::run`.
pub(super) unsafe fn run(indexed: &Indexed, access: Access) -> Result<()> {
    match access {
        Access::Get => with_bytes!(bytes_of(indexed.dtype)?, T => {
            // SAFETY: the caller's promise.
            unsafe { get::<T>(indexed) }
        }),
        Access::Put => with_bytes!(bytes_of(indexed.dtype)?, T => {
            // SAFETY: the caller's promise.
            unsafe { put::<T>(indexed) }
        }),
        Access::Combine(how) => with_element!(indexed.dtype, T => {
            // SAFETY: the caller's promise.
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
                // SAFETY: the caller's promise.
                unsafe { read::<i64>(list.data, at) }
            } else {
                // SAFETY: as above.
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
        // SAFETY: the caller's promise.
        let value: T = unsafe { read(table, from) };
        // SAFETY: as above.
        unsafe { write(result, to, value) };
    };
    // SAFETY: as above.
    unsafe { each(indexed, visit) }
}

/// # Safety
/// As for `get`.
unsafe fn put<T: Copy>(indexed: &Indexed) -> Result<()> {
    let (table, values) = (indexed.table.data, indexed.other.data);
    let visit = |to, from| {
        // SAFETY: the caller's promise.
        let value: T = unsafe { read(values, from) };
        // SAFETY: as above.
        unsafe { write(table, to, value) };
    };
    // SAFETY: as above.
    unsafe { each(indexed, visit) }
}

/// # Safety
/// As for `get`; `T` is the type of the elements.
unsafe fn combine<T: Element>(indexed: &Indexed, how: Combine) -> Result<()> {
    let (table, values) = (indexed.table.data, indexed.other.data);
    let visit = |to, from| {
        // SAFETY: the caller's promise.
        let old: T = unsafe { read(table, to) };
        // SAFETY: as above.
        let value: T = unsafe { read(values, from) };
        let both = combined(old.widen(), value.widen(), how);
        // SAFETY: as above.
        unsafe { write(table, to, T::narrow(both)) };
    };
    // SAFETY: as above.
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
