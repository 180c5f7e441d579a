//! Groups, and asynchronous calls.

use std::ffi::c_void;
use std::time::Duration;

use sconce_base::error::Error;
use sconce_compute::collectives;
use sconce_runtime::context::runtime;
use sconce_tensors::comm_tensors::{TensorUse, pack_for_calls};

use crate::handle::OpaqueHandle;
use crate::tensor::handle::{defined, tensor_of};
use crate::{CBool, guard, sconce_comm, sconce_status, sconce_stream, sconce_tensor};

/// An asynchronous call of a communicator. Opaque; calls create it.
pub struct sconce_comm_work {
    _private: [u8; 0],
}

impl OpaqueHandle for sconce_comm_work {
    const SOURCE: &'static str = "calls of communicators return works through out_work";
}

/// Begins a group on the calling thread. Groups nest. Calls of communicators in the group are
/// checked at once, and queued together when the outermost group ends, so that none waits for
/// another. That is necessary if one thread makes calls for several ranks, and for sends and
/// receives that depend on each other. All calls of one communicator in a group must have the same
/// stream.
///
/// - Threads: the same thread must begin and end the group.
/// - torch: `ncclGroupStart`, `torch.distributed.batch_isend_irecv`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_comm_group_start() -> sconce_status {
    guard(collectives::group_start)
}

/// Ends the innermost group of the calling thread.
///
/// - Errors: INVALID_STATE: the thread is in no group. Otherwise the errors of the calls; the group
///   has ended in any case.
/// - Ordering: the end of the outermost group queues the calls with the ordering of single calls.
/// - torch: `ncclGroupEnd`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_comm_group_end() -> sconce_status {
    guard(collectives::group_end)
}

/// Ends the innermost group of the calling thread without queueing its calls. For a program that
/// has failed inside the group. The calls of enclosing groups are dropped as well, and ending these
/// groups fails. A group that had calls is logged as a warning.
///
/// - Errors: INVALID_STATE: the thread is in no group.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_comm_group_cancel() -> sconce_status {
    guard(collectives::group_cancel)
}

/// Reports an address at which a tensor's elements lie in the order of its dimensions, for calls of the
/// thread's group. If the tensor is contiguous, that is its own memory. Otherwise it is temporary
/// memory: the end of the group copies the elements there before it queues the calls, and back
/// behind them. The address is valid until the group ends.
///
/// - `tensor`: on the communicator's device; of any strides.
/// - `is_read`: whether the calls read the tensor.
/// - `is_written`: whether the calls write the tensor.
/// - `stream`: the stream of the calls.
/// - `is_async`: whether the calls have works.
/// - `out_address`: receives the address.
/// - Errors: INVALID_STATE: the thread is in no group. CROSS_DEVICE: the tensor or the stream is of
///   another device. INVALID_ARGUMENT: several elements of a tensor that is written are one place.
/// - Ownership: the group keeps the tensor and the temporary memory until its calls are queued.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_stage_tensor(
    comm: *mut sconce_comm,
    tensor: *mut sconce_tensor,
    is_read: CBool,
    is_written: CBool,
    stream: sconce_stream,
    is_async: CBool,
    out_address: *mut *mut c_void,
) -> sconce_status {
    guard(|| {
        let out_address = out!(out_address);
        let comm = sconce_comm::key(comm, "comm")?;
        let tensor = defined(tensor, "tensor")?;
        let stream = stream.resolve(runtime()?)?;
        let (is_read, is_written) = (is_read.is_true(), is_written.is_true());
        let usage = TensorUse { is_read, is_written, is_async: is_async.is_true() };
        let address = pack_for_calls(comm, tensor, stream, usage)?;
        out_address.write(std::ptr::with_exposed_provenance_mut(address));
        Ok(())
    })
}

/// Makes later work of a stream wait for an asynchronous call. The work handle releases the tensors
/// that it keeps.
///
/// - Errors: ABORTED, REMOTE, TIMEOUT: the communicator is broken. INVALID_STATE: the call is in a
///   group that has not ended.
/// - torch: `torch.distributed.Work.wait()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_comm_work_wait(
    work: *mut sconce_comm_work,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| {
        let work = sconce_comm_work::key(work, "work")?;
        collectives::wait(work, stream.resolve(runtime()?)?)
    })
}

/// Reports whether an asynchronous call is done.
///
/// - `out_complete`: receives the answer.
/// - Errors: as `sconce_comm_work_wait`.
/// - torch: `torch.distributed.Work.is_completed()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_work_query(
    work: *mut sconce_comm_work,
    out_complete: *mut bool,
) -> sconce_status {
    guard(|| {
        let out_complete = out!(out_complete);
        out_complete.write(collectives::query(sconce_comm_work::key(work, "work")?)?);
        Ok(())
    })
}

/// Waits on the calling thread until an asynchronous call is done. The work handle releases the
/// tensors that it keeps.
///
/// - `timeout_ms`: the limit in milliseconds; -1 means no limit.
/// - Errors: TIMEOUT: the call is not done. It continues, and the caller may wait again or abort
///   the communicator. Otherwise as `sconce_comm_work_wait`, including when the communicator breaks
///   during the wait.
/// - Ordering: blocks the calling thread.
/// - torch: `torch.distributed.Work.wait(timeout)` in blocking mode.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_comm_work_synchronize(
    work: *mut sconce_comm_work,
    timeout_ms: i64,
) -> sconce_status {
    guard(|| {
        let limit = match timeout_ms {
            -1 => None,
            0.. => Some(Duration::from_millis(timeout_ms as u64)),
            _ => {
                return Err(Error::invalid_argument(format!(
                    "timeout_ms is {timeout_ms}; it must be -1 (no limit) or milliseconds"
                )));
            }
        };
        collectives::synchronize(sconce_comm_work::key(work, "work")?, limit)
    })
}

/// Makes a work handle keep a tensor that its call uses, until the work is waited for or destroyed.
/// The caller may release the tensor at once.
///
/// - `tensor`: its memory is kept, even if another tensor is assigned to the handle later.
/// - torch: the tensors that `ProcessGroupNCCL` stashes in its works.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_comm_work_keep(
    work: *mut sconce_comm_work,
    tensor: *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let work = sconce_comm_work::key(work, "work")?;
        collectives::keep(work, Box::new(tensor_of(tensor, "tensor")?))
    })
}

/// Reports the sequence number of a call on its communicator, with which error messages name the
/// call.
///
/// - `out_sequence`: receives the number; the first call of the rank has 1.
/// - torch: `torch.distributed.Work._get_sequence_number`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_work_get_sequence(
    work: *mut sconce_comm_work,
    out_sequence: *mut u64,
) -> sconce_status {
    guard(|| {
        let out_sequence = out!(out_sequence);
        out_sequence.write(collectives::sequence(sconce_comm_work::key(work, "work")?)?);
        Ok(())
    })
}

/// Destroys a work handle. The call continues. Its memory, if it is of this library's allocator, is
/// not reused before the call is done.
///
/// - `work`: NULL is a no-op.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_comm_work_destroy(work: *mut sconce_comm_work) -> sconce_status {
    guard(|| {
        if work.is_null() {
            return Ok(());
        }
        collectives::destroy_work(sconce_comm_work::key(work, "work")?)
    })
}
