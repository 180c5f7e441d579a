//! Pointers of the caller: values that may be missing, arrays, and what a new tensor is to be.

#![allow(unsafe_code, reason = "reads through pointers of the caller")]

use super::constants::{dtype_of, named_device_of};
use super::errors::not_null;
use crate::error::{Error, Result};
use crate::sconce::api;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;

/// The value behind a pointer that may be NULL.
///
/// # Safety
/// The pointer is NULL or valid for a read.
pub unsafe fn optional<T: Copy>(pointer: *const T) -> Option<T> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_ref() }.copied()
}

/// The tensor behind a pointer. Either may be NULL.
///
/// # Safety
/// The pointer is NULL or valid for a read.
pub unsafe fn optional_tensor(place: *const TensorHandle) -> Option<TensorHandle> {
    // SAFETY: the caller's promise.
    unsafe { optional(place) }.filter(|handle| !handle.is_null())
}

/// More entries than any program passes: a larger number is one that was not set.
const MOST_ENTRIES: usize = 1 << 20;

/// An array of the caller, which may be NULL if it has no entries.
///
/// # Safety
/// The array has `count` entries, which stay as they are.
pub unsafe fn array<'a, T>(array: *const T, count: usize, name: &str) -> Result<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    not_null(array, name)?;
    if count > MOST_ENTRIES {
        return Err(Error::invalid_argument(format!(
            "{name} has {count} entries; at most {MOST_ENTRIES} are taken"
        )));
    }
    // SAFETY: neither NULL nor misaligned, and the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(array, count) })
}

/// A list of whole numbers as functions of the ABI take it: where the numbers lie, and how many there are.
pub type IntList = (*const i64, i64);

/// As [`array()`], of numbers whose count the ABI passes with a sign.
///
/// # Safety
/// As [`array()`].
pub unsafe fn numbers<'a>(numbers: *const i64, count: i64, name: &str) -> Result<&'a [i64]> {
    let length = usize::try_from(count)
        .map_err(|_| Error::invalid_argument(format!("{name} has {count} entries")))?;
    // SAFETY: the caller's promise.
    unsafe { array(numbers, length, name) }
}

/// What the ABI says of a new tensor: NULL leaves the default.
#[derive(Clone, Copy)]
pub struct NewTensor {
    /// c10's number of the data type.
    pub dtype: *const i32,
    /// c10's number of the layout.
    pub layout: *const i32,
    /// c10's kind of device.
    pub device: *const i32,
    /// The index of the device; -1 is the current one.
    pub device_index: i32,
    /// Whether memory of the CPU is page-locked.
    pub pin_memory: *const i32,
}

impl NewTensor {
    /// The options, with defaults that have Sconce's numbers.
    ///
    /// # Safety
    /// The pointers are NULL or valid for a read.
    pub unsafe fn options(self, dtype: i32, device: i32) -> Result<api::sconce_tensor_options> {
        // SAFETY: the caller's promise.
        let new_dtype = unsafe { optional(self.dtype) };
        // SAFETY: as above.
        let layout = unsafe { optional(self.layout) };
        // SAFETY: as above.
        let kind = unsafe { optional(self.device) };
        // SAFETY: as above.
        let pinned = unsafe { optional(self.pin_memory) };
        if layout.is_some_and(|layout| layout != 0) {
            return Err(Error::not_supported("the only layout that Sconce has is strided (0)"));
        }
        let dtype = new_dtype.map_or(Ok(dtype), dtype_of)?;
        let device = kind.map_or(Ok(device), |kind| named_device_of(kind, self.device_index))?;
        let mut options = options(dtype, device);
        options.pinned = pinned.is_some_and(|pinned| pinned != 0);
        Ok(options)
    }
}
