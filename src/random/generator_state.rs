//! Generators: states, and reserving for kernels. See `docs/design/random.md`.

use sconce_base::error::Result;
use sconce_compute::random::{self, LaunchPiece};

use crate::handle::OpaqueHandle;
use crate::{guard, null, sconce_generator, sconce_status, sconce_stream};

/// Bytes of a generator's state: seed, then offset, little-endian.
pub const SCONCE_GENERATOR_STATE_BYTES: usize = 16;

/// Bytes of the state of a generator of the CPU.
pub const SCONCE_GENERATOR_CPU_STATE_BYTES: usize = 5056;

const _: () = assert!(SCONCE_GENERATOR_CPU_STATE_BYTES == sconce_math::mersenne::STATE_BYTES);

/// The seed and offset of a kernel: two numbers, or the address in device memory that holds them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_philox_state {
    /// The seed; 0 when `device_state` is not NULL.
    pub seed: u64,
    /// Where the reserved range begins, in 32-bit words; 0 when `device_state` is not NULL.
    pub offset: u64,
    /// NULL, or the device address of seed and offset, which the kernel reads when it runs.
    pub device_state: *const u64,
}

/// Reports a generator's offset in its sequence, in 32-bit words of each thread.
///
/// - `out_offset`: receives the offset, a multiple of 4.
/// - Errors: CROSS_DEVICE: a generator of the CPU, which has no offset. INVALID_STATE: as
///   `sconce_generator_set_seed`.
/// - Ordering: includes all calls before, and does not wait, with two exceptions. While the launch of
///   a graph is pending that draws in the body of a conditional node, only the device knows how much
///   it draws: the call waits for that launch. If a capture that other code began has a fill with the
///   generator, the call waits as `sconce_generator_set_seed` does, and launches of that graph count
///   once they have run.
/// - torch: `torch.Generator.get_offset()`, `CUDAGeneratorImpl::philox_offset_per_thread`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_generator_get_offset(
    generator: *mut sconce_generator,
    out_offset: *mut u64,
) -> sconce_status {
    guard(|| {
        let out_offset = out!(out_offset);
        out_offset.write(random::offset(sconce_generator::key(generator, "generator")?)?);
        Ok(())
    })
}

/// Sets a generator's offset in its sequence.
///
/// - `offset`: in 32-bit words of each thread; a multiple of 4, else INVALID_ARGUMENT.
/// - Errors: CROSS_DEVICE: a generator of the CPU, which has no offset. INVALID_STATE: as `sconce_generator_set_seed`.
/// - Ordering: as `sconce_generator_set_seed`.
/// - torch: `torch.Generator.set_offset()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_generator_set_offset(
    generator: *mut sconce_generator,
    offset: u64,
) -> sconce_status {
    guard(|| random::set_offset(sconce_generator::key(generator, "generator")?, offset))
}

/// Returns the state of a device's generator in torch's bytes.
///
/// - `out_state`: receives `SCONCE_GENERATOR_STATE_BYTES` (16) bytes.
/// - Errors: CROSS_DEVICE: a generator of the CPU (`sconce_generator_get_cpu_state`). INVALID_STATE: as
///   `sconce_generator_set_seed`.
/// - Ordering: as `sconce_generator_get_offset`.
/// - torch: `torch.cuda.get_rng_state()`, `torch.Generator.get_state()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_generator_get_state(
    generator: *mut sconce_generator,
    out_state: *mut u8,
) -> sconce_status {
    guard(|| {
        let out_state = out_state.cast::<[u8; SCONCE_GENERATOR_STATE_BYTES]>();
        let out_state = out!(out_state);
        out_state.write(random::state(sconce_generator::key(generator, "generator")?)?);
        Ok(())
    })
}

/// Returns the state of a generator of the CPU in torch's bytes.
///
/// - `out_state`: receives `SCONCE_GENERATOR_CPU_STATE_BYTES` (5056) bytes.
/// - Errors: CROSS_DEVICE: a generator of a device (`sconce_generator_get_state`).
/// - torch: `torch.get_rng_state()`, `torch.Generator.get_state()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_generator_get_cpu_state(
    generator: *mut sconce_generator,
    out_state: *mut u8,
) -> sconce_status {
    guard(|| {
        let out_state = out_state.cast::<[u8; SCONCE_GENERATOR_CPU_STATE_BYTES]>();
        let out_state = out!(out_state);
        out_state.write(random::cpu_state(sconce_generator::key(generator, "generator")?)?);
        Ok(())
    })
}

