//! Arguments of C functions: places for results, texts, values that may be missing, arrays, and what a new tensor is to
//! be.
//!
//! `Out` and `CText` hold what C cannot say: only a C caller makes one from a pointer, and the ABI tells it which pointers
//! it may pass. So a function with such arguments is safe to call from Rust, and to read or write through one is safe.
//! The macro `abi_functions!` turns the raw arguments of its functions into what `Argument` and `List` have for their
//! bodies, in one place, before a body runs.
//! Handles of boxed objects are `Option<&T>` where a function uses the object, and `Option<Box<T>>` where it deletes it.

#![allow(unsafe_code, reason = "reads through pointers of the caller")]

use std::any::TypeId;
use std::ffi::{CStr, c_char};
use std::marker::PhantomData;

use super::bits::AnyBits;
use super::constants::{dtype_of, named_device_of};
use crate::error::{Error, Result, not_null};
use crate::sconce::api;
use crate::sconce::properties::is_defined;
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

impl Out<'_, i64> {
    /// Writes a number, unless the caller has no place for one. The place needs no alignment.
    pub fn write_if_wanted(self, value: i64) {
        if !self.0.is_null() {
            // SAFETY: the place is not NULL, so it is one for this number, which the ABI demands to be valid for a write.
            unsafe { self.0.write_unaligned(value) };
        }
    }
}

/// A call of a function of [`abi_functions!`](crate::fallbacks), as a local value of the function: what borrows from the
/// caller's arguments borrows from this, too, and so cannot be kept until after the function has returned.
pub struct Call(());

impl Call {
    /// The call of the function that keeps this value.
    #[inline]
    pub fn started() -> Call {
        Call(())
    }
}

/// The type that C has for what a body sees.
pub trait InC {
    /// The argument in C.
    type C: Copy;
}

/// What the body of a function of [`abi_functions!`](crate::fallbacks) sees of an argument: a type that holds what the
/// ABI says of it.
pub trait Argument<'call>: InC + Sized {
    /// The argument as the body sees it.
    ///
    /// # Safety
    /// The argument is what the ABI says of it: a pointer is NULL, or valid as long as the call is borrowed for a read
    /// of what it points to, or for a write if it is a place for a result. A text ends with NUL.
    unsafe fn of_c(argument: Self::C, call: &'call Call) -> Self;

    /// The handle that a failure may be about; `None` if the argument is no tensor, or has none.
    ///
    /// # Safety
    /// As of `of_c`.
    unsafe fn tensor(_: Self::C) -> Option<TensorHandle> {
        None
    }
}

/// Arguments that the body sees as they are, and such as may be missing, which are behind a pointer.
macro_rules! plain_arguments {
    ($($kind:ty),*) => {$(
        impl InC for $kind {
            type C = $kind;
        }

        impl<'call> Argument<'call> for $kind {
            #[inline]
            unsafe fn of_c(argument: $kind, _: &'call Call) -> $kind {
                argument
            }
        }

        impl InC for Option<$kind> {
            type C = *const $kind;
        }

        impl<'call> Argument<'call> for Option<$kind> {
            #[inline]
            unsafe fn of_c(argument: *const $kind, _: &'call Call) -> Option<$kind> {
                // SAFETY: `of_c` demands that an optional argument is NULL, or valid for a read.
                unsafe { optional(argument) }
            }
        }
    )*};
}
plain_arguments!(i32, i64, f64);

impl InC for TensorHandle {
    type C = TensorHandle;
}

impl<'call> Argument<'call> for TensorHandle {
    #[inline]
    unsafe fn of_c(argument: TensorHandle, _: &'call Call) -> TensorHandle {
        argument
    }

    unsafe fn tensor(argument: TensorHandle) -> Option<TensorHandle> {
        Some(argument)
    }
}

/// A tensor that may be missing. NULL and the address of NULL are none.
impl InC for Option<TensorHandle> {
    type C = *const TensorHandle;
}

impl<'call> Argument<'call> for Option<TensorHandle> {
    #[inline]
    unsafe fn of_c(argument: *const TensorHandle, _: &'call Call) -> Option<TensorHandle> {
        // SAFETY: `of_c` demands that an optional argument is NULL, or valid for a read.
        unsafe { optional_tensor(argument) }
    }

    unsafe fn tensor(argument: *const TensorHandle) -> Option<TensorHandle> {
        // SAFETY: as `of_c`.
        unsafe { optional_tensor(argument) }
    }
}

/// A flag, which C has as a number.
impl InC for bool {
    type C = i32;
}

impl<'call> Argument<'call> for bool {
    #[inline]
    unsafe fn of_c(argument: i32, _: &'call Call) -> bool {
        argument != 0
    }
}

impl InC for Option<bool> {
    type C = *const i32;
}

impl<'call> Argument<'call> for Option<bool> {
    #[inline]
    unsafe fn of_c(argument: *const i32, _: &'call Call) -> Option<bool> {
        // SAFETY: `of_c` demands that an optional argument is NULL, or valid for a read.
        unsafe { optional(argument) }.map(|flag| flag != 0)
    }
}

