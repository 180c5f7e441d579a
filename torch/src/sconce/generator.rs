//! Generators of random numbers, as operations and operators get them.
//!
//! A model is run before it is captured as a graph, to load its kernels. Those runs draw nothing: other generators take
//! the place of the default ones on the thread. The default ones could not be set back to where they were, because other
//! threads may draw from them meanwhile.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use std::cell::RefCell;

use super::{api, check};
use crate::error::Result;

/// A generator of libsconce.so, or none: the default one of the tensor's device. It is not owned. Handles are numbers
/// that libsconce.so checks, so one that was destroyed is an error where it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generator(*mut api::sconce_generator);

// SAFETY: the handle is a number, which libsconce.so takes on any thread.
unsafe impl Send for Generator {}
// SAFETY: libsconce.so orders calls for one handle from several threads.
unsafe impl Sync for Generator {}

impl Generator {
    /// No generator.
    pub const DEFAULT: Generator = Generator(std::ptr::null_mut());

    /// The generator of a handle; NULL is none.
    pub fn of(handle: *mut api::sconce_generator) -> Generator {
        Generator(handle)
    }

    /// The handle to draw with on a device; NULL for the default generator of the device.
    pub fn handle_on(self, device: i32) -> Result<*mut api::sconce_generator> {
        match SUBSTITUTES.with_borrow(Option::is_some) {
            true if self.is_default() => substitute_on(device),
            _ => Ok(self.0),
        }
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
        check(api::sconce_generator_get_device(self.0, &mut device))?;
        Ok(device)
    }
}

/// Generators that take the place of the default ones, with their devices.
#[derive(Default)]
struct Substitutes(Vec<(i32, *mut api::sconce_generator)>);

impl Drop for Substitutes {
    fn drop(&mut self) {
        for (_, generator) in self.0.drain(..) {
            // Work that was queued does not need it.
            let _ = api::sconce_generator_destroy(generator);
        }
    }
}

thread_local! {
    static SUBSTITUTES: RefCell<Option<Substitutes>> = const { RefCell::new(None) };
}

/// The generator that takes the place of a device's default one.
fn substitute_on(device: i32) -> Result<*mut api::sconce_generator> {
    SUBSTITUTES.with_borrow_mut(|substitutes| {
        let Substitutes(substitutes) = substitutes.get_or_insert_default();
        if let Some((_, generator)) = substitutes.iter().find(|(of, _)| *of == device) {
            return Ok(*generator);
        }
        let mut generator = std::ptr::null_mut();
        check(api::sconce_generator_create(device, &mut generator))?;
        substitutes.push((device, generator));
        Ok(generator)
    })
}

/// Sets the thread's substitutes back, also after a panic.
struct OuterSubstitutes(Option<Substitutes>);

impl Drop for OuterSubstitutes {
    fn drop(&mut self) {
        SUBSTITUTES.replace(self.0.take());
    }
}

/// Runs a function on this thread, for which default generators stay as they are: what it draws comes from others.
pub fn without_drawing<R>(function: impl FnOnce() -> R) -> R {
    let _outer = OuterSubstitutes(SUBSTITUTES.replace(Some(Substitutes::default())));
    function()
}
