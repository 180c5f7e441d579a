//! Many tensors to all devices, and many sums, in few copies.

use sconce_base::error::{Error, Result};

use super::broadcast::broadcast;
use super::buckets::{Fullness, buckets};
use super::device_of;
use super::flat::flatten;
use super::reduce::reduce_add;
use crate::tensor::views::split_flat;
use crate::tensor::{Place, Tensor};

/// The tensors on each device; `None` stands for the tensors themselves, on the first device. What the others receive
/// are views of a block for each bucket.
pub fn broadcast_coalesced(
    tensors: &[Tensor],
    devices: &[i32],
    buffer_bytes: usize,
) -> Result<Vec<Option<Vec<Tensor>>>> {
    let Some(first) = devices.first() else {
        return Err(Error::invalid_argument("Expected at least one device to broadcast to"));
    };
    let source = Place::Device(device_of(*first)?);
    if let Some(tensor) = tensors.iter().find(|tensor| tensor.place() != source) {
        return Err(Error::invalid_argument(format!(
            "All tensors must be on devices[0]: {first}, but one is on {}",
            tensor.place()
        )));
    }
    let others = &devices[1..];
    if others.is_empty() {
        // Nothing is joined for nobody.
        return Ok(vec![None]);
    }
    let mut received = vec![vec![Tensor::default(); tensors.len()]; others.len()];
    for bucket in buckets(sizes_of(tensors), buffer_bytes, Fullness::Reached) {
        let parts: Vec<&Tensor> = bucket.iter().map(|index| &tensors[*index]).collect();
        let flat = flatten(&parts)?;
        for (copy, received) in broadcast(&flat, others)?.into_iter().zip(&mut received) {
            // A device that is named again receives the tensors of the first one.
            let views = match copy {
                Some(copy) => split_flat(&copy, &parts)?,
                None => split_flat(&flat, &parts)?,
            };
            for (index, view) in bucket.iter().zip(views) {
                received[*index] = view;
            }
        }
    }
    Ok(std::iter::once(None).chain(received.into_iter().map(Some)).collect())
}

/// The sums of many tensors: `inputs` has the tensors of each device in the same order.
pub fn reduce_add_coalesced(
    inputs: &[Vec<Tensor>],
    destination: i32,
    buffer_bytes: usize,
) -> Result<Vec<Tensor>> {
    let Some(first) = inputs.first() else {
        return Err(Error::invalid_argument(
            "reduce_add_coalesced expects tensors of at least one device",
        ));
    };
    for (group, tensors) in inputs.iter().enumerate() {
        for (index, (tensor, like)) in tensors.iter().zip(first).enumerate() {
            if tensor.dtype() != like.dtype() || tensor.sizes() != like.sizes() {
                return Err(Error::invalid_argument(format!(
                    "tensor {index} of device {group} in the list has shape {:?} and another one than {:?} or another \
                     type in the first list",
                    tensor.sizes(),
                    like.sizes()
                )));
            }
        }
    }
    let mut sums = vec![Tensor::default(); first.len()];
    for bucket in buckets(sizes_of(first), buffer_bytes, Fullness::WouldExceed) {
        let flats: Result<Vec<Tensor>> = inputs
            .iter()
            .map(|tensors| {
                flatten(&bucket.iter().map(|index| &tensors[*index]).collect::<Vec<_>>())
            })
            .collect();
        let flats = flats?;
        let sum = reduce_add(&flats, destination)?.unwrap_or_else(|| flats[0].clone());
        let shapes: Vec<&Tensor> = bucket.iter().map(|index| &first[*index]).collect();
        for (index, view) in bucket.iter().zip(split_flat(&sum, &shapes)?) {
            sums[*index] = view;
        }
    }
    Ok(sums)
}

fn sizes_of(tensors: &[Tensor]) -> impl Iterator<Item = (sconce_base::element::Dtype, usize)> {
    tensors.iter().map(|tensor| (tensor.dtype(), tensor.packed_bytes()))
}
