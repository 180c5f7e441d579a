//! Pointers that a C caller passes: places of results, and texts.

use std::ffi::{CStr, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr::NonNull;

use sconce_base::error::{Error, Result};

use super::bits::AnyBits;

/// The functions that [`checked`] may call: each reads what a C function was passed, and demands no more than the
/// header promises for all pointers. The last ones are functions that the calling file has or imports.
macro_rules! reader {
    (out) => {
        $crate::arguments::Out::new
    };
    (optional_out) => {
        $crate::arguments::Out::optional
    };
    (out_entries) => {
        $crate::arguments::OutEntries::new
    };
    (out_entries_up_to) => {
        $crate::arguments::OutEntries::with_capacity
    };
    (out_struct) => {
        $crate::structs::OutStruct::new
    };
    (described) => {
        $crate::structs::described
    };
    (read) => {
        $crate::structs::read
    };
    (text) => {
        $crate::arguments::text
    };
    (path) => {
        $crate::arguments::path_of
    };
    (entries) => {
        $crate::arguments::entries
    };
    (bytes) => {
        $crate::arguments::bytes_of
    };
    (call_name) => {
        call_name
    };
    (config_of) => {
        config_of
    };
    (keys_of) => {
        keys_of
    };
    (launch_request) => {
        launch_request
    };
    (launch_values) => {
        launch_values
    };
    (lists_of) => {
        lists_of
    };
    (name_of) => {
        name_of
    };
    (sleep_place) => {
        sleep_place
    };
    (tensors_of) => {
        tensors_of
    };
    (optional_scalar) => {
        optional_scalar
    };
    (asked_of) => {
        asked_of
    };
}

/// Passes a pointer that a C function was passed, and the parameter's name for errors, to a function that checks the
/// pointer and reads what is there: one of [`reader`].
///
/// A result that refers to the caller's memory borrows the variable that holds the pointer (`&`), so it ends with the
/// C function at the latest.
///
/// The macro has no `unsafe` block of its own, so it compiles only inside an `unsafe fn`: callers of the functions of
/// this API promise what the header states once for all pointers (**Safety**), which is what these functions demand.
macro_rules! checked {
    ($function:ident, $pointer:ident $(, $more:expr)*) => {{
        #[allow(unsafe_op_in_unsafe_fn, reason = "the header states the promise for all functions")]
        let value = reader!($function)($pointer, $($more,)* stringify!($pointer))?;
        value
    }};
    ($function:ident, &$pointer:ident $(, $more:expr)*) => {{
        #[allow(unsafe_op_in_unsafe_fn, reason = "the header states the promise for all functions")]
        let value = reader!($function)(&$pointer, $($more,)* stringify!($pointer))?;
        value
    }};
    ($function:ident, &$pointer:ident $(, $more:expr)*; remedy: $remedy:literal) => {{
        #[allow(unsafe_op_in_unsafe_fn, reason = "the header states the promise for all functions")]
        let value = reader!($function)(&$pointer, $($more,)* stringify!($pointer));
        value.map_err(|error| $crate::arguments::with_remedy(&error, $remedy))?
    }};
    ($function:ident($(&$pointer:ident),+ $(, $more:ident)*)) => {{
        #[allow(unsafe_op_in_unsafe_fn, reason = "the header states the promise for all functions")]
        let value = reader!($function)($(&$pointer,)+ $($more),*)?;
        value
    }};
    ($function:ident($($argument:ident),+)) => {{
        #[allow(unsafe_op_in_unsafe_fn, reason = "the header states the promise for all functions")]
        let value = reader!($function)($($argument),+)?;
        value
    }};
}

/// The place of a result: an [`Out`]. As [`checked`].
macro_rules! out {
    ($place:ident) => {
        checked!(out, $place)
    };
}

/// As [`out`], for a place that may be NULL.
macro_rules! optional_out {
    ($place:ident) => {
        checked!(optional_out, $place)
    };
}

/// The places of so many results: an [`OutEntries`]. As [`checked`].
macro_rules! out_entries {
    ($places:ident, $needed:expr) => {
        checked!(out_entries, $places, $needed)
    };
}

/// As [`out_entries`], for results whose number is known only later.
macro_rules! out_entries_up_to {
    ($places:ident, $capacity:expr) => {
        checked!(out_entries_up_to, $places, $capacity)
    };
}

/// A text. As [`checked`].
macro_rules! text {
    ($text:ident) => {
        checked!(text, &$text)
    };
}

/// A path. As [`checked`].
macro_rules! path {
    ($path:ident) => {
        checked!(path, &$path)
    };
}

/// The entries of an array. An error also says what to do (`remedy`) where the parameter's name does not tell. As
/// [`checked`].
macro_rules! entries {
    ($values:ident, $count:expr $(; remedy: $remedy:literal)?) => {
        checked!(entries, &$values, $count $(; remedy: $remedy)?)
    };
}

/// The bytes of a caller's memory, and the parameter that is their number. As [`checked`].
macro_rules! bytes {
    ($values:ident, $bytes:ident) => {
        checked!(bytes, &$values, $bytes, stringify!($bytes))
    };
}

/// The place of a result.
pub(crate) struct Out<T>(NonNull<T>);

impl<T> Out<T> {
    /// Checks the out-parameter `name`: neither NULL nor misaligned.
    ///
    /// # Safety
    /// If `pointer` is neither NULL nor misaligned, it is valid for writing a `T` during the call.
    #[inline]
    pub(crate) unsafe fn new(pointer: *mut T, name: &str) -> Result<Out<T>> {
        match NonNull::new(pointer) {
            Some(place) if pointer.is_aligned() => Ok(Out(place)),
            Some(_) => Err(misaligned(name)),
            None => Err(null(name)),
        }
    }

    /// As [`Out::new`]; `None` for NULL.
    ///
    /// # Safety
    /// As [`Out::new`].
    #[inline]
    pub(crate) unsafe fn optional(pointer: *mut T, name: &str) -> Result<Option<Out<T>>> {
        if pointer.is_null() {
            return Ok(None);
        }
        // SAFETY: if `pointer` is not misaligned, a `T` can be written there: this function demands it.
        unsafe { Out::new(pointer, name) }.map(Some)
    }

    /// Writes the result.
    #[inline]
    pub(crate) fn write(self, value: T) {
        // SAFETY: `new` was promised a place that may be written, and checked its alignment.
        unsafe { self.0.write(value) }
    }
}

/// The places of results.
pub(crate) struct OutEntries<T> {
    places: *mut T,
    capacity: usize,
    name: &'static str,
}

impl<T: Copy> OutEntries<T> {
    /// The out-parameter `name`, which receives at most `needed` values. It is checked now, so that a call which has
    /// done its work can write the results. It may be NULL if `needed` is 0.
    ///
    /// # Safety
    /// If `places` is neither NULL nor misaligned, it is valid for writing `needed` values during the call.
    #[inline]
    pub(crate) unsafe fn new(
        places: *mut T,
        needed: usize,
        name: &'static str,
    ) -> Result<OutEntries<T>> {
        let places = OutEntries { places, capacity: needed, name };
        places.check(needed)?;
        Ok(places)
    }

    /// The out-parameter `name`, for results whose number is known only later. It is checked with that number, before
    /// anything is written, so the caller must be able to lose the results.
    ///
    /// # Safety
    /// If `places` is neither NULL nor misaligned, it is valid for writing `capacity` values during the call.
    #[inline]
    pub(crate) unsafe fn with_capacity(
        places: *mut T,
        capacity: usize,
        name: &'static str,
    ) -> Result<OutEntries<T>> {
        Ok(OutEntries { places, capacity, name })
    }

    /// Refuses so many results if they have no place.
    pub(crate) fn check(&self, count: usize) -> Result<()> {
        let OutEntries { places, capacity, name } = *self;
        if count > capacity {
            return Err(Error::invalid_argument(format!(
                "capacity is {capacity}, but {name} receives {count} entries; pass an array for all"
            )));
        }
        if count != 0 && places.is_null() {
            return Err(null(name));
        }
        if count != 0 && !places.is_aligned() {
            return Err(misaligned(name));
        }
        Ok(())
    }

    /// Writes results to the first places.
    #[inline]
    pub(crate) fn write(self, results: &[T]) -> Result<()> {
        self.check(results.len())?;
        if !results.is_empty() {
            // SAFETY: neither NULL nor misaligned, and not more than `capacity`, as `check` has found; the constructor
            // was promised so many places.
            unsafe { self.places.copy_from_nonoverlapping(results.as_ptr(), results.len()) };
        }
        Ok(())
    }
}

#[cold]
#[inline(never)]
pub(crate) fn null(name: &str) -> Error {
    Error::invalid_argument(format!("{name} is NULL"))
}

#[cold]
#[inline(never)]
pub(crate) fn misaligned(name: &str) -> Error {
    Error::invalid_argument(format!("{name} is not aligned for its type"))
}

/// A number of bytes that no memory has.
#[cold]
#[inline(never)]
pub(crate) fn beyond_addresses(bytes: usize, name: &str) -> Error {
    Error::invalid_argument(format!("{name} is {bytes}; that exceeds the address space"))
}

/// An error about a parameter, which also says what to do.
#[cold]
#[inline(never)]
pub(crate) fn with_remedy(error: &Error, remedy: &str) -> Error {
    Error::invalid_argument(format!("{}; {remedy}", error.message()))
}

/// More entries than any program passes: a larger number is one that was not set.
const MOST_ENTRIES: usize = 1 << 20;

/// Checks a number of entries.
#[inline]
pub(crate) fn check_count(count: usize, name: &str) -> Result<()> {
    if count <= MOST_ENTRIES { Ok(()) } else { Err(too_many(count, name)) }
}

#[cold]
#[inline(never)]
fn too_many(count: usize, name: &str) -> Error {
    Error::invalid_argument(format!("{name} has {count} entries; at most {MOST_ENTRIES} are taken"))
}

/// The entries of a caller's array, which may be NULL if it has none.
///
/// # Safety
/// If `values` is neither NULL nor misaligned, it points to `count` values, which stay as they are during `'a`.
#[inline]
pub(crate) unsafe fn entries<'a, T: AnyBits>(
    values: &'a *const T,
    count: usize,
    name: &str,
) -> Result<&'a [T]> {
    let values = *values;
    if count == 0 {
        return Ok(&[]);
    }
    if values.is_null() {
        return Err(null(name));
    }
    if !values.is_aligned() {
        return Err(misaligned(name));
    }
    check_count(count, name)?;
    // SAFETY: neither NULL nor misaligned; this function demands `count` values, and any bytes are one.
    Ok(unsafe { std::slice::from_raw_parts(values, count) })
}

