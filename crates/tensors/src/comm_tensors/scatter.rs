//! Parts of a tensor to devices.

use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;
use sconce_runtime::context::runtime;
use sconce_runtime::stream::{self, Stream};

use super::lanes::Current;
use super::{check_on_devices, device_of};
use crate::tensor::transfer::{Conversion, copy_into, to};
use crate::tensor::wrap_dim;
use crate::tensor::{MemoryFormat, Place, Tensor, views};

/// A device, and the stream on which its part arrives instead of the current one.
#[derive(Clone, Copy)]
pub struct ScatterTarget {
    pub device: i32,
    pub stream: Option<Stream>,
}

/// Parts of a tensor along a dimension, one on each device. Without sizes there may be fewer parts than devices. A part
/// that is on its device already is a view.
pub fn scatter(
    tensor: &Tensor,
    targets: &[ScatterTarget],
    chunk_sizes: Option<&[i64]>,
    dim: i64,
) -> Result<Vec<Tensor>> {
    let dim = wrap_dim(dim, tensor.rank())? as i64;
    if targets.is_empty() {
        return Err(Error::invalid_argument("Expected at least one device to scatter to"));
    }
    if let Some(sizes) = chunk_sizes
        && sizes.len() != targets.len()
    {
        return Err(Error::invalid_argument(format!(
            "Expected devices and chunk_sizes to be of same length, but got len(devices) = {} and len(chunk_sizes) = {}",
            targets.len(),
            sizes.len()
        )));
    }
    let devices = devices_of(targets)?;
    let chunks = match chunk_sizes {
        Some(sizes) => views::split_with_sizes(tensor, sizes, dim, targets.len())?,
        None => views::chunk(tensor, targets.len() as i64, dim, targets.len())?,
    };
    let mut parts = Vec::with_capacity(chunks.len());
    for (chunk, (device, target)) in chunks.into_iter().zip(devices.iter().zip(targets)) {
        let place = Place::Device(*device);
        if chunk.place() == place {
            parts.push(chunk);
            continue;
        }
        let _restore = match target.stream {
            Some(stream) => Some(Current::set(stream::current_on(runtime()?, *device)?, stream)),
            None => None,
        };
        let conversion = Conversion {
            dtype: None,
            place: Some(place),
            non_blocking: true,
            copy: false,
            format: MemoryFormat::Preserve,
        };
        parts.push(to(&chunk, conversion)?.unwrap_or(chunk));
    }
    Ok(parts)
}

fn devices_of(targets: &[ScatterTarget]) -> Result<Vec<DeviceIndex>> {
    let check = |(index, target): (usize, &ScatterTarget)| {
        let device = device_of(target.device)?;
        match target.stream {
            Some(stream) if stream.device() != device => Err(Error::invalid_argument(format!(
                "Expected the device associated with the stream at index {index} (was {}) to match the device supplied \
                 at that index (expected {device})",
                stream.device()
            ))),
            _ => Ok(device),
        }
    };
    targets.iter().enumerate().map(check).collect()
}

/// Copies the parts of a tensor to tensors of devices, whose sizes along the dimension make up the tensor's.
pub fn scatter_out(tensor: &Tensor, outputs: &[Tensor], dim: i64) -> Result<()> {
    if outputs.is_empty() {
        return Err(Error::invalid_argument("Expected at least one output tensor to scatter to"));
    }
    let at = wrap_dim(dim, tensor.rank())?;
    if tensor.rank() == 0 {
        return Err(Error::invalid_argument("scatter expects at least a 1-dimensional tensor"));
    }
    check_on_devices(outputs, ["output", "output tensor", "has"])?;
    for (index, output) in outputs.iter().enumerate() {
        let fits = output.rank() == tensor.rank()
            && (0..tensor.rank()).all(|d| d == at || output.sizes()[d] == tensor.sizes()[d]);
        if !fits {
            return Err(Error::invalid_argument(format!(
                "Output tensor at index {index} has incorrect shape: {:?}. Expected same shape except for scatter dim \
                 {at} as the source tensor: {:?}",
                output.sizes(),
                tensor.sizes()
            )));
        }
    }
    let sizes: Vec<i64> = outputs.iter().map(|output| output.sizes()[at]).collect();
    let total: i64 = sizes.iter().sum();
    if total != tensor.sizes()[at] {
        return Err(Error::invalid_argument(format!(
            "Total size for output tensors along scatter dim {at} does not match the source tensor size at dim {at}. \
             Expected {}, but got total size {total}",
            tensor.sizes()[at]
        )));
    }
    let chunks = views::split_with_sizes(tensor, &sizes, at as i64, outputs.len())?;
    outputs.iter().zip(&chunks).try_for_each(|(output, chunk)| copy_into(output, chunk, true))
}
