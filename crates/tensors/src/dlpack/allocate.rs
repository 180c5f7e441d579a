//! New tensors by a prototype.

use sconce_base::element::{DlpackType, Dtype};
use sconce_base::error::{Error, Result};

use super::device::{CUDA_HOST, CUDA_MANAGED};
use super::layout::DlpackDevice;
use crate::tensor::{Tensor, TensorOptions};

/// What the tensor is to be: the fields of a `DLTensor` that an allocator looks at.
#[derive(Clone, Copy, Debug)]
pub struct Prototype<'a> {
    pub device: DlpackDevice,
    pub dtype: DlpackType,
    pub sizes: &'a [i64],
}

/// A tensor whose values are not set, for the current stream of its device.
pub fn allocate(prototype: &Prototype<'_>) -> Result<Tensor> {
    let DlpackType { code, bits, lanes } = prototype.dtype;
    let dtype = Dtype::from_dlpack(prototype.dtype).ok_or_else(|| {
        Error::not_supported(format!(
            "prototype.dtype has code {code}, {bits} bits and {lanes} lanes, which is not a type of this library"
        ))
    })?;
    if prototype.device.device_type == CUDA_MANAGED {
        return Err(Error::not_supported(
            "prototype.device.device_type is kDLCUDAManaged (13), which this library does not allocate; ask \
             for kDLCUDA (2)",
        ));
    }
    let place = prototype.device.place("prototype.device")?;
    let pinned = prototype.device.device_type == CUDA_HOST;
    TensorOptions { dtype, place, pinned }.empty(prototype.sizes)
}
