//! Where stores come from, and their end.

use std::ffi::{CStr, c_char};
use std::time::Duration;

use sconce_base::error::{Error, Result};
use sconce_compute::store::{self, DEFAULT_TIMEOUT, Store, join_job};

use super::{store_of, timeout_of, world_size_of};
use crate::handle::OpaqueHandle;
use crate::{guard, sconce_status};

/// A table of keys and values that the processes of a job share. Opaque; created by a `sconce_store_create_`
/// function.
pub struct sconce_store {
    _private: [u8; 0],
}

impl OpaqueHandle for sconce_store {
    const SOURCE: &'static str = "make stores with a sconce_store_create_ function";
}

/// Reads a text that is UTF-8, such as a path or the name of a machine.
fn utf8<'a>(text: &'a CStr, name: &str) -> Result<&'a str> {
    text.to_str().map_err(|_| Error::invalid_argument(format!("{name} is not UTF-8")))
}

fn first_timeout(timeout_ms: i64) -> Result<Duration> {
    Ok(timeout_of(timeout_ms)?.unwrap_or(DEFAULT_TIMEOUT))
}

/// Creates a store in a file on a file system that all processes can access. PyTorch's `FileStore`
/// uses the same format, so both can use one file.
///
/// - `path`: the file, which is created if it does not exist. Remove the file of an earlier job
///   first.
/// - `world_size`: the number of processes. The last one to destroy its store removes the file.
///   With 0, nobody removes it.
/// - `timeout_ms`: the timeout of this call, and the default of later ones; -1 for 300,000.
/// - `out_store`: receives the store.
/// - Errors: IO: the file cannot be opened, locked, read or written, or is not the file of a store.
///   TIMEOUT: another process holds the file's lock.
/// - Ownership: the caller destroys the store with `sconce_store_destroy`.
/// - torch: `torch.distributed.FileStore`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_store_create_file(
    path: *const c_char,
    world_size: i32,
    timeout_ms: i64,
    out_store: *mut *mut sconce_store,
) -> sconce_status {
    guard(|| {
        let out_store = out!(out_store);
        let path = utf8(text!(path), "path")?;
        let world_size = world_size_of(world_size, 0)?;
        let store = Store::file(path, world_size, first_timeout(timeout_ms)?)?;
        out_store.write(sconce_store::from_key(store::insert(store)?));
        Ok(())
    })
}

/// Creates a client of a store's server, of this library or of PyTorch (2.5 or newer). The server may be started
/// later: the call tries again until its timeout.
///
/// - `host`: the server's machine, as a name or an address.
/// - `port`: the server's port.
/// - `timeout_ms`: the timeout of this call, and the default of later ones; -1 for 300,000.
/// - `out_store`: receives the store.
/// - Errors: TIMEOUT: no server has answered; the message states the last failure.
///   INVALID_ARGUMENT: a server that is not a store's has answered.
/// - Ownership: the caller destroys the store with `sconce_store_destroy`.
/// - Ordering: waits for the server. Resolving a name may take longer than the timeout.
/// - torch: `torch.distributed.TCPStore(host, port, is_master=False, wait_for_workers=False)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_store_create_tcp_client(
    host: *const c_char,
    port: u16,
    timeout_ms: i64,
    out_store: *mut *mut sconce_store,
) -> sconce_status {
    guard(|| {
        let out_store = out!(out_store);
        let host = utf8(text!(host), "host")?;
        if port == 0 {
            return Err(Error::invalid_argument("port is 0; pass the port of the server"));
        }
        let store = Store::client(host, port, first_timeout(timeout_ms)?)?;
        out_store.write(sconce_store::from_key(store::insert(store)?));
        Ok(())
    })
}

/// Creates a server in this process, and a client of it. PyTorch's `TCPStore` can be a client as
/// well. The server has no authentication: anyone who can connect can read and write. It limits the
/// memory that clients can make it use.
///
/// - `host`: the only address on which the server listens: `127.0.0.1` for processes of this
///   machine, `0.0.0.0` or `::` for all interfaces.
/// - `port`: 0 selects a free port, which `sconce_store_get_port` returns.
/// - `timeout_ms`: the default of later calls; -1 for 300,000.
/// - `out_store`: receives the store.
/// - Errors: IO: the address is not of this machine, or the port is in use.
/// - Ownership: the caller destroys the store with `sconce_store_destroy`, which ends the server.
///   All other processes must have finished using the server before.
/// - Threads: starts a thread, which ends with the store or the process.
/// - torch: `torch.distributed.TCPStore(host, port, is_master=True, wait_for_workers=False)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_store_create_tcp_server(
    host: *const c_char,
    port: u16,
    timeout_ms: i64,
    out_store: *mut *mut sconce_store,
) -> sconce_status {
    guard(|| {
        let out_store = out!(out_store);
        let host = utf8(text!(host), "host")?;
        let store = Store::server(host, port, first_timeout(timeout_ms)?)?;
        out_store.write(sconce_store::from_key(store::insert(store)?));
        Ok(())
    })
}