/// The bytes of a caller's memory, which may be NULL if it has none.
///
/// # Safety
/// If `value` is not NULL, it points to `bytes` readable bytes that stay as they are during `'a`.
pub(crate) unsafe fn bytes_of<'a>(
    value: &'a *const c_void,
    bytes: usize,
    bytes_name: &str,
    name: &str,
) -> Result<&'a [u8]> {
    let value = *value;
    match bytes {
        0 => Ok(&[]),
        _ if value.is_null() => Err(null(name)),
        _ if bytes > isize::MAX as usize => Err(beyond_addresses(bytes, bytes_name)),
        // SAFETY: not NULL and not larger than memory can be; this function demands so many readable bytes.
        _ => Ok(unsafe { std::slice::from_raw_parts(value.cast::<u8>(), bytes) }),
    }
}

/// Reads a caller's text.
///
/// # Safety
/// If `text` is not NULL, it is NUL-terminated and stays as it is during `'a`.
#[inline]
pub(crate) unsafe fn text<'a>(text: &'a *const c_char, name: &str) -> Result<&'a CStr> {
    let text = *text;
    if text.is_null() {
        return Err(null(name));
    }
    // SAFETY: not NULL, and NUL-terminated, as this function demands.
    Ok(unsafe { CStr::from_ptr(text) })
}

