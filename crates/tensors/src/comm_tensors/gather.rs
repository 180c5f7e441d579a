//! Tensors of devices joined along a dimension.

use sconce_base::error::{Error, Result};
use sconce_base::types::CPU;

use super::check_on_devices;
use super::lanes::{Lanes, Turn};
use super::reduce::destination_of;
use crate::tensor::transfer::{copy_into, strides_of_format};
use crate::tensor::{
    Dims, MemoryFormat, Place, Tensor, TensorOptions, looks_channels_last, views, wrap_dim,
};

/// The tensors one after another along a dimension, on a device (-1: the current one) or the CPU.
pub fn gather(tensors: &[Tensor], dim: i64, destination: i32) -> Result<Tensor> {
    let (at, sizes) = joined_sizes(tensors, dim)?;
    let place = match destination {
        CPU => Place::Cpu,
        index => Place::Device(destination_of(index)?),
    };
    let options = TensorOptions { place, ..TensorOptions::of(&tensors[0]) };
    let is_last = |tensor: &Tensor| looks_channels_last(tensor.sizes(), tensor.strides());
    let format = match sizes.len() {
        4 if tensors.iter().all(is_last) => MemoryFormat::ChannelsLast,
        5 if tensors.iter().all(is_last) => MemoryFormat::ChannelsLast3d,
        _ => MemoryFormat::Contiguous,
    };
    let result = options.empty_strided(&sizes, &strides_of_format(&sizes, format)?)?;
    join(tensors, at, &result)?;
    Ok(result)
}

/// Joins the tensors in one of the caller, of a device or the CPU.
pub fn gather_out(tensors: &[Tensor], dim: i64, output: &Tensor) -> Result<()> {
    let (at, sizes) = joined_sizes(tensors, dim)?;
    if output.sizes() != &sizes[..] {
        return Err(Error::invalid_argument(format!(
            "Expected out tensor to have shape {:?}, but got {:?}",
            &sizes[..],
            output.sizes()
        )));
    }
    join(tensors, at, output)
}

/// The dimension, counted from the front, and the sizes of the result.
fn joined_sizes(tensors: &[Tensor], dim: i64) -> Result<(usize, Dims)> {
    let Some(first) = tensors.first() else {
        return Err(Error::invalid_argument("Expected at least one tensor to gather from"));
    };
    check_on_devices(tensors, ["input", "tensor", "has"])?;
    if first.rank() == 0 {
        return Err(Error::invalid_argument(
            "tensors without dimensions cannot be gathered; unsqueeze them first",
        ));
    }
    let at = wrap_dim(dim, first.rank())?;
    let mut expected = Dims::from_slice(first.sizes());
    let mut total = 0;
    for (index, tensor) in tensors.iter().enumerate() {
        if tensor.rank() != first.rank() {
            return Err(Error::invalid_argument(format!(
                "Expected all input tensors to have the same number of dimensions, but tensor at index {index} has {} \
                 dimensions, (expected {})",
                tensor.rank(),
                first.rank()
            )));
        }
        expected[at] = tensor.sizes()[at];
        if tensor.sizes() != &expected[..] {
            return Err(Error::invalid_argument(format!(
                "Input tensor at index {index} has invalid shape {:?}, but expected {:?}",
                tensor.sizes(),
                &expected[..]
            )));
        }
        total += tensor.sizes()[at];
    }
    expected[at] = total;
    Ok((at, expected))
}

fn join(tensors: &[Tensor], at: usize, output: &Tensor) -> Result<()> {
    let sizes: Vec<i64> = tensors.iter().map(|tensor| tensor.sizes()[at]).collect();
    let parts = views::split_with_sizes(output, &sizes, at as i64, tensors.len())?;
    let mut pairs = parts.iter().zip(tensors);
    let Some(device) = output.place().device() else {
        return pairs.try_for_each(|(part, tensor)| copy_into(part, tensor, false));
    };
    let lanes = Lanes::to(device)?;
    // Copies from other devices begin before those within the device, which would keep the lanes waiting.
    let (here, others): (Vec<_>, Vec<_>) =
        pairs.partition(|(_, tensor)| tensor.place() == output.place());
    others
        .iter()
        .chain(&here)
        .try_for_each(|(part, tensor)| lanes.copy(part, tensor, Turn::Even))?;
    lanes.close()
}
