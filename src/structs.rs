//! Structs that begin with their own size, `struct_size`, so that they can grow.
//!
//! A later version adds fields at the end. The caller's size determines the fields:
//!
//! - *A smaller struct* is an older caller's. Missing fields are read as 0, which must stand for the older
//!   version's behaviour. Results are written as far as they fit.
//! - *A larger struct* is a newer caller's. When it is read, the rest must be 0: otherwise the caller
//!   requests something that this version does not know, and is refused. In results the rest becomes 0.
//! - *A size below the first version's* is refused, and so is one beyond [`MOST_BYTES`].
//!
//! A new field never lies in the padding of an older version, since callers leave any bytes there;
//! and fields are added with their padding spelled out (`reserved`), so that the rest of a newer
//! struct is 0.

use std::mem::MaybeUninit;
use std::ptr::{NonNull, from_mut};
use std::slice;

use sconce_base::error::{Error, Result};

use super::bits::AnyBits;
use super::{misaligned, null};

/// The largest size that is believed: of a struct that was not initialised it may be anything.
const MOST_BYTES: usize = 4096;

/// A struct whose first field is its size, a `u32`.
///
/// # Safety
/// It is `#[repr(C)]` and begins with `struct_size: u32`.
pub(super) unsafe trait Grows: AnyBits {
    /// Its name in C.
    const NAME: &'static str;
    /// The macro that initialises it.
    const INIT: &'static str;
    /// The size of its first version.
    const FIRST_BYTES: usize;

    /// Whether all fields after `struct_size` are 0.
    fn is_zeroed(&self) -> bool;
}

/// The place of a struct of results. As [`checked`].
macro_rules! out_struct {
    ($place:ident) => {
        checked!(out_struct, $place)
    };
}

/// A struct that describes a call, which is not zeroed. As [`checked`].
macro_rules! described {
    ($desc:ident) => {
        checked!(described, $desc)
    };
}

/// A struct that may be zeroed. As [`checked`].
macro_rules! read {
    ($value:ident) => {
        checked!(read, $value)
    };
}

/// Implements [`Grows`] for a struct of the C API, from its initialiser's name, the size of its
/// first version, and all fields after `struct_size`.
macro_rules! grows {
    ($kind:ident, $init:literal, first version: $bytes:literal bytes, $($field:ident),+ $(,)?) => {
        any_bits!($kind: struct_size, $($field),+);

        const _: () = {
            assert!(std::mem::offset_of!($kind, struct_size) == 0);
            assert!(size_of::<$kind>() >= $bytes);
        };

        // SAFETY: it begins with its size, as is asserted above.
        unsafe impl $crate::structs::Grows for $kind {
            const NAME: &'static str = stringify!($kind);
            const INIT: &'static str = $init;
            const FIRST_BYTES: usize = $bytes;

            #[inline]
            fn is_zeroed(&self) -> bool {
                $($crate::bits::AnyBits::is_zero(&self.$field))&&+
            }
        }
    };
}

/// Reads the size field of a caller's struct.
///
/// # Safety
/// If `pointer` is neither NULL nor misaligned, a `u32` can be read from it.
#[inline]
unsafe fn size_of_callers<T: Grows>(pointer: *const T, name: &str) -> Result<usize> {
    if pointer.is_null() {
        return Err(null(name));
    }
    if !pointer.is_aligned() {
        return Err(misaligned(name));
    }
    // SAFETY: not NULL and aligned; every version of the struct begins with this field.
    Ok(unsafe { pointer.cast::<u32>().read() } as usize)
}

/// Whether some version of the struct may have this size.
fn check_size<T: Grows>(size: usize, name: &str) -> Result<()> {
    if (T::FIRST_BYTES..=MOST_BYTES).contains(&size) {
        Ok(())
    } else {
        Err(no_version::<T>(size, name))
    }
}

