//! What a new tensor is to be: type, place, order in memory.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_runtime::context::runtime;
use sconce_runtime::stream;

use super::dim_list::Dims;
use super::dims;
use super::place::Place;
use super::shared_storage::StorageRef;
use super::storage::Storage;
use super::value::Tensor;

/// The order of a new tensor's dimensions in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryFormat {
    /// The last dimension first.
    Contiguous,
    /// As the tensor that it is like, if that is dense; else with the same order of dimensions.
    Preserve,
    /// Of four dimensions, the second one first.
    ChannelsLast,
    /// Of five dimensions, the second one first.
    ChannelsLast3d,
}

/// Type and place of a new tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorOptions {
    pub dtype: Dtype,
    pub place: Place,
    /// Page-locked memory; for the CPU only.
    pub pinned: bool,
}

impl TensorOptions {
    /// Those of a tensor. New ones like it are not pinned, as in torch.
    pub fn of(tensor: &Tensor) -> TensorOptions {
        TensorOptions { dtype: tensor.dtype(), place: tensor.place(), pinned: false }
    }

    /// Of another type.
    #[must_use]
    pub(crate) fn with(self, dtype: Dtype) -> TensorOptions {
        TensorOptions { dtype, ..self }
    }

    /// A tensor whose values are not set (those of ordinary host memory are 0).
    #[inline]
    pub fn empty(self, sizes: &[i64]) -> Result<Tensor> {
        let mut tensor = Tensor::default();
        self.empty_in_place(sizes, &mut tensor)?;
        Ok(tensor)
    }

    /// As [`empty`](Self::empty), written to where the caller wants it.
    #[inline]
    pub fn empty_in_place(self, sizes: &[i64], tensor: &mut Tensor) -> Result<()> {
        let numel = dims::count(sizes)?;
        let storage = self.storage(numel, sizes)?;
        let layout = tensor.begin(storage, self.dtype);
        (layout.offset, layout.numel) = (0, numel);
        let (own_sizes, strides) = layout.resize(sizes.len());
        own_sizes.copy_from_slice(sizes);
        dims::write_contiguous_strides(sizes, strides);
        Ok(())
    }

    /// As [`empty`](Self::empty), with strides that the caller chose.
    pub fn empty_strided(self, sizes: &[i64], strides: &[i64]) -> Result<Tensor> {
        dims::count(sizes)?;
        if sizes.len() != strides.len() {
            return Err(Error::invalid_argument(format!(
                "dimensionality of sizes ({}) must match dimensionality of strides ({})",
                sizes.len(),
                strides.len()
            )));
        }
        if strides.iter().any(|stride| *stride < 0) {
            return Err(Error::invalid_argument(format!(
                "Negative strides are not supported at the moment, got strides: {strides:?}"
            )));
        }
        let extent = dims::extent(sizes, strides).ok_or_else(|| dims::too_many(sizes))?;
        let storage = self.storage(extent, sizes)?;
        let (sizes, strides) = (Dims::from_slice(sizes), Dims::from_slice(strides));
        Ok(Tensor::of(storage, self.dtype, sizes, strides, 0))
    }

    /// As [`empty`](Self::empty), with strides of a dense tensor, which the caller has found from the sizes.
    pub(crate) fn empty_in_order(self, sizes: &[i64], strides: Dims) -> Result<Tensor> {
        if !dims::is_contiguous(sizes, &strides) {
            return self.empty_strided(sizes, &strides);
        }
        let storage = self.storage(dims::count(sizes)?, sizes)?;
        Ok(Tensor::of(storage, self.dtype, Dims::from_slice(sizes), strides, 0))
    }

    #[inline]
    fn storage(self, elements: i64, sizes: &[i64]) -> Result<StorageRef> {
        let bytes = elements.checked_mul(self.dtype.bytes() as i64);
        let bytes = bytes.ok_or_else(|| dims::too_many(sizes))? as usize;
        let storage = match self.place {
            Place::Device(_) if self.pinned => return Err(pinned_on_a_device(self.place)),
            Place::Device(device) => {
                Storage::on_device(bytes, stream::current_on(runtime()?, device)?)?
            }
            Place::Cpu if self.pinned => Storage::pinned(bytes)?,
            Place::Cpu => Storage::on_host(bytes)?,
        };
        StorageRef::new(storage)
    }
}

#[cold]
fn pinned_on_a_device(place: Place) -> Error {
    Error::invalid_argument(format!(
        "Only dense CPU tensors can be pinned, but the device is {place}; leave pinned at 0"
    ))
}
