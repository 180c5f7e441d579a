//! Calls that reduce.

use std::ffi::c_void;

use sconce_base::error::{Error, Result};
use sconce_compute::collectives::{self, CommOp, CommRequest};
use sconce_runtime::context::runtime;

use super::work::sconce_comm_work;
use crate::handle::OpaqueHandle;
use crate::{Out, dtype_of, guard, sconce_comm, sconce_status, sconce_stream};

/// How the values of all ranks are combined. NCCL chooses the order in which floating-point numbers
/// are added; the simulator adds them in the order of the ranks. As in torch, the sum of bools is
/// their maximum, and the product is their minimum. Complex numbers support sums and averages only.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_comm_op {
    /// The sum.
    SCONCE_COMM_SUM = 0,
    /// The product.
    SCONCE_COMM_PROD = 1,
    /// The smallest value.
    SCONCE_COMM_MIN = 2,
    /// The largest value.
    SCONCE_COMM_MAX = 3,
    /// The sum divided by the number of ranks.
    SCONCE_COMM_AVG = 4,
    /// The sum of each rank's values, multiplied by a factor that the rank passes.
    SCONCE_COMM_PREMUL_SUM = 5,
}

numbers_of!(sconce_comm_op as i32: SCONCE_COMM_SUM, SCONCE_COMM_PROD, SCONCE_COMM_MIN, SCONCE_COMM_MAX, SCONCE_COMM_AVG, SCONCE_COMM_PREMUL_SUM);

fn op_of(op: i32, factor: f64) -> Result<CommOp> {
    Ok(match op {
        SCONCE_COMM_SUM => CommOp::Sum,
        SCONCE_COMM_PROD => CommOp::Prod,
        SCONCE_COMM_MIN => CommOp::Min,
        SCONCE_COMM_MAX => CommOp::Max,
        SCONCE_COMM_AVG => CommOp::Avg,
        SCONCE_COMM_PREMUL_SUM => CommOp::PremulSum(factor),
        _ => {
            return Err(Error::invalid_argument(format!(
                "op is {op}; it must be SCONCE_COMM_SUM (0), _PROD (1), _MIN (2), _MAX (3), _AVG (4) or \
                 _PREMUL_SUM (5)"
            )));
        }
    })
}

/// Queues a call, or an asynchronous one if there is an output for its work.
pub(super) fn submit(
    comm: *mut sconce_comm,
    stream: sconce_stream,
    out_work: Option<Out<*mut sconce_comm_work>>,
    request: &CommRequest<'_>,
) -> Result<()> {
    let comm = sconce_comm::key(comm, "comm")?;
    let stream = stream.resolve(runtime()?)?;
    let Some(out_work) = out_work else {
        return collectives::queue(comm, request, stream);
    };
    let work = collectives::queue_async(comm, request, stream)?;
    out_work.write(sconce_comm_work::from_key(work));
    Ok(())
}

