//! Tensors of this library as structs of DLPack, and the other way round.

use std::ffi::c_void;

use sconce_base::error::{Error, Result};
use sconce_base::lock::refuse_held;
use sconce_driver::StreamHandle;
use sconce_runtime::stream::Stream;
use sconce_tensors::dlpack::{
    DlpackExport, DlpackManaged, DlpackManagedHead, DlpackManagedVersioned, DlpackTensor, Offer,
    VERSION, check, export_stream, named_stream,
};
use sconce_tensors::tensor::{ForeignOwner, Place};

use super::{array, check_pointer, delete_versioned};
use crate::tensor::{defined, returned_by};
use crate::{guard, sconce_status, sconce_tensor};

/// The stream that a parameter names, if it does.
///
/// # Safety
/// `native` is NULL, 1, 2, -1 or a live stream of the device.
unsafe fn stream_of(native: *mut c_void, place: Place, name: &str) -> Result<Option<Stream>> {
    let native = native as usize;
    // SAFETY: `native` is a live stream of the device or a number that stands for one: this function
    // demands it.
    let handle = unsafe { StreamHandle::from_native(native) };
    named_stream(handle, matches!(native, 0 | usize::MAX), place, name)
}

unsafe extern "C" fn delete_unversioned(managed: *mut c_void) {
    let _ = guard(|| {
        if !managed.is_null() {
            // SAFETY: this is the deleter of structs that were exported without a version.
            unsafe { DlpackExport::<DlpackManaged>::delete(managed) };
        }
        Ok(())
    });
}

/// Exports a tensor to another library: a `DLManagedTensorVersioned` of DLPack 1.3 that shares its memory.
///
/// `byte_offset` is 0, and `strides` is not NULL. Pinned memory is exported as `kDLCPU`, which
/// every consumer accepts.
///
/// - `consumer_stream`: the stream on which the consumer will use the memory. NULL or -1 means
///   none, 1 the legacy default stream, 2 the per-thread default stream; any other value is a
///   `cudaStream_t` of the tensor's device.
/// - `out_managed`: receives the struct.
/// - Errors: INVALID_ARGUMENT: the tensor is undefined; a stream is named for a tensor of the CPU.
/// - Ownership: the caller, or the consumer, calls the struct's deleter once. The memory lives
///   until then, even if the tensor is released earlier.
/// - Ordering: makes `consumer_stream` wait for the current stream of the tensor's device. The
///   memory is not reused before the work that is queued on `consumer_stream` when the deleter is
///   called has finished. Without a stream, the consumer must work on the current stream, or wait
///   for it. Queued copies may still write to memory of the host.
/// - Threads: any thread may call the deleter.
/// - Safety: `consumer_stream` is a live stream, if it is a handle.
/// - torch: `torch.Tensor.__dlpack__(stream=...)`, `at::toDLPackVersioned`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_to_dlpack(
    tensor: *mut sconce_tensor,
    consumer_stream: *mut c_void,
    out_managed: *mut *mut DlpackManagedVersioned,
) -> sconce_status {
    guard(|| {
        let out_managed = out!(out_managed);
        let tensor = defined(tensor, "tensor")?;
        // SAFETY: `consumer_stream` is a number of DLPack's protocol or a live stream of the tensor's device,
        // as the function's comment in the header demands.
        let consumer = unsafe { stream_of(consumer_stream, tensor.place(), "consumer_stream") }?;
        export_stream(&tensor, consumer)?;
        out_managed.write(DlpackExport::versioned(tensor, None, Some(delete_versioned))?);
        Ok(())
    })
}

