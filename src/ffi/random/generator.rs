//! Generators of random numbers. See `docs/design/random.md`.

use crate::ffi::handle::Handle;
use crate::ffi::{Out, guard, sconce_status};
use crate::random;

/// A seed and a place in the sequence that it names. Opaque; made by `sconce_generator_create`, or
/// the library's own default one of a device.
pub struct sconce_generator {
    _private: [u8; 0],
}

impl Handle for sconce_generator {
    const SOURCE: &'static str =
        "get one from sconce_generator_get_default or sconce_generator_create";
}

/// Gives the default generator of a device. It is made when it is first asked for, with a seed from
/// the operating system unless one was set before.
///
/// # Parameters
/// `device`: index, -1 for the current device. `out_generator` [out].
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `out_generator` is NULL. IO: the operating system gives no
/// seed. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// Borrowed: the library owns it, and it lives as long as the process.
/// # Ordering
/// Does not block; makes no context.
/// # Threads
/// Any.
/// # Safety
/// `out_generator` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.default_generators[device]`, `at::cuda::detail::getDefaultCUDAGenerator`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_generator_get_default(
    device: i32,
    out_generator: *mut *mut sconce_generator,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_generator = unsafe { Out::new(out_generator, "out_generator") }?;
        out_generator.write(sconce_generator::from_key(random::default_generator(device)?));
        Ok(())
    })
}

/// Makes a generator with seed 67280421310721 and offset 0.
///
/// # Parameters
/// `device`: index, -1 for the current device. `out_generator` [out].
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `out_generator` is NULL. OUT_OF_MEMORY: too many generators.
/// NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// The caller destroys it with `sconce_generator_destroy`.
/// # Ordering
/// Does not block; makes no context.
/// # Threads
/// Any.
/// # Safety
/// `out_generator` is NULL or valid for writing one value.
/// # Upstream
/// `torch.Generator(device)`, `at::cuda::detail::createCUDAGenerator`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_generator_create(
    device: i32,
    out_generator: *mut *mut sconce_generator,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_generator = unsafe { Out::new(out_generator, "out_generator") }?;
        out_generator.write(sconce_generator::from_key(random::create(device)?));
        Ok(())
    })
}

/// Makes a generator with the device, seed and offset of another; from then on the two go their own
/// ways.
///
/// # Parameters
/// `generator`: a live generator. `out_generator` [out].
/// # Errors
/// INVALID_HANDLE: `generator` is NULL, destroyed or foreign. INVALID_STATE: graphs use the
/// generator and the current stream is being captured. INVALID_ARGUMENT: `out_generator` is NULL.
/// OUT_OF_MEMORY: too many generators.
/// FORKED as `sconce_init`.
/// # Ownership
/// The caller destroys it with `sconce_generator_destroy`, also the clone of a default one.
/// # Ordering
/// Does not block, unless a graph has been captured that uses the generator: then it waits for the
/// device.
/// # Threads
/// Any.
/// # Safety
/// `out_generator` is NULL or valid for writing one value.
/// # Upstream
/// `torch.Generator.clone_state()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_generator_clone(
    generator: *mut sconce_generator,
    out_generator: *mut *mut sconce_generator,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_generator = unsafe { Out::new(out_generator, "out_generator") }?;
        let clone = random::clone(sconce_generator::key(generator, "generator")?)?;
        out_generator.write(sconce_generator::from_key(clone));
        Ok(())
    })
}

/// Destroys a generator. Graphs that use it may still be replayed.
///
/// # Parameters
/// `generator`: from `sconce_generator_create` or `_clone`; NULL is a no-op.
/// # Errors
/// INVALID_HANDLE: `generator` is destroyed or foreign. INVALID_ARGUMENT: it is a default
/// generator.
/// FORKED as `sconce_init`.
/// # Ownership
/// Takes the generator back; the handle is dead afterwards and is recognised as such.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// The destructor of `at::Generator`.
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

/// Gives the device of a generator.
///
/// # Parameters
/// `generator`: a live generator. `out_device` [out]: index.
/// # Errors
/// INVALID_HANDLE: `generator` is NULL, destroyed or foreign. INVALID_ARGUMENT: `out_device` is
/// NULL.
/// FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; calls no driver.
/// # Threads
/// Any.
/// # Safety
/// `out_device` is NULL or valid for writing one value.
/// # Upstream
/// `torch.Generator.device`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_generator_get_device(
    generator: *mut sconce_generator,
    out_device: *mut i32,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_device = unsafe { Out::new(out_device, "out_device") }?;
        out_device
            .write(random::device_of(sconce_generator::key(generator, "generator")?)?.as_i32());
        Ok(())
    })
}

/// Sets a generator's seed and goes back to offset 0.
///
/// # Parameters
/// `generator`: a live generator. `seed`: any number.
/// # Errors
/// INVALID_HANDLE: `generator` is NULL, destroyed or foreign. INVALID_STATE: graphs use the
/// generator and the current stream is being captured.
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
/// `torch.Generator.manual_seed()`; negative seeds there are 2^64 more here.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_generator_set_seed(
    generator: *mut sconce_generator,
    seed: u64,
) -> sconce_status {
    guard(|| random::set_seed(sconce_generator::key(generator, "generator")?, seed))
}

/// Gives a generator a seed from the operating system, of 53 bits, and goes back to offset 0.
///
/// # Parameters
/// `generator`: a live generator. `out_seed` [out]: the seed.
/// # Errors
/// INVALID_HANDLE: `generator` is NULL, destroyed or foreign. INVALID_STATE: graphs use the
/// generator and the current stream is being captured. IO: the operating system gives no seed.
/// INVALID_ARGUMENT: `out_seed` is NULL.
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
/// `torch.Generator.seed()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_generator_seed(
    generator: *mut sconce_generator,
    out_seed: *mut u64,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_seed = unsafe { Out::new(out_seed, "out_seed") }?;
        out_seed.write(random::seed_from_entropy(sconce_generator::key(generator, "generator")?)?);
        Ok(())
    })
}

/// Gives the seed that a generator was last given.
///
/// # Parameters
/// `generator`: a live generator. `out_seed` [out].
/// # Errors
/// INVALID_HANDLE: `generator` is NULL, destroyed or foreign. INVALID_STATE: graphs use the
/// generator and the current stream is being captured. INVALID_ARGUMENT: `out_seed` is NULL.
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
/// `torch.Generator.initial_seed()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_generator_get_initial_seed(
    generator: *mut sconce_generator,
    out_seed: *mut u64,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_seed = unsafe { Out::new(out_seed, "out_seed") }?;
        out_seed.write(random::initial_seed(sconce_generator::key(generator, "generator")?)?);
        Ok(())
    })
}
