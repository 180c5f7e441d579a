//! Memory that is read and written by address, and functions of users.
//!
//! A [`HostPlace`] is an address that the host may follow: it lies in the shadow of a window (`pages`), or in a
//! [`HostRange`], which a caller has promised to be valid. Accesses go through raw pointers and never
//! through references, since other streams and processes may use the same memory at the same time; that
//! is then the user's race, as on a GPU.

use std::sync::atomic::{AtomicU32, Ordering};

use sconce_driver::{HostFunction, HostRange};

/// An address that may be read and written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostPlace(usize);

impl HostPlace {
    /// An address of a window's shadow.
    ///
    /// # Safety
    /// The window has checked that the bytes that are used from there on belong to the shadow.
    pub(crate) unsafe fn of_shadow(address: usize) -> HostPlace {
        HostPlace(address)
    }

    /// Host memory.
    pub(crate) fn of_host(range: HostRange) -> HostPlace {
        HostPlace(range.get())
    }

    pub(crate) fn address(self) -> usize {
        self.0
    }

    /// The place `bytes` further on, in the same memory.
    pub(crate) fn offset(self, bytes: usize) -> HostPlace {
        HostPlace(self.0 + bytes)
    }

    /// Copies `bytes` from `source`; the two may overlap.
    pub(crate) fn copy_from(self, source: HostPlace, bytes: usize) {
        // SAFETY: both ranges are valid, as the type says; `copy` allows overlap.
        unsafe { std::ptr::copy(source.0 as *const u8, self.0 as *mut u8, bytes) }
    }

    /// Fills `bytes` with `value`.
    pub(crate) fn fill(self, value: u8, bytes: usize) {
        // SAFETY: the range is valid, as the type says.
        unsafe { std::ptr::write_bytes(self.0 as *mut u8, value, bytes) }
    }

    /// Copies out.
    pub(crate) fn read(self, into: &mut [u8]) {
        // SAFETY: the range is valid, as the type says; the slice is the caller's own.
        unsafe { std::ptr::copy(self.0 as *const u8, into.as_mut_ptr(), into.len()) }
    }

    /// Writes an aligned word after all writes of this thread, whole.
    pub(crate) fn write_word(self, value: u32) {
        // SAFETY: the place is valid for 4 bytes, and the driver's call has checked that it is aligned.
        let word = unsafe { AtomicU32::from_ptr(self.0 as *mut u32) };
        word.store(value, Ordering::Release);
    }

    /// Copies in.
    pub(crate) fn write(self, from: &[u8]) {
        // SAFETY: the range is valid, as the type says; the slice is only read.
        unsafe { std::ptr::copy(from.as_ptr(), self.0 as *mut u8, from.len()) }
    }
}

/// Calls a user's function. The caller passes a [`HostFunction`] once for each time that it was queued or its graph was
/// launched.
pub(crate) fn call_host_function(function: HostFunction) {
    // SAFETY: the only caller is the operation, which runs once for each time, and does not call the alternative then.
    unsafe { function.call() }
}

/// Calls the alternative of a user's function. The caller passes a [`HostFunction`] whose operation ended without
/// running.
pub(crate) fn call_alternative(function: HostFunction) {
    // SAFETY: the only caller is the operation, once, if it did not run.
    unsafe { function.call_alternative() }
}
