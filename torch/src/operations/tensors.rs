//! New tensors, and facts about types.

use std::cmp::Ordering;

use crate::abi::constants::SCALAR_TYPES;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, is_contiguous, rank_of};
use crate::error::{Error, Result};
use crate::operations::layout::format_of_images;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::{integer, options, real, truth};
use crate::sconce::{Tensor, api, check, operations};

/// A tensor on a device, one element after another, whose values are not set.
pub fn empty(sizes: &[i64], dtype: i32, device: i32) -> Result<Tensor> {
    operations::empty(sizes, &options(dtype, device))
}

/// A tensor whose dimensions lie in the order of these strides, largest first, as results of PyTorch's element-wise
/// operations of a tensor with such strides. Dimensions whose stride is 0 keep their place.
pub fn empty_in_order(sizes: &[i64], like: &[i64], dtype: i32, device: i32) -> Result<Tensor> {
    // The innermost dimension first; a stride of 0 compares with none.
    let mut order: Vec<usize> = (0..sizes.len()).rev().collect();
    for begin in 1..order.len() {
        let mut moving = begin;
        for before in (0..begin).rev() {
            let (inner, outer) = (order[before], order[moving]);
            if like[inner] == 0 || like[outer] == 0 {
                continue;
            }
            let is_wrong = match like[inner].cmp(&like[outer]) {
                Ordering::Less => break,
                Ordering::Greater => true,
                Ordering::Equal => sizes[inner] > sizes[outer],
            };
            if is_wrong {
                order.swap(before, moving);
                moving = before;
            }
        }
    }
    let (mut strides, mut step) = (vec![0; sizes.len()], 1);
    for dim in order {
        strides[dim] = step;
        step *= sizes[dim].max(1);
    }
    let options = options(dtype, device);
    operations::empty_strided(sizes, &strides, &options)
}

/// A tensor of these sizes and one value, with the type and device of another.
pub fn filled_like(like: TensorHandle, sizes: &[i64], value: f64) -> Result<Tensor> {
    filled(sizes, dtype_of_tensor(like)?, device_of_tensor(like)?, value)
}

/// The memory format of a tensor whose elements lie one after another: that of images whose channels are innermost, or
/// contiguous. Any other tensor is said to be contiguous, too.
pub fn format_of(tensor: TensorHandle) -> Result<i32> {
    let (rank, contiguous) = (rank_of(tensor)?, api::SCONCE_MEMORY_FORMAT_CONTIGUOUS);
    let innermost = format_of_images(true, rank);
    let is_innermost = matches!(rank, 4 | 5)
        && !is_contiguous(tensor, contiguous)?
        && is_contiguous(tensor, innermost)?;
    Ok(if is_innermost { innermost } else { contiguous })
}

/// The tensor itself if its elements lie one after another in the order of dimensions that another tensor has, whose
/// channels may be innermost; else a copy.
pub fn contiguous_as(tensor: TensorHandle, other: TensorHandle) -> Result<Tensor> {
    in_format(tensor, format_of(other)?)
}

/// The tensor itself if its elements lie one after another in a memory format; else a copy.
pub fn in_format(tensor: TensorHandle, format: i32) -> Result<Tensor> {
    Tensor::made(|made| api::sconce_tensor_contiguous(tensor, format, made))
}

/// A copy whose elements lie one after another in a memory format.
pub fn copy_in_format(tensor: TensorHandle, format: i32) -> Result<Tensor> {
    Tensor::made(|made| api::sconce_tensor_clone(tensor, format, made))
}

/// The tensor itself, or a copy on a device.
pub fn on_device(tensor: TensorHandle, device: i32) -> Result<Tensor> {
    if device_of_tensor(tensor)? == device {
        return Tensor::retained(tensor);
    }
    let options = options(dtype_of_tensor(tensor)?, device);
    operations::to(tensor, &options)
}

