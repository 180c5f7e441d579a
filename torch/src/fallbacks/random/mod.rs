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

use crate::abi::arguments::optional;
use crate::sconce::api;
use crate::sconce::generator::Generator;

/// A generator as the ABI passes it.
type Handle = *mut api::sconce_generator;

/// The generator, or none.
///
/// # Safety
/// The pointer is NULL or valid for a read.
#[allow(unsafe_code, reason = "reads through a pointer of the caller")]
unsafe fn chosen(generator: *const Handle) -> Generator {
    // SAFETY: `generator` is an optional argument of the ABI: NULL, or the address of a value.
    unsafe { optional(generator) }.map_or(Generator::DEFAULT, Generator::of)
}
