//! Generators of random numbers. See `docs/design/random.md`.

use sconce_compute::random;

use crate::handle::OpaqueHandle;
use crate::{guard, sconce_status};

/// A generator of random numbers: a seed, and an offset in the sequence that belongs to the seed.
/// Opaque; created by `sconce_generator_create`, or the default generator of a device or of the
/// CPU. As in torch, a generator of the CPU (`SCONCE_DEVICE_CPU`) has the state of a Mersenne
/// Twister instead of an offset.
pub struct sconce_generator {
    _private: [u8; 0],
}

impl OpaqueHandle for sconce_generator {
    const SOURCE: &'static str =
        "get one from sconce_generator_get_default or sconce_generator_create";
}

/// Returns the default generator of a device, or of the CPU. The first request makes it, with a seed from the
/// operating system unless a seed was set before. Makes no context.
///
/// - `device`: an index, -1 for the current device, or `SCONCE_DEVICE_CPU`.
/// - `out_generator`: receives the generator.
/// - Errors: IO: the operating system returns no seed.
/// - Ownership: borrowed; the library owns it until the process ends.
/// - torch: `torch.cuda.default_generators[device]`, `torch.default_generator`,
///   `at::cuda::detail::getDefaultCUDAGenerator`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_generator_get_default(
    device: i32,
    out_generator: *mut *mut sconce_generator,
) -> sconce_status {
    guard(|| {
        let out_generator = out!(out_generator);
        out_generator.write(sconce_generator::from_key(random::default_generator(device)?));
        Ok(())
    })
}

/// Creates a generator with seed 67280421310721 and offset 0. Makes no context.
///
/// - `device`: an index, -1 for the current device, or `SCONCE_DEVICE_CPU`.
/// - `out_generator`: receives the generator.
/// - Errors: OUT_OF_MEMORY: too many generators.
/// - Ownership: the caller destroys the generator with `sconce_generator_destroy`.
/// - torch: `torch.Generator(device)`, `at::cuda::detail::createCUDAGenerator`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_generator_create(
    device: i32,
    out_generator: *mut *mut sconce_generator,
) -> sconce_status {
    guard(|| {
        let out_generator = out!(out_generator);
        out_generator.write(sconce_generator::from_key(random::create(device)?));
        Ok(())
    })
}

/// Creates a generator with the device and the state of another one. The two are independent
/// afterwards.
///
/// - `out_generator`: receives the clone.
/// - Errors: OUT_OF_MEMORY: too many generators. INVALID_STATE: as `sconce_generator_get_offset`.
/// - Ownership: the caller destroys the clone with `sconce_generator_destroy`, also the clone of a
///   default generator.
/// - Ordering: as `sconce_generator_get_offset`.
/// - torch: `torch.Generator.clone_state()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_generator_clone(
    generator: *mut sconce_generator,
    out_generator: *mut *mut sconce_generator,
) -> sconce_status {
    guard(|| {
        let out_generator = out!(out_generator);
        let clone = random::clone(sconce_generator::key(generator, "generator")?)?;
        out_generator.write(sconce_generator::from_key(clone));
        Ok(())
    })
}

/// Destroys a generator. Graphs that use it may still be replayed.
///
/// - `generator`: from `sconce_generator_create` or `sconce_generator_clone`, else
///   INVALID_ARGUMENT; NULL is a no-op.
/// - torch: the destructor of `at::Generator`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_generator_destroy(generator: *mut sconce_generator) -> sconce_status {
    guard(|| {
        if generator.is_null() {
            return Ok(());
        }
        random::destroy(sconce_generator::key(generator, "generator")?)
    })
}

/// Reports the device of a generator. Makes no driver call.
///
/// - `out_device`: receives the index, or `SCONCE_DEVICE_CPU`.
/// - torch: `torch.Generator.device`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_generator_get_device(
    generator: *mut sconce_generator,
    out_device: *mut i32,
) -> sconce_status {
    guard(|| {
        let out_device = out!(out_device);
        out_device.write(random::device_number(sconce_generator::key(generator, "generator")?)?);
        Ok(())
    })
}

/// Sets a generator's seed, and its offset to 0. For a generator of the CPU, sets the state that
/// belongs to the lower 32 bits of the seed.
///
/// - `seed`: any number.
/// - Errors: INVALID_STATE: the generator is of a device whose current stream is being captured.
/// - Ordering: counts for all later calls, and does not wait; launches that are queued keep their
///   numbers. If a capture that other code began has a fill with the generator, waits for the fills
///   and launches of this library that use the generator.
/// - torch: `torch.Generator.manual_seed()`; for a negative seed of torch, pass the seed plus 2^64.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_generator_set_seed(
    generator: *mut sconce_generator,
    seed: u64,
) -> sconce_status {
    guard(|| random::set_seed(sconce_generator::key(generator, "generator")?, seed))
}

/// Sets a generator's seed to one of 53 bits from the operating system, and its offset to 0.
///
/// - `out_seed`: receives the seed.
/// - Errors: IO: the operating system returns no seed. INVALID_STATE: as
///   `sconce_generator_set_seed`.
/// - Ordering: as `sconce_generator_set_seed`.
/// - torch: `torch.Generator.seed()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_generator_seed(
    generator: *mut sconce_generator,
    out_seed: *mut u64,
) -> sconce_status {
    guard(|| {
        let out_seed = out!(out_seed);
        out_seed.write(random::seed_from_entropy(sconce_generator::key(generator, "generator")?)?);
        Ok(())
    })
}

/// Reports the seed that was last set for a generator.
///
/// - `out_seed`: receives the seed.
/// - torch: `torch.Generator.initial_seed()`, which torch refuses in a capture.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_generator_get_initial_seed(
    generator: *mut sconce_generator,
    out_seed: *mut u64,
) -> sconce_status {
    guard(|| {
        let out_seed = out!(out_seed);
        out_seed.write(random::initial_seed(sconce_generator::key(generator, "generator")?)?);
        Ok(())
    })
}
