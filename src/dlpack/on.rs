//! Tensors exchanged with other libraries, ordered with a stream that the call names.

use std::ffi::c_void;

use sconce_tensors::dlpack::{DlpackManaged, DlpackManagedVersioned};

use super::tensors::{
    sconce_tensor_from_dlpack, sconce_tensor_from_dlpack_unversioned, sconce_tensor_to_dlpack,
    sconce_tensor_to_dlpack_unversioned,
};
use crate::stream::on;
use crate::{sconce_status, sconce_stream, sconce_tensor};

/// Exports a tensor to another library, ordered with a stream. Otherwise as
/// `sconce_tensor_to_dlpack`.
///
/// - Safety: as `sconce_tensor_to_dlpack`.
/// - torch: `torch.Tensor.__dlpack__(stream=...)`, `at::toDLPackVersioned` inside
///   `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_to_dlpack_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    consumer_stream: *mut c_void,
    out_managed: *mut *mut DlpackManagedVersioned,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_to_dlpack(tensor, consumer_stream, out_managed) }
    })
}

/// Exports a tensor as a `DLManagedTensor`, ordered with a stream. Otherwise as
/// `sconce_tensor_to_dlpack_unversioned`.
///
/// - Safety: as `sconce_tensor_to_dlpack_unversioned`.
/// - torch: `torch.utils.dlpack.to_dlpack`, `at::toDLPack` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_to_dlpack_unversioned_on(
    stream: sconce_stream,
    tensor: *mut sconce_tensor,
    consumer_stream: *mut c_void,
    out_managed: *mut *mut DlpackManaged,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_to_dlpack_unversioned(tensor, consumer_stream, out_managed) }
    })
}

/// Imports a tensor of another library, for use on a stream. Otherwise as
/// `sconce_tensor_from_dlpack`.
///
/// - Safety: as `sconce_tensor_from_dlpack`.
/// - torch: `torch.from_dlpack`, `at::fromDLPackVersioned` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_from_dlpack_on(
    stream: sconce_stream,
    managed: *mut DlpackManagedVersioned,
    producer_stream: *mut c_void,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_from_dlpack(managed, producer_stream, out_tensor) }
    })
}

/// Imports a tensor of a library that supports only DLPack before 1.0, for use on a stream.
/// Otherwise as `sconce_tensor_from_dlpack_unversioned`.
///
/// - Safety: as `sconce_tensor_from_dlpack_unversioned`.
/// - torch: `torch.utils.dlpack.from_dlpack`, `at::fromDLPack` inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_from_dlpack_unversioned_on(
    stream: sconce_stream,
    managed: *mut DlpackManaged,
    producer_stream: *mut c_void,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    on(stream, &mut || {
        // SAFETY: the caller promises what this function requires.
        unsafe { sconce_tensor_from_dlpack_unversioned(managed, producer_stream, out_tensor) }
    })
}
