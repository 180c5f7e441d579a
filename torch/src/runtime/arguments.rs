//! Arguments of the runtime's functions that are places for results.

use super::state::{Outcome, codes};

/// A place for a result: an argument of a C function of this module. It is NULL or valid for a write of a `T`, which CUDA
/// demands of the caller. Rust code makes none.
#[repr(transparent)]
pub(super) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Writes a result.
    pub(super) fn write(self, value: T) -> Outcome {
        if self.0.is_null() {
            return Err(codes::INVALID_VALUE);
        }
        // SAFETY: only C callers make an `Out`, and they pass NULL, which was refused, or a place that is valid for a
        // write.
        unsafe { self.0.write(value) };
        Ok(())
    }

    /// Writes what `make` makes of `empty`. A place that is NULL is refused before anything is made.
    pub(super) fn fill(self, empty: T, make: impl FnOnce(&mut T) -> Outcome) -> Outcome {
        if self.0.is_null() {
            return Err(codes::INVALID_VALUE);
        }
        let mut value = empty;
        make(&mut value)?;
        self.write(value)
    }
}

impl<T: Copy> Out<T> {
    /// Replaces a value that the caller passes by what `change` makes of it.
    pub(super) fn change(self, change: impl FnOnce(&mut T) -> Outcome) -> Outcome {
        if self.0.is_null() {
            return Err(codes::INVALID_VALUE);
        }
        // SAFETY: the place is not NULL, and the functions that change a value demand one that is initialised.
        let value = unsafe { self.0.read() };
        self.fill(value, change)
    }
}
