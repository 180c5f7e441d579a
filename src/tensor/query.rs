//! What a tensor is.

use std::ffi::c_void;

use sconce_tensors::tensor::{Dims, handle, transfer};

use super::handle::{look, look_at_words, sconce_tensor};
use crate::handle::OpaqueHandle;
use crate::{guard, sconce_status};

/// Returns whether a tensor has memory, type and shape.
///
/// - `out_defined`: receives whether it does.
/// - torch: `at::Tensor::defined`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_is_defined(
    tensor: *mut sconce_tensor,
    out_defined: *mut bool,
) -> sconce_status {
    guard(|| {
        let out_defined = out!(out_defined);
        let key = sconce_tensor::key(tensor, "tensor")?;
        out_defined.write(handle::look(key, "tensor", |words| Some(words.storage().is_some()))?);
        Ok(())
    })
}

/// Returns the data type.
///
/// - `out_dtype`: receives `SCONCE_DTYPE_…`.
/// - torch: `torch.Tensor.dtype`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_get_dtype(
    tensor: *mut sconce_tensor,
    out_dtype: *mut i32,
) -> sconce_status {
    guard(|| {
        let out_dtype = out!(out_dtype);
        out_dtype.write(look_at_words(tensor, "tensor", |words| Some(i32::from(words.dtype())))?);
        Ok(())
    })
}

/// Returns where the memory is.
///
/// - `out_device`: receives the device's index, or `SCONCE_DEVICE_CPU`.
/// - torch: `torch.Tensor.device`, `torch.Tensor.get_device`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_get_device(
    tensor: *mut sconce_tensor,
    out_device: *mut i32,
) -> sconce_status {
    guard(|| {
        let out_device = out!(out_device);
        out_device.write(look_at_words(tensor, "tensor", |words| Some(words.device()))?);
        Ok(())
    })
}

/// Returns the number of dimensions.
///
/// - `out_rank`: receives the number.
/// - torch: `torch.Tensor.dim()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_get_rank(
    tensor: *mut sconce_tensor,
    out_rank: *mut usize,
) -> sconce_status {
    guard(|| {
        let out_rank = out!(out_rank);
        out_rank.write(look_at_words(tensor, "tensor", |words| Some(words.rank()))?);
        Ok(())
    })
}

/// Returns the sizes.
///
/// - `out_sizes`: receives an entry for each dimension; may be NULL without dimensions.
/// - `capacity`: entries that `out_sizes` can hold.
/// - Errors: INVALID_ARGUMENT: `capacity` is less than the number of dimensions.
/// - torch: `torch.Tensor.size()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_get_sizes(
    tensor: *mut sconce_tensor,
    out_sizes: *mut i64,
    capacity: usize,
) -> sconce_status {
    guard(|| {
        let mut sizes = Dims::new();
        look_at_words(tensor, "tensor", |words| words.sizes(&mut sizes))?;
        out_entries_up_to!(out_sizes, capacity).write(&sizes)
    })
}

/// Returns the strides, in elements.
///
/// - `out_strides`: receives an entry for each dimension; may be NULL without dimensions.
/// - `capacity`: entries that `out_strides` can hold.
/// - Errors: INVALID_ARGUMENT: `capacity` is less than the number of dimensions.
/// - torch: `torch.Tensor.stride()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_get_strides(
    tensor: *mut sconce_tensor,
    out_strides: *mut i64,
    capacity: usize,
) -> sconce_status {
    guard(|| {
        let mut strides = Dims::new();
        look_at_words(tensor, "tensor", |words| words.strides(&mut strides))?;
        out_entries_up_to!(out_strides, capacity).write(&strides)
    })
}

/// Returns the address of the sizes: `sconce_tensor_get_rank` numbers.
///
/// - `out_sizes`: receives their address.
/// - Ownership: borrowed; valid until the handle's last owner has released it, or another tensor is assigned to it.
/// - torch: `at::Tensor::sizes().data()`.
#[cfg(not(loom))]
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_borrow_sizes(
    tensor: *mut sconce_tensor,
    out_sizes: *mut *const i64,
) -> sconce_status {
    guard(|| {
        let out_sizes = out!(out_sizes);
        let sizes = look_at_words(tensor, "tensor", |words| words.extents_address(0))?;
        out_sizes.write(sizes);
        Ok(())
    })
}

/// Returns the address of the strides: `sconce_tensor_get_rank` numbers, in elements.
///
/// - `out_strides`: receives their address.
/// - Ownership: as `sconce_tensor_borrow_sizes`.
/// - torch: `at::Tensor::strides().data()`.
#[cfg(not(loom))]
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_borrow_strides(
    tensor: *mut sconce_tensor,
    out_strides: *mut *const i64,
) -> sconce_status {
    guard(|| {
        let out_strides = out!(out_strides);
        let strides = look_at_words(tensor, "tensor", |words| words.extents_address(1))?;
        out_strides.write(strides);
        Ok(())
    })
}

/// Returns the number of elements between the beginning of the memory and the first element of the
/// tensor.
///
/// - `out_offset`: receives the number.
/// - torch: `torch.Tensor.storage_offset()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_get_storage_offset(
    tensor: *mut sconce_tensor,
    out_offset: *mut i64,
) -> sconce_status {
    guard(|| {
        let out_offset = out!(out_offset);
        out_offset.write(look_at_words(tensor, "tensor", |words| Some(words.offset()))?);
        Ok(())
    })
}

