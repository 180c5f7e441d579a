//! Communicators made, split, finalized, aborted, destroyed; what they are.

use std::ffi::{c_char, c_void};

use sconce_base::error::{Error, Result};
use sconce_compute::collectives::{self, CommId};
use sconce_runtime::context::runtime;
use sconce_runtime::device;

use super::config::{config_of, sconce_comm_config};
use crate::handle::OpaqueHandle;
use crate::{guard, null, sconce_status, sconce_store};

/// Bytes of a `sconce_comm_id`.
pub const SCONCE_COMM_ID_BYTES: usize = 128;

/// The bytes with which the ranks of a communicator find each other.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_comm_id {
    /// Opaque bytes, copied unchanged from rank to rank.
    pub bytes: [u8; SCONCE_COMM_ID_BYTES],
}

/// One rank's end of a communicator. Opaque; created by `sconce_comm_init_rank`, `_init_store`,
/// `_init_all` or `_split`.
pub struct sconce_comm {
    _private: [u8; 0],
}

impl OpaqueHandle for sconce_comm {
    const SOURCE: &'static str =
        "make communicators with sconce_comm_init_rank, _init_store, _init_all or _split";
}

/// Reports the version of NCCL, as NCCL counts: 22809 is 2.28.9.
///
/// - `out_version`: receives the number.
/// - Errors: LIBRARY_NOT_FOUND: NCCL 2.18 or newer cannot be opened; the message lists what was
///   searched, and `SCONCE_LIBNCCL` names another place.
/// - torch: `torch.cuda.nccl.version()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_get_version(out_version: *mut i32) -> sconce_status {
    guard(|| {
        let out_version = out!(out_version);
        out_version.write(collectives::version()?);
        Ok(())
    })
}

/// Makes the bytes with which the ranks of one communicator find each other. One rank makes them,
/// and the program passes them to the others.
///
/// - `out_id`: receives the bytes.
/// - Errors: LIBRARY_NOT_FOUND: as `sconce_comm_get_version`.
/// - torch: `torch::cuda::nccl::get_unique_id`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_get_unique_id(out_id: *mut sconce_comm_id) -> sconce_status {
    guard(|| {
        let out_id = out!(out_id);
        out_id.write(sconce_comm_id { bytes: collectives::unique_id()?.0 });
        Ok(())
    })
}

/// Makes one rank of a communicator. All ranks must call this function, in one process or in
/// several, each on its own thread.
///
/// - `id`: the bytes of `sconce_comm_get_unique_id`, the same for all ranks, used for one communicator.
/// - `ranks`: the number of ranks, from 1 to 65,536.
/// - `rank`: the number of this rank, below `ranks`.
/// - `device`: the device on which the rank works; no other rank may use it.
/// - `config`: NULL for the defaults.
/// - `out_comm`: receives the communicator.
/// - Errors: LIBRARY_NOT_FOUND: as `sconce_comm_get_version`. TIMEOUT: not all ranks have called.
///   REMOTE: another rank has failed. INVALID_STATE: the thread is in a group.
/// - Ownership: the caller destroys the communicator with `sconce_comm_destroy`.
/// - Ordering: blocks until all ranks have called, within the limit of `config`.
/// - torch: `torch::cuda::nccl::comm_init_rank`, `torch.distributed.init_process_group`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_init_rank(
    id: *const sconce_comm_id,
    ranks: i32,
    rank: i32,
    device: i32,
    config: *const sconce_comm_config,
    out_comm: *mut *mut sconce_comm,
) -> sconce_status {
    guard(|| {
        let out_comm = out!(out_comm);
        if id.is_null() {
            return Err(null("id"));
        }
        // SAFETY: not NULL, and of bytes, which have no alignment; C passes a whole id.
        let id = CommId(unsafe { id.read() }.bytes);
        let config = checked!(config_of(config));
        let key = collectives::init_rank(&id, ranks, rank, device, &config)?;
        out_comm.write(sconce_comm::from_key(key));
        Ok(())
    })
}

