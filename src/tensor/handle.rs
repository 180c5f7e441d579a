//! Handles of tensors: counted, and checked whenever they are used.

use sconce_base::collections::slab::Key;
use sconce_base::error::{Error, Result};
use sconce_tensors::tensor::handle::{NewExtents, TensorWords, ViewPosition};
use sconce_tensors::tensor::{Tensor, TensorLayout, handle};

use crate::arguments::entries;
use crate::handle::OpaqueHandle;
use crate::{guard, sconce_status};

/// A tensor: memory, seen through a data type, sizes, strides and an offset. Opaque. The caller
/// releases every handle that a function returns with `sconce_tensor_release`. A view keeps its
/// memory alive.
pub struct sconce_tensor {
    _private: [u8; 0],
}

impl OpaqueHandle for sconce_tensor {
    const SOURCE: &'static str = "in C++, an undefined Tensor; get one from sconce_tensor_empty or \
                                  another sconce_tensor_ function";
}

/// The tensor of a handle, which may be the undefined one.
#[inline]
pub(crate) fn tensor_of(tensor: *mut sconce_tensor, name: &str) -> Result<Tensor> {
    handle::get(sconce_tensor::key(tensor, name)?, name)
}

/// As [`tensor_of`], written to where the caller wants it: a tensor is 200 bytes.
#[inline]
pub(super) fn tensor_in<'a>(
    place: &'a mut Tensor,
    tensor: *mut sconce_tensor,
    name: &str,
) -> Result<&'a Tensor> {
    handle::get_into(sconce_tensor::key(tensor, name)?, name, place)?;
    Ok(place)
}

/// The tensor of a handle, which has memory.
#[inline]
pub(crate) fn defined(tensor: *mut sconce_tensor, name: &str) -> Result<Tensor> {
    let found = tensor_of(tensor, name)?;
    found.defined(name)?;
    Ok(found)
}

/// As [`defined`], written to where the caller wants it.
#[inline]
pub(super) fn defined_in<'a>(
    place: &'a mut Tensor,
    tensor: *mut sconce_tensor,
    name: &str,
) -> Result<&'a Tensor> {
    tensor_in(place, tensor, name)?.defined(name)
}

/// Looks at the tensor of a handle, which has memory.
#[inline]
pub(super) fn look<R>(
    tensor: *mut sconce_tensor,
    name: &str,
    look: impl FnOnce(&Tensor) -> Result<R>,
) -> Result<R> {
    look(&defined(tensor, name)?)
}

