//! Arguments of C functions: places for results, texts, values that may be missing, arrays, and what a new tensor is to
//! be.
//!
//! `Out` and `CText` hold what C cannot say: only a C caller makes one from a pointer, and the ABI tells it which pointers
//! it may pass. So a function with such arguments is safe to call from Rust, and to read or write through one is safe.
//! The macros `fallbacks!` and `places!` turn the raw places of their functions into `Out` once, before the body runs.
//! Handles of boxed objects are `Option<&T>` where a function uses the object, and `Option<Box<T>>` where it deletes it.

#![allow(unsafe_code, reason = "reads through pointers of the caller")]

use std::ffi::{CStr, c_char};
use std::marker::PhantomData;

use super::constants::{dtype_of, named_device_of};
use crate::error::{Error, Result, not_null};
use crate::sconce::api;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;

/// A place for a result: NULL, or valid for a write of a `T` until the function returns.
#[repr(transparent)]
pub struct Out<'a, T>(*mut T, PhantomData<&'a mut T>);

impl<T> Out<'_, T> {
    /// No place.
    pub fn none() -> Self {
        Out(std::ptr::null_mut(), PhantomData)
    }

    /// The place behind a pointer of C.
    ///
    /// # Safety
    /// The pointer is NULL, or valid for a write of a `T` until the function returns.
    #[inline]
    pub unsafe fn of_c(place: *mut T) -> Self {
        Out(place, PhantomData)
    }

    /// Whether there is no place.
    pub fn is_none(&self) -> bool {
        self.0.is_null()
    }

    /// Refuses a place that is NULL or misaligned.
    #[inline]
    pub fn check(&self, name: &str) -> Result<()> {
        not_null(self.0, name)
    }

    /// Writes the result. If the place is refused, what the result owns is freed.
    #[inline]
    pub fn write(self, name: &str, value: T) -> Result<()> {
        self.check(name)?;
        // SAFETY: the place is neither NULL nor misaligned. It is a Rust reference, or C passed it as a place for this
        // result, which the ABI demands to be valid for a write.
        unsafe { self.0.write(value) };
        Ok(())
    }
}

/// An argument of a C function, which the function's body sees as a type that holds what the ABI says of it.
pub trait Argument {
    /// What the body sees.
    type Seen;

    /// The argument as the body sees it.
    ///
    /// # Safety
    /// The argument is what the ABI says of it: a place for a result is NULL, or valid for a write until the function
    /// returns.
    unsafe fn seen(self) -> Self::Seen;
}

impl Argument for *mut TensorHandle {
    type Seen = Out<'static, TensorHandle>;

    #[inline]
    unsafe fn seen(self) -> Self::Seen {
        // SAFETY: `seen` demands that a place for a result is NULL or valid for a write.
        unsafe { Out::of_c(self) }
    }
}

/// Arguments that the body sees as they are.
macro_rules! plain_arguments {
    ($($kind:ty),*) => {$(
        impl Argument for $kind {
            type Seen = $kind;

            #[inline]
            unsafe fn seen(self) -> $kind {
                self
            }
        }
    )*};
}
plain_arguments!(bool, i32, i64, f64, TensorHandle, *mut i64);

impl<T> Argument for *const T {
    type Seen = *const T;

    #[inline]
    unsafe fn seen(self) -> *const T {
        self
    }
}

/// A struct that begins with its size, which the caller sets before it passes a place for one.
pub trait StructWithSize: Copy {
    /// The size as the caller has set it.
    fn struct_size(&self) -> u32;
}

/// Structs whose field `struct_size` is their size.
macro_rules! has_struct_size {
    ($($name:ty),*) => {$(
        impl $crate::abi::arguments::StructWithSize for $name {
            fn struct_size(&self) -> u32 {
                self.struct_size
            }
        }
    )*};
}
pub(crate) use has_struct_size;

impl<T: StructWithSize> Out<'_, T> {
    /// The struct as the caller has set it.
    pub fn described(&self, name: &str) -> Result<T> {
        self.check(name)?;
        // SAFETY: the place is neither NULL nor misaligned. It is a Rust reference, or C passed it as a struct that begins
        // with its size, which the header demands to be set with its `…_INIT`.
        let described = unsafe { self.0.read() };
        if described.struct_size() as usize != size_of::<T>() {
            return Err(Error::invalid_argument(format!(
                "{name}.struct_size is of no version of the struct"
            )));
        }
        Ok(described)
    }
}

impl<'a, T> From<&'a mut T> for Out<'a, T> {
    fn from(place: &'a mut T) -> Self {
        Out(place, PhantomData)
    }
}

impl<'a, T> Out<'a, Box<T>> {
    /// The place for an object that is made. Tests keep it there.
    #[cfg(test)]
    pub fn of_box(place: &'a mut Option<Box<T>>) -> Self {
        // A box and an optional one have one layout.
        Out(std::ptr::from_mut(place).cast(), PhantomData)
    }
}

/// A text of C: NULL, or bytes with a NUL at the end that stay until the function returns.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct CText<'a>(*const c_char, PhantomData<&'a CStr>);

impl<'a> CText<'a> {
    /// No text.
    pub fn none() -> Self {
        CText(std::ptr::null(), PhantomData)
    }

    /// The text as C has it; `None` for NULL.
    pub fn get(self) -> Option<&'a CStr> {
        // SAFETY: the pointer is not NULL. It is a Rust text, or C passed it as a text, which the ABI demands to end with
        // NUL.
        (!self.0.is_null()).then(|| unsafe { CStr::from_ptr(self.0) })
    }

    /// The text; empty if it is NULL.
    pub fn text(self) -> String {
        self.get().map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The text as C has it. Refuses NULL.
    pub fn required(self, name: &str) -> Result<&'a CStr> {
        not_null(self.0, name)?;
        self.get().ok_or_else(|| Error::invalid_argument(format!("{name} is NULL")))
    }
}

impl<'a> From<&'a CStr> for CText<'a> {
    fn from(text: &'a CStr) -> Self {
        CText(text.as_ptr(), PhantomData)
    }
}

/// The object of a handle. Refuses NULL.
pub fn object<T>(handle: Option<T>, name: &str) -> Result<T> {
    handle.ok_or_else(|| Error::invalid_argument(format!("{name} is NULL")))
}

/// The value behind a pointer that may be NULL.
///
/// # Safety
/// The pointer is NULL or valid for a read.
pub unsafe fn optional<T: Copy>(pointer: *const T) -> Option<T> {
    // SAFETY: the pointer is an optional argument of a C function: NULL, which has no reference, or valid for a read.
    unsafe { pointer.as_ref() }.copied()
}

/// The tensor behind a pointer. Either may be NULL.
///
/// # Safety
/// The pointer is NULL or valid for a read.
pub unsafe fn optional_tensor(place: *const TensorHandle) -> Option<TensorHandle> {
    // SAFETY: `optional` demands of its pointer what this function demands.
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
    // SAFETY: the array is neither NULL nor misaligned. C passed it beside its number of entries, which is below a bound
    // that every program keeps.
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
    // SAFETY: `array` demands as many entries as this function does; the number is only read as another type.
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
        let pointers = [self.dtype, self.layout, self.device, self.pin_memory];
        // SAFETY: each pointer is NULL or valid for a read, which this function demands of all four.
        let [new_dtype, layout, kind, pinned] =
            pointers.map(|pointer| unsafe { optional(pointer) });
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
