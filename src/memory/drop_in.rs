//! Functions with the signatures of other frameworks' allocator interfaces.
//!
//! Those frameworks read no status and show no message, so failures are also logged.

use std::ffi::c_void;
use std::ptr::without_provenance_mut;

use sconce_base::error::{Error, Result};
use sconce_base::log;
use sconce_driver::StreamHandle;
use sconce_runtime::context::runtime;
use sconce_runtime::memory;
use sconce_runtime::stream::{self, Stream};

use crate::{guard, guard_value, last_error, sconce_status};

/// Runs a call whose caller reads no status, and logs a failure.
#[inline]
fn report(function: &str, body: impl FnOnce() -> Result<()>) {
    if guard(body) != sconce_status::SCONCE_OK {
        log_failure(function);
    }
}

#[cold]
#[inline(never)]
fn log_failure(function: &str) {
    // In a guard of its own, whose end passes the log message on.
    guard_value((), || {
        let message = last_error::newest_text();
        log::error(format_args!("{function}: {}", message.to_string_lossy()));
    });
}

/// Runs an allocation: NULL stands for a failure.
#[inline]
fn allocate(function: &str, body: impl FnOnce() -> Result<usize>) -> *mut c_void {
    let mut address = 0;
    report(function, || {
        address = body()?;
        Ok(())
    });
    without_provenance_mut(address)
}

/// Allocates memory for PyTorch's `CUDAPluggableAllocator`. Returns NULL on failure, with the
/// reason in `sconce_last_error_message` and in the log. torch does not check for NULL: the first
/// use of the tensor fails.
///
/// - `bytes`: 0 returns NULL.
/// - `device`: index.
/// - `stream`: a `cudaStream_t` of the device; NULL is the default stream.
/// - Ownership: torch frees the memory with `sconce_torch_free`.
/// - Ordering: as `sconce_memory_alloc`.
/// - Safety: `stream` is NULL or a live stream of the device.
/// - torch: the `alloc_fn_name` of `torch.cuda.memory.CUDAPluggableAllocator`, whose `ssize_t` is
///   C's `ptrdiff_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_torch_malloc(
    bytes: isize,
    device: i32,
    stream: *mut c_void,
) -> *mut c_void {
    allocate("sconce_torch_malloc", || {
        let bytes = usize::try_from(bytes)
            .map_err(|_| Error::invalid_argument(format!("bytes is {bytes}, less than 0")))?;
        // SAFETY: `stream` is NULL or a live stream of the device: the function's comment demands it.
        let handle = unsafe { StreamHandle::from_native(stream as usize) };
        memory::alloc_native(bytes, device, handle)
    })
}

/// Frees memory for PyTorch's `CUDAPluggableAllocator`. If `ptr` is not memory of this library, or
/// was freed already, the failure is logged.
///
/// - `ptr`: from `sconce_torch_malloc`; NULL is a no-op.
/// - `bytes`, `device`, `stream`: ignored, since the library knows them.
/// - torch: the `free_fn_name` of `torch.cuda.memory.CUDAPluggableAllocator`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_torch_free(
    ptr: *mut c_void,
    bytes: isize,
    device: i32,
    stream: *mut c_void,
) {
    let _ = (bytes, device, stream);
    report("sconce_torch_free", || memory::free(ptr as usize));
}

/// Allocates memory for CuPy's `CFunctionAllocator`, for this library's current stream of the
/// device in the calling thread. CuPy's own current stream has no effect on it. Returns NULL on
/// failure, with the reason in `sconce_last_error_message` and in the log. CuPy does not check for
/// NULL: the first use of the array fails.
///
/// - `param`: ignored.
/// - `bytes`: 0 returns NULL.
/// - `device`: index.
/// - Ownership: CuPy frees the memory with `sconce_cupy_free`.
/// - Ordering: as `sconce_memory_alloc`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_cupy_malloc(param: *mut c_void, bytes: usize, device: i32) -> *mut c_void {
    let _ = param;
    allocate("sconce_cupy_malloc", || {
        let (id, device) = stream::current(device)?;
        memory::alloc_on(bytes, Stream::from_parts(runtime()?, id, device.as_i32())?)
    })
}

/// Frees memory for CuPy's `CFunctionAllocator`. If `ptr` is not memory of this library, or was
/// freed already, the failure is logged.
///
/// - `param`, `device`: ignored.
/// - `ptr`: from `sconce_cupy_malloc`; NULL is a no-op.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_cupy_free(param: *mut c_void, ptr: *mut c_void, device: i32) {
    let _ = (param, device);
    report("sconce_cupy_free", || memory::free(ptr as usize));
}

/// Allocates memory for the option `gpu_external_alloc` of ONNX Runtime's CUDA provider, as
/// `sconce_memory_alloc` does. Returns NULL on failure, with the reason in
/// `sconce_last_error_message` and in the log.
///
/// - `bytes`: 0 returns NULL.
/// - Ownership: ONNX Runtime frees the memory with `sconce_ort_free`.
/// - Ordering: as `sconce_memory_alloc`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_ort_alloc(bytes: usize) -> *mut c_void {
    allocate("sconce_ort_alloc", || memory::alloc(bytes))
}

/// Frees memory for the option `gpu_external_free` of ONNX Runtime's CUDA provider. If `ptr` is not
/// memory of this library, or was freed already, the failure is logged.
///
/// - `ptr`: from `sconce_ort_alloc`; NULL is a no-op.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_ort_free(ptr: *mut c_void) {
    report("sconce_ort_free", || memory::free(ptr as usize));
}

/// Empties the cache for the option `gpu_external_empty_cache` of ONNX Runtime's CUDA provider, as
/// `sconce_memory_empty_cache` does. A failure is logged.
///
/// - Ordering: as `sconce_memory_empty_cache`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_ort_empty_cache() {
    report("sconce_ort_empty_cache", memory::empty_cache);
}
