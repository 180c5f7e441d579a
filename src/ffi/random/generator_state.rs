//! Generators: states, and reserving for kernels. See `docs/design/random.md`.

use crate::ffi::handle::Handle;
use crate::ffi::{Out, guard, null, sconce_generator, sconce_status};
use crate::random::{self, Draw};

/// Bytes of a generator's state: seed, then offset, little-endian.
pub const SCONCE_GENERATOR_STATE_BYTES: usize = 16;

/// What a kernel draws from: two numbers, or the place in device memory where it finds them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_philox_state {
    /// The seed; 0 when `device_state` is not NULL.
    pub seed: u64,
    /// Where the reserved piece begins, in 32-bit words; 0 when `device_state` is not NULL.
    pub offset: u64,
    /// NULL, or the device address of seed and offset, to be read by the kernel when it runs.
    pub device_state: *const u64,
}

/// Gives how far a generator has come in its sequence, in 32-bit words of each thread.
///
/// # Parameters
/// `generator`: a live generator. `out_offset` [out]: a multiple of 4.
/// # Errors
/// INVALID_HANDLE: `generator` is NULL, destroyed or foreign. INVALID_STATE: graphs use the
/// generator and the current stream is being captured. INVALID_ARGUMENT: `out_offset` is NULL.
/// FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block, unless a graph has been captured that uses the generator: then it waits for the
/// device.
/// # Threads
/// Any.
/// # Safety
/// `out_offset` is NULL or valid for writing one value.
/// # Upstream
/// `torch.Generator.get_offset()`, `CUDAGeneratorImpl::philox_offset_per_thread`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_generator_get_offset(
    generator: *mut sconce_generator,
    out_offset: *mut u64,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_offset = unsafe { Out::new(out_offset, "out_offset") }?;
        out_offset.write(random::offset(sconce_generator::key(generator, "generator")?)?);
        Ok(())
    })
}

/// Moves a generator to a place in its sequence.
///
/// # Parameters
/// `generator`: a live generator. `offset`: a multiple of 4.
/// # Errors
/// INVALID_HANDLE: `generator` is NULL, destroyed or foreign. INVALID_ARGUMENT: `offset` is not a
/// multiple of 4. INVALID_STATE: graphs use the generator and the current stream is being captured.
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
/// `torch.Generator.set_offset()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_generator_set_offset(
    generator: *mut sconce_generator,
    offset: u64,
) -> sconce_status {
    guard(|| random::set_offset(sconce_generator::key(generator, "generator")?, offset))
}

/// Gives a generator's state, in the bytes that torch uses.
///
/// # Parameters
/// `generator`: a live generator. `out_state` [out]: `SCONCE_GENERATOR_STATE_BYTES` bytes.
/// # Errors
/// INVALID_HANDLE: `generator` is NULL, destroyed or foreign. INVALID_STATE: graphs use the
/// generator and the current stream is being captured. INVALID_ARGUMENT: `out_state` is NULL.
/// FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block, unless a graph has been captured that uses the generator: then it waits for the
/// device.
/// # Threads
/// Any.
/// # Safety
/// `out_state` is NULL or valid for writing 16 bytes.
/// # Upstream
/// `torch.cuda.get_rng_state()`, `torch.Generator.get_state()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_generator_get_state(
    generator: *mut sconce_generator,
    out_state: *mut u8,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_state = unsafe {
            Out::new(out_state.cast::<[u8; SCONCE_GENERATOR_STATE_BYTES]>(), "out_state")
        }?;
        out_state.write(random::state(sconce_generator::key(generator, "generator")?)?);
        Ok(())
    })
}

/// Sets a generator's state from the bytes that `sconce_generator_get_state` or torch gave.
///
/// # Parameters
/// `generator`: a live generator. `state`: the bytes. `length`: how many, 16; or 8, the seed alone,
/// with offset 0.
/// # Errors
/// INVALID_HANDLE: `generator` is NULL, destroyed or foreign. INVALID_ARGUMENT: `state` is NULL,
/// `length` is neither, or the offset is not a multiple of 4. INVALID_STATE: graphs use the
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
/// `state` is NULL or valid for reading `length` bytes.
/// # Upstream
/// `torch.cuda.set_rng_state()`; the 816 bytes of releases before 2.0 are refused.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_generator_set_state(
    generator: *mut sconce_generator,
    state: *const u8,
    length: usize,
) -> sconce_status {
    guard(|| {
        let key = sconce_generator::key(generator, "generator")?;
        if state.is_null() {
            return Err(null("state"));
        }
        // A wrong length is refused by its number; no more than a state is ever read.
        let mut bytes = [0; SCONCE_GENERATOR_STATE_BYTES + 1];
        let read = length.min(bytes.len());
        // SAFETY: not NULL, and the caller promises `length` readable bytes.
        unsafe { std::ptr::copy_nonoverlapping(state, bytes.as_mut_ptr(), read) };
        random::set_state(key, &bytes[..read])
    })
}

