//! Generators of random numbers. A handle is a `sconce_generator`, which the program owns: a second handle is the same
//! number, and deleting a handle leaves the generator as it is.

#![allow(unsafe_code, reason = "functions of C over pointers of the caller")]

use crate::abi::arguments::Out;
use crate::abi::constants::{DEVICE_TYPE_CPU, DEVICE_TYPE_CUDA};
use crate::abi::errors::not_null;
use crate::error::{Result, shim};
use crate::sconce::api;
use crate::sconce::generator::Generator;

/// The generator of a handle, whose device is known.
fn checked(handle: *mut api::sconce_generator, name: &str) -> Result<(Generator, i32)> {
    not_null(handle, name)?;
    let generator = Generator::of(handle);
    Ok((generator, generator.device()?))
}

/// Returns another handle of a generator, with the same state.
#[unsafe(no_mangle)]
pub extern "C" fn torch_new_generator_handle(
    this: *mut api::sconce_generator,
    ret_new_generator: Out<'_, *mut api::sconce_generator>,
) -> i32 {
    shim(|| {
        let (generator, _) = checked(this, "self")?;
        ret_new_generator.write("ret_new_generator", generator.handle())
    })
}

/// Ends a handle. The generator stays, as the program owns it. NULL is a no-op.
#[unsafe(no_mangle)]
pub extern "C" fn torch_delete_generator(_generator: *mut api::sconce_generator) -> i32 {
    0
}

/// Returns the kind of a generator's device, and its index: -1 for the CPU.
#[unsafe(no_mangle)]
pub extern "C" fn torch_generator_get_device(
    generator: *mut api::sconce_generator,
    ret_device_type: Out<'_, i32>,
    ret_device_index: Out<'_, i32>,
) -> i32 {
    shim(|| {
        let (_, device) = checked(generator, "generator")?;
        let (kind, index) = match device {
            api::SCONCE_DEVICE_CPU => (DEVICE_TYPE_CPU, -1),
            index => (DEVICE_TYPE_CUDA, index),
        };
        ret_device_index.check("ret_device_index")?;
        ret_device_type.write("ret_device_type", kind)?;
        ret_device_index.write("ret_device_index", index)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::ptr::null_mut;

    use super::*;
    use crate::sconce::check;
    use crate::testing::assert_refused;

    #[test]
    fn a_second_handle_is_the_same_generator_and_one_that_is_gone_is_refused() {
        let (mut first, mut second, mut seed) = (null_mut(), null_mut(), 0);
        let (mut kind, mut index) = (7, 7);
        check(api::sconce_generator_create(api::SCONCE_DEVICE_CPU, &mut first)).unwrap();
        assert_eq!(torch_new_generator_handle(first, Out::from(&mut second)), 0);
        check(api::sconce_generator_set_seed(second, 11)).unwrap();
        check(api::sconce_generator_get_initial_seed(first, &mut seed)).unwrap();
        assert_eq!(seed, 11);
        let mut device_of = |generator| {
            torch_generator_get_device(generator, Out::from(&mut kind), Out::from(&mut index))
        };
        assert_eq!(device_of(second), 0);
        assert_eq!(torch_delete_generator(second), 0);
        assert_eq!(device_of(first), 0);
        assert_eq!((kind, index), (DEVICE_TYPE_CPU, -1));
        check(api::sconce_generator_destroy(first)).unwrap();
        let mut new_handle =
            |generator| torch_new_generator_handle(generator, Out::from(&mut second));
        assert_refused(new_handle(first), &["generator"]);
        assert_refused(new_handle(null_mut()), &["self"]);
        let refused = torch_generator_get_device(first, Out::from(&mut kind), Out::none());
        assert_refused(refused, &["generator"]);
        assert_eq!(torch_delete_generator(null_mut()), 0);
    }
}
