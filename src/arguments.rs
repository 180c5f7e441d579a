//! Pointers that a C caller passes: places of results, and texts.

use std::ffi::{CStr, OsStr, c_char};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr::NonNull;

use sconce_base::error::{Error, Result};

/// Makes an [`Out`] of an out-parameter of a C function, and names the parameter in errors.
///
/// The macro has no `unsafe` block of its own, so it compiles only inside an `unsafe fn`: callers of the
/// functions of this API promise what the header states once for all pointers (**Safety**), which is what
/// [`Out::new`] demands.
macro_rules! out {
    ($place:ident) => {{
        #[allow(unsafe_op_in_unsafe_fn, reason = "the header states the promise for all functions")]
        let place = $crate::arguments::Out::new($place, stringify!($place))?;
        place
    }};
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

    /// Writes the result.
    #[inline]
    pub(crate) fn write(self, value: T) {
        // SAFETY: `new` was promised a place that may be written, and checked its alignment.
        unsafe { self.0.write(value) }
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
/// Any bytes are a `T`. If `values` is neither NULL nor misaligned, it points to `count` of them, which stay as they
/// are during `'a`.
#[inline]
pub(crate) unsafe fn entries<'a, T>(values: *const T, count: usize, name: &str) -> Result<&'a [T]> {
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
    // SAFETY: neither NULL nor misaligned, and the caller promises so many values.
    Ok(unsafe { std::slice::from_raw_parts(values, count) })
}

/// Reads a caller's text.
///
/// # Safety
/// If `text` is not NULL, it is NUL-terminated and stays as it is during the call.
pub(crate) unsafe fn text<'a>(text: *const c_char, name: &str) -> Result<&'a CStr> {
    if text.is_null() {
        return Err(null(name));
    }
    // SAFETY: not NULL, and the caller promises the rest.
    Ok(unsafe { CStr::from_ptr(text) })
}

/// Reads a caller's path.
///
/// # Safety
/// As [`text`].
pub(crate) unsafe fn path_of<'a>(path: *const c_char, name: &str) -> Result<&'a Path> {
    // SAFETY: C passes `path` as NULL, which is refused, or as a NUL-terminated text that stays as it is
    // during the call.
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
}
