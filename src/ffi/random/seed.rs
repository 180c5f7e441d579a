//! Random numbers: seeds of default generators. See `docs/design/random.md`.

use crate::ffi::{Out, guard, sconce_status};
use crate::random;

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
