//! Random numbers, with torch's bits.
//!
//! | file | what |
//! |---|---|
//! | `factories` | new tensors of random numbers |
//! | `likes` | new tensors of random numbers, like another one |
//! | `fills` | random numbers in a tensor, or in one like it |
//! | `dropout` | elements that become zero at random |
//!
//! A generator of the ABI is a `sconce_generator`. Models pass a pointer to one, or NULL for the default generator of
//! the tensor's device.

pub mod dropout;
pub mod factories;
pub mod fills;
pub mod likes;

#[cfg(test)]
mod tests;

use crate::abi::arguments::{Argument, Call, InC, optional};
use crate::sconce::api;
use crate::sconce::generator::Generator;

/// A generator, or NULL for the default one.
impl InC for Generator {
    type C = *const *mut api::sconce_generator;
}

#[allow(unsafe_code, reason = "reads through a pointer of the caller")]
impl<'call> Argument<'call> for Generator {
    unsafe fn of_c(argument: Self::C, _: &'call Call) -> Generator {
        // SAFETY: `of_c` demands that an optional argument is NULL, or valid for a read.
        unsafe { optional(argument) }.map_or(Generator::DEFAULT, Generator::of)
    }
}
