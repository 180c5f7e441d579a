//! Generators of random numbers, as operations and operators get them.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use super::{api, check};
use crate::error::Result;

/// A generator of libsconce.so, or none: the default one of the tensor's device. It is not owned. Handles are numbers
/// that libsconce.so checks, so one that was destroyed is an error where it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generator(*mut api::sconce_generator);

// SAFETY: a handle is a number that any thread may use.
unsafe impl Send for Generator {}
// SAFETY: as above.
unsafe impl Sync for Generator {}

impl Generator {
    /// No generator.
    pub const DEFAULT: Generator = Generator(std::ptr::null_mut());

    /// The generator of a handle; NULL is none.
    pub fn of(handle: *mut api::sconce_generator) -> Generator {
        Generator(handle)
    }

    /// The handle; NULL for none.
    pub fn handle(self) -> *mut api::sconce_generator {
        self.0
    }

    /// Whether there is none.
    pub fn is_default(self) -> bool {
        self.0.is_null()
    }

    /// Sconce's device of a generator that is there. Fails for one that was destroyed.
    pub fn device(self) -> Result<i32> {
        let mut device = 0;
        // SAFETY: any number may be passed as a handle; the place is valid for a write.
        check(unsafe { api::sconce_generator_get_device(self.0, &mut device) })?;
        Ok(device)
    }
}