/// Makes one rank of a communicator whose ranks share a store. Rank 0 makes the id and passes it to
/// the others through the store. All wait until every rank has joined, and then proceed as in
/// `sconce_comm_init_rank`.
///
/// - `store`: a store of the same table at all ranks. It is not used after the call.
/// - `name`: the communicator's name, the same for all ranks. It can be used again for the next one.
/// - `ranks`: the number of ranks, from 1 to 65,536.
/// - `rank`: the number of this rank, below `ranks`.
/// - `device`: the device on which the rank works; no other rank may use it.
/// - `config`: NULL for the defaults.
/// - `out_comm`: receives the communicator.
/// - Errors: TIMEOUT: not all ranks have joined; on every rank that has, the message names the
///   missing ones. REMOTE: rank 0 cannot open NCCL, or the server of the store has ended. Otherwise
///   as `sconce_comm_init_rank`, and errors of the store.
/// - Ownership: the caller destroys the communicator with `sconce_comm_destroy`.
/// - Ordering: blocks until all ranks have called, within the limit of `config`.
/// - torch: `torch.distributed.init_process_group(store=…)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_init_store(
    store: *mut sconce_store,
    name: *const c_char,
    ranks: i32,
    rank: i32,
    device: i32,
    config: *const sconce_comm_config,
    out_comm: *mut *mut sconce_comm,
) -> sconce_status {
    guard(|| {
        let out_comm = out!(out_comm);
        let store = sconce_compute::store::get(sconce_store::key(store, "store")?)?;
        let name = text!(name).to_bytes();
        let config = checked!(config_of(config));
        let key = collectives::init_store(&store, name, ranks, rank, device, &config)?;
        out_comm.write(sconce_comm::from_key(key));
        Ok(())
    })
}

/// Makes all ranks of a communicator in this process.
///
/// A thread that makes calls for several ranks must make them in a group
/// (`sconce_comm_group_start`).
///
/// - `devices`: `count` devices, all different; rank i works on the i-th. NULL means devices 0 to
///   `count - 1`.
/// - `count`: the number of ranks.
/// - `config`: NULL for the defaults.
/// - `out_comms`: receives `count` communicators.
/// - Errors: as `sconce_comm_init_rank`. INVALID_ARGUMENT: a device is named twice.
/// - Ownership: the caller destroys each with `sconce_comm_destroy`.
/// - Ordering: blocks until the communicator is made.
/// - torch: the communicators of `torch.cuda.comm`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_init_all(
    devices: *const i32,
    count: i32,
    config: *const sconce_comm_config,
    out_comms: *mut *mut sconce_comm,
) -> sconce_status {
    guard(|| {
        let count = usize::try_from(count).ok().filter(|count| *count > 0).ok_or_else(|| {
            Error::invalid_argument(format!("count is {count}; it must be at least 1"))
        })?;
        let out_comms = out_entries!(out_comms, count);
        let runtime = runtime()?;
        if count > runtime.device_count() as usize {
            return Err(Error::invalid_argument(format!(
                "count is {count}, but there are {} devices",
                runtime.device_count()
            )));
        }
        let numbers: Vec<i32> = match devices.is_null() {
            true => (0..count as i32).collect(),
            false => entries!(devices, count).to_vec(),
        };
        let devices = numbers.into_iter().map(|number| device::resolve(runtime, number));
        let devices = devices.collect::<Result<Vec<_>>>()?;
        let config = checked!(config_of(config));
        let keys = collectives::init_all(&devices, &config)?;
        let comms: Vec<_> = keys.into_iter().map(sconce_comm::from_key).collect();
        out_comms.write(&comms)
    })
}

/// Splits a communicator: ranks that pass the same color form a new communicator. All ranks of
/// `comm` must call this function.
///
/// - `color`: the number of the new communicator; a negative number keeps the rank out of all of
///   them.
/// - `key`: orders the ranks of the new communicator; ranks with equal keys keep their order.
/// - `config`: the configuration of the new communicator; NULL for the defaults.
/// - `out_comm`: receives the new communicator; NULL with a negative `color`.
/// - Errors: NOT_SUPPORTED: the installed NCCL cannot split. Otherwise as `sconce_comm_init_rank`,
///   and the errors of a broken communicator (`sconce_comm_get_async_error`).
/// - Ownership: the caller destroys the communicator with `sconce_comm_destroy`.
/// - Ordering: blocks until all ranks have called, within the limit of `config`.
/// - torch: `torch.distributed.new_group`, `split_group`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_split(
    comm: *mut sconce_comm,
    color: i32,
    key: i32,
    config: *const sconce_comm_config,
    out_comm: *mut *mut sconce_comm,
) -> sconce_status {
    guard(|| {
        let out_comm = out!(out_comm);
        let comm = sconce_comm::key(comm, "comm")?;
        let config = checked!(config_of(config));
        let color = (color >= 0).then_some(color);
        let new = collectives::split(comm, color, key, &config)?;
        out_comm.write(new.map_or(std::ptr::null_mut(), sconce_comm::from_key));
        Ok(())
    })
}