/// Reads a caller's description of a call. Refuses one that is zeroed.
///
/// # Safety
/// If `pointer` is neither NULL nor misaligned, it points to as many readable bytes as its first
/// field, a `u32`, says.
#[inline]
pub(super) unsafe fn described<T: Grows>(pointer: *const T, name: &str) -> Result<T> {
    // SAFETY: `pointer`, if it is neither NULL nor misaligned, has as many readable bytes as its first field says: this
    // function demands it.
    let value = unsafe { read(pointer, name) }?;
    refuse_zeroed(&value, name)?;
    Ok(value)
}

/// Refuses a description in which no field is set.
#[inline]
pub(super) fn refuse_zeroed<T: Grows>(value: &T, name: &str) -> Result<()> {
    if value.is_zeroed() { Err(zeroed::<T>(name)) } else { Ok(()) }
}

/// Reads a caller's struct as this version's.
///
/// # Safety
/// As [`described`].
#[inline]
pub(super) unsafe fn read<T: Grows>(pointer: *const T, name: &str) -> Result<T> {
    let mut place = None;
    // SAFETY: `pointer`, if it is neither NULL nor misaligned, has as many readable bytes as its first
    // field says: this function demands it. The value is copied at once, so the struct may change
    // afterwards.
    unsafe { read_at(pointer, &mut place, name) }.copied()
}

/// Reads a caller's struct in place, or through `place` if it has another version's size.
///
/// # Safety
/// As [`described`]; and nothing changes the struct as long as `'a`.
#[inline]
pub(super) unsafe fn read_at<'a, T: Grows>(
    pointer: *const T,
    place: &'a mut Option<T>,
    name: &str,
) -> Result<&'a T> {
    // SAFETY: unless `pointer` is NULL or misaligned, its first field can be read: this function demands more.
    let size = unsafe { size_of_callers(pointer, name) }?;
    if size == size_of::<T>() {
        // SAFETY: not NULL, aligned, as large as the type, and any bytes are a value of it.
        return Ok(unsafe { &*pointer });
    }
    check_size::<T>(size, name)?;
    // SAFETY: not NULL; this function demands that as many bytes are readable as the first field says.
    let bytes = unsafe { slice::from_raw_parts(pointer.cast::<u8>(), size) };
    Ok(place.insert(from_bytes(bytes, name)?))
}

/// A struct of another version's size.
#[cold]
#[inline(never)]
fn from_bytes<T: Grows>(bytes: &[u8], name: &str) -> Result<T> {
    let (known, rest) = bytes.split_at(bytes.len().min(size_of::<T>()));
    if rest.iter().any(|byte| *byte != 0) {
        return Err(newer::<T>(bytes.len(), name));
    }
    let mut value = MaybeUninit::<T>::zeroed();
    let to = from_mut(&mut value).cast::<u8>();
    // SAFETY: no more bytes than the value has, which is not the caller's memory.
    unsafe { to.copy_from_nonoverlapping(known.as_ptr(), known.len()) };
    // SAFETY: all bytes are initialised, and any are a value of the type.
    Ok(unsafe { value.assume_init() })
}

/// The place of a struct of results. Only [`OutStruct::new`], which is unsafe, makes one.
pub(super) struct OutStruct<T> {
    place: NonNull<T>,
    /// Its size, by its first field.
    bytes: usize,
}

impl<T: Grows> OutStruct<T> {
    /// The out-parameter `name`, if its struct has the size of a version.
    ///
    /// # Safety
    /// If `pointer` is neither NULL nor misaligned, it points to as many readable and writable
    /// bytes as its first field, a `u32`, says; during the call.
    #[inline]
    pub(super) unsafe fn new(pointer: *mut T, name: &str) -> Result<OutStruct<T>> {
        // SAFETY: unless `pointer` is NULL or misaligned, its first field can be read: this function demands more.
        let bytes = unsafe { size_of_callers(pointer, name) }?;
        if bytes != size_of::<T>() {
            check_size::<T>(bytes, name)?;
        }
        let place = NonNull::new(pointer).ok_or_else(|| null(name))?;
        Ok(OutStruct { place, bytes })
    }

