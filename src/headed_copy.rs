//! Structs of results that are copied from a module of the library as they are, behind a head of eight bytes.

use super::structs::{Grows, OutStruct};

/// A struct of results with a twin in a module of the library, which is copied as it is.
///
/// # Safety
/// `V` has the layout of the fields after the first eight bytes, which are `struct_size` and a `u32` that is 0; and
/// both end with the last of these fields.
pub(super) unsafe trait HeadedCopy<V: Copy>: Grows {}

/// Implements [`HeadedCopy`] for a struct of the C API and its twin, with all fields of the twin.
macro_rules! headed_copy {
    ($kind:ident of $twin:ident: $($field:ident),+ $(,)?) => {
        const _: () = {
            const HEAD: usize = 8;
            assert!(size_of::<$kind>() == HEAD + size_of::<$twin>());
            $(assert!(
                std::mem::offset_of!($kind, $field) == HEAD + std::mem::offset_of!($twin, $field)
            );)+
            // All fields: a twin with another one does not compile.
            const fn all(twin: $twin) {
                let $twin { $($field: _),+ } = twin;
            }
            all($twin::NONE);
        };

        // SAFETY: each field has the same place behind the head, and the sizes agree, as is asserted above; types of
        // equal fields are asserted where they are defined.
        unsafe impl $crate::headed_copy::HeadedCopy<$twin> for $kind {}
    };
}

impl<T: Grows> OutStruct<T> {
    /// Writes the results of a twin that fit, as [`OutStruct::write`] does, without making the struct first.
    #[inline]
    pub(super) fn write_twin<V: Copy>(self, twin: &V)
    where
        T: HeadedCopy<V>,
    {
        const HEAD: usize = 8;
        let known = self.bytes().min(size_of::<T>());
        let place = self.place().as_ptr().cast::<u8>();
        // SAFETY: within the caller's struct, of at least the first version's size.
        let reserved = unsafe { place.add(size_of::<u32>()) };
        // SAFETY: the struct is aligned to at least four bytes, so its second word is.
        unsafe { reserved.cast::<u32>().write(0) };
        // SAFETY: the first version of each struct is longer than the head, which is its size and a reserved word.
        let to = unsafe { place.add(HEAD) };
        let from = std::ptr::from_ref(twin).cast::<u8>();
        // SAFETY: both have so many bytes after the head, and the twin is not the caller's.
        unsafe { to.copy_from_nonoverlapping(from, known - HEAD) };
        if self.bytes() > known {
            // SAFETY: within the caller's struct.
            let rest = unsafe { place.add(known) };
            // SAFETY: the caller's struct has so many bytes.
            unsafe { rest.write_bytes(0, self.bytes() - known) };
        }
    }
}
