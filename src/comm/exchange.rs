//! Calls that copy.

use std::ffi::c_void;

use sconce_compute::collectives::{self, CommRequest, PartsOf};

use super::reduce::submit;
use super::work::sconce_comm_work;
use crate::handle::OpaqueHandle;
use crate::{dtype_of, guard, sconce_comm, sconce_status, sconce_stream};

/// Sends the root's values to all ranks.
///
/// Otherwise as `sconce_comm_all_reduce`.
///
/// - `send`: `count` values at the root; ignored elsewhere.
/// - `recv`: receives `count` values; at the root it may be `send`.
/// - `dtype`: any `SCONCE_DTYPE_…`.
/// - `root`: the rank that sends.
/// - torch: `torch.distributed.broadcast`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_broadcast(
    comm: *mut sconce_comm,
    send: *const c_void,
    recv: *mut c_void,
    count: usize,
    dtype: i32,
    root: i32,
    stream: sconce_stream,
    out_work: *mut *mut sconce_comm_work,
) -> sconce_status {
    guard(|| {
        let (send, recv) = (send as usize, recv as usize);
        let request = CommRequest::Broadcast { send, recv, count, dtype: dtype_of(dtype)?, root };
        submit(comm, stream, optional_out!(out_work), &request)
    })
}

/// Gathers the values of all ranks, in their order, at every rank.
///
/// Otherwise as `sconce_comm_all_reduce`.
///
/// - `send`: `send_count` values; may be this rank's part of `recv`.
/// - `recv`: receives `send_count` values of each rank.
/// - `dtype`: any `SCONCE_DTYPE_…`.
/// - torch: `torch.distributed.all_gather_into_tensor`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_all_gather(
    comm: *mut sconce_comm,
    send: *const c_void,
    recv: *mut c_void,
    send_count: usize,
    dtype: i32,
    stream: sconce_stream,
    out_work: *mut *mut sconce_comm_work,
) -> sconce_status {
    guard(|| {
        let (send, recv, count) = (send as usize, recv as usize, send_count);
        let request = CommRequest::AllGather { send, recv, count, dtype: dtype_of(dtype)? };
        submit(comm, stream, optional_out!(out_work), &request)
    })
}

/// Sends part r of each rank's values to rank r, all parts of one size.
///
/// Otherwise as `sconce_comm_all_reduce`.
///
/// - `send`: `count_per_rank` values for each rank; must not overlap `recv`.
/// - `recv`: receives `count_per_rank` values of each rank, in their order.
/// - `dtype`: any `SCONCE_DTYPE_…`.
/// - torch: `torch.distributed.all_to_all_single`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_all_to_all(
    comm: *mut sconce_comm,
    send: *const c_void,
    recv: *mut c_void,
    count_per_rank: usize,
    dtype: i32,
    stream: sconce_stream,
    out_work: *mut *mut sconce_comm_work,
) -> sconce_status {
    guard(|| {
        let (send, recv, count) = (send as usize, recv as usize, count_per_rank);
        let request = CommRequest::AllToAll { send, recv, count, dtype: dtype_of(dtype)? };
        submit(comm, stream, optional_out!(out_work), &request)
    })
}

/// Sends a part of each rank's values to every rank. The count that a rank sends to another one
/// must be the count that the other receives from it.
///
/// Otherwise as `sconce_comm_all_reduce`.
///
/// - `send`: the values, from which the offsets count; must not overlap `recv`.
/// - `send_counts`, `send_offsets`: for each rank, the number of elements to send to it, and the
///   offset of the first one, in elements.
/// - `recv`: receives the values.
/// - `recv_counts`, `recv_offsets`: the same for the elements that are received from each rank.
/// - `dtype`: any `SCONCE_DTYPE_…`.
/// - torch: `torch.distributed.all_to_all_single` with split sizes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_all_to_all_v(
    comm: *mut sconce_comm,
    send: *const c_void,
    send_counts: *const usize,
    send_offsets: *const usize,
    recv: *mut c_void,
    recv_counts: *const usize,
    recv_offsets: *const usize,
    dtype: i32,
    stream: sconce_stream,
    out_work: *mut *mut sconce_comm_work,
) -> sconce_status {
    guard(|| {
        let ranks = collectives::size(sconce_comm::key(comm, "comm")?)?;
        let (send_counts, send_offsets) =
            (entries!(send_counts, ranks), entries!(send_offsets, ranks));
        let (recv_counts, recv_offsets) =
            (entries!(recv_counts, ranks), entries!(recv_offsets, ranks));
        let send = PartsOf { base: send as usize, counts: send_counts, offsets: send_offsets };
        let recv = PartsOf { base: recv as usize, counts: recv_counts, offsets: recv_offsets };
        let request = CommRequest::AllToAllV { send, recv, dtype: dtype_of(dtype)? };
        submit(comm, stream, optional_out!(out_work), &request)
    })
}