/// Sets a generator's state from the bytes that `sconce_generator_get_state` or torch returned.
///
/// - `state`: the bytes.
/// - `length`: the number of bytes: 16, or 8 for only the seed with offset 0; 5056 for a generator
///   of the CPU.
/// - Errors: INVALID_ARGUMENT: `length` is another number, the offset is not a multiple of 4, or no
///   Mersenne Twister has the state. INVALID_STATE: as `sconce_generator_set_seed`.
/// - Ordering: as `sconce_generator_set_seed`.
/// - torch: `torch.cuda.set_rng_state()`, `torch.set_rng_state()`; the 816 bytes of releases before 2.0 are refused.
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
        let read = length.min(SCONCE_GENERATOR_CPU_STATE_BYTES + 1);
        random::set_state(key, entries!(state, read))
    })
}

/// Reserves a range of a generator's sequence for a kernel of the caller. The range overlaps no
/// other reservation, including those of other threads.
///
/// - `increment`: the largest number of 32-bit words that a thread of the kernel draws, rounded up
///   to a multiple of 4.
/// - `out_seed`: receives the seed.
/// - `out_offset`: receives the offset at which the range begins.
/// - Errors: INVALID_STATE: as `sconce_generator_set_seed`, where the call would wait; a captured
///   kernel needs `sconce_generator_reserve_philox_state`.
/// - Ordering: as `sconce_generator_get_offset`.
/// - torch: `CUDAGeneratorImpl::philox_engine_inputs`; the caller needs no lock.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_generator_reserve_philox(
    generator: *mut sconce_generator,
    increment: u64,
    out_seed: *mut u64,
    out_offset: *mut u64,
) -> sconce_status {
    guard(|| {
        let out_seed = out!(out_seed);
        let out_offset = out!(out_offset);
        let (seed, offset) =
            random::reserve(sconce_generator::key(generator, "generator")?, increment)?;
        out_seed.write(seed);
        out_offset.write(offset);
        Ok(())
    })
}

/// Reserves a range of a generator's sequence for one kernel that the caller is about to launch on
/// its current stream of the generator's device. If that stream is being captured into a graph,
/// every replay receives its own range, which the kernel reads from device memory.
///
/// - `increment`: the largest number of 32-bit words that a thread of the kernel draws, rounded up
///   to a multiple of 4.
/// - `out_state`: receives the state; its `device_state` is valid as long as the graph.
/// - Errors: OUT_OF_MEMORY: the stream is being captured, and the device has not enough memory left
///   for the generator state of graphs (`sconce_generator_prepare_capture`).
/// - Ordering: during a capture, queues a small kernel on the current stream; otherwise as
///   `sconce_generator_reserve_philox`.
/// - torch: `CUDAGeneratorImpl::philox_cuda_state`, `at::cuda::philox::unpack`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_generator_reserve_philox_state(
    generator: *mut sconce_generator,
    increment: u64,
    out_state: *mut sconce_philox_state,
) -> sconce_status {
    guard(|| {
        let out_state = out!(out_state);
        out_state.write(reserved_for_launch(generator, increment)?);
        Ok(())
    })
}

/// Reserves a range of a generator's sequence for one kernel that the caller is about to launch on a
/// stream, such as by `sconce_kernel_launch_on`. Otherwise as
/// `sconce_generator_reserve_philox_state`.
///
/// - `stream`: a stream of the generator's device.
/// - torch: `CUDAGeneratorImpl::philox_cuda_state` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_generator_reserve_philox_state_on(
    generator: *mut sconce_generator,
    increment: u64,
    stream: sconce_stream,
    out_state: *mut sconce_philox_state,
) -> sconce_status {
    guard(|| {
        let out_state = out!(out_state);
        out_state.write(stream.run(|| reserved_for_launch(generator, increment))?);
        Ok(())
    })
}

fn reserved_for_launch(
    generator: *mut sconce_generator,
    increment: u64,
) -> Result<sconce_philox_state> {
    let key = sconce_generator::key(generator, "generator")?;
    Ok(match random::reserve_for_launch(key, increment)? {
        LaunchPiece::Numbers(seed, offset) => {
            sconce_philox_state { seed, offset, device_state: std::ptr::null() }
        }
        LaunchPiece::InMemory(address) => sconce_philox_state {
            seed: 0,
            offset: 0,
            device_state: std::ptr::without_provenance(address as usize),
        },
    })
}

/// Allocates the device memory (256 KiB) that random fills need in CUDA graphs, and keeps it until
/// the process ends. The first fill allocates it as well, captured or not; call this function if
/// memory may be exhausted by then.
///
/// - Errors: OUT_OF_MEMORY.
/// - Ordering: the first call blocks briefly and makes the device's context.
/// - torch: `torch.cuda.CUDAGraph.register_generator_state()`, which torch needs for each graph.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_generator_prepare_capture(
    generator: *mut sconce_generator,
) -> sconce_status {
    guard(|| random::prepare_capture(sconce_generator::key(generator, "generator")?))
}