/// Waits until everything that this rank has queued is done. The communicator accepts no calls
/// afterwards.
///
/// - Errors: TIMEOUT: the work is not done within the limit of the configuration; the communicator
///   is then aborted. The errors of a broken communicator (`sconce_comm_get_async_error`).
/// - Ordering: blocks the calling thread.
/// - torch: `torch.distributed.destroy_process_group`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_comm_finalize(comm: *mut sconce_comm) -> sconce_status {
    guard(|| collectives::finalize(sconce_comm::key(comm, "comm")?))
}

/// Aborts a communicator at once, even while another thread waits in one of its calls. Queued calls
/// of this rank end; they have no result unless all ranks have made them. Later calls fail with
/// ABORTED. The other ranks wait for this one until they abort as well. A communicator that is
/// broken already does not change.
///
/// - Ordering: does not wait for other ranks.
/// - torch: `torch.distributed.ProcessGroupNCCL.abort()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_comm_abort(comm: *mut sconce_comm) -> sconce_status {
    guard(|| collectives::abort(sconce_comm::key(comm, "comm")?))
}

/// Destroys a communicator. Finalizes it first, unless it has been finalized or is broken.
///
/// - `comm`: NULL is a no-op.
/// - Errors: as `sconce_comm_finalize`; the communicator is destroyed all the same.
/// - Ordering: as `sconce_comm_finalize`. At the end of the process, the call does not wait.
/// - torch: `torch.distributed.destroy_process_group`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_comm_destroy(comm: *mut sconce_comm) -> sconce_status {
    guard(|| {
        if comm.is_null() {
            return Ok(());
        }
        collectives::destroy(sconce_comm::key(comm, "comm")?)
    })
}

/// Reports the rank of a communicator's handle.
///
/// - `out_rank`: receives the number of the rank.
/// - torch: `torch.distributed.get_rank()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_get_rank(
    comm: *mut sconce_comm,
    out_rank: *mut i32,
) -> sconce_status {
    guard(|| {
        let out_rank = out!(out_rank);
        out_rank.write(collectives::rank(sconce_comm::key(comm, "comm")?)? as i32);
        Ok(())
    })
}

/// Reports how many ranks a communicator has.
///
/// - `out_ranks`: receives the number.
/// - torch: `torch.distributed.get_world_size()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_get_size(
    comm: *mut sconce_comm,
    out_ranks: *mut i32,
) -> sconce_status {
    guard(|| {
        let out_ranks = out!(out_ranks);
        out_ranks.write(collectives::size(sconce_comm::key(comm, "comm")?)? as i32);
        Ok(())
    })
}

/// Reports the device on which a communicator's rank works.
///
/// - `out_device`: receives the index.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_get_device(
    comm: *mut sconce_comm,
    out_device: *mut i32,
) -> sconce_status {
    guard(|| {
        let out_device = out!(out_device);
        out_device.write(collectives::device(sconce_comm::key(comm, "comm")?)?.as_i32());
        Ok(())
    })
}

/// Returns the `ncclComm_t` of a communicator, for other libraries. NCCL allows one thread at a
/// time to make calls of a communicator; the communicator is a blocking one.
///
/// - `out_native`: receives the handle; NULL once the communicator is aborted. The simulator's handle
///   is of use to this library only.
/// - Ownership: borrowed. Never destroy it.
/// - torch: `torch.distributed.ProcessGroupNCCL._comm_ptr()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_comm_get_native(
    comm: *mut sconce_comm,
    out_native: *mut *mut c_void,
) -> sconce_status {
    guard(|| {
        let out_native = out!(out_native);
        let native = collectives::native(sconce_comm::key(comm, "comm")?)?;
        out_native.write(std::ptr::with_exposed_provenance_mut(native));
        Ok(())
    })
}

/// Reports whether a communicator is broken, by failing with the reason. All later calls of a
/// broken communicator fail for the same reason; it can only be destroyed.
///
/// - Errors: ABORTED: this process has aborted the communicator. REMOTE: another rank has failed.
///   TIMEOUT: a call has exceeded its limit. INVALID_STATE, on the simulator only: the ranks made
///   calls that do not match; the message quotes two of them.
/// - torch: `ncclCommGetAsyncError`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_comm_get_async_error(comm: *mut sconce_comm) -> sconce_status {
    guard(|| collectives::async_error(sconce_comm::key(comm, "comm")?))
}

const _: () = assert!(SCONCE_COMM_ID_BYTES == CommId::BYTES);
