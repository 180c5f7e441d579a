//! New tensors. Without a device they are made on the current device, for its current stream.

use std::ffi::c_void;

use sconce_base::element::Dtype;
use sconce_base::error::Result;
use sconce_compute::pointwise::Scalar;
use sconce_driver::HostRange;
use sconce_runtime::operand::address_range::refuse_device_memory;
use sconce_tensors::tensor::promotion::{DEFAULT_FLOAT, type_of};
use sconce_tensors::tensor::{MemoryFormat, Place, Tensor, TensorOptions, create, transfer};

use super::handle::{defined, made_in_place, returned, sconce_tensor};
use super::options::{Asked, sconce_tensor_options};
use super::scalar::sconce_scalar;
use crate::{guard, sconce_status};

/// A new tensor of the sizes, in the order in memory that was asked for.
fn empty(sizes: &[i64], options: TensorOptions, format: MemoryFormat) -> Result<Tensor> {
    match format {
        MemoryFormat::Contiguous | MemoryFormat::Preserve => options.empty(sizes),
        format => options.empty_strided(sizes, &transfer::strides_of_format(sizes, format)?),
    }
}

/// A new tensor of one value, of type `dtype` unless another was asked for.
fn filled(sizes: &[i64], value: Scalar, asked: &Asked, dtype: Dtype) -> Result<Tensor> {
    let tensor = empty(sizes, asked.or(dtype)?, asked.format)?;
    create::fill(&tensor, value)?;
    Ok(tensor)
}

/// Creates a tensor whose values are not set.
///
/// - `sizes`: elements along each dimension, at least 0.
/// - `rank`: number of dimensions; 0 makes a tensor of one element.
/// - `options`: NULL or fields left at their defaults: F32, on the current device, for its current stream.
/// - `out_tensor`: receives the tensor.
/// - Errors: INVALID_ARGUMENT: a size is negative, the sizes are too large to be counted, or a tensor of a
///   device is to be pinned. OUT_OF_MEMORY: as `sconce_memory_alloc`.
/// - Ownership: the caller releases the tensor with `sconce_tensor_release`.
/// - torch: `torch.empty`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_empty(
    sizes: *const i64,
    rank: usize,
    options: *const sconce_tensor_options,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_handle!(out_tensor, {
        let (sizes, asked) = (entries!(sizes, rank), asked!(options));
        let options = asked.or(DEFAULT_FLOAT)?;
        match asked.format {
            MemoryFormat::Contiguous | MemoryFormat::Preserve => {
                made_in_place(|tensor| options.empty_in_place(sizes, tensor))
            }
            format => returned(empty(sizes, options, format)?),
        }
    })
}

/// Creates a tensor with the given strides, whose values are not set. Otherwise as
/// `sconce_tensor_empty`.
///
/// - `strides`: elements from one index to the next, at least 0; 0 repeats elements.
/// - `options`: the memory format is not used.
/// - `out_tensor`: receives the tensor.
/// - torch: `torch.empty_strided`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_empty_strided(
    sizes: *const i64,
    strides: *const i64,
    rank: usize,
    options: *const sconce_tensor_options,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let (sizes, strides) = (entries!(sizes, rank), entries!(strides, rank));
        let asked = asked!(options);
        asked.or(DEFAULT_FLOAT)?.empty_strided(sizes, strides)?
    })
}

/// Creates a tensor with the sizes of another, whose values are not set.
///
/// - `options`: fields at their defaults are taken from `tensor`: type, device and memory format.
/// - `out_tensor`: receives the tensor.
/// - Errors: as `sconce_tensor_empty`.
/// - Ownership: as `sconce_tensor_empty`.
/// - torch: `torch.empty_like`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_empty_like(
    tensor: *mut sconce_tensor,
    options: *const sconce_tensor_options,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let asked = asked!(options);
        let like = defined(tensor, "tensor")?;
        let options = asked.or_like(TensorOptions::of(&like));
        transfer::empty_like(&like, options, asked.format)?
    })
}

/// Creates a tensor whose elements all have one value.
///
/// - `sizes`, `rank`, `options`: as in `sconce_tensor_empty`; the default type is that of the value: I64, F32,
///   BOOL or C64.
/// - `value`: the value of every element.
/// - `out_tensor`: receives the tensor.
/// - Errors: as `sconce_tensor_empty`.
/// - Ownership: as `sconce_tensor_empty`.
/// - Ordering: queued on the current stream of the tensor's device; done at once on the CPU.
/// - torch: `torch.full`, `torch.zeros`, `torch.ones`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_full(
    sizes: *const i64,
    rank: usize,
    value: *const sconce_scalar,
    options: *const sconce_tensor_options,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let (sizes, value, asked) = (entries!(sizes, rank), scalar!(value), asked!(options));
        filled(sizes, value, &asked, type_of(value))?
    })
}

/// Creates a tensor of zeros.
///
/// - `sizes`, `rank`, `options`: as in `sconce_tensor_empty`.
/// - `out_tensor`: receives the tensor.
/// - Errors: as `sconce_tensor_empty`.
/// - Ownership: as `sconce_tensor_empty`.
/// - Ordering: as `sconce_tensor_full`.
/// - torch: `torch.zeros`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_zeros(
    sizes: *const i64,
    rank: usize,
    options: *const sconce_tensor_options,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let (sizes, asked) = (entries!(sizes, rank), asked!(options));
        filled(sizes, Scalar::Float(0.0), &asked, DEFAULT_FLOAT)?
    })
}

