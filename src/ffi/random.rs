//! Random numbers: element types, and seeding the process. See `docs/design/random.md`.

use super::{Out, guard, sconce_status};
use crate::random;

/// Element type: single precision.
pub const SCONCE_DTYPE_F32: i32 = 0;
/// Element type: double precision.
pub const SCONCE_DTYPE_F64: i32 = 1;
/// Element type: half precision.
pub const SCONCE_DTYPE_F16: i32 = 2;
/// Element type: bfloat16.
pub const SCONCE_DTYPE_BF16: i32 = 3;
/// Element type: signed byte.
pub const SCONCE_DTYPE_I8: i32 = 4;
/// Element type: signed 16-bit integer.
pub const SCONCE_DTYPE_I16: i32 = 5;
/// Element type: signed 32-bit integer.
pub const SCONCE_DTYPE_I32: i32 = 6;
/// Element type: signed 64-bit integer.
pub const SCONCE_DTYPE_I64: i32 = 7;
/// Element type: unsigned byte.
pub const SCONCE_DTYPE_U8: i32 = 8;
/// Element type: one byte, 0 or 1.
pub const SCONCE_DTYPE_BOOL: i32 = 9;
/// Element type: two singles, real and imaginary.
pub const SCONCE_DTYPE_C64: i32 = 10;
/// Element type: two doubles, real and imaginary.
pub const SCONCE_DTYPE_C128: i32 = 11;

/// Seeds the default generator of the current device. Needs no device and initialises nothing: the
/// seed is kept for when the generator is first used.
///
/// # Parameters
/// `seed`: any number.
/// # Errors
/// INVALID_STATE: graphs use the generator and the current stream is being captured.
/// FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block, unless a graph has been captured that uses the generator: then it waits for the
/// device.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda.manual_seed()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_manual_seed(seed: u64) -> sconce_status {
    guard(|| random::manual_seed(seed))
}

/// Seeds the default generators of all devices. Needs no device and initialises nothing: the seed
/// is kept for when a generator is first used.
///
/// # Parameters
/// `seed`: any number.
/// # Errors
/// INVALID_STATE: graphs use one of the generators and the current stream is being captured.
/// FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block, unless a graph has been captured that uses the generator: then it waits for the
/// device.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda.manual_seed_all()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_manual_seed_all(seed: u64) -> sconce_status {
    guard(|| random::manual_seed_all(seed))
}

/// Gives the default generator of the current device a seed from the operating system.
///
/// # Parameters
/// `out_seed` [out]: the seed, of 53 bits.
/// # Errors
/// IO: the operating system gives no seed. INVALID_ARGUMENT: `out_seed` is NULL. INVALID_STATE:
/// graphs use the generator and the current stream is being captured. NO_DEVICE, LIBRARY_NOT_FOUND,
/// FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block, unless a graph has been captured that uses the generator: then it waits for the
/// device.
/// # Threads
/// Any.
/// # Safety
/// `out_seed` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.seed()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_random_seed(out_seed: *mut u64) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_seed = unsafe { Out::new(out_seed, "out_seed") }?;
        out_seed.write(random::seed()?);
        Ok(())
    })
}

/// Gives the default generators of all devices one seed from the operating system.
///
/// # Parameters
/// `out_seed` [out]: the seed, of 53 bits.
/// # Errors
/// IO: the operating system gives no seed. INVALID_ARGUMENT: `out_seed` is NULL. INVALID_STATE:
/// graphs use the generator and the current stream is being captured. NO_DEVICE, LIBRARY_NOT_FOUND,
/// FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block, unless a graph has been captured that uses the generator: then it waits for the
/// device.
/// # Threads
/// Any.
/// # Safety
/// `out_seed` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.seed_all()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_random_seed_all(out_seed: *mut u64) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_seed = unsafe { Out::new(out_seed, "out_seed") }?;
        out_seed.write(random::seed_all()?);
        Ok(())
    })
}

/// Gives the seed of the current device's default generator.
///
/// # Parameters
/// `out_seed` [out].
/// # Errors
/// INVALID_ARGUMENT: `out_seed` is NULL. INVALID_STATE: graphs use the generator and the current
/// stream is being captured. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block, unless a graph has been captured that uses the generator: then it waits for the
/// device.
/// # Threads
/// Any.
/// # Safety
/// `out_seed` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.initial_seed()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_random_get_initial_seed(out_seed: *mut u64) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_seed = unsafe { Out::new(out_seed, "out_seed") }?;
        out_seed.write(random::initial_seed(random::default_generator(-1)?)?);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::philox::Dtype;

    #[test]
    fn constants_are_the_numbers_of_the_types() {
        for (constant, dtype) in [
            (SCONCE_DTYPE_F32, Dtype::F32),
            (SCONCE_DTYPE_F64, Dtype::F64),
            (SCONCE_DTYPE_F16, Dtype::F16),
            (SCONCE_DTYPE_BF16, Dtype::Bf16),
            (SCONCE_DTYPE_I8, Dtype::I8),
            (SCONCE_DTYPE_I16, Dtype::I16),
            (SCONCE_DTYPE_I32, Dtype::I32),
            (SCONCE_DTYPE_I64, Dtype::I64),
            (SCONCE_DTYPE_U8, Dtype::U8),
            (SCONCE_DTYPE_BOOL, Dtype::Bool),
            (SCONCE_DTYPE_C64, Dtype::C64),
            (SCONCE_DTYPE_C128, Dtype::C128),
        ] {
            assert_eq!(constant, dtype as i32);
        }
    }
}