    /// The caller's struct: aligned, and valid for reading and writing [`OutStruct::bytes`].
    #[inline]
    pub(super) fn place(&self) -> NonNull<T> {
        self.place
    }

    /// The size of the caller's struct: that of a version.
    #[inline]
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Writes the results that fit, and zeros where the caller's struct is larger. The caller's
    /// `struct_size` stays.
    #[inline]
    pub(super) fn write(self, value: T) {
        if self.bytes == size_of::<T>() {
            // SAFETY: aligned, and as large as the type, whose `struct_size` is the caller's.
            return unsafe { self.place.write(value) };
        }
        self.write_part(&value);
    }

    /// Writes to a struct of another version's size.
    #[cold]
    #[inline(never)]
    fn write_part(self, value: &T) {
        const HEAD: usize = size_of::<u32>();
        let known = self.bytes.min(size_of::<T>());
        let from = std::ptr::from_ref(value).cast::<u8>();
        // SAFETY: within the value, which is larger than its first field.
        let from = unsafe { from.add(HEAD) };
        let place = self.place.as_ptr().cast::<u8>();
        // SAFETY: within the caller's struct, of at least the first version's size.
        let to = unsafe { place.add(HEAD) };
        // SAFETY: both have so many bytes after their first field, and the value is not the caller's.
        unsafe { to.copy_from_nonoverlapping(from, known - HEAD) };
        // SAFETY: not beyond the caller's struct.
        let rest = unsafe { place.add(known) };
        // SAFETY: the caller's struct has so many bytes.
        unsafe { rest.write_bytes(0, self.bytes - known) };
    }
}

#[cold]
#[inline(never)]
fn no_version<T: Grows>(size: usize, name: &str) -> Error {
    let (kind, init, first) = (T::NAME, T::INIT, T::FIRST_BYTES);
    Error::invalid_argument(format!(
        "{name}.struct_size is {size}; a {kind} has {first} bytes or more (at most {MOST_BYTES}); begin \
         with {init}, or set struct_size to sizeof({kind})"
    ))
}

#[cold]
#[inline(never)]
fn newer<T: Grows>(size: usize, name: &str) -> Error {
    let known = size_of::<T>();
    Error::invalid_argument(format!(
        "{name}.struct_size is {size}, and not all bytes after the first {known} are 0, but this version \
         of the library knows only those; leave newer fields 0, or use a newer library"
    ))
}

