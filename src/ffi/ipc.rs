//! Memory between processes. See `docs/design/ipc.md`.

use std::ffi::c_void;
use std::ptr::without_provenance_mut;

use super::{Out, SCONCE_IPC_HANDLE_BYTES, guard, null, sconce_status};
use crate::driver::IpcHandle;
use crate::ipc;

/// Gives a handle by which another process can open the driver's allocation that holds device
/// memory, and where in it the memory is.
///
/// # Parameters
/// `ptr`: device memory: of this library, or of anyone who got it from the driver. Virtual memory
/// must have been made shareable by file descriptor. `out_handle` [out]: 64 bytes, the same for
/// everything in one allocation. `out_offset_bytes` [out]: how far `ptr` is from the beginning of
/// the allocation.
/// # Errors
/// INVALID_ARGUMENT: `ptr` is not memory of a device, was freed, is another process's or cannot be
/// shared; or a place is NULL. IO: there is no socket to be had at which the other process could ask.
/// DRIVER. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// The memory stays the caller's. If it is freed while another process has it open, it is not used
/// again before that process has closed it or ended; what the caller got from the driver itself is
/// the caller's business. Once it is freed it cannot be opened any more.
/// # Ordering
/// Does not block. The other process must not use the memory before work that is queued here has
/// finished: share an event, too.
/// # Threads
/// Any.
/// # Safety
/// `out_handle` is NULL or valid for writing 64 bytes, `out_offset_bytes` NULL or valid for writing
/// one value.
/// # Upstream
/// `torch.UntypedStorage._share_cuda_()`, `cudaIpcGetMemHandle`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_ipc_get_memory_handle(
    ptr: *mut c_void,
    out_handle: *mut u8,
    out_offset_bytes: *mut usize,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises 64 writable bytes; bytes have no alignment.
        let out_handle =
            unsafe { Out::new(out_handle.cast::<[u8; SCONCE_IPC_HANDLE_BYTES]>(), "out_handle") }?;
        // SAFETY: the caller promises a writable place.
        let out_offset_bytes = unsafe { Out::new(out_offset_bytes, "out_offset_bytes") }?;
        let (handle, offset) = ipc::export(ptr as usize)?;
        out_handle.write(handle.0);
        out_offset_bytes.write(offset);
        Ok(())
    })
}

/// Opens device memory of another process.
///
/// # Parameters
/// `device`: where it is to be used, index, -1 for the current device; it must be the device whose
/// memory it is. `handle`: the 64 bytes. `offset_bytes`: the offset that came with them. `out_ptr`
/// [out]: the memory's address in this process.
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `handle` is no such handle or one of this process, or it is of
/// another device, `offset_bytes` is not below the allocation's size, or a pointer is NULL.
/// INVALID_HANDLE: the process that made it has ended, has freed the memory, or is another user's.
/// INVALID_STATE: that process has not answered for 10 seconds. IO. DRIVER: also of that process. NO_DEVICE,
/// LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// The caller closes it with `sconce_ipc_close_memory`, once for each opening.
/// # Ordering
/// Asks the other process, and waits for its answer, but not for its work.
/// # Threads
/// Any.
/// # Safety
/// `handle` is NULL or valid for reading 64 bytes, `out_ptr` NULL or valid for writing one value.
/// # Upstream
/// `torch.UntypedStorage._new_shared_cuda`, `cudaIpcOpenMemHandle`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_ipc_open_memory(
    device: i32,
    handle: *const u8,
    offset_bytes: usize,
    out_ptr: *mut *mut c_void,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_ptr = unsafe { Out::new(out_ptr, "out_ptr") }?;
        if handle.is_null() {
            return Err(null("handle"));
        }
        // SAFETY: not NULL, and the caller promises 64 readable bytes.
        let handle = IpcHandle(unsafe { handle.cast::<[u8; SCONCE_IPC_HANDLE_BYTES]>().read() });
        out_ptr.write(without_provenance_mut(ipc::open(device, &handle, offset_bytes)?));
        Ok(())
    })
}

/// Closes memory of another process.
///
/// # Parameters
/// `ptr`: what `sconce_ipc_open_memory` gave; NULL is a no-op.
/// # Errors
/// INVALID_ARGUMENT: `ptr` was not opened, or was closed as often as opened. INVALID_STATE: a stream
/// of the device is being captured, which does not survive the waiting. DRIVER: also for a failure of
/// earlier work on the device. After both the memory is open still. NO_DEVICE, LIBRARY_NOT_FOUND,
/// FORKED as `sconce_init`.
/// # Ownership
/// Takes the opening back; after the last one of an allocation its addresses are invalid.
/// # Ordering
/// The last closing of an address waits for the device: then the other process may use the memory.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// The end of a shared storage, `cudaIpcCloseMemHandle`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_ipc_close_memory(ptr: *mut c_void) -> sconce_status {
    guard(|| ipc::close(ptr as usize))
}

/// Makes freed memory usable again whose last consumer in another process has closed it or ended.
/// This happens by itself as well, soon after; the call makes it certain.
///
/// # Parameters
/// None.
/// # Errors
/// DRIVER, and INVALID_STATE while a stream of the device is being captured: without caching, for
/// memory that cannot be given back to the driver now; the next call tries again. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; without caching, giving memory back waits for its device.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda.ipc_collect()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_ipc_collect() -> sconce_status {
    guard(ipc::collect)
}

/// Sets how long `sconce_ipc_open_memory` waits for the process that made a handle to answer. After
/// that it fails with INVALID_STATE. 10,000 ms at first.
///
/// # Parameters
/// `milliseconds`: more than 0.
/// # Errors
/// INVALID_ARGUMENT: `milliseconds` is 0. Works without a device.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; holds for openings that begin later.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// None: torch does not ask the other process.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_ipc_set_timeout_ms(milliseconds: u32) -> sconce_status {
    guard(|| ipc::set_timeout_ms(milliseconds))
}

/// Tells how long `sconce_ipc_open_memory` waits for the process that made a handle to answer.
///
/// # Parameters
/// `out_milliseconds` [out].
/// # Errors
/// INVALID_ARGUMENT: `out_milliseconds` is NULL. Works without a device.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_milliseconds` is NULL or valid for writing one value.
/// # Upstream
/// None: torch does not ask the other process.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_ipc_get_timeout_ms(out_milliseconds: *mut u32) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_milliseconds = unsafe { Out::new(out_milliseconds, "out_milliseconds") }?;
        out_milliseconds.write(ipc::timeout_ms());
        Ok(())
    })
}