/// Exports a tensor as a `DLManagedTensor`, for libraries that support only DLPack before 1.0.
/// Otherwise as `sconce_tensor_to_dlpack`.
///
/// - `consumer_stream`: as in `sconce_tensor_to_dlpack`.
/// - `out_managed`: receives the struct.
/// - Errors: INVALID_ARGUMENT: the tensor is read-only, which the struct cannot express. Otherwise
///   as `sconce_tensor_to_dlpack`.
/// - Ownership: as `sconce_tensor_to_dlpack`.
/// - Ordering: as `sconce_tensor_to_dlpack`.
/// - Safety: as `sconce_tensor_to_dlpack`.
/// - torch: `torch.utils.dlpack.to_dlpack`, `at::toDLPack`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_to_dlpack_unversioned(
    tensor: *mut sconce_tensor,
    consumer_stream: *mut c_void,
    out_managed: *mut *mut DlpackManaged,
) -> sconce_status {
    guard(|| {
        let out_managed = out!(out_managed);
        let tensor = defined(tensor, "tensor")?;
        // SAFETY: `consumer_stream` is a number of DLPack's protocol or a live stream of the tensor's device,
        // as the function's comment in the header demands.
        let consumer = unsafe { stream_of(consumer_stream, tensor.place(), "consumer_stream") }?;
        export_stream(&tensor, consumer)?;
        out_managed.write(DlpackExport::unversioned(tensor, Some(delete_unversioned))?);
        Ok(())
    })
}

/// Imports a tensor of another library: a tensor over the same memory.
///
/// - `managed`: a `DLManagedTensorVersioned` over host memory, GPU memory or managed memory.
/// - `producer_stream`: the stream on which the producer uses the memory, with the values of
///   `consumer_stream` of `sconce_tensor_to_dlpack`. NULL or -1 means that the producer uses the
///   current stream, or has made it wait.
/// - `out_tensor`: receives the tensor. If `managed` has the flag READ_ONLY, functions refuse to
///   write to it.
/// - Errors: INVALID_ARGUMENT: a field contradicts another one or the memory. NOT_SUPPORTED: the
///   major version is not 1, or this library does not support the kind of memory, the type, a flag
///   or a negative stride. INVALID_DEVICE: there is no such device.
/// - Ownership: the caller releases the tensor with `sconce_tensor_release`. The tensor owns
///   `managed`, and calls its deleter once no tensor uses the memory any more. If this call fails,
///   the caller still owns `managed`. The exception is a major version other than 1: then the
///   deleter has been called, as DLPack demands.
/// - Ordering: makes the current stream of the device wait for `producer_stream`. Before the
///   deleter is called, the producer's stream (without one, the stream that was current at the
///   import) waits for the other streams that used the memory: the stream that was current at the
///   import, and those of `sconce_tensor_record_stream`. If the producer's stream can no longer be
///   named, the last release waits for the device.
/// - Threads: the thread that releases the last tensor calls the deleter.
/// - Safety: `managed` and what it points to are as DLPack describes them, until the deleter is
///   called. `producer_stream` is a live stream, if it is a handle.
/// - torch: `torch.from_dlpack`, `at::fromDLPackVersioned`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_from_dlpack(
    managed: *mut DlpackManagedVersioned,
    producer_stream: *mut c_void,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let out_tensor = out!(out_tensor);
        check_pointer(managed, "managed")?;
        // SAFETY: neither NULL nor misaligned; every version begins so.
        let DlpackManagedHead { version, deleter, flags, .. } =
            unsafe { managed.cast::<DlpackManagedHead>().read() };
        if version.major != VERSION.major {
            if let Some(deleter) = deleter {
                refuse_held("the deleter of a managed tensor");
                // SAFETY: it is called once, with its struct, for which DLPack defines it.
                unsafe { deleter(managed.cast()) };
            }
            return Err(Error::not_supported(format!(
                "managed.version is {}.{}, but this library knows DLPack 1; managed was deleted, ask its producer \
                 for version 1 (max_version)",
                version.major, version.minor
            )));
        }
        // SAFETY: neither NULL nor misaligned, and of the version with this layout.
        let described = unsafe { managed.read() }.dl_tensor;
        let owner = deleter.map(|deleter| (deleter, managed.cast()));
        // SAFETY: the struct was read as the version that it is, and DLPack binds its producer: the tensor's
        // memory and lists stay until the deleter is called. `producer_stream` is a stream of the device or a
        // number for one.
        let tensor = unsafe { imported(&described, flags, owner, producer_stream) }?;
        out_tensor.write(tensor);
        Ok(())
    })
}

