//! Random numbers, with the bits of torch's fills on CUDA.

use crate::collections::slab::Key;
use crate::error::{Error, Result, Status};
use crate::random::{self, FillRequest};
use crate::tensor::iteration::preserved_strides;
use crate::tensor::overlap::refuse_unwritable;
use crate::tensor::transfer::copy_into;
use crate::tensor::{Place, Tensor, TensorOptions};
use crate::types::DeviceIndex;

/// Fills a tensor, from a generator or from the default one of its device. Elements are drawn in the order
/// in which they lie in memory, as in torch.
pub(crate) fn fill_random(
    tensor: &Tensor,
    request: FillRequest,
    generator: Option<Key>,
) -> Result<()> {
    let device = device_of(tensor)?;
    refuse_unwritable(tensor)?;
    if tensor.is_dense() {
        return draw(device, tensor, request, generator);
    }
    let packed =
        TensorOptions::of(tensor).empty_strided(tensor.sizes(), &preserved_strides(tensor))?;
    draw(device, &packed, request, generator)?;
    copy_into(tensor, &packed, true)
}

fn device_of(tensor: &Tensor) -> Result<DeviceIndex> {
    match tensor.place() {
        Place::Device(device) => Ok(device),
        Place::Cpu => Err(Error::new(
            Status::NotSupported,
            "random numbers are drawn on devices only; make the tensor on a device and copy it to the CPU",
        )),
    }
}

fn draw(
    device: DeviceIndex,
    tensor: &Tensor,
    request: FillRequest,
    generator: Option<Key>,
) -> Result<()> {
    let n = tensor.numel() as usize;
    random::fill_on(device, tensor.address(), n, tensor.dtype(), request, generator)
}
