//! Tensors of another type, place or order in memory.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_runtime::host_memory;
use sconce_runtime::stream;

use super::copy::copy_into;
use crate::tensor::dim_list::Dims;
use crate::tensor::dims;
use crate::tensor::iteration::preserved_strides;
use crate::tensor::views;
use crate::tensor::{MemoryFormat, Place, Tensor, TensorOptions};

/// The strides of a new tensor of the sizes, in an order of dimensions.
pub fn strides_of_format(sizes: &[i64], format: MemoryFormat) -> Result<Dims> {
    let channels_last = |rank: usize| {
        if sizes.len() != rank {
            return Err(Error::invalid_argument(format!(
                "required rank {rank} tensor to use channels_last{} format",
                if rank == 5 { "_3d" } else { "" }
            )));
        }
        Ok(dims::channels_last_strides(sizes))
    };
    match format {
        MemoryFormat::Contiguous | MemoryFormat::Preserve => Ok(dims::contiguous_strides(sizes)),
        MemoryFormat::ChannelsLast => channels_last(4),
        MemoryFormat::ChannelsLast3d => channels_last(5),
    }
}

/// The strides of a new tensor like another, in an order of dimensions.
pub(crate) fn strides_for(tensor: &Tensor, format: MemoryFormat) -> Result<Dims> {
    match format {
        MemoryFormat::Preserve => Ok(preserved_strides(tensor)),
        format => strides_of_format(tensor.sizes(), format),
    }
}

/// A new tensor with the sizes of another.
pub fn empty_like(tensor: &Tensor, options: TensorOptions, format: MemoryFormat) -> Result<Tensor> {
    let mut new = Tensor::default();
    empty_like_in_place(tensor, options, format, &mut new)?;
    Ok(new)
}

/// As [`empty_like`], written to where the caller wants it.
fn empty_like_in_place(
    tensor: &Tensor,
    options: TensorOptions,
    format: MemoryFormat,
    new: &mut Tensor,
) -> Result<()> {
    let is_plain = matches!(format, MemoryFormat::Preserve | MemoryFormat::Contiguous)
        && dims::are_plain(tensor.sizes(), tensor.strides());
    if is_plain {
        return options.empty_in_place(tensor.sizes(), new);
    }
    *new = options.empty_strided(tensor.sizes(), &strides_for(tensor, format)?)?;
    Ok(())
}

/// As [`empty_like`], on another device than the tensor's: also if the call names a stream, which is of the tensor's
/// device then.
#[cold]
#[inline(never)]
fn empty_beside(tensor: &Tensor, options: TensorOptions, format: MemoryFormat) -> Result<Tensor> {
    stream::beside(|| empty_like(tensor, options, format))
}

/// A copy in memory of its own.
pub fn clone(tensor: &Tensor, format: MemoryFormat) -> Result<Tensor> {
    let copy = empty_like(tensor, TensorOptions::of(tensor), format)?;
    copy_into(&copy, tensor, true)?;
    Ok(copy)
}

/// Whether elements lie one after another in an order of the dimensions; in any order for PRESERVE.
pub fn is_in_format(tensor: &Tensor, format: MemoryFormat) -> Result<bool> {
    match format {
        MemoryFormat::Preserve => Ok(tensor.is_dense()),
        format => has_format(tensor, format),
    }
}

fn has_format(tensor: &Tensor, format: MemoryFormat) -> Result<bool> {
    Ok(match format {
        MemoryFormat::Preserve => true,
        MemoryFormat::Contiguous => tensor.is_contiguous(),
        format => {
            strides_of_format(tensor.sizes(), format)?;
            dims::is_channels_last(tensor.sizes(), tensor.strides())
        }
    })
}

/// The tensor itself if it has the order in memory, or a copy that has.
pub fn contiguous(tensor: &Tensor, format: MemoryFormat) -> Result<Tensor> {
    if format == MemoryFormat::Preserve {
        return Err(Error::invalid_argument(
            "preserve memory format is unsupported by the contiguous operator",
        ));
    }
    if has_format(tensor, format)? { Ok(tensor.clone()) } else { clone(tensor, format) }
}

/// The tensor with other sizes: a view where possible, else a copy.
pub fn reshape(tensor: &Tensor, wanted: &[i64]) -> Result<Tensor> {
    let sizes = views::infer_sizes(wanted, tensor.numel())?;
    if views::view_strides(tensor.sizes(), tensor.strides(), &sizes).is_some() {
        return views::view(tensor, &sizes);
    }
    views::view(&clone(tensor, MemoryFormat::Contiguous)?, &sizes)
}

/// What a tensor is to be turned into; what is `None` stays.
#[derive(Clone, Copy, Debug)]
pub struct Conversion {
    pub dtype: Option<Dtype>,
    pub place: Option<Place>,
    pub non_blocking: bool,
    /// Copies even if nothing changes.
    pub copy: bool,
    pub format: MemoryFormat,
}

/// The tensor with another type, place or order in memory (`torch.Tensor.to`). `None` if nothing changes:
/// then torch returns the tensor itself.
pub fn to(tensor: &Tensor, conversion: Conversion) -> Result<Option<Tensor>> {
    let mut result = Tensor::default();
    Ok(to_in_place(tensor, conversion, &mut result)?.then_some(result))
}

/// As [`to`], written to where the caller wants it; `false` if nothing changes.
pub fn to_in_place(tensor: &Tensor, conversion: Conversion, result: &mut Tensor) -> Result<bool> {
    let options = TensorOptions {
        dtype: conversion.dtype.unwrap_or(tensor.dtype()),
        place: conversion.place.unwrap_or(tensor.place()),
        pinned: false,
    };
    let changes = options != TensorOptions::of(tensor) || conversion.copy;
    if !changes && has_format(tensor, conversion.format)? {
        return Ok(false);
    }
    // A copy to the host that does not wait needs pinned memory there, as in torch.
    let to_host = options.place == Place::Cpu && tensor.place() != Place::Cpu;
    let options = TensorOptions { pinned: to_host && conversion.non_blocking, ..options };
    match (tensor.place(), options.place) {
        (Place::Device(from), Place::Device(to)) if from != to => {
            *result = empty_beside(tensor, options, conversion.format)?;
        }
        _ => empty_like_in_place(tensor, options, conversion.format, result)?,
    }
    copy_into(result, tensor, conversion.non_blocking)?;
    Ok(true)
}

/// Whether the memory is page-locked.
pub fn is_pinned(tensor: &Tensor) -> Result<bool> {
    match tensor.place() {
        Place::Device(_) => Ok(false),
        Place::Cpu if tensor.storage().is_pinned_block() => Ok(true),
        Place::Cpu if tensor.address() == 0 => Ok(false),
        Place::Cpu => host_memory::is_pinned(tensor.address()),
    }
}

/// A copy in page-locked memory; the tensor itself if it is there already.
pub fn pin_memory(tensor: &Tensor) -> Result<Option<Tensor>> {
    if let Place::Device(_) = tensor.place() {
        return Err(Error::invalid_argument(format!(
            "cannot pin a tensor of {}: only dense CPU tensors can be pinned",
            tensor.place()
        )));
    }
    if is_pinned(tensor)? {
        return Ok(None);
    }
    let options = TensorOptions { pinned: true, ..TensorOptions::of(tensor) };
    let pinned = empty_like(tensor, options, MemoryFormat::Preserve)?;
    copy_into(&pinned, tensor, false)?;
    Ok(Some(pinned))
}
