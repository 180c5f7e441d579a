//! Generators of random numbers. A handle is a `sconce_generator`, which the program owns: a second handle is the same
//! number, and deleting a handle leaves the generator as it is.

#![allow(unsafe_code, reason = "functions of C over pointers of the caller")]

use crate::abi::constants::{DEVICE_TYPE_CPU, DEVICE_TYPE_CUDA};
use crate::abi::errors::not_null;
use crate::error::{Result, shim, write_out};
use crate::sconce::api;
use crate::sconce::generator::Generator;

/// The generator of a handle, whose device is known.
fn checked(handle: *mut api::sconce_generator, name: &str) -> Result<(Generator, i32)> {
    not_null(handle, name)?;
    let generator = Generator::of(handle);
    Ok((generator, generator.device()?))
}

/// Returns another handle of a generator, with the same state.
///
/// # Safety
/// The result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_new_generator_handle(
    this: *mut api::sconce_generator,
    ret_new_generator: *mut *mut api::sconce_generator,
) -> i32 {
    shim(|| {
        let (generator, _) = checked(this, "self")?;
        // SAFETY: the caller's promise.
        unsafe { write_out(ret_new_generator, "ret_new_generator", generator.handle()) }
    })
}

/// Ends a handle. The generator stays, as the program owns it. NULL is a no-op.
#[unsafe(no_mangle)]
pub extern "C" fn torch_delete_generator(_generator: *mut api::sconce_generator) -> i32 {
    0
}

/// Returns the kind of a generator's device, and its index: -1 for the CPU.
///
/// # Safety
/// The results' places are NULL or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_generator_get_device(
    generator: *mut api::sconce_generator,
    ret_device_type: *mut i32,
    ret_device_index: *mut i32,
) -> i32 {
    shim(|| {
        let (_, device) = checked(generator, "generator")?;
        let (kind, index) = match device {
            api::SCONCE_DEVICE_CPU => (DEVICE_TYPE_CPU, -1),
            index => (DEVICE_TYPE_CUDA, index),
        };
        not_null(ret_device_index, "ret_device_index")?;
        // SAFETY: the caller's promise.
        unsafe { write_out(ret_device_type, "ret_device_type", kind) }?;
        // SAFETY: as above.
        unsafe { write_out(ret_device_index, "ret_device_index", index) }
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    #![allow(
        clippy::multiple_unsafe_ops_per_block,
        reason = "calls of one kind, with the same promise"
    )]

    use std::ptr::null_mut;

    use super::*;
    use crate::sconce::check;
    use crate::testing::assert_refused;

    #[test]
    fn a_second_handle_is_the_same_generator_and_one_that_is_gone_is_refused() {
        let (mut first, mut second, mut seed) = (null_mut(), null_mut(), 0);
        let (mut kind, mut index) = (7, 7);
        // SAFETY: the places are valid for writes.
        unsafe {
            check(api::sconce_generator_create(api::SCONCE_DEVICE_CPU, &mut first)).unwrap();
            assert_eq!(torch_new_generator_handle(first, &mut second), 0);
            check(api::sconce_generator_set_seed(second, 11)).unwrap();
            check(api::sconce_generator_get_initial_seed(first, &mut seed)).unwrap();
        }
        assert_eq!(seed, 11);
        // SAFETY: as above.
        unsafe {
            assert_eq!(torch_generator_get_device(second, &mut kind, &mut index), 0);
            assert_eq!((kind, index), (DEVICE_TYPE_CPU, -1));
            assert_eq!(torch_delete_generator(second), 0);
            assert_eq!(torch_generator_get_device(first, &mut kind, &mut index), 0);
            check(api::sconce_generator_destroy(first)).unwrap();
            assert_refused(torch_new_generator_handle(first, &mut second), &["generator"]);
            assert_refused(torch_new_generator_handle(null_mut(), &mut second), &["self"]);
            assert_refused(
                torch_generator_get_device(first, &mut kind, null_mut()),
                &["generator"],
            );
        }
        assert_eq!(torch_delete_generator(null_mut()), 0);
    }
}
