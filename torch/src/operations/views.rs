//! Views of other types, and tensors that are given other sizes in place.

#![allow(unsafe_code, reason = "makes views of memory")]

use crate::abi::pools::typed_part;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, offset_of, sizes_of, strides_of};
use crate::error::{Error, Result};
use crate::operations::layout::{contiguous_strides, count_of};
use crate::operations::tensors::{bytes_of, format_of, name_of};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, operations};

/// The memory of a tensor with another type: sizes and strides and the offset count elements of that.
fn retyped(
    tensor: TensorHandle,
    dtype: i32,
    sizes: &[i64],
    strides: &[i64],
    offset: i64,
) -> Result<Tensor> {
    // SAFETY: there is one size and one stride.
    let whole = unsafe { typed_part(tensor, 0, dtype, [&0, &1], 1) }?;
    operations::as_strided(whole.handle(), sizes, strides, Some(offset))
}

/// Refuses elements that do not begin where those of a type of `count` times their size do.
fn check_multiples(what: &str, all: &[i64], count: i64) -> Result<()> {
    match all.iter().find(|&&one| one % count != 0) {
        None => Ok(()),
        Some(odd) => Err(Error::invalid_argument(format!(
            "{what} is {odd}, but must be divisible by {count} to view elements of {count} times the size; copy the \
             tensor (contiguous) first"
        ))),
    }
}

/// `view(self, dtype)`: the same bytes as elements of another type. The last dimension has more or fewer elements then.
pub fn of_dtype(tensor: TensorHandle, dtype: i32) -> Result<Tensor> {
    let (from, to) = (bytes_of(dtype_of_tensor(tensor)?)? as i64, bytes_of(dtype)? as i64);
    let (mut sizes, mut strides) = (sizes_of(tensor)?, strides_of(tensor)?);
    let offset = offset_of(tensor)?;
    if from == to {
        return retyped(tensor, dtype, &sizes, &strides, offset);
    }
    let (Some((size, _)), Some((step, outer))) = (sizes.split_last_mut(), strides.split_last_mut())
    else {
        return Err(Error::invalid_argument(format!(
            "self has no dimensions, so it has no view of {}, whose elements have another size",
            name_of(dtype)
        )));
    };
    if *step != 1 {
        return Err(Error::invalid_argument(format!(
            "the last stride of self is {step}, but must be 1 to view elements of another size; copy the tensor \
             (contiguous) first"
        )));
    }
    let offset = if from < to {
        let count = to / from;
        check_multiples("the last size of self", &[*size], count)?;
        check_multiples("the storage offset of self", &[offset], count)?;
        check_multiples("a stride of self", outer, count)?;
        *size /= count;
        outer.iter_mut().for_each(|stride| *stride /= count);
        offset / count
    } else {
        let count = from / to;
        *size *= count;
        outer.iter_mut().for_each(|stride| *stride *= count);
        offset * count
    };
    retyped(tensor, dtype, &sizes, &strides, offset)
}

/// The type of the parts of a complex type.
pub fn real_of(dtype: i32) -> Option<i32> {
    match dtype {
        api::SCONCE_DTYPE_C32 => Some(api::SCONCE_DTYPE_F16),
        api::SCONCE_DTYPE_C64 => Some(api::SCONCE_DTYPE_F32),
        api::SCONCE_DTYPE_C128 => Some(api::SCONCE_DTYPE_F64),
        _ => None,
    }
}

/// The complex type whose parts have a type.
pub fn complex_of(dtype: i32) -> Option<i32> {
    match dtype {
        api::SCONCE_DTYPE_F16 => Some(api::SCONCE_DTYPE_C32),
        api::SCONCE_DTYPE_F32 => Some(api::SCONCE_DTYPE_C64),
        api::SCONCE_DTYPE_F64 => Some(api::SCONCE_DTYPE_C128),
        _ => None,
    }
}

/// `view_as_real(self)`: a last dimension with the real and the imaginary part.
pub fn as_real(tensor: TensorHandle) -> Result<Tensor> {
    let dtype = dtype_of_tensor(tensor)?;
    let real = real_of(dtype).ok_or_else(|| {
        Error::invalid_argument(format!("self must be complex, but is of {}", name_of(dtype)))
    })?;
    let (mut sizes, mut strides) = (sizes_of(tensor)?, strides_of(tensor)?);
    sizes.push(2);
    strides.iter_mut().for_each(|stride| *stride *= 2);
    strides.push(1);
    retyped(tensor, real, &sizes, &strides, 2 * offset_of(tensor)?)
}

