//! Structs of C that begin with their own size, `struct_size`: all of a struct is read or written only once its size is
//! known to be this version's. Each struct has one version so far, and another size is refused.

#![allow(unsafe_code, reason = "reads through pointers of the caller")]

use std::marker::PhantomData;

use super::arguments::Out;
use super::bits::AnyBits;
use crate::error::{Error, Result, not_null};

/// A struct whose first field is its size, a `u32`.
///
/// # Safety
/// It is `#[repr(C)]` and begins with `struct_size: u32`.
pub unsafe trait StructWithSize: AnyBits {}

/// Lets `#[repr(C)]` structs that begin with their size be read from C memory. All fields after `struct_size` are named.
macro_rules! has_struct_size {
    ($kind:ident: $($field:ident),+ $(,)?) => {
        $crate::abi::bits::any_bits!($kind: struct_size, $($field),+);

        const _: () = {
            assert!(std::mem::offset_of!($kind, struct_size) == 0);
            let _: fn(&$kind) -> &u32 = |it| &it.struct_size;
        };

        // SAFETY: it begins with its size, as is asserted above.
        unsafe impl $crate::abi::structs::StructWithSize for $kind {}
    };
}
pub(crate) use has_struct_size;

/// Reads a caller's struct. Refuses a pointer that is NULL or misaligned, and a struct of another size, of which only
/// the size is read.
///
/// # Safety
/// If the pointer is neither NULL nor misaligned, it has as many readable bytes as its first field, a `u32`, says.
pub unsafe fn read_struct<T: StructWithSize>(pointer: *const T, name: &str) -> Result<T> {
    not_null(pointer, name)?;
    // SAFETY: not NULL and aligned; the struct begins with this field, whatever its size.
    let size = unsafe { pointer.cast::<u32>().read() };
    if size as usize != size_of::<T>() {
        return Err(Error::invalid_argument(format!(
            "{name}.struct_size is of no version of the struct"
        )));
    }
    // SAFETY: not NULL and aligned, and the struct has as many bytes as a `T`, of which any are a value.
    Ok(unsafe { pointer.read() })
}

/// A place for a struct of results that begins with its size: NULL, or valid until the function returns for reads and
/// writes of as many bytes as its first field says. Only a C caller makes one from a pointer.
#[repr(transparent)]
pub struct OutStruct<'a, T>(*mut T, PhantomData<&'a mut T>);

impl<'a, T: StructWithSize> OutStruct<'a, T> {
    /// The struct as the caller has set it, and the place for the results. Refuses what [`read_struct`] refuses.
    pub fn described(self, name: &str) -> Result<(T, Out<'a, T>)> {
        // SAFETY: C passed the place as one of a struct that begins with its size, which the header demands to be set
        // with its `…_INIT`.
        let described = unsafe { read_struct(self.0, name) }?;
        // SAFETY: the place is valid for as many bytes as its first field says, which were found to be those of a `T`.
        Ok((described, unsafe { Out::of_c(self.0) }))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[repr(C)]
    #[derive(Clone, Copy, Debug)]
    struct Described {
        struct_size: u32,
        values: [u32; 7],
    }
    has_struct_size!(Described: values);

    /// The place of a struct that ends where readable memory ends: its size, and 7 in all other bytes.
    fn at_the_end_of_a_page(struct_size: usize) -> *mut Described {
        // SAFETY: the name is one that the system knows, and nothing is written.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: new pages are asked for, at any address.
        let pages = unsafe { libc::mmap(std::ptr::null_mut(), 2 * page, access, flags, -1, 0) };
        assert_ne!(pages, libc::MAP_FAILED);
        let end = pages.wrapping_byte_add(page);
        // SAFETY: the second one of the two new pages, which nothing uses.
        assert_eq!(unsafe { libc::mprotect(end, page, libc::PROT_NONE) }, 0);
        let place = end.wrapping_byte_sub(struct_size);
        // SAFETY: the first one of the two new pages ends behind so many bytes.
        unsafe { place.cast::<u8>().write_bytes(7, struct_size) };
        // SAFETY: the struct has at least four bytes, and the page's end is aligned for it.
        unsafe { place.cast::<u32>().write(struct_size as u32) };
        place.cast()
    }

    fn read(place: *const Described) -> Result<Described> {
        // SAFETY: the tests pass places of `at_the_end_of_a_page`, which have as many bytes as they say, or misaligned
        // ones.
        unsafe { read_struct(place, "options") }
    }

    #[test]
    fn of_a_struct_of_another_size_only_the_size_is_read() {
        for smaller in (4..size_of::<Described>()).step_by(4) {
            let place = at_the_end_of_a_page(smaller);
            let refused = read(place).unwrap_err();
            assert!(refused.message.contains("options.struct_size"), "{refused:?}");
            assert!(OutStruct(place, PhantomData).described("out").is_err());
        }
    }

    #[test]
    fn a_struct_of_this_version_is_read_and_written_whole() {
        let place = at_the_end_of_a_page(size_of::<Described>());
        let (mut described, out) = OutStruct(place, PhantomData).described("out").unwrap();
        assert_eq!(described.values, [0x0707_0707; 7]);
        described.values[6] = 9;
        out.write("out", described).unwrap();
        assert_eq!(read(place).unwrap().values[6], 9);
        assert!(
            OutStruct(std::ptr::null_mut::<Described>(), PhantomData).described("out").is_err()
        );
        let misaligned = place.wrapping_byte_sub(2);
        assert!(OutStruct(misaligned, PhantomData).described("out").is_err());
    }
}
