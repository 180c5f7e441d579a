//! Convolutions on the CPU.

#![allow(unsafe_code, reason = "shows tensors of the CPU as slices")]

use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result, Status};
use sconce_compute::dnn::ConvolutionRequest;
use sconce_driver::MOST_SPATIAL;
use sconce_math::convolutions::{ChannelOrder, convolve as convolve_slices};
use sconce_math::products::Real;
use sconce_math::unfolding::{Geometry, Uncalculated};

use crate::tensor::host_use::{self, HostUse};
use crate::tensor::transfer::{copy_into, strides_of_format};
use crate::tensor::{MemoryFormat, Tensor, TensorOptions};

/// The convolution, with a bias added if there is one. The three tensors are packed in `format`, as the bias is, and
/// `output` shares no memory with the others. 16-bit types are calculated in single precision and rounded once.
pub(super) fn convolve(
    request: &ConvolutionRequest,
    format: MemoryFormat,
    [input, filter, output]: [&Tensor; 3],
    bias: Option<&Tensor>,
) -> Result<()> {
    let geometry = geometry_of(request)?;
    host_use::note([input, filter].into_iter().chain(bias).map(HostUse::reads));
    host_use::note([HostUse::writes(output)]);
    let dtype = if output.dtype() == Dtype::F64 { Dtype::F64 } else { Dtype::F32 };
    let in_type = |tensor: &Tensor, is_read: bool| -> Result<Tensor> {
        if tensor.dtype() == dtype {
            return Ok(tensor.clone());
        }
        let format = if tensor.rank() == 1 { MemoryFormat::Contiguous } else { format };
        let strides = strides_of_format(tensor.sizes(), format)?;
        let other =
            TensorOptions::of(tensor).with(dtype).empty_strided(tensor.sizes(), &strides)?;
        if is_read {
            copy_into(&other, tensor, false)?;
        }
        Ok(other)
    };
    let (input, filter) = (in_type(input, true)?, in_type(filter, true)?);
    let result = in_type(output, false)?;
    let bias = bias.map(|bias| in_type(bias, true)).transpose()?;
    let bias = bias.as_ref();
    let order = match format {
        MemoryFormat::Contiguous => ChannelOrder::First,
        _ => ChannelOrder::Last,
    };
    if dtype == Dtype::F64 {
        calculate::<f64>(&geometry, order, [&input, &filter, &result], bias)?;
    } else {
        calculate::<f32>(&geometry, order, [&input, &filter, &result], bias)?;
    }
    if result.address() == output.address() { Ok(()) } else { copy_into(output, &result, false) }
}

/// As [`convolve`], of tensors that have the type.
fn calculate<T: Real>(
    geometry: &Geometry,
    order: ChannelOrder,
    [input, filter, output]: [&Tensor; 3],
    bias: Option<&Tensor>,
) -> Result<()> {
    // SAFETY: `in_type` has made the tensor packed, in host memory and of this type, or found it to be so; a program
    // that changes an operand during the call races with it by its own doing.
    let read = |tensor| unsafe { elements::<T>(tensor) };
    let (input, filter, bias) = (read(input), read(filter), bias.map(read));
    // SAFETY: packed, in host memory and of this type, like the operands, with which it shares no memory.
    let output = unsafe { elements_mut::<T>(output) };
    convolve_slices(geometry, order, input, filter, bias, output).map_err(refused)
}

/// # Safety
/// The tensor is packed and in host memory, has elements of this type, and nobody writes them during the result's life.
unsafe fn elements<T>(tensor: &Tensor) -> &[T] {
    let first = with_exposed_provenance(tensor.address());
    // SAFETY: a packed tensor's `numel` elements are one after the other from its address on, and nobody writes them
    // while the slice lives, as this function demands.
    unsafe { std::slice::from_raw_parts(first, tensor.numel() as usize) }
}

/// # Safety
/// As of [`elements`], and nobody else reads them.
#[allow(clippy::mut_from_ref, reason = "a tensor is a handle of its memory")]
unsafe fn elements_mut<T>(tensor: &Tensor) -> &mut [T] {
    let first = with_exposed_provenance_mut(tensor.address());
    // SAFETY: a packed tensor's `numel` elements are one after the other from its address on, and nobody else reads or
    // writes them while the slice lives, as this function demands.
    unsafe { std::slice::from_raw_parts_mut(first, tensor.numel() as usize) }
}

/// The sizes, of which those of the spatial dimensions come last.
fn geometry_of(request: &ConvolutionRequest) -> Result<Geometry> {
    let missing = MOST_SPATIAL - request.spatial;
    let sizes = |sizes: [i64; MOST_SPATIAL]| {
        let mut sizes = sizes.map(|size| size as usize);
        sizes.rotate_right(missing);
        sizes
    };
    let moves = |mut moves: [i64; MOST_SPATIAL]| {
        moves.rotate_right(missing);
        moves
    };
    Ok(Geometry {
        images: request.batch as usize,
        groups: request.groups as usize,
        channels: (request.in_channels / request.groups) as usize,
        features: (request.out_channels / request.groups) as usize,
        input: sizes(request.input_sizes),
        filter: sizes(request.filter_sizes),
        output: sizes(request.output_sizes()?),
        stride: moves(request.stride),
        padding: moves(request.padding),
        dilation: moves(request.dilation),
    })
}

#[cold]
fn refused(reason: Uncalculated) -> Error {
    match reason {
        Uncalculated::NoMemory => Error::new(
            Status::OutOfMemory,
            "no host memory for the unfolded input of a convolution",
        ),
        other => {
            Error::new(Status::Internal, format!("a convolution was not calculated: {other:?}"))
        }
    }
}
