//! Opaque types whose pointers are handles: numbers that are looked up and never followed.

use sconce_base::collections::slab::Key;
use sconce_base::error::{Error, Result};

/// A type of the C API that exists only behind pointers, which are handles.
pub(super) trait OpaqueHandle: Sized {
    /// The functions that return such a handle, for the message about NULL.
    const SOURCE: &'static str;

    /// The handle behind a pointer; `name` is the argument's.
    #[inline]
    fn key(handle: *mut Self, name: &str) -> Result<Key> {
        Self::optional(handle).ok_or_else(|| is_null(name, Self::SOURCE))
    }

    /// The handle behind a pointer, where NULL has a meaning of its own.
    #[inline]
    fn optional(handle: *mut Self) -> Option<Key> {
        match handle as usize {
            0 => None,
            bits => Some(Key::from_bits(bits as u64)),
        }
    }

    /// The pointer that stands for a handle.
    #[inline]
    fn from_key(key: Key) -> *mut Self {
        std::ptr::without_provenance_mut(key.bits() as usize)
    }
}

#[cold]
#[inline(never)]
fn is_null(name: &str, source: &str) -> Error {
    Error::invalid_handle(format!("{name} is NULL; {source}"))
}

const _: () = assert!(size_of::<usize>() == size_of::<u64>(), "handles need 64-bit pointers");
