//! One tensor to all devices.

use super::{check_on_devices, device_of};
use crate::error::{Error, Result};
use crate::tensor::transfer::{copy_into, empty_like};
use crate::tensor::{MemoryFormat, Place, Tensor, TensorOptions};

/// The tensor on each device; `None` stands for the tensor itself, on its own device.
pub(crate) fn broadcast(tensor: &Tensor, devices: &[i32]) -> Result<Vec<Option<Tensor>>> {
    let places: Result<Vec<Place>> =
        devices.iter().map(|index| device_of(*index).map(Place::Device)).collect();
    let copy_at = |place: &Place| {
        if *place == tensor.place() {
            return Ok(None);
        }
        let options = TensorOptions { place: *place, ..TensorOptions::of(tensor) };
        empty_like(tensor, options, MemoryFormat::Preserve).map(Some)
    };
    // All memory first: without it nothing is queued.
    let copies: Result<Vec<Option<Tensor>>> = places?.iter().map(copy_at).collect();
    let copies = copies?;
    for copy in copies.iter().flatten() {
        copy_into(copy, tensor, true)?;
    }
    Ok(copies)
}

/// Copies a tensor to tensors of devices, which have its shape.
pub(crate) fn broadcast_out(tensor: &Tensor, outputs: &[Tensor]) -> Result<()> {
    check_on_devices(outputs, ["output", "output tensor", "has"])?;
    for (index, output) in outputs.iter().enumerate() {
        if output.sizes() != tensor.sizes() {
            return Err(Error::invalid_argument(format!(
                "Expected all output tensors to have same shape as the source tensor {:?}, but output tensor at index \
                 {index} has shape {:?}",
                tensor.sizes(),
                output.sizes()
            )));
        }
    }
    outputs.iter().try_for_each(|output| copy_into(output, tensor, true))
}