/// As [`empty`], with one value everywhere. An infinity is the largest or smallest number of an integer type.
pub fn filled(sizes: &[i64], dtype: i32, device: i32, value: f64) -> Result<Tensor> {
    let tensor = empty(sizes, dtype, device)?;
    let value = match dtype {
        api::SCONCE_DTYPE_BOOL => truth(value > 0.0),
        api::SCONCE_DTYPE_I8 if value.is_infinite() => integer((value as i8).into()),
        api::SCONCE_DTYPE_I16 if value.is_infinite() => integer((value as i16).into()),
        api::SCONCE_DTYPE_I32 if value.is_infinite() => integer((value as i32).into()),
        api::SCONCE_DTYPE_U8 if value.is_infinite() => integer((value as u8).into()),
        api::SCONCE_DTYPE_I64 | api::SCONCE_DTYPE_I8 | api::SCONCE_DTYPE_I16 => {
            integer(value as i64)
        }
        api::SCONCE_DTYPE_I32 | api::SCONCE_DTYPE_U8 => integer(value as i64),
        _ => real(value),
    };
    operations::fill(tensor.handle(), &value)?;
    Ok(tensor)
}

/// Bytes of an element.
pub fn bytes_of(dtype: i32) -> Result<usize> {
    let mut bytes = 0;
    check(api::sconce_dtype_get_bytes(dtype, &mut bytes))?;
    Ok(bytes)
}

/// The name of a data type in messages, as PyTorch writes it.
pub fn name_of(dtype: i32) -> &'static str {
    let found = SCALAR_TYPES.iter().find(|known| known.dtype == dtype);
    found.map_or("an unknown type", |found| found.name)
}

/// The name of a type in the names of kernels.
pub fn kernel_name_of(dtype: i32) -> Result<&'static str> {
    Ok(match dtype {
        api::SCONCE_DTYPE_F32 => "f32",
        api::SCONCE_DTYPE_F64 => "f64",
        api::SCONCE_DTYPE_F16 => "f16",
        api::SCONCE_DTYPE_BF16 => "bf16",
        api::SCONCE_DTYPE_I8 => "i8",
        api::SCONCE_DTYPE_I16 => "i16",
        api::SCONCE_DTYPE_I32 => "i32",
        api::SCONCE_DTYPE_I64 => "i64",
        api::SCONCE_DTYPE_U8 => "u8",
        api::SCONCE_DTYPE_BOOL => "bool",
        other => return Err(refused_type(other)),
    })
}

/// Whether a type has floating-point numbers of 16 bits or more.
pub fn is_floating(dtype: i32) -> bool {
    matches!(
        dtype,
        api::SCONCE_DTYPE_F16
            | api::SCONCE_DTYPE_BF16
            | api::SCONCE_DTYPE_F32
            | api::SCONCE_DTYPE_F64
    )
}

/// Refuses types without such numbers.
pub fn check_floating(dtype: i32) -> Result<()> {
    if is_floating(dtype) { Ok(()) } else { Err(refused_type(dtype)) }
}

/// A type that an operation does not have.
pub fn refused_type(dtype: i32) -> Error {
    Error::not_supported(format!("not implemented for tensors of {}", name_of(dtype)))
}

/// Refuses tensors that are on several devices.
pub fn check_device(name: &str, device: i32, wanted: i32) -> Result<()> {
    if device == wanted {
        return Ok(());
    }
    let words = |device| match device {
        api::SCONCE_DEVICE_CPU => "the CPU".to_owned(),
        index => format!("device {index}"),
    };
    Err(Error::invalid_argument(format!(
        "expected all tensors to be on one device: {name} is on {}, and self on {}",
        words(device),
        words(wanted)
    )))
}

/// Sorted elements, and where along the dimension each was.
pub struct Sorted {
    /// The elements.
    pub values: Tensor,
    /// I64.
    pub indices: Tensor,
}

impl From<Sorted> for (Tensor, Tensor) {
    fn from(sorted: Sorted) -> (Tensor, Tensor) {
        (sorted.values, sorted.indices)
    }
}