/// Reads a caller's path.
///
/// # Safety
/// As [`text`].
pub(crate) unsafe fn path_of<'a>(path: &'a *const c_char, name: &str) -> Result<&'a Path> {
    // SAFETY: NULL or NUL-terminated, as this function demands.
    let path = unsafe { text(path, name) }?;
    Ok(Path::new(OsStr::from_bytes(path.to_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusable_places_are_named() {
        // SAFETY: NULL is allowed, and nothing is written.
        let null = unsafe { Out::<i32>::new(std::ptr::null_mut(), "out_a") };
        assert!(null.err().unwrap().message().contains("out_a is NULL"));
        let odd = std::ptr::without_provenance_mut(3);
        // SAFETY: a misaligned place is allowed, and nothing is written.
        let misaligned = unsafe { Out::<i32>::new(odd, "out_b") };
        assert!(misaligned.err().unwrap().message().contains("out_b is not aligned"));
    }

    #[test]
    fn places_of_a_known_number_of_results_are_checked_before_the_work() {
        let odd = std::ptr::without_provenance_mut::<i32>(3);
        for (places, words) in [(std::ptr::null_mut(), "out_a is NULL"), (odd, "out_a is not")] {
            // SAFETY: an unusable place is allowed, and nothing is written.
            let refused = unsafe { OutEntries::new(places, 2, "out_a") };
            assert!(refused.err().unwrap().message().starts_with(words));
            // SAFETY: nothing is written, so any place will do.
            let unused = unsafe { OutEntries::new(places, 0, "out_a") };
            unused.unwrap().write(&[]).unwrap();
            // SAFETY: the write refuses an unusable place.
            let later = unsafe { OutEntries::with_capacity(places, 2, "out_a") };
            assert!(later.unwrap().write(&[1]).err().unwrap().message().starts_with(words));
        }
    }

    #[test]
    fn errors_name_the_parameter_and_the_remedy() {
        unsafe fn read_one(values: *const i32) -> Result<i32> {
            Ok(entries!(values, 1; remedy: "pass one number")[0])
        }
        // SAFETY: NULL is allowed.
        let null = unsafe { read_one(std::ptr::null()) };
        assert_eq!(null.err().unwrap().message(), "values is NULL; pass one number");
        // SAFETY: a number.
        assert_eq!(unsafe { read_one(&5) }.ok(), Some(5));

        unsafe fn read_bytes(image: *const c_void, image_bytes: usize) -> Result<usize> {
            Ok(bytes!(image, image_bytes).len())
        }
        // SAFETY: so many bytes are refused before any is read.
        let refused = unsafe { read_bytes(NonNull::<u8>::dangling().as_ptr().cast(), usize::MAX) };
        assert!(refused.err().unwrap().message().starts_with("image_bytes is 184467"));
    }
}