/// Creates a store of the same table whose keys begin with `prefix/`, so that parts of a program do not use the same
/// keys by accident.
///
/// - `prefix`: a text. If `store` has a prefix, that prefix comes first.
/// - `out_store`: receives the store.
/// - Ownership: the caller destroys the new store with `sconce_store_destroy`. It may outlive `store`.
/// - torch: `torch.distributed.PrefixStore`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_store_create_prefixed(
    store: *mut sconce_store,
    prefix: *const c_char,
    out_store: *mut *mut sconce_store,
) -> sconce_status {
    guard(|| {
        let out_store = out!(out_store);
        let store = store_of(store)?;
        let prefix = utf8(text!(prefix), "prefix")?;
        out_store.write(sconce_store::from_key(store::insert(store.prefixed(prefix)?)?));
        Ok(())
    })
}

/// Joins the job that the environment describes: RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and LOCAL_RANK, as
/// `torchrun` and `scripts/launch` set them. Rank 0 serves the store at MASTER_ADDR and waits for the others, unless
/// the launcher serves it. Processes of PyTorch can be members of the job.
///
/// - `timeout_ms`: the longest wait of this call and the default of later ones; -1 for 300,000.
/// - `out_store`: receives the store.
/// - `out_rank`, `out_world_size`, `out_local_rank`: receive the number of this process, the number
///   of processes, and the number of this process on its machine, which is usually the index of its
///   device.
/// - Errors: INVALID_STATE: a variable is missing or malformed. TIMEOUT: the server has not
///   answered, or another process has not joined. IO: MASTER_ADDR is not an address of this
///   machine, or the port is in use.
/// - Ownership: the caller destroys the store with `sconce_store_destroy`; rank 0 does so after all
///   others have finished using it.
/// - Ordering: waits for the other processes.
/// - torch: `torch.distributed.init_process_group(init_method="env://")`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_store_create_from_environment(
    timeout_ms: i64,
    out_store: *mut *mut sconce_store,
    out_rank: *mut i32,
    out_world_size: *mut i32,
    out_local_rank: *mut i32,
) -> sconce_status {
    guard(|| {
        let out_store = out!(out_store);
        let out_rank = out!(out_rank);
        let out_world_size = out!(out_world_size);
        let out_local_rank = out!(out_local_rank);
        let (store, job) = join_job(first_timeout(timeout_ms)?)?;
        out_store.write(sconce_store::from_key(store::insert(store)?));
        out_rank.write(job.rank as i32);
        out_world_size.write(job.world_size as i32);
        out_local_rank.write(job.local_rank as i32);
        Ok(())
    })
}

/// Destroys a store. Calls of other threads that wait in the store fail with INVALID_STATE. With
/// the last store of a table in this process, its server ends; calls of clients in other processes
/// then fail with REMOTE.
///
/// - `store`: NULL is a no-op.
/// - Ordering: waits for the server's thread to end, which takes little time.
/// - torch: the destructor of a store.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_store_destroy(store: *mut sconce_store) -> sconce_status {
    guard(|| match sconce_store::optional(store) {
        None => Ok(()),
        Some(key) => store::destroy(key),
    })
}

/// Returns the port of a store's server.
///
/// - `out_port`: receives the port.
/// - Errors: INVALID_ARGUMENT: the store is in a file.
/// - torch: `torch.distributed.TCPStore.port`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_store_get_port(
    store: *mut sconce_store,
    out_port: *mut u16,
) -> sconce_status {
    guard(|| {
        let out_port = out!(out_port);
        out_port.write(store_of(store)?.port()?);
        Ok(())
    })
}

/// Returns the timeout of calls that name none.
///
/// - `out_timeout_ms`: receives milliseconds.
/// - torch: `torch.distributed.Store.timeout`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_store_get_timeout_ms(
    store: *mut sconce_store,
    out_timeout_ms: *mut i64,
) -> sconce_status {
    guard(|| {
        let out_timeout_ms = out!(out_timeout_ms);
        let timeout = store_of(store)?.timeout();
        out_timeout_ms.write(i64::try_from(timeout.as_millis()).unwrap_or(i64::MAX));
        Ok(())
    })
}

/// Sets the timeout of calls that name none. Calls in progress keep their timeout.
///
/// - `timeout_ms`: milliseconds; -1 for 300,000.
/// - torch: `torch.distributed.Store.set_timeout`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_store_set_timeout_ms(
    store: *mut sconce_store,
    timeout_ms: i64,
) -> sconce_status {
    guard(|| {
        store_of(store)?.set_timeout(first_timeout(timeout_ms)?);
        Ok(())
    })
}
