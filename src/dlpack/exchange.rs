//! The functions of DLPack's C exchange table, by which libraries allocate in each other and find the stream to
//! work on.

use std::ffi::{c_char, c_void};

use sconce_base::error::Result;
use sconce_tensors::dlpack::{
    DlpackDevice, DlpackExchangeApi, DlpackExchangeHeader, DlpackExport, DlpackManagedVersioned,
    DlpackTensor, Prototype, VERSION, allocate, current_stream,
};

use super::{array, check_pointer, delete_versioned};
use crate::{guard, last_error, sconce_status};

/// Receives the error of `sconce_dlpack_allocator`: the name of a Python exception, and a message.
pub type sconce_dlpack_set_error = Option<
    unsafe extern "C" fn(error_ctx: *mut c_void, kind: *const c_char, message: *const c_char),
>;

/// Allocates a tensor for another library: `DLPackManagedTensorAllocator` of the C exchange table.
///
/// Returns 0, or -1 on failure, which `sconce_last_error_message()` describes as well.
///
/// - `prototype`: a `DLTensor`, of which only type, dimensions, shape and device are read. The
///   device is `kDLCPU`, `kDLCUDA` or `kDLCUDAHost` (pinned memory).
/// - `out_managed`: receives the struct, whose values are not set; NULL on failure.
/// - `error_ctx`: passed to `set_error`.
/// - `set_error`: called once on failure with `MemoryError`, `ValueError`, `BufferError` or `RuntimeError`; may
///   be NULL.
/// - Ownership: the caller calls the struct's deleter once.
/// - Ordering: memory of a device is allocated for its current stream.
/// - Safety: `prototype` is as DLPack describes it. `set_error` does not unwind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_dlpack_allocator(
    prototype: *mut c_void,
    out_managed: *mut *mut DlpackManagedVersioned,
    error_ctx: *mut c_void,
    set_error: sconce_dlpack_set_error,
) -> i32 {
    let status = guard(|| {
        let place = out!(out_managed);
        // SAFETY: `prototype` is NULL or misaligned, which is refused, or as DLPack describes it; the
        // function's comment demands it.
        let made = unsafe { allocated(prototype.cast()) };
        place.write(*made.as_ref().unwrap_or(&std::ptr::null_mut()));
        made.map(drop)
    });
    let kind = match status {
        sconce_status::SCONCE_OK => return 0,
        sconce_status::SCONCE_ERROR_OUT_OF_MEMORY => c"MemoryError",
        sconce_status::SCONCE_ERROR_NOT_SUPPORTED => c"BufferError",
        sconce_status::SCONCE_ERROR_INVALID_ARGUMENT
        | sconce_status::SCONCE_ERROR_INVALID_DEVICE => c"ValueError",
        _ => c"RuntimeError",
    };
    if let Some(set_error) = set_error {
        // A copy: the function may call this library, which may replace the message.
        let message = last_error::newest_text();
        // SAFETY: DLPack defines `set_error` as a function of its context and two texts, which live during this call.
        unsafe { set_error(error_ctx, kind.as_ptr(), message.as_ptr()) };
    }
    -1
}

/// A new tensor by a prototype.
///
/// # Safety
/// If `prototype` is neither NULL nor misaligned, it is as DLPack describes it.
unsafe fn allocated(prototype: *const DlpackTensor) -> Result<*mut DlpackManagedVersioned> {
    check_pointer(prototype, "prototype")?;
    // SAFETY: neither NULL nor misaligned, so a tensor as DLPack describes it: this function demands it.
    let DlpackTensor { device, dtype, ndim, shape, .. } = unsafe { prototype.read() };
    // SAFETY: DLPack gives `shape` as many numbers as `ndim` says.
    let sizes = unsafe { array(shape, ndim, "prototype.shape") }?;
    let tensor = allocate(&Prototype { device, dtype, sizes })?;
    DlpackExport::versioned(tensor, Some(device), Some(delete_versioned))
}

/// Returns the native handle of the calling thread's current stream of a device: `DLPackCurrentWorkStream` of
/// the C exchange table.
///
/// Returns 0, or -1 on failure, which `sconce_last_error_message()` describes.
///
/// - `device_type`: `kDLCUDA`, `kDLCUDAManaged`, `kDLCPU` or `kDLCUDAHost`.
/// - `device_id`: the index of the device, at least 0.
/// - `out_stream`: receives the handle; NULL for a default stream (which is 1 in parameters such as
///   `consumer_stream`), and for memory of the host.
/// - Ownership: borrowed; never destroy it.
/// - torch: `torch.cuda.current_stream(device_id).cuda_stream`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_dlpack_current_stream(
    device_type: i32,
    device_id: i32,
    out_stream: *mut *mut c_void,
) -> i32 {
    let status = guard(|| {
        let out_stream = out!(out_stream);
        let native = current_stream(DlpackDevice { device_type, device_id })?;
        out_stream.write(std::ptr::with_exposed_provenance_mut(native));
        Ok(())
    });
    if status == sconce_status::SCONCE_OK { 0 } else { -1 }
}

static EXCHANGE_API: DlpackExchangeApi = DlpackExchangeApi {
    header: DlpackExchangeHeader { version: VERSION, prev_api: None },
    managed_tensor_allocator: sconce_dlpack_allocator,
    managed_tensor_from_py_object_no_sync: None,
    managed_tensor_to_py_object_no_sync: None,
    dltensor_from_py_object_no_sync: None,
    current_work_stream: sconce_dlpack_current_stream,
};

/// Returns the C exchange table of DLPack 1.3 with the functions that need no Python objects:
/// `managed_tensor_allocator` and `current_work_stream`.
///
/// `managed_tensor_from_py_object_no_sync`, `managed_tensor_to_py_object_no_sync` and
/// `dltensor_from_py_object_no_sync` are NULL. DLPack allows that for the last one only: a Python binding copies
/// the table, sets its own functions, and publishes the copy as `__dlpack_c_exchange_api__` of its type.
///
/// - Ownership: the table is constant and lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_dlpack_exchange_api() -> *const DlpackExchangeApi {
    &raw const EXCHANGE_API
}
