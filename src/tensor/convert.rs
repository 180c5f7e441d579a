//! Other types, places and orders in memory; values that the host passes or asks for.

use std::ffi::{c_char, c_void};

use sconce_driver::HostRange;
use sconce_runtime::operand::address_range::refuse_device_memory;
use sconce_tensors::tensor::transfer::{self, Conversion};
use sconce_tensors::tensor::{MemoryFormat, Place, Tensor, print};

use super::handle::{again, defined, defined_in, returned, sconce_tensor, tensor_of};
use super::options::{format_of, sconce_tensor_options};
use super::scalar::sconce_scalar;
use crate::{CBool, guard, sconce_status, string};

/// Copies the elements of `source` to `tensor`, between any devices. The elements are converted to
/// the type of `tensor` and broadcast to its shape.
///
/// - `source`: the tensor to copy.
/// - `non_blocking`: as in `sconce_copy`.
/// - Errors: INVALID_ARGUMENT: the shape of `source` cannot be broadcast to that of `tensor`, or
///   the two partly overlap in memory. Otherwise as `sconce_copy_strided`.
/// - Ordering: as `sconce_copy_strided`. Elements are converted on the device of `source`; from the CPU to a device
///   they are converted on the device if `non_blocking` is true. A blocking copy that converts elements of page-locked
///   memory waits for the current stream first, because earlier work may still write to them.
/// - torch: `torch.Tensor.copy_(source, non_blocking)`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_copy(
    tensor: *mut sconce_tensor,
    source: *mut sconce_tensor,
    non_blocking: CBool,
) -> sconce_status {
    guard(|| {
        let (mut to, mut from) = (Tensor::default(), Tensor::default());
        let to = defined_in(&mut to, tensor, "tensor")?;
        let from = defined_in(&mut from, source, "source")?;
        transfer::copy_into(to, from, non_blocking.is_true())
    })
}

/// Returns a tensor with another type, device or memory format. If nothing changes, returns the
/// tensor itself, with one more owner.
///
/// - `options`: fields at their defaults change nothing. `pinned` is not used.
/// - `non_blocking`: as in `sconce_copy`; a result on the CPU is then page-locked.
/// - `copy`: copies even if nothing changes.
/// - `out_tensor`: receives the tensor.
/// - Errors: as `sconce_tensor_empty` and `sconce_tensor_copy`.
/// - Ownership: the caller releases the result with `sconce_tensor_release`, even if it is the same
///   handle.
/// - Ordering: as `sconce_tensor_copy`.
/// - torch: `torch.Tensor.to`, `.cuda()`, `.cpu()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_to(
    tensor: *mut sconce_tensor,
    options: *const sconce_tensor_options,
    non_blocking: CBool,
    copy: CBool,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let out_tensor = out!(out_tensor);
        let asked = asked!(options);
        let conversion = Conversion {
            dtype: asked.dtype,
            place: asked.place,
            non_blocking: non_blocking.is_true(),
            copy: copy.is_true(),
            format: asked.format,
        };
        let (mut place, mut converted) = (Tensor::default(), Tensor::default());
        let source = defined_in(&mut place, tensor, "tensor")?;
        out_tensor.write(if transfer::to_in_place(source, conversion, &mut converted)? {
            returned(converted)?
        } else {
            again(tensor, "tensor")?
        });
        Ok(())
    })
}

/// Returns a copy of a tensor in new memory.
///
/// - `memory_format`: `SCONCE_MEMORY_FORMAT_…`.
/// - `out_tensor`: receives the copy.
/// - Ownership: the caller releases the copy with `sconce_tensor_release`.
/// - Ordering: queued on the current stream of the tensor's device; done at once on the CPU.
/// - torch: `torch.Tensor.clone`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_clone(
    tensor: *mut sconce_tensor,
    memory_format: i32,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let format = format_of(memory_format, "memory_format")?;
        transfer::clone(&defined(tensor, "tensor")?, format)?
    })
}

