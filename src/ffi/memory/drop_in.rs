//! Allocating functions in the shapes that other programs call.
//!
//! Those programs ask for no status and show no message, so what fails here is also logged.

use std::ffi::{CStr, c_void};
use std::ptr::without_provenance_mut;

use crate::context::runtime;
use crate::error::{Error, Result};
use crate::ffi::{guard, guard_value, sconce_last_error_message, sconce_status};
use crate::stream::{self, Stream};
use crate::{log, memory};

/// Runs a call that reports to nobody.
#[inline]
fn report(function: &str, body: impl FnOnce() -> Result<()>) {
    if guard(body) != sconce_status::SCONCE_OK {
        log_failure(function);
    }
}

#[cold]
#[inline(never)]
fn log_failure(function: &str) {
    // In a guard of its own, whose end hands the message over.
    guard_value((), || {
        // SAFETY: never NULL, NUL-terminated, and this thread's until its next failure.
        let message = unsafe { CStr::from_ptr(sconce_last_error_message()) }.to_string_lossy();
        log::error(format_args!("{function}: {message}"));
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

/// Allocates as PyTorch's `CUDAPluggableAllocator` asks.
///
/// # Parameters
/// `bytes`: how many; 0 gives NULL. `device`: index. `stream`: a `cudaStream_t` of the device, NULL
/// for the default stream.
/// # Errors
/// NULL, with the reason in `sconce_last_error_message` and in the log. torch itself does not look
/// at a NULL: the first use of the tensor fails.
/// # Ownership
/// torch frees it with `sconce_torch_free`.
/// # Ordering
/// As `sconce_memory_alloc`.
/// # Threads
/// Any.
/// # Safety
/// `stream` is NULL or a live stream of the device.
/// # Upstream
/// The `alloc_fn_name` of `torch.cuda.memory.CUDAPluggableAllocator`, whose `ssize_t` is C's
/// `ptrdiff_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_torch_malloc(
    bytes: isize,
    device: i32,
    stream: *mut c_void,
) -> *mut c_void {
    allocate("sconce_torch_malloc", || {
        let bytes = usize::try_from(bytes)
            .map_err(|_| Error::invalid_argument(format!("bytes is {bytes}, less than 0")))?;
        memory::alloc_native(bytes, device, stream as usize)
    })
}

/// Frees as PyTorch's `CUDAPluggableAllocator` asks.
///
/// # Parameters
/// `ptr`: from `sconce_torch_malloc`; NULL is a no-op. `bytes`, `device`, `stream`: ignored, as the
/// library knows them.
/// # Errors
/// To the log: `ptr` is not memory of this library, or was freed already.
/// # Ownership
/// Takes the memory back.
/// # Ordering
/// As `sconce_memory_free`.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// The `free_fn_name` of `torch.cuda.memory.CUDAPluggableAllocator`.
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

/// Allocates as CuPy's `CFunctionAllocator` asks: on this thread's current stream of the device, as
/// this library knows it, which CuPy's own current stream does not change.
///
/// # Parameters
/// `param`: ignored. `bytes`: how many; 0 gives NULL. `device`: index.
/// # Errors
/// NULL, with the reason in `sconce_last_error_message` and in the log. CuPy itself does not look
/// at a NULL: the first use of the array fails.
/// # Ownership
/// CuPy frees it with `sconce_cupy_free`.
/// # Ordering
/// As `sconce_memory_alloc`.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// The `malloc_func` of `cupy.cuda.memory.CFunctionAllocator`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_cupy_malloc(param: *mut c_void, bytes: usize, device: i32) -> *mut c_void {
    let _ = param;
    allocate("sconce_cupy_malloc", || {
        let (id, device) = stream::current(device)?;
        memory::alloc_on(bytes, Stream::from_parts(runtime()?, id, device.as_i32())?)
    })
}

/// Frees as CuPy's `CFunctionAllocator` asks.
///
/// # Parameters
/// `param`: ignored. `ptr`: from `sconce_cupy_malloc`; NULL is a no-op. `device`: ignored.
/// # Errors
/// To the log: `ptr` is not memory of this library, or was freed already.
/// # Ownership
/// Takes the memory back.
/// # Ordering
/// As `sconce_memory_free`.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// The `free_func` of `cupy.cuda.memory.CFunctionAllocator`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_cupy_free(param: *mut c_void, ptr: *mut c_void, device: i32) {
    let _ = (param, device);
    report("sconce_cupy_free", || memory::free(ptr as usize));
}

/// Allocates as ONNX Runtime's CUDA provider asks: as `sconce_memory_alloc`.
///
/// # Parameters
/// `bytes`: how many; 0 gives NULL.
/// # Errors
/// NULL, with the reason in `sconce_last_error_message` and in the log.
/// # Ownership
/// ONNX Runtime frees it with `sconce_ort_free`.
/// # Ordering
/// As `sconce_memory_alloc`.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// The provider's option `gpu_external_alloc`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_ort_alloc(bytes: usize) -> *mut c_void {
    allocate("sconce_ort_alloc", || memory::alloc(bytes))
}

/// Frees as ONNX Runtime's CUDA provider asks.
///
/// # Parameters
/// `ptr`: from `sconce_ort_alloc`; NULL is a no-op.
/// # Errors
/// To the log: `ptr` is not memory of this library, or was freed already.
/// # Ownership
/// Takes the memory back.
/// # Ordering
/// As `sconce_memory_free`.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// The provider's option `gpu_external_free`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_ort_free(ptr: *mut c_void) {
    report("sconce_ort_free", || memory::free(ptr as usize));
}

/// Empties the cache as ONNX Runtime's CUDA provider asks.
///
/// # Parameters
/// None.
/// # Errors
/// To the log.
/// # Ownership
/// None.
/// # Ordering
/// As `sconce_memory_empty_cache`.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// The provider's option `gpu_external_empty_cache`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_ort_empty_cache() {
    report("sconce_ort_empty_cache", memory::empty_cache);
}
