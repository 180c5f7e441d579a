//! Random numbers: seeds of default generators. See `docs/design/random.md`.

use sconce_compute::random;

use crate::{guard, sconce_status};

/// Seeds the default generator of the current device. Needs no device and does not initialise the
/// library: the seed is kept until the generator is first used.
///
/// - `seed`: any number.
/// - Errors: INVALID_STATE: as `sconce_generator_set_seed`.
/// - Ordering: as `sconce_generator_set_seed`.
/// - torch: `torch.cuda.manual_seed()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_manual_seed(seed: u64) -> sconce_status {
    guard(|| random::manual_seed(seed))
}

/// Seeds the default generators of all devices. Needs no device and does not initialise the
/// library: the seed is kept until a generator is first used.
///
/// - `seed`: any number.
/// - Errors: INVALID_STATE: as `sconce_generator_set_seed`, for any of the generators; then none is
///   seeded.
/// - Ordering: as `sconce_generator_set_seed`.
/// - torch: `torch.cuda.manual_seed_all()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_manual_seed_all(seed: u64) -> sconce_status {
    guard(|| random::manual_seed_all(seed))
}

/// Seeds the default generators of the CPU and of all devices. Needs no device and does not initialise the
/// library: the seed is kept until a generator is first used.
///
/// - `seed`: any number; for a negative seed of torch, pass the seed plus 2^64.
/// - Errors: INVALID_STATE: as `sconce_generator_set_seed`, for any of the generators; then none is
///   seeded, nor is that of the CPU.
/// - Ordering: as `sconce_generator_set_seed`.
/// - torch: `torch.manual_seed()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_random_manual_seed_everywhere(seed: u64) -> sconce_status {
    guard(|| random::manual_seed_everywhere(seed))
}

/// Seeds the default generator of the current device from the operating system. Needs no device, as
/// `sconce_random_manual_seed`.
///
/// - `out_seed`: receives the seed, of 53 bits.
/// - Errors: IO: the operating system returns no seed. INVALID_STATE: as
///   `sconce_generator_set_seed`.
/// - Ordering: as `sconce_generator_set_seed`.
/// - torch: `torch.cuda.seed()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_random_seed(out_seed: *mut u64) -> sconce_status {
    guard(|| {
        let out_seed = out!(out_seed);
        out_seed.write(random::seed()?);
        Ok(())
    })
}

/// Seeds the default generators of all devices with one seed from the operating system. Needs no
/// device, as `sconce_random_manual_seed`.
///
/// - `out_seed`: receives the seed, of 53 bits.
/// - Errors: IO: the operating system returns no seed. INVALID_STATE: as
///   `sconce_generator_set_seed`, for any of the generators; then none is seeded.
/// - Ordering: as `sconce_generator_set_seed`.
/// - torch: `torch.cuda.seed_all()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_random_seed_all(out_seed: *mut u64) -> sconce_status {
    guard(|| {
        let out_seed = out!(out_seed);
        out_seed.write(random::seed_all()?);
        Ok(())
    })
}

/// Reports the seed of the current device's default generator. Needs no device, as
/// `sconce_random_manual_seed`.
///
/// - `out_seed`: receives the seed.
/// - torch: `torch.cuda.initial_seed()`, which torch refuses in a capture.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_random_get_initial_seed(out_seed: *mut u64) -> sconce_status {
    guard(|| {
        let out_seed = out!(out_seed);
        out_seed.write(random::default_seed()?);
        Ok(())
    })
}