/// Imports a tensor of a library that supports only DLPack before 1.0. Otherwise as
/// `sconce_tensor_from_dlpack`.
///
/// - `managed`: a `DLManagedTensor`. It has no version and no flags.
/// - `producer_stream`, `out_tensor`: as in `sconce_tensor_from_dlpack`.
/// - Errors: as `sconce_tensor_from_dlpack`.
/// - Ownership: as `sconce_tensor_from_dlpack`.
/// - Ordering: as `sconce_tensor_from_dlpack`.
/// - Threads: as `sconce_tensor_from_dlpack`.
/// - Safety: as `sconce_tensor_from_dlpack`.
/// - torch: `torch.utils.dlpack.from_dlpack`, `at::fromDLPack`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_from_dlpack_unversioned(
    managed: *mut DlpackManaged,
    producer_stream: *mut c_void,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let out_tensor = out!(out_tensor);
        check_pointer(managed, "managed")?;
        // SAFETY: neither NULL nor misaligned, so a struct of this layout, as the header demands.
        let DlpackManaged { dl_tensor, deleter, .. } = unsafe { managed.read() };
        let owner = deleter.map(|deleter| (deleter, managed.cast()));
        // SAFETY: the struct was read as the version that it is, and DLPack binds its producer: the tensor's
        // memory and lists stay until the deleter is called. `producer_stream` is a stream of the device or a
        // number for one.
        let tensor = unsafe { imported(&dl_tensor, 0, owner, producer_stream) }?;
        out_tensor.write(tensor);
        Ok(())
    })
}

/// A deleter and its argument.
type Deleter = (unsafe extern "C" fn(*mut c_void), *mut c_void);

/// The handle of a tensor over a producer's memory. The owner is taken only if all goes well.
///
/// # Safety
/// `described` and the memory are as DLPack says until the deleter is called; as [`stream_of`].
unsafe fn imported(
    described: &DlpackTensor,
    flags: u64,
    owner: Option<Deleter>,
    producer_stream: *mut c_void,
) -> Result<*mut sconce_tensor> {
    let DlpackTensor { data, device, ndim, dtype, shape, strides, byte_offset } = *described;
    // SAFETY: DLPack gives it as many numbers as `ndim` says.
    let sizes = unsafe { array(shape, ndim, "dl_tensor.shape") }?;
    // SAFETY: DLPack gives it as many numbers as `ndim` says.
    let given = || unsafe { array(strides, ndim, "dl_tensor.strides") };
    let strides = if strides.is_null() { None } else { Some(given()?) };
    let data = data.expose_provenance();
    let offer = Offer { data, byte_offset, device, dtype, sizes, strides, flags };
    let mut import = check(&offer)?;
    // SAFETY: `producer_stream` is a number of DLPack's protocol or a stream of the device: this function demands it.
    let producer = unsafe { stream_of(producer_stream, import.place(), "producer_stream") }?;
    import.wait_for(producer)?;
    returned_by(|| {
        let owner = owner.map(|(deleter, context)| {
            // SAFETY: DLPack's consumer calls the deleter of what it was given once, on whichever thread it is done.
            unsafe { ForeignOwner::new(deleter, context) }
        });
        // SAFETY: DLPack keeps the memory until the deleter is called, which `owner` does when it is dropped.
        unsafe { import.accept(owner) }
    })
}

/// Returns whether functions refuse to write to a tensor, because it was imported as read-only.
///
/// - `out_read_only`: receives whether they do.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_is_read_only(
    tensor: *mut sconce_tensor,
    out_read_only: *mut bool,
) -> sconce_status {
    guard(|| {
        let out_read_only = out!(out_read_only);
        out_read_only.write(defined(tensor, "tensor")?.storage().is_read_only());
        Ok(())
    })
}