impl<T> InC for Out<'_, T> {
    type C = *mut T;
}

impl<'call, T> Argument<'call> for Out<'call, T> {
    #[inline]
    unsafe fn of_c(argument: *mut T, _: &'call Call) -> Self {
        // SAFETY: `of_c` demands that a place for a result is NULL, or valid for a write.
        unsafe { Out::of_c(argument) }
    }
}

impl InC for CText<'_> {
    type C = *const c_char;
}

impl<'call> Argument<'call> for CText<'call> {
    #[inline]
    unsafe fn of_c(argument: *const c_char, _: &'call Call) -> Self {
        CText(argument, PhantomData)
    }
}

/// A text that may be missing. NULL and the address of NULL are none.
impl InC for Option<CText<'_>> {
    type C = *const *const c_char;
}

impl<'call> Argument<'call> for Option<CText<'call>> {
    #[inline]
    unsafe fn of_c(argument: *const *const c_char, _: &'call Call) -> Self {
        // SAFETY: `of_c` demands that an optional argument is NULL, or valid for a read.
        let text = unsafe { optional(argument) }.filter(|text| !text.is_null());
        text.map(|text| CText(text, PhantomData))
    }
}

/// The type that C has for the entries of a list.
pub trait ListInC {
    /// An entry in C.
    type Entry;
}

/// What the body of a function sees of a list, which C passes as the address of entries and their number.
pub trait List<'call>: ListInC + Sized {
    /// The list as the body sees it.
    ///
    /// # Safety
    /// The array has `count` entries, which stay as they are as long as the call is borrowed. Entries that are pointers
    /// are NULL or valid for a read.
    unsafe fn of_c(
        entries: *const Self::Entry,
        count: i64,
        name: &str,
        call: &'call Call,
    ) -> Result<Self>;

    /// The handles that a failure may be about, by their places in the list; none if the list is not of tensors.
    ///
    /// # Safety
    /// As of `of_c`.
    unsafe fn tensors(_: *const Self::Entry, _: i64) -> Vec<(usize, TensorHandle)> {
        Vec::new()
    }
}

impl<T: AnyBits> ListInC for &[T] {
    type Entry = T;
}

impl<'call, T: AnyBits> List<'call> for &'call [T] {
    #[inline]
    unsafe fn of_c(entries: *const T, count: i64, name: &str, _: &'call Call) -> Result<Self> {
        // SAFETY: `List::of_c` demands as many entries as the number says.
        unsafe { list(entries, count, name) }
    }

    unsafe fn tensors(entries: *const T, count: i64) -> Vec<(usize, TensorHandle)> {
        if TypeId::of::<T>() != TypeId::of::<TensorHandle>() {
            return Vec::new();
        }
        // SAFETY: `List::of_c` demands as many entries as the number says, and `T` is the type of handles.
        let handles = unsafe { list(entries.cast::<TensorHandle>(), count, "") };
        handles.unwrap_or_default().iter().copied().enumerate().collect()
    }
}

/// A list that may be missing.
impl<T: AnyBits> ListInC for Option<&[T]> {
    type Entry = *const T;
}

impl<'call, T: AnyBits> List<'call> for Option<&'call [T]> {
    #[inline]
    unsafe fn of_c(place: *const *const T, count: i64, name: &str, _: &'call Call) -> Result<Self> {
        // SAFETY: `List::of_c` demands that the address of the list is NULL, or valid for a read.
        let entries = unsafe { optional(place) }.filter(|entries| !entries.is_null());
        // SAFETY: `List::of_c` demands as many entries as the number says.
        entries.map(|entries| unsafe { list(entries, count, name) }).transpose()
    }
}

/// A list of which each entry may be missing.
impl<T: AnyBits> ListInC for Vec<Option<T>> {
    type Entry = *const T;
}