/// Creates a tensor of ones.
///
/// - `sizes`, `rank`, `options`: as in `sconce_tensor_empty`.
/// - `out_tensor`: receives the tensor.
/// - Errors: as `sconce_tensor_empty`.
/// - Ownership: as `sconce_tensor_empty`.
/// - Ordering: as `sconce_tensor_full`.
/// - torch: `torch.ones`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_ones(
    sizes: *const i64,
    rank: usize,
    options: *const sconce_tensor_options,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let (sizes, asked) = (entries!(sizes, rank), asked!(options));
        filled(sizes, Scalar::Float(1.0), &asked, DEFAULT_FLOAT)?
    })
}

/// Creates a tensor with the sizes of another, whose elements all have one value. Otherwise as
/// `sconce_tensor_empty_like`.
///
/// - `value`: the value of every element.
/// - `out_tensor`: receives the tensor.
/// - Ordering: as `sconce_tensor_full`.
/// - torch: `torch.full_like`, `torch.zeros_like`, `torch.ones_like`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_full_like(
    tensor: *mut sconce_tensor,
    value: *const sconce_scalar,
    options: *const sconce_tensor_options,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let (value, asked) = (scalar!(value), asked!(options));
        let like = defined(tensor, "tensor")?;
        let options = asked.or_like(TensorOptions::of(&like));
        create::full_like(&like, value, options, asked.format)?
    })
}

/// Creates a tensor with values from the caller's memory.
///
/// - `values`: the elements in row-major order, of the type that `options` names.
/// - `bytes`: the size of all elements.
/// - `sizes`, `rank`, `options`: as in `sconce_tensor_empty`.
/// - `out_tensor`: receives the tensor.
/// - Errors: INVALID_ARGUMENT: `bytes` is not the size of the elements. Otherwise as
///   `sconce_tensor_empty`.
/// - Ownership: as `sconce_tensor_empty`.
/// - Ordering: as `sconce_copy` from ordinary memory: `values` may be changed once the call returns.
/// - torch: `torch.tensor`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_from_values(
    values: *const c_void,
    bytes: usize,
    sizes: *const i64,
    rank: usize,
    options: *const sconce_tensor_options,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let (sizes, asked) = (entries!(sizes, rank), asked!(options));
        if values.is_null() && bytes != 0 {
            return Err(crate::null("values"));
        }
        // SAFETY: `values` has `bytes` bytes during the call, which ends after the copy.
        let values = unsafe { HostRange::new(values.expose_provenance(), bytes) };
        let options = asked.or(DEFAULT_FLOAT)?;
        if options.place == Place::Cpu {
            refuse_device_memory(values.get(), "values")?;
        }
        transfer::from_values(values, sizes, options)?
    })
}

/// Creates a vector of evenly spaced numbers: `start`, `start + step`, and so on, up to but
/// excluding `end`.
///
/// - `start`, `end`, `step`: the first number, the bound and the distance.
/// - `options`: the default type is I64 if all three are integers, else F32.
/// - `out_tensor`: receives the tensor.
/// - Errors: INVALID_ARGUMENT: `step` is 0 or leads away from `end`, or a bound is not finite. Otherwise as
///   `sconce_tensor_empty`.
/// - Ownership: as `sconce_tensor_empty`.
/// - Ordering: as `sconce_tensor_full`.
/// - torch: `torch.arange`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_arange(
    start: *const sconce_scalar,
    end: *const sconce_scalar,
    step: *const sconce_scalar,
    options: *const sconce_tensor_options,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let numbers = [scalar!(start), scalar!(end), scalar!(step)];
        let asked = asked!(options);
        let options = asked.or(create::arange_dtype(numbers))?;
        let [start, end, step] = numbers;
        create::arange(start, end, step, options, None)?
    })
}

/// Creates a vector of numbers at equal distances from `start` to `end`, both included.
///
/// - `steps`: how many numbers, at least 0.
/// - `start`, `end`: the first and the last number.
/// - `options`: as in `sconce_tensor_empty`.
/// - `out_tensor`: receives the tensor.
/// - Errors: INVALID_ARGUMENT: `steps` is negative. Otherwise as `sconce_tensor_empty`.
/// - Ownership: as `sconce_tensor_empty`.
/// - Ordering: as `sconce_tensor_full`.
/// - torch: `torch.linspace`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_linspace(
    start: *const sconce_scalar,
    end: *const sconce_scalar,
    steps: i64,
    options: *const sconce_tensor_options,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let (start, end, asked) = (scalar!(start), scalar!(end), asked!(options));
        create::linspace(start, end, steps, asked.or(DEFAULT_FLOAT)?, None)?
    })
}

/// Creates a matrix with ones on its main diagonal, and zeros elsewhere.
///
/// - `rows`, `columns`: at least 0.
/// - `options`: as in `sconce_tensor_empty`.
/// - `out_tensor`: receives the tensor.
/// - Errors: as `sconce_tensor_empty`.
/// - Ownership: as `sconce_tensor_empty`.
/// - Ordering: as `sconce_tensor_full`.
/// - torch: `torch.eye`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_eye(
    rows: i64,
    columns: i64,
    options: *const sconce_tensor_options,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let asked = asked!(options);
        create::eye(rows, columns, asked.or(DEFAULT_FLOAT)?, None)?
    })
}

/// Sets every element of a tensor to a value, converted to the tensor's type.
///
/// - `value`: the value of every element.
/// - Errors: INVALID_ARGUMENT: several elements of the tensor share a place in memory.
/// - Ordering: as `sconce_tensor_full`.
/// - torch: `torch.Tensor.fill_`, `torch.Tensor.zero_`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_fill(
    tensor: *mut sconce_tensor,
    value: *const sconce_scalar,
) -> sconce_status {
    guard(|| {
        let value = scalar!(value);
        create::fill(&defined(tensor, "tensor")?, value)
    })
}