/// Returns the number of elements.
///
/// - `out_numel`: receives the number.
/// - torch: `torch.Tensor.numel()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_get_numel(
    tensor: *mut sconce_tensor,
    out_numel: *mut i64,
) -> sconce_status {
    guard(|| {
        let out_numel = out!(out_numel);
        out_numel.write(look_at_words(tensor, "tensor", |words| Some(words.numel()))?);
        Ok(())
    })
}

/// Returns the bytes of an element of a data type.
///
/// - `dtype`: `SCONCE_DTYPE_…`.
/// - `out_bytes`: receives the number.
/// - torch: `torch.dtype.itemsize`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_dtype_get_bytes(
    dtype: i32,
    out_bytes: *mut usize,
) -> sconce_status {
    guard(|| {
        let out_bytes = out!(out_bytes);
        out_bytes.write(sconce_base::element::Dtype::try_from(dtype)?.bytes());
        Ok(())
    })
}

/// Returns the address of the first element.
///
/// - `out_address`: receives the address, of a device or of the host; NULL if the memory has no bytes.
/// - Ownership: borrowed; valid while a tensor uses the memory.
/// - torch: `torch.Tensor.data_ptr()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_get_data(
    tensor: *mut sconce_tensor,
    out_address: *mut *mut c_void,
) -> sconce_status {
    guard(|| {
        let out_address = out!(out_address);
        let address = look_at_words(tensor, "tensor", |words| Some(words.address()))?;
        out_address.write(std::ptr::with_exposed_provenance_mut(address));
        Ok(())
    })
}

/// Returns the memory of a tensor: its address and its size.
///
/// - `out_address`: receives the address at which the memory begins; NULL if it has no bytes.
/// - `out_bytes`: receives the size.
/// - Ownership: as `sconce_tensor_get_data`.
/// - torch: `torch.Tensor.untyped_storage()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_get_storage(
    tensor: *mut sconce_tensor,
    out_address: *mut *mut c_void,
    out_bytes: *mut usize,
) -> sconce_status {
    guard(|| {
        let (out_address, out_bytes) = (out!(out_address), out!(out_bytes));
        let (address, bytes) = look(tensor, "tensor", |tensor| {
            Ok((tensor.storage().address(), tensor.storage().bytes()))
        })?;
        out_address.write(std::ptr::with_exposed_provenance_mut(address));
        out_bytes.write(bytes);
        Ok(())
    })
}

/// Returns whether the elements are contiguous in memory, in a given order of the dimensions.
///
/// - `memory_format`: `SCONCE_MEMORY_FORMAT_…`; with PRESERVE, whether the elements are dense in
///   any order.
/// - `out_contiguous`: receives whether they are.
/// - torch: `torch.Tensor.is_contiguous(memory_format)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_is_contiguous(
    tensor: *mut sconce_tensor,
    memory_format: i32,
    out_contiguous: *mut bool,
) -> sconce_status {
    guard(|| {
        let out_contiguous = out!(out_contiguous);
        let format = super::options::format_of(memory_format, "memory_format")?;
        let contiguous = look(tensor, "tensor", |tensor| transfer::is_in_format(tensor, format))?;
        out_contiguous.write(contiguous);
        Ok(())
    })
}

/// Returns whether the memory is page-locked memory of the host.
///
/// - `out_pinned`: receives whether it is.
/// - torch: `torch.Tensor.is_pinned()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_is_pinned(
    tensor: *mut sconce_tensor,
    out_pinned: *mut bool,
) -> sconce_status {
    guard(|| {
        let out_pinned = out!(out_pinned);
        out_pinned.write(transfer::is_pinned(&super::handle::defined(tensor, "tensor")?)?);
        Ok(())
    })
}

/// Returns whether two tensors are parts of the same memory, even if the parts do not overlap.
///
/// - `other`: the other tensor.
/// - `out_shares`: receives whether they do.
/// - torch: `a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_shares_storage(
    tensor: *mut sconce_tensor,
    other: *mut sconce_tensor,
    out_shares: *mut bool,
) -> sconce_status {
    guard(|| {
        let out_shares = out!(out_shares);
        let first = super::handle::defined(tensor, "tensor")?;
        let second = super::handle::defined(other, "other")?;
        out_shares.write(first.storage().is(second.storage()));
        Ok(())
    })
}

/// Notes that a stream uses the memory of a tensor. After its release, the memory is not reused
/// before the work that is queued on that stream at that time has finished.
///
/// - `stream`: ignored if the memory was allocated for this stream, and for ordinary host memory
///   and memory of other owners.
/// - torch: `torch.Tensor.record_stream(stream)`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_record_stream(
    tensor: *mut sconce_tensor,
    stream: crate::sconce_stream,
) -> sconce_status {
    guard(|| {
        let found = super::handle::defined(tensor, "tensor")?;
        let stream = stream.resolve(sconce_runtime::context::runtime()?)?;
        found.storage().record_stream(stream)
    })
}
