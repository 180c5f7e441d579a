//! Streams that the program owns. See `docs/design/stream.md`.

use sconce_base::error::{Error, Result};
use sconce_driver::StreamFlags;
use sconce_runtime::context::runtime;
use sconce_runtime::stream;

use super::sconce_stream;
use crate::{guard_runtime, sconce_status};

/// Flag of a stream: the default stream does not order its work implicitly. The value is CUDA's
/// (`CU_STREAM_NON_BLOCKING`).
pub const SCONCE_STREAM_NON_BLOCKING: u32 = 1;

fn flags_of(flags: u32) -> Result<StreamFlags> {
    match flags {
        0 => Ok(StreamFlags { non_blocking: false }),
        SCONCE_STREAM_NON_BLOCKING => Ok(StreamFlags { non_blocking: true }),
        _ => Err(Error::invalid_argument(format!(
            "flags is {flags:#x}; it must be 0 or SCONCE_STREAM_NON_BLOCKING (1)"
        ))),
    }
}

/// Creates a stream that the program owns, beside the pools, whose 32 streams all callers share.
///
/// - `flags`: `SCONCE_STREAM_NON_BLOCKING`, or 0 for a stream that the default stream orders: work of either
///   begins after the work that was queued on the other before.
/// - `priority`: 0 is low, -1 is high; lower numbers mean still higher priorities, as far as the device has them
///   (`sconce_stream_get_priority_range`).
/// - `out_stream`: receives the stream.
/// - Errors: INVALID_ARGUMENT: `priority` is above 0, or `flags` has another bit.
/// - Ownership: the caller destroys the stream with `sconce_stream_destroy`. Until then it is used as a stream of
///   `sconce_stream_get_from_external`.
/// - torch: `torch.cuda.ExternalStream` of a stream of `cudaStreamCreateWithPriority`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_stream_create(
    device: i32,
    flags: u32,
    priority: i32,
    out_stream: *mut sconce_stream,
) -> sconce_status {
    guard_runtime(|| {
        let out_stream = out!(out_stream);
        let made = stream::create(device, flags_of(flags)?, priority)?;
        out_stream.write(sconce_stream::of(made));
        Ok(())
    })
}

/// Destroys a stream of `sconce_stream_create`. Work that is queued already still runs.
///
/// Memory that was allocated for the stream, or noted with a `…_record_stream` function, stays usable, and is
/// reused when the work that used it has finished.
///
/// - Errors: INVALID_ARGUMENT: the library owns the stream (a default stream, or one of a pool), or it is the
///   default stream of a thread. INVALID_STATE: the stream is the calling thread's current stream.
/// - Ownership: no call uses the stream afterwards, and no other thread has it as its current stream. The driver may
///   give its handle to another stream, which has the same number then.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_stream_destroy(stream: sconce_stream) -> sconce_status {
    guard_runtime(|| stream::destroy(stream.resolve(runtime()?)?))
}