impl<'call, T: AnyBits> List<'call> for Vec<Option<T>>
where
    Option<T>: Argument<'call, C = *const T>,
{
    #[inline]
    unsafe fn of_c(
        entries: *const *const T,
        count: i64,
        name: &str,
        call: &'call Call,
    ) -> Result<Self> {
        // SAFETY: `List::of_c` demands as many entries as the number says.
        let entries = unsafe { list(entries, count, name) }?;
        // SAFETY: `List::of_c` demands that each entry is NULL, or valid for a read.
        Ok(entries.iter().map(|&entry| unsafe { Argument::of_c(entry, call) }).collect())
    }

    unsafe fn tensors(entries: *const *const T, count: i64) -> Vec<(usize, TensorHandle)> {
        // SAFETY: `List::of_c` demands as many entries as the number says.
        let entries = unsafe { list(entries, count, "") }.unwrap_or_default().iter().enumerate();
        entries
            .filter_map(|(at, &entry)| {
                // SAFETY: `List::of_c` demands that each entry is NULL, or valid for a read.
                let handle = unsafe { <Option<T> as Argument<'call>>::tensor(entry) };
                handle.map(|handle| (at, handle))
            })
            .collect()
    }
}

/// So many flags.
impl<const N: usize> ListInC for [bool; N] {
    type Entry = i32;
}

impl<'call, const N: usize> List<'call> for [bool; N] {
    #[inline]
    unsafe fn of_c(entries: *const i32, count: i64, name: &str, _: &'call Call) -> Result<Self> {
        if usize::try_from(count) != Ok(N) {
            return Err(Error::invalid_argument(format!(
                "{name} must have {N} entries, but has {count}"
            )));
        }
        // SAFETY: `List::of_c` demands as many entries as the number says, which was compared with `N`.
        let flags = unsafe { array(entries, N, name) }?;
        Ok(std::array::from_fn(|at| flags[at] != 0))
    }
}

/// Arguments that are tensors, with their names in C.
#[derive(Default)]
pub struct GivenTensors(Vec<(String, TensorHandle)>);

impl GivenTensors {
    /// Tensors by name.
    pub fn of(tensors: &[(&str, TensorHandle)]) -> Self {
        GivenTensors(tensors.iter().map(|(name, handle)| ((*name).to_owned(), *handle)).collect())
    }

    /// With an argument, unless it is no tensor.
    pub fn and(mut self, name: &str, tensor: Option<TensorHandle>) -> Self {
        self.0.extend(tensor.map(|handle| (name.to_owned(), handle)));
        self
    }

    /// With the tensors of a list.
    pub fn and_list(mut self, name: &str, tensors: Vec<(usize, TensorHandle)>) -> Self {
        self.0.extend(tensors.into_iter().map(|(at, handle)| (format!("{name}[{at}]"), handle)));
        self
    }
}

/// A failure with the name of the argument whose handle is no tensor, if it is about one: libsconce.so names its own
/// argument, which is only `tensor` for most functions. `tensors` is called for such failures only.
#[cold]
pub fn name_tensor(error: Error, tensors: impl FnOnce() -> GivenTensors) -> Error {
    if error.status != api::SCONCE_ERROR_INVALID_HANDLE {
        return error;
    }
    let named = tensors().0.into_iter().find_map(|(name, handle)| {
        let why = is_defined(handle).err()?;
        let words = why.message.strip_prefix("tensor")?;
        Some(Error::invalid_handle(format!("{name}{words}")))
    });
    named.unwrap_or(error)
}

/// Runs the body of a function with tensors, by their names in C; a failure for a handle that is no tensor names the
/// argument.
#[inline]
pub fn with_tensors<T>(
    tensors: &[(&str, TensorHandle)],
    body: impl FnOnce() -> Result<T>,
) -> Result<T> {
    body().map_err(|error| name_tensor(error, || GivenTensors::of(tensors)))
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

/// As [`array()`], of a list whose number of entries the ABI passes with a sign.
///
/// # Safety
/// As [`array()`].
pub unsafe fn list<'a, T>(entries: *const T, count: i64, name: &str) -> Result<&'a [T]> {
    let length = usize::try_from(count)
        .map_err(|_| Error::invalid_argument(format!("{name} has {count} entries")))?;
    // SAFETY: `array` demands as many entries as this function does; the number is only read as another type.
    unsafe { array(entries, length, name) }
}

/// What the ABI says of a new tensor. What is missing leaves the default.
#[derive(Clone, Copy)]
pub struct NewTensor {
    /// c10's number of the data type.
    dtype: Option<i32>,
    /// c10's number of the layout.
    layout: Option<i32>,
    /// c10's kind of device.
    device: Option<i32>,
    /// The index of the device; -1 is the current one.
    device_index: i32,
    /// Whether memory of the CPU is page-locked.
    pin_memory: Option<i32>,
}

impl NewTensor {
    /// What a caller says, who may leave out all but the index.
    ///
    /// # Safety
    /// The pointers are NULL or valid for a read.
    #[inline]
    pub unsafe fn of_c(pointers: [*const i32; 4], device_index: i32) -> NewTensor {
        // SAFETY: each pointer is NULL or valid for a read, which this function demands of all four.
        let values = pointers.map(|pointer| unsafe { optional(pointer) });
        let [dtype, layout, device, pin_memory] = values;
        NewTensor { dtype, layout, device, device_index, pin_memory }
    }

    /// The options, with defaults that have Sconce's numbers.
    pub fn options(self, dtype: i32, device: i32) -> Result<api::sconce_tensor_options> {
        if self.layout.is_some_and(|layout| layout != 0) {
            return Err(Error::not_supported("the only layout that Sconce has is strided (0)"));
        }
        let dtype = self.dtype.map_or(Ok(dtype), dtype_of)?;
        let named = |kind| named_device_of(kind, self.device_index);
        let device = self.device.map_or(Ok(device), named)?;
        let mut options = options(dtype, device);
        options.pinned = self.pin_memory.is_some_and(|pinned| pinned != 0);
        Ok(options)
    }
}