/// Returns a tensor whose elements are contiguous in memory: the tensor itself, with one more
/// owner, or a copy.
///
/// - `memory_format`: `SCONCE_MEMORY_FORMAT_…` other than PRESERVE.
/// - `out_tensor`: receives the tensor.
/// - Ownership: as `sconce_tensor_to`.
/// - Ordering: as `sconce_tensor_clone`.
/// - torch: `torch.Tensor.contiguous`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_contiguous(
    tensor: *mut sconce_tensor,
    memory_format: i32,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let out_tensor = out!(out_tensor);
        let format = format_of(memory_format, "memory_format")?;
        let found = defined(tensor, "tensor")?;
        // PRESERVE names no order; it is refused below.
        let named = format != MemoryFormat::Preserve;
        out_tensor.write(if named && transfer::is_in_format(&found, format)? {
            again(tensor, "tensor")?
        } else {
            returned(transfer::contiguous(&found, format)?)?
        });
        Ok(())
    })
}

/// Returns a tensor in page-locked host memory: the tensor itself, with one more owner, or a copy.
///
/// - `out_tensor`: receives the tensor.
/// - Errors: INVALID_ARGUMENT: the tensor is on a device.
/// - Ownership: as `sconce_tensor_to`.
/// - Ordering: done when the call returns.
/// - torch: `torch.Tensor.pin_memory`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_pin_memory(
    tensor: *mut sconce_tensor,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let out_tensor = out!(out_tensor);
        out_tensor.write(match transfer::pin_memory(&defined(tensor, "tensor")?)? {
            Some(pinned) => returned(pinned)?,
            None => again(tensor, "tensor")?,
        });
        Ok(())
    })
}

/// Writes all elements to the caller's memory, in row-major order.
///
/// - `out_values`: receives the elements; may be NULL if there are none.
/// - `bytes`: the size of all elements.
/// - Errors: INVALID_ARGUMENT: `bytes` is not the size of the elements.
/// - Ordering: after earlier work of the current stream of the tensor's device; done when the call returns.
/// - torch: `torch.Tensor.tolist()`, `.cpu().numpy()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_to_values(
    tensor: *mut sconce_tensor,
    out_values: *mut c_void,
    bytes: usize,
) -> sconce_status {
    guard(|| {
        if out_values.is_null() && bytes != 0 {
            return Err(crate::null("out_values"));
        }
        // SAFETY: `out_values` receives `bytes` bytes during the call, which ends after the copy.
        let values = unsafe { HostRange::new(out_values.expose_provenance(), bytes) };
        let tensor = defined(tensor, "tensor")?;
        if tensor.place() == Place::Cpu {
            refuse_device_memory(values.get(), "out_values")?;
        }
        transfer::to_values(&tensor, values)
    })
}

/// Returns the value of a tensor of one element.
///
/// - `out_value`: receives the value: an integer, a real number, a truth value or a complex number.
/// - Errors: INVALID_ARGUMENT: the tensor has another number of elements.
/// - Ordering: as `sconce_tensor_to_values`.
/// - torch: `torch.Tensor.item`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_item(
    tensor: *mut sconce_tensor,
    out_value: *mut sconce_scalar,
) -> sconce_status {
    guard(|| {
        let out_value = out!(out_value);
        let mut place = Tensor::default();
        out_value.write(transfer::item(defined_in(&mut place, tensor, "tensor")?)?.into());
        Ok(())
    })
}

/// Returns a tensor as text, as torch prints it in Python, such as
/// `tensor([1., 2.], device='cuda:0')`. If there are more than 1000 elements, only the first and
/// last three of each dimension are printed.
///
/// - `tensor`: may be undefined.
/// - `out_text`: receives the text.
/// - Ordering: as `sconce_tensor_to_values`.
/// - torch: `str(tensor)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_to_string(
    tensor: *mut sconce_tensor,
    out_text: *mut *mut c_char,
) -> sconce_status {
    guard(|| {
        let out_text = out!(out_text);
        out_text.write(string::into_raw(print::to_text(&tensor_of(tensor, "tensor")?)?));
        Ok(())
    })
}