/// `view_as_complex(self)`: the last dimension has the real and the imaginary part.
pub fn as_complex(tensor: TensorHandle) -> Result<Tensor> {
    let dtype = dtype_of_tensor(tensor)?;
    let complex = complex_of(dtype).ok_or_else(|| {
        Error::invalid_argument(format!(
            "self must be of float16, float32 or float64, but is of {}",
            name_of(dtype)
        ))
    })?;
    let (mut sizes, mut strides) = (sizes_of(tensor)?, strides_of(tensor)?);
    if sizes.pop() != Some(2) || strides.pop() != Some(1) {
        return Err(Error::invalid_argument(
            "the last dimension of self must have size 2 and stride 1: a real and an imaginary part",
        ));
    }
    let offset = offset_of(tensor)?;
    check_multiples("the storage offset of self", &[offset], 2)?;
    check_multiples("a stride of self", &strides, 2)?;
    strides.iter_mut().for_each(|stride| *stride /= 2);
    retyped(tensor, complex, &sizes, &strides, offset / 2)
}

/// `self.set_(source)`: the tensor is then another view of the memory of `source`.
pub fn set_source(tensor: TensorHandle, source: TensorHandle) -> Result<()> {
    let [own, other] = [dtype_of_tensor(tensor)?, dtype_of_tensor(source)?];
    if own != other {
        return Err(Error::invalid_argument(format!(
            "source is of {}, but self of {}; both must have one type",
            name_of(other),
            name_of(own)
        )));
    }
    super::tensors::check_device("source", device_of_tensor(source)?, device_of_tensor(tensor)?)?;
    operations::assign(tensor, &crate::abi::handles::another_handle(source)?)
}

/// Strides of a tensor in a memory format; `None` if it has no such number of dimensions.
fn strides_in(sizes: &[i64], format: i32) -> Option<Vec<i64>> {
    let rank = match format {
        api::SCONCE_MEMORY_FORMAT_CONTIGUOUS => return Some(contiguous_strides(sizes)),
        api::SCONCE_MEMORY_FORMAT_CHANNELS_LAST => 4,
        _ => 5,
    };
    if sizes.len() != rank {
        return None;
    }
    // The channels, dimension 1, lie innermost.
    let mut moved = sizes.to_vec();
    let channels = moved.remove(1);
    moved.push(channels);
    let mut strides = contiguous_strides(&moved);
    let innermost = strides.pop()?;
    strides.insert(1, innermost);
    Some(strides)
}

/// `self.resize_(sizes, memory_format)`: the memory grows where it has to. `None` keeps the strides of a tensor that has
/// the sizes.
pub fn resize(tensor: TensorHandle, sizes: &[i64], format: Option<i32>) -> Result<()> {
    if format == Some(api::SCONCE_MEMORY_FORMAT_PRESERVE) {
        return Err(Error::not_supported(
            "resize_ has no memory format preserve; name one, or none",
        ));
    }
    count_of(sizes, "size")?;
    let strides = match format {
        None => None,
        Some(format) => Some(strides_in(sizes, format).ok_or_else(|| {
            Error::invalid_argument(format!(
                "memory_format needs 4 dimensions (channels_last) or 5 (channels_last_3d), but size has {}",
                sizes.len()
            ))
        })?),
    };
    operations::resize(tensor, sizes)?;
    match strides {
        None => Ok(()),
        Some(strides) => {
            operations::assign(tensor, &operations::as_strided(tensor, sizes, &strides, None)?)
        }
    }
}

/// `self.resize_as_(template, memory_format)`: the format preserve is that of the template.
pub fn resize_as(tensor: TensorHandle, template: TensorHandle, format: Option<i32>) -> Result<()> {
    let sizes = sizes_of(template)?;
    let format = match format {
        Some(api::SCONCE_MEMORY_FORMAT_PRESERVE) => Some(format_of(template)?),
        other => other,
    };
    resize(tensor, &sizes, format)
}