/// Reduces the values of all ranks; every rank receives the result. All ranks call with the same
/// `count`, `dtype` and `op`.
///
/// The following holds for all calls of communicators. All ranks must make the same calls in the
/// same order. Memory must be on the communicator's device.
///
/// - `send`: `count` values. May be equal to `recv`, but must not overlap it otherwise.
/// - `recv`: receives `count` values.
/// - `count`: elements.
/// - `dtype`: `SCONCE_DTYPE_…`. 16-bit integers cannot be reduced. Of the 8-bit floats, only
///   `SCONCE_DTYPE_F8_E4M3FN` and `SCONCE_DTYPE_F8_E5M2` can be reduced, with NCCL 2.24 or newer on
///   devices of compute capability 9.0 or later; results that are too large become the largest
///   finite number.
/// - `op`: `SCONCE_COMM_…`.
/// - `factor`: the factor of `SCONCE_COMM_PREMUL_SUM`; else ignored.
/// - `stream`: a stream of the communicator's device. If `out_work` is NULL, the operation is
///   queued on it.
/// - `out_work`: NULL, or receives a work. With a work, the operation is queued on the
///   communicator's own stream, after the work that is queued on `stream` now.
/// - Errors: CROSS_DEVICE: the memory or the stream is of another device. INVALID_STATE: the
///   communicator has been finalized. ABORTED, REMOTE, TIMEOUT: the communicator is broken.
///   NOT_SUPPORTED: the type.
/// - Ownership: without a work, the memory must stay allocated until the operation is done, or be
///   freed in the order of `stream`. With a work, memory of this library's allocator may be freed
///   earlier: it is not reused before the operation is done. The caller destroys the work.
/// - Ordering: does not block, except that the first calls of a communicator may wait for other
///   ranks, within the limit of its configuration. Inside a group, the operation is queued when the
///   group ends. During a capture, the operation becomes part of the graph.
/// - torch: `torch.distributed.all_reduce`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_all_reduce(
    comm: *mut sconce_comm,
    send: *const c_void,
    recv: *mut c_void,
    count: usize,
    dtype: i32,
    op: i32,
    factor: f64,
    stream: sconce_stream,
    out_work: *mut *mut sconce_comm_work,
) -> sconce_status {
    guard(|| {
        let (send, recv, op) = (send as usize, recv as usize, op_of(op, factor)?);
        let request = CommRequest::AllReduce { send, recv, count, dtype: dtype_of(dtype)?, op };
        submit(comm, stream, optional_out!(out_work), &request)
    })
}

/// Reduces the values of all ranks; the root receives the result.
///
/// Otherwise as `sconce_comm_all_reduce`.
///
/// - `send`: `count` values.
/// - `recv`: receives `count` values at the root; ignored elsewhere.
/// - `factor`: the factor of `SCONCE_COMM_PREMUL_SUM`; else ignored.
/// - `root`: the rank that receives.
/// - torch: `torch.distributed.reduce`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_reduce(
    comm: *mut sconce_comm,
    send: *const c_void,
    recv: *mut c_void,
    count: usize,
    dtype: i32,
    op: i32,
    factor: f64,
    root: i32,
    stream: sconce_stream,
    out_work: *mut *mut sconce_comm_work,
) -> sconce_status {
    guard(|| {
        let (send, recv, op) = (send as usize, recv as usize, op_of(op, factor)?);
        let request = CommRequest::Reduce { send, recv, count, dtype: dtype_of(dtype)?, op, root };
        submit(comm, stream, optional_out!(out_work), &request)
    })
}

/// Reduces the values of all ranks; rank r receives part r of the result.
///
/// Otherwise as `sconce_comm_all_reduce`.
///
/// - `send`: `recv_count` values for each rank.
/// - `recv`: receives `recv_count` values; may be this rank's part of `send`.
/// - `recv_count`: elements that each rank receives.
/// - `factor`: the factor of `SCONCE_COMM_PREMUL_SUM`; else ignored.
/// - torch: `torch.distributed.reduce_scatter_tensor`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_reduce_scatter(
    comm: *mut sconce_comm,
    send: *const c_void,
    recv: *mut c_void,
    recv_count: usize,
    dtype: i32,
    op: i32,
    factor: f64,
    stream: sconce_stream,
    out_work: *mut *mut sconce_comm_work,
) -> sconce_status {
    guard(|| {
        let (send, recv, op) = (send as usize, recv as usize, op_of(op, factor)?);
        let (count, dtype) = (recv_count, dtype_of(dtype)?);
        let request = CommRequest::ReduceScatter { send, recv, count, dtype, op };
        submit(comm, stream, optional_out!(out_work), &request)
    })
}

/// Synchronises the ranks: work that a rank queues after the barrier begins when all ranks have
/// reached the barrier. The host does not wait; synchronise the stream or the work for that.
///
/// Otherwise as `sconce_comm_all_reduce`.
///
/// - torch: `torch.distributed.barrier`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_barrier(
    comm: *mut sconce_comm,
    stream: sconce_stream,
    out_work: *mut *mut sconce_comm_work,
) -> sconce_status {
    guard(|| submit(comm, stream, optional_out!(out_work), &CommRequest::Barrier))
}