/// Gathers the values of all ranks, in their order, at the root.
///
/// Otherwise as `sconce_comm_all_reduce`.
///
/// - `send`: `send_count` values; at the root it may be its part of `recv`.
/// - `recv`: receives `send_count` values of each rank at the root; ignored elsewhere.
/// - `dtype`: any `SCONCE_DTYPE_…`.
/// - `root`: the rank that receives.
/// - torch: `torch.distributed.gather`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_gather(
    comm: *mut sconce_comm,
    send: *const c_void,
    recv: *mut c_void,
    send_count: usize,
    dtype: i32,
    root: i32,
    stream: sconce_stream,
    out_work: *mut *mut sconce_comm_work,
) -> sconce_status {
    guard(|| {
        let (send, recv, count) = (send as usize, recv as usize, send_count);
        let request = CommRequest::Gather { send, recv, count, dtype: dtype_of(dtype)?, root };
        submit(comm, stream, optional_out!(out_work), &request)
    })
}

/// Sends part r of the root's values to rank r.
///
/// Otherwise as `sconce_comm_all_reduce`.
///
/// - `send`: `recv_count` values for each rank at the root; ignored elsewhere.
/// - `recv`: receives `recv_count` values; at the root it may be its part of `send`.
/// - `dtype`: any `SCONCE_DTYPE_…`.
/// - `root`: the rank that sends.
/// - torch: `torch.distributed.scatter`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_scatter(
    comm: *mut sconce_comm,
    send: *const c_void,
    recv: *mut c_void,
    recv_count: usize,
    dtype: i32,
    root: i32,
    stream: sconce_stream,
    out_work: *mut *mut sconce_comm_work,
) -> sconce_status {
    guard(|| {
        let (send, recv, count) = (send as usize, recv as usize, recv_count);
        let request = CommRequest::Scatter { send, recv, count, dtype: dtype_of(dtype)?, root };
        submit(comm, stream, optional_out!(out_work), &request)
    })
}

/// Sends values to one rank, which must receive the same number of bytes. Sends and receives that
/// depend on each other must be in one group on each rank; otherwise they deadlock.
///
/// Otherwise as `sconce_comm_all_reduce`.
///
/// - `send`: `count` values.
/// - `dtype`: any `SCONCE_DTYPE_…`.
/// - `peer`: the rank that receives.
/// - torch: `torch.distributed.send`, `isend`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_send(
    comm: *mut sconce_comm,
    send: *const c_void,
    count: usize,
    dtype: i32,
    peer: i32,
    stream: sconce_stream,
    out_work: *mut *mut sconce_comm_work,
) -> sconce_status {
    guard(|| {
        let request =
            CommRequest::Send { send: send as usize, count, dtype: dtype_of(dtype)?, peer };
        submit(comm, stream, optional_out!(out_work), &request)
    })
}

/// Receives values from one rank, which must send the same number of bytes.
///
/// Otherwise as `sconce_comm_all_reduce`.
///
/// - `recv`: receives `count` values.
/// - `dtype`: any `SCONCE_DTYPE_…`.
/// - `peer`: the rank that sends.
/// - torch: `torch.distributed.recv`, `irecv`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_recv(
    comm: *mut sconce_comm,
    recv: *mut c_void,
    count: usize,
    dtype: i32,
    peer: i32,
    stream: sconce_stream,
    out_work: *mut *mut sconce_comm_work,
) -> sconce_status {
    guard(|| {
        let request =
            CommRequest::Recv { recv: recv as usize, count, dtype: dtype_of(dtype)?, peer };
        submit(comm, stream, optional_out!(out_work), &request)
    })
}
