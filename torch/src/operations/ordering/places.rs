//! Sorted lines on the CPU in which equal elements are in PyTorch's order, which follows from the algorithms of C++'s
//! standard library (`places.cc`).

#![allow(unsafe_code, reason = "reads and writes tensors of the CPU")]

use std::ffi::c_void;

use super::Sorted;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::operations::indexed::gather;
use crate::operations::layout::Layout;
use crate::operations::tensors::empty;
use crate::sconce::parallel::{GRAIN, OnThreads, for_range};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{api, operations};

unsafe extern "C" {
    fn sconce_torch_places(
        values: *const c_void,
        kind: i32,
        lines: i64,
        length: i64,
        count: i64,
        search: i32,
        largest: bool,
        to: *mut i64,
    ) -> bool;
}

/// What is looked for in each line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sought {
    /// All elements in order.
    All,
    /// So many of the first ones.
    Some(i64),
    /// So many of the first ones in order.
    SomeInOrder(i64),
    /// The element of a number, counted from 1, in ascending order.
    One(i64),
    /// The one that occurs most often.
    Frequent,
}

/// From this many integers on PyTorch sorts one line with an algorithm that keeps equal elements in order.
const MANY_INTEGERS: i64 = 32_768;

/// The types in which lines are searched, which `places.cc` has under these numbers.
fn searched(dtype: i32) -> Option<(i32, i32)> {
    match dtype {
        api::SCONCE_DTYPE_F16 | api::SCONCE_DTYPE_BF16 | api::SCONCE_DTYPE_F32 => {
            Some((api::SCONCE_DTYPE_F32, 0))
        }
        api::SCONCE_DTYPE_F64 => Some((api::SCONCE_DTYPE_F64, 1)),
        api::SCONCE_DTYPE_I8
        | api::SCONCE_DTYPE_I16
        | api::SCONCE_DTYPE_I32
        | api::SCONCE_DTYPE_I64
        | api::SCONCE_DTYPE_U8
        | api::SCONCE_DTYPE_U16
        | api::SCONCE_DTYPE_U32
        | api::SCONCE_DTYPE_BOOL => Some((api::SCONCE_DTYPE_I64, 2)),
        _ => None,
    }
}

/// Whether lines of a tensor are to be searched here. The lines of others are sorted by libsconce.so, which keeps equal
/// elements in order.
pub(super) fn is_searched(tensor: TensorHandle, search: Sought, largest: bool) -> Result<bool> {
    let (dtype, sizes) = (dtype_of_tensor(tensor)?, sizes_of(tensor)?);
    let is_one_line = sizes.len() == 1 && dtype != api::SCONCE_DTYPE_BOOL;
    let is_kept_in_order = search == Sought::All
        && is_one_line
        && !largest
        && searched(dtype).is_some_and(|(wide, _)| wide == api::SCONCE_DTYPE_I64)
        && sizes[0] >= MANY_INTEGERS;
    Ok(device_of_tensor(tensor)? == api::SCONCE_DEVICE_CPU
        && searched(dtype).is_some()
        && !sizes.is_empty()
        && !sizes.contains(&0)
        && !is_kept_in_order)
}

/// What the parts of a search share.
struct SoughtLines {
    values: *const c_void,
    bytes: usize,
    kind: i32,
    length: i64,
    count: i64,
    search: i32,
    largest: bool,
    to: *mut i64,
}

/// The elements that are looked for along a dimension, and their places. [`is_searched`] has to hold.
pub(super) fn found(
    tensor: TensorHandle,
    dim: i64,
    search: Sought,
    largest: bool,
) -> Result<Sorted> {
    let Some((wide, kind)) = searched(dtype_of_tensor(tensor)?) else {
        return Err(Error::internal("lines of another type are searched"));
    };
    let turned = operations::transpose(tensor, dim, -1)?;
    let lines = operations::contiguous(operations::to_dtype(turned.handle(), wide)?.handle())?;
    let from = Layout::of(lines.handle())?;
    let length = from.sizes.last().copied().unwrap_or(1);
    let (number, count) = match search {
        Sought::All => (0, length),
        Sought::Some(count) => (1, count),
        Sought::SomeInOrder(count) => (2, count),
        Sought::One(count) => (3, count),
        Sought::Frequent => (4, 1),
    };
    let of_line = if number == 3 { 1 } else { count };
    if !(1..=length).contains(&count) || !from.is_on_cpu() {
        return Err(Error::internal(format!("{count} of {length} elements are looked for")));
    }
    let mut sizes = from.sizes.clone();
    if let Some(last) = sizes.last_mut() {
        *last = of_line;
    }
    let places = empty(&sizes, api::SCONCE_DTYPE_I64, api::SCONCE_DEVICE_CPU)?;
    let shared = SoughtLines {
        values: from.data,
        bytes: if kind == 0 { 4 } else { 8 },
        kind,
        length,
        count,
        search: number,
        largest,
        to: Layout::of(places.handle())?.data.cast(),
    };
    // SAFETY: each thread reads and writes the lines of its part alone.
    let shared = unsafe { OnThreads::new(shared) };
    for_range(0, from.numel() / length, (GRAIN / length).max(1), &|begin, end| {
        let SoughtLines { values, bytes, kind, length, count, search, largest, to } = *shared.get();
        let values = values.wrapping_byte_add((begin * length) as usize * bytes);
        let to = to.wrapping_add((begin * of_line) as usize);
        // SAFETY: there are so many lines of elements of this type, each at least as long as the count, and entries for
        // the places of each.
        let has_memory = unsafe {
            sconce_torch_places(values, kind, end - begin, length, count, search, largest, to)
        };
        match has_memory {
            true => Ok(()),
            false => Err(Error::new(
                api::SCONCE_ERROR_OUT_OF_MEMORY,
                format!("no memory is left to search lines of {length} elements"),
            )),
        }
    })?;
    let indices = operations::transpose(places.handle(), dim, -1)?;
    let values = gather(tensor, dim, indices.handle())?;
    Ok(Sorted { values, indices })
}
