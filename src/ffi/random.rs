//! Random numbers: element types, and seeding the process. See `docs/design/random.md`.

use super::{Out, guard, sconce_status};
use crate::random;

/// Element type.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_dtype {
    /// Single precision.
    SCONCE_DTYPE_F32 = 0,
    /// Double precision.
    SCONCE_DTYPE_F64 = 1,
    /// Half precision.
    SCONCE_DTYPE_F16 = 2,
    /// Bfloat16.
    SCONCE_DTYPE_BF16 = 3,
    /// Signed byte.
    SCONCE_DTYPE_I8 = 4,
    /// Signed 16-bit integer.
    SCONCE_DTYPE_I16 = 5,
    /// Signed 32-bit integer.
    SCONCE_DTYPE_I32 = 6,
    /// Signed 64-bit integer.
    SCONCE_DTYPE_I64 = 7,
    /// Unsigned byte.
    SCONCE_DTYPE_U8 = 8,
    /// One byte, 0 or 1.
    SCONCE_DTYPE_BOOL = 9,
    /// Two singles, real and imaginary.
    SCONCE_DTYPE_C64 = 10,
    /// Two doubles, real and imaginary.
    SCONCE_DTYPE_C128 = 11,
}

numbers_of!(sconce_dtype as i32: SCONCE_DTYPE_F32, SCONCE_DTYPE_F64, SCONCE_DTYPE_F16, SCONCE_DTYPE_BF16, SCONCE_DTYPE_I8, SCONCE_DTYPE_I16, SCONCE_DTYPE_I32, SCONCE_DTYPE_I64, SCONCE_DTYPE_U8, SCONCE_DTYPE_BOOL, SCONCE_DTYPE_C64, SCONCE_DTYPE_C128);

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
    use crate::element::Dtype;

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