/// Reserves a piece of a generator's sequence for a kernel of the caller: no other reservation gets
/// it.
///
/// # Parameters
/// `generator`: a live generator. `increment`: 32-bit words that each thread of the kernel draws at
/// most, rounded up to a multiple of 4. `out_seed` [out]. `out_offset` [out]: where the piece
/// begins.
/// # Errors
/// INVALID_HANDLE: `generator` is NULL, destroyed or foreign. INVALID_STATE: graphs use the
/// generator and the current stream is being captured; a captured kernel needs
/// `sconce_generator_reserve_philox_state`. INVALID_ARGUMENT: `out_seed` or `out_offset` is NULL.
/// FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block, unless a graph has been captured that uses the generator: then it waits for the
/// device.
/// # Threads
/// Any; callers at once get pieces that do not overlap.
/// # Safety
/// `out_seed` is NULL or valid for writing one value. `out_offset` is NULL or valid for writing one
/// value.
/// # Upstream
/// `CUDAGeneratorImpl::philox_engine_inputs`; no lock is left to the caller.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_generator_reserve_philox(
    generator: *mut sconce_generator,
    increment: u64,
    out_seed: *mut u64,
    out_offset: *mut u64,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_seed = unsafe { Out::new(out_seed, "out_seed") }?;
        // SAFETY: the caller promises a writable place.
        let out_offset = unsafe { Out::new(out_offset, "out_offset") }?;
        let (seed, offset) =
            random::reserve(sconce_generator::key(generator, "generator")?, increment)?;
        out_seed.write(seed);
        out_offset.write(offset);
        Ok(())
    })
}

/// Reserves a piece of a generator's sequence for one kernel that the caller is about to launch on
/// its current stream of the generator's device, also while that stream is being captured into a
/// graph: then every replay gets a piece of its own, which the kernel finds in device memory.
///
/// # Parameters
/// `generator`: a live generator. `increment`: 32-bit words that each thread of the kernel draws at
/// most, rounded up to a multiple of 4. `out_state` [out].
/// # Errors
/// INVALID_HANDLE: `generator` is NULL, destroyed or foreign. OUT_OF_MEMORY: the stream is being
/// captured and the device has no room for what a graph needs (`sconce_generator_prepare_capture`).
/// INVALID_ARGUMENT: `out_state` is NULL. DRIVER. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// `device_state` stays valid as long as the process.
/// # Ordering
/// While capturing, queues a tiny kernel on the current stream. Else as
/// `sconce_generator_reserve_philox`.
/// # Threads
/// Any.
/// # Safety
/// `out_state` is NULL or valid for writing one value.
/// # Upstream
/// `CUDAGeneratorImpl::philox_cuda_state`, `at::cuda::philox::unpack`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_generator_reserve_philox_state(
    generator: *mut sconce_generator,
    increment: u64,
    out_state: *mut sconce_philox_state,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_state = unsafe { Out::new(out_state, "out_state") }?;
        let draw =
            random::reserve_for_launch(sconce_generator::key(generator, "generator")?, increment)?;
        out_state.write(match draw {
            Draw::Host { seed, offset } => {
                sconce_philox_state { seed, offset, device_state: std::ptr::null() }
            }
            Draw::Device(place) => sconce_philox_state {
                seed: 0,
                offset: 0,
                device_state: std::ptr::without_provenance(place.0 as usize),
            },
        });
        Ok(())
    })
}

/// Makes a generator's device ready for capturing random fills into CUDA graphs: allocates a little
/// memory. The first fill does it too, captured or not; call this where memory may be gone by then.
///
/// # Parameters
/// `generator`: a live generator.
/// # Errors
/// INVALID_HANDLE: `generator` is NULL, destroyed or foreign. OUT_OF_MEMORY. DRIVER. NO_DEVICE,
/// LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// The memory (256 KiB) stays as long as the process.
/// # Ordering
/// Blocks for a moment at the first call; makes the device's context.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda.CUDAGraph.register_generator_state()`, which is needed for each graph there.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_generator_prepare_capture(
    generator: *mut sconce_generator,
) -> sconce_status {
    guard(|| random::prepare_capture(sconce_generator::key(generator, "generator")?))
}