#[cold]
#[inline(never)]
fn zeroed<T: Grows>(name: &str) -> Error {
    let init = T::INIT;
    Error::invalid_argument(format!(
        "{name} is zero in all fields after struct_size; begin with {init}, and set the fields that the \
         call needs"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two versions of a struct: the second has grown.
    mod versions {
        use super::super::super::bits::CBool;

        #[repr(C)]
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(super) struct First {
            pub(super) struct_size: u32,
            pub(super) count: i32,
            pub(super) factor: f64,
        }

        #[repr(C)]
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(super) struct Second {
            pub(super) struct_size: u32,
            pub(super) count: i32,
            pub(super) factor: f64,
            pub(super) flag: CBool,
            pub(super) reserved: [u8; 7],
            pub(super) sizes: [i64; 2],
        }

        #[repr(C)]
        #[derive(Clone, Copy)]
        pub(super) struct Padded {
            pub(super) struct_size: u32,
            pub(super) flag: CBool,
            pub(super) number: i64,
        }

        grows!(First, "FIRST_INIT", first version: 16 bytes, count, factor);
        grows!(Second, "SECOND_INIT", first version: 16 bytes, count, factor, flag, reserved, sizes);
        grows!(Padded, "PADDED_INIT", first version: 16 bytes, flag, number);
    }

    use super::super::bits::CBool;
    use versions::{First, Padded, Second};

    fn first() -> First {
        First { struct_size: size_of::<First>() as u32, count: 3, factor: 0.5 }
    }

    fn second() -> Second {
        let struct_size = size_of::<Second>() as u32;
        Second {
            struct_size,
            count: 3,
            factor: 0.5,
            flag: CBool::FALSE,
            reserved: [0; 7],
            sizes: [0; 2],
        }
    }

    fn read_as<T: Grows, C>(callers: &C) -> Result<T> {
        // SAFETY: the struct has the size that it says.
        unsafe { described(std::ptr::from_ref(callers).cast::<T>(), "desc") }
    }

    #[track_caller]
    fn refused<T: Grows, C>(callers: &C, words: &str) {
        let error = read_as::<T, C>(callers).err().unwrap();
        assert!(error.message().starts_with(words), "{}", error.message());
    }

    #[test]
    fn an_older_callers_struct_lacks_fields_that_are_then_0() {
        let Second { count, factor, flag, sizes, .. } = read_as(&first()).unwrap();
        assert_eq!((count, factor, flag, sizes), (3, 0.5, CBool::FALSE, [0; 2]));
    }

    #[test]
    fn a_newer_callers_struct_is_accepted_while_its_rest_is_0() {
        let First { count, factor, .. } = read_as(&Second { ..second() }).unwrap();
        assert_eq!((count, factor), (3, 0.5));
        for newer in
            [Second { flag: CBool::TRUE, ..second() }, Second { sizes: [0, 1 << 56], ..second() }]
        {
            refused::<First, _>(
                &newer,
                "desc.struct_size is 40, and not all bytes after the first 16",
            );
        }
    }

    #[test]
    fn sizes_of_no_version_are_refused_with_the_initialisers_name() {
        for size in [0, 4, 15, 4097, u32::MAX] {
            let callers = First { struct_size: size, ..first() };
            refused::<First, _>(
                &callers,
                &format!("desc.struct_size is {size}; a First has 16 bytes"),
            );
            refused::<Second, _>(&callers, &format!("desc.struct_size is {size}; a Second has 16"));
            let error = read_as::<First, _>(&callers).err().unwrap();
            assert!(error.message().contains("FIRST_INIT"), "{}", error.message());
        }
    }

    #[test]
    fn zeroed_structs_are_refused_whatever_their_padding_holds() {
        let zeros = Second { count: 0, factor: 0.0, ..second() };
        for size in [16, 40] {
            let callers = Second { struct_size: size, ..zeros };
            refused::<Second, _>(
                &callers,
                "desc is zero in all fields after struct_size; begin with SECOND",
            );
        }
        assert!(read_as::<Second, _>(&Second { factor: -0.0, ..zeros }).is_ok());
        let mut padded = MaybeUninit::<Padded>::zeroed();
        let bytes = padded.as_mut_ptr().cast::<u8>();
        // SAFETY: the first field.
        unsafe { bytes.cast::<u32>().write(size_of::<Padded>() as u32) };
        // SAFETY: the padding after `flag`.
        unsafe { bytes.wrapping_add(5).write(7) };
        refused::<Padded, _>(&padded, "desc is zero in all fields");
    }

    /// Writes `value` over a caller's struct `C`, whose size field determines its version.
    fn written<T: Grows, C: Copy>(value: &T, callers: C) -> C {
        let mut callers = callers;
        // SAFETY: the struct has the size that it says.
        let place = unsafe { OutStruct::new(from_mut(&mut callers).cast::<T>(), "out_stats") };
        place.unwrap().write(*value);
        callers
    }

    #[test]
    fn results_fill_the_struct_of_the_caller() {
        let value = Second { flag: CBool::TRUE, sizes: [5, 6], ..second() };
        assert_eq!(written(&value, First { count: 9, factor: 9.0, ..first() }), first());
        assert_eq!(written(&value, Second { count: 9, sizes: [9; 2], ..second() }), value);
        // A smaller size than the memory: what follows stays.
        let some = Second { struct_size: 24, count: 9, sizes: [9; 2], ..second() };
        assert_eq!(written(&value, some), Second { struct_size: 24, sizes: [9; 2], ..value });
    }

    #[test]
    fn results_of_an_older_library_leave_zeros() {
        let callers = Second { flag: CBool::TRUE, sizes: [9; 2], ..second() };
        assert_eq!(written(&first(), callers), second());
    }
}
