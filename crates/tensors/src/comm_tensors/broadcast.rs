//! One tensor to all devices.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_compute::collectives::CommRequest;

use super::team::Team;
use super::{check_on_devices, device_of};
use crate::tensor::transfer::{copy_into, empty_like};
use crate::tensor::{MemoryFormat, Place, Tensor, TensorOptions};

/// The tensor on each device; `None` stands for the tensor itself, on its own device.
pub fn broadcast(tensor: &Tensor, devices: &[i32]) -> Result<Vec<Option<Tensor>>> {
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
    let others: Vec<&Tensor> = copies.iter().flatten().collect();
    send(tensor, &others)?;
    Ok(copies)
}

/// Copies a tensor to tensors of devices, which have its shape.
pub fn broadcast_out(tensor: &Tensor, outputs: &[Tensor]) -> Result<()> {
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
    send(tensor, &outputs.iter().collect::<Vec<_>>())
}

/// Gives a tensor to others of its shape: as one collective call where that is better, else copy by copy.
fn send(tensor: &Tensor, others: &[&Tensor]) -> Result<()> {
    let all: Vec<&Tensor> = std::iter::once(tensor).chain(others.iter().copied()).collect();
    let have_one_type = others.iter().all(|other| other.dtype() == tensor.dtype());
    if have_one_type && let Some(team) = Team::of(&all)? {
        let count = tensor.packed_bytes();
        // As bytes: so every type can be sent.
        return team.call(|rank| CommRequest::Broadcast {
            send: all[0].raw().get(),
            recv: all[rank].raw().get(),
            count,
            dtype: Dtype::U8,
            root: 0,
        });
    }
    others.iter().try_for_each(|other| copy_into(other, tensor, true))
}