/// Copies words of a tensor that has memory, without owning the memory. As [`handle::look`].
#[inline(always)]
pub(super) fn look_at_words<R>(
    tensor: *mut sconce_tensor,
    name: &str,
    mut copy: impl FnMut(&handle::TensorWords<'_>) -> Option<R>,
) -> Result<R> {
    let seen = handle::look(sconce_tensor::key(tensor, name)?, name, |words| {
        if words.storage().is_some() { copy(words).map(Some) } else { Some(None) }
    })?;
    match seen {
        Some(seen) => Ok(seen),
        None => Err(Tensor::undefined(name)),
    }
}

/// A new handle of another view of a tensor's memory, whose layout `change` makes of the tensor's.
#[inline(always)]
pub(super) fn viewed(
    tensor: *mut sconce_tensor,
    name: &str,
    change: impl FnOnce(&mut TensorLayout) -> Result<()>,
) -> Result<*mut sconce_tensor> {
    let key = sconce_tensor::key(tensor, name)?;
    handle::insert_view(key, name, change).map(sconce_tensor::from_key)
}

/// As [`viewed`]; `view` makes the view of the tensor's words, or leaves it to `change`.
#[inline(always)]
pub(super) fn viewed_directly(
    tensor: *mut sconce_tensor,
    name: &str,
    view: impl FnOnce(&TensorWords<'_>, &NewExtents<'_>) -> Option<ViewPosition>,
    change: impl FnOnce(&mut TensorLayout) -> Result<()>,
) -> Result<*mut sconce_tensor> {
    let key = sconce_tensor::key(tensor, name)?;
    match handle::insert_direct_view(key, view) {
        Some(view) => Ok(sconce_tensor::from_key(view)),
        None => viewed_apart(key, name, change),
    }
}

/// As [`viewed`], in a function of its own.
#[inline(never)]
fn viewed_apart(
    key: Key,
    name: &str,
    change: impl FnOnce(&mut TensorLayout) -> Result<()>,
) -> Result<*mut sconce_tensor> {
    handle::insert_view(key, name, change).map(sconce_tensor::from_key)
}

/// A new handle of the tensor that `make` makes of the undefined one.
#[inline(always)]
pub(super) fn made_in_place(
    make: impl FnOnce(&mut Tensor) -> Result<()>,
) -> Result<*mut sconce_tensor> {
    handle::insert_made(make).map(sconce_tensor::from_key)
}

/// A new handle.
#[inline]
pub(crate) fn returned(tensor: Tensor) -> Result<*mut sconce_tensor> {
    handle::insert(tensor).map(sconce_tensor::from_key)
}

/// A new handle of a tensor that is made when nothing can fail any more.
pub(crate) fn returned_by(make: impl FnOnce() -> Tensor) -> Result<*mut sconce_tensor> {
    let key = handle::insert(Tensor::default())?;
    handle::assign(key, "tensor", make())?;
    Ok(sconce_tensor::from_key(key))
}

/// Writes a result to the tensor of a handle, which may be undefined: `write` returns the tensor that the handle is
/// to hold.
#[inline]
pub(super) fn written_to(
    into: *mut sconce_tensor,
    write: impl FnOnce(&Tensor) -> Result<Tensor>,
) -> Result<()> {
    let mut place = Tensor::default();
    let before = tensor_in(&mut place, into, "into")?;
    let result = write(before)?;
    assign_result(into, "into", before, result)
}

/// Lets a handle hold a result, unless it does.
#[inline]
pub(super) fn assign_result(
    into: *mut sconce_tensor,
    name: &str,
    before: &Tensor,
    result: Tensor,
) -> Result<()> {
    if before.is_same_view(&result) {
        return Ok(());
    }
    assigned(into, name, result)
}

/// Lets a handle hold another tensor.
pub(super) fn assigned(into: *mut sconce_tensor, name: &str, result: Tensor) -> Result<()> {
    handle::assign(sconce_tensor::key(into, name)?, name, result)
}

/// As [`written_to`], for an operation of two results.
pub(super) fn two_written_to(
    into: [*mut sconce_tensor; 2],
    names: [&str; 2],
    write: impl FnOnce(&[Tensor; 2]) -> Result<[Tensor; 2]>,
) -> Result<()> {
    if into[0] == into[1] {
        return Err(Error::invalid_argument(format!(
            "{} and {} are one tensor; pass two",
            names[0], names[1]
        )));
    }
    let before = [tensor_of(into[0], names[0])?, tensor_of(into[1], names[1])?];
    let [first, second] = write(&before)?;
    assign_result(into[0], names[0], &before[0], first)?;
    assign_result(into[1], names[1], &before[1], second)
}

/// The same handle once more.
pub(crate) fn again(tensor: *mut sconce_tensor, name: &str) -> Result<*mut sconce_tensor> {
    handle::retain(sconce_tensor::key(tensor, name)?, name)?;
    Ok(tensor)
}

/// The tensors of an array of handles.
///
/// # Safety
/// If `tensors` is neither NULL nor misaligned, it points to `count` handles.
pub(crate) unsafe fn tensors_of(
    tensors: *const *mut sconce_tensor,
    count: usize,
    name: &str,
) -> Result<Vec<Tensor>> {
    // SAFETY: unless NULL or misaligned, `tensors` points to `count` handles: this function demands it.
    let handles = unsafe { entries(&tensors, count, name) }?;
    // Each is written to its place: tensors are large.
    let mut found = Vec::new();
    found.resize_with(handles.len(), Tensor::default);
    for (index, (place, tensor)) in found.iter_mut().zip(handles).enumerate() {
        if defined_in(place, *tensor, name).is_err() {
            // The whole name is made only for a message.
            defined_in(place, *tensor, &format!("{name}[{index}]"))?;
        }
    }
    Ok(found)
}

/// Adds an owner to a tensor handle: the handle must be released once more.
///
/// - torch: a second reference to the same `at::Tensor`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_retain(tensor: *mut sconce_tensor) -> sconce_status {
    guard(|| handle::retain(sconce_tensor::key(tensor, "tensor")?, "tensor"))
}

/// Removes an owner from a tensor handle. The last release makes the handle invalid. The memory is
/// freed when no tensor uses it any more.
///
/// - `tensor`: NULL does nothing.
/// - Ordering: device memory goes back to the allocator in the order of the stream for which it was
///   allocated for; see `sconce_tensor_record_stream`.
/// - Threads: the thread that releases the last tensor calls the deleter of imported memory.
/// - torch: the end of an `at::Tensor`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_release(tensor: *mut sconce_tensor) -> sconce_status {
    guard(|| match sconce_tensor::optional(tensor) {
        None => Ok(()),
        Some(key) => handle::release(key, "tensor"),
    })
}

/// Replaces the tensor of a handle by another one: the memory, type and shape of `source`. All
/// owners of the handle see the new tensor.
///
/// - `tensor`: its previous tensor is released.
/// - `source`: may be undefined.
/// - torch: `a = b` of an `at::Tensor` that is passed by reference.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_assign(
    tensor: *mut sconce_tensor,
    source: *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let value = tensor_of(source, "source")?;
        handle::assign(sconce_tensor::key(tensor, "tensor")?, "tensor", value)
    })
}

/// Returns an undefined tensor, which has no memory, type or shape. Functions refuse it, except
/// those of handles.
///
/// - `out_tensor`: receives the tensor.
/// - torch: `at::Tensor()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_undefined(
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, { Tensor::default() })
}

/// Returns the number of live tensor handles in the process, including undefined tensors. For tests
/// that look for leaks.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_live_count() -> usize {
    crate::guard::guard_value(0, handle::count)
}

/// The handle of an optional argument.
pub(super) fn optional(tensor: *mut sconce_tensor) -> Option<Key> {
    sconce_tensor::optional(tensor)
}
