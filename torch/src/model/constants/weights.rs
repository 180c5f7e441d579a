//! Constants that a package keeps beside the model's library: read when the model is loaded.

#![allow(unsafe_code, reason = "calls functions of a model, and makes tensors over memory")]

use std::collections::HashMap;
use std::sync::PoisonError;

use crate::abi::blobs::constants_made;
use crate::abi::constants::dtype_of;
use crate::abi::pools::typed_part;
use crate::abi::tensors::{numel_of, storage_of};
use crate::error::{Error, Result};
use crate::model::description::Constant;
use crate::model::device::DeviceInUse;
use crate::model::loaded::Model;
use crate::package::packaged::PackagedModel;
use crate::package::weights::Weight;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api, check, operations};

const FROM_BLOB: &str = "AOTInductorModelUpdateConstantsFromBlob";

impl Model {
    /// Gives the model the weights of its package.
    pub(in crate::model) fn read_weights(&self, package: &mut PackagedModel) -> Result<()> {
        if let Some(blob) = package.blob()? {
            self.read_blob(&blob)?;
        }
        let mut storages = HashMap::new();
        let mut tensors = Vec::new();
        let weights = package.weights.clone();
        for weight in &weights {
            let constants = &self.description.constants;
            let named = |known: &Constant| known.original == weight.name;
            let Some(index) = constants.iter().position(named) else {
                // Several models of a package may name more weights than one has.
                continue;
            };
            if !storages.contains_key(&weight.file) {
                let bytes = package.storage(&weight.file)?;
                storages.insert(weight.file.clone(), Storage::new(&bytes, self.device)?);
            }
            if let Some(storage) = storages.get(&weight.file) {
                let made = storage.tensor(weight, &constants[index]);
                let tensor =
                    made.map_err(|error| error.within(&format!("the weight {}", weight.name)))?;
                tensors.push((index, tensor));
            }
        }
        if tensors.is_empty() { Ok(()) } else { self.install(tensors, false) }
    }

    /// All weights from one file, in the model's order. The model copies them.
    fn read_blob(&self, bytes: &[u8]) -> Result<()> {
        let container = self.container.write().unwrap_or_else(PoisonError::into_inner);
        let own = self.description.constants.iter().filter(|constant| !constant.folded);
        let needed: usize = own.map(|constant| constant.memory).sum();
        if bytes.len() < needed {
            return Err(Error::io(format!(
                "the file of weights (.blob) has {} bytes; the model has constants of {needed} bytes",
                bytes.len()
            )));
        }
        let _device = (self.device >= 0).then(|| DeviceInUse::begin(self.device)).transpose()?;
        let own = self.description.constants.iter().filter(|constant| !constant.folded);
        let names = own.map(|constant| constant.original.clone()).collect();
        let first = bytes.as_ptr().expose_provenance();
        // SAFETY: the function takes the bytes of all constants, which it copies.
        let (read, own) = constants_made(names, || unsafe { container.call(FROM_BLOB, [first]) });
        read?;
        let mut sets = self.constants.lock();
        sets.fill_library(self.description.by_constant(own));
        self.constants.changed(&sets);
        Ok(())
    }
}

/// The memory that several weights may share, as bytes on the model's device.
struct Storage(Tensor);

impl Storage {
    fn new(bytes: &[u8], device: i32) -> Result<Storage> {
        let of_cpu = options(api::SCONCE_DTYPE_U8, api::SCONCE_DEVICE_CPU);
        let bytes = operations::from_values(bytes, &of_cpu)?;
        let options = options(api::SCONCE_DTYPE_U8, device);
        let moved = operations::to(bytes.handle(), &options)?;
        Ok(Storage(moved))
    }

    /// A weight in this memory. The model was compiled for its strides, so these stay.
    fn tensor(&self, weight: &Weight, constant: &Constant) -> Result<Tensor> {
        let dtype = dtype_of(constant.dtype)?;
        let (_, whole) = storage_of(self.0.handle())?;
        let mut element = 0;
        check(api::sconce_dtype_get_bytes(dtype, &mut element))?;
        let first = usize::try_from(weight.offset).ok().and_then(|at| at.checked_mul(element));
        let first = first.filter(|first| *first <= whole).ok_or_else(|| {
            Error::io(format!("begins at element {} of {whole} bytes", weight.offset))
        })?;
        let rank = weight.sizes.len();
        if rank != weight.strides.len() {
            return Err(Error::io("has another number of strides than of sizes"));
        }
        let shape = [weight.sizes.as_ptr(), weight.strides.as_ptr()];
        // SAFETY: there are as many sizes and strides.
        let tensor = unsafe { typed_part(self.0.handle(), first, dtype, shape, rank) }?;
        let bytes = element * usize::try_from(numel_of(tensor.handle())?).unwrap_or_default();
        // A constant that is a view counts the whole of what it is a view of.
        if !constant.takes(bytes) && whole != constant.memory {
            return Err(Error::io(format!(
                "has {bytes} bytes; the model's constant has {}",
                constant.bytes
            )));
        }
        Ok(tensor)
    }
}
