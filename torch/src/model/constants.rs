//! Constants replaced and swapped.
//!
//! A model has an active and an inactive set of constants. It takes a handle of its own of each tensor that the program
//! passes, and never deletes that: models of PyTorch 2.9 to 2.11 leak it. So the loaded model keeps both handles as
//! long as the constant is in use. A model that deleted its handle after all makes the second deletion an error that is
//! ignored, as handles are checked.

#![allow(unsafe_code, reason = "calls functions of a model")]

use std::ffi::CString;
use std::sync::PoisonError;

use super::captures::Captures;
use super::constant_state::{Kept, KeptConstant};
use super::device::DeviceInUse;
use super::functions::ConstantEntry;
use super::loaded::Model;
use crate::abi::constants::scalar_type_of;
use crate::abi::devices::{current_stream, native};
use crate::abi::handles::recorded;
use crate::abi::tensors::{data_of, dtype_of_tensor, numel_of};
use crate::error::{Error, Result};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, check};

const UPDATE: &str = "AOTInductorModelContainerUpdateUserManagedConstantBufferPairs";

impl Model {
    /// Replaces constants of the active or of the inactive set. Names are the model's or those of the program that was
    /// compiled. A tensor on another device than the model is copied; others are used as they are.
    pub fn update_constants(
        &self,
        constants: &[(String, TensorHandle)],
        inactive: bool,
    ) -> Result<()> {
        let mut tensors = Vec::with_capacity(constants.len());
        for (name, tensor) in constants {
            tensors.push(self.constant(name, *tensor)?);
        }
        self.install(tensors, inactive)
    }

    /// Lets the model use tensors as constants, by its own names for them.
    pub(super) fn install(&self, tensors: Vec<(String, Tensor)>, inactive: bool) -> Result<()> {
        let _captures = Captures::stop();
        let container = self.container.write().unwrap_or_else(PoisonError::into_inner);
        let _device = (self.device >= 0).then(|| DeviceInUse::begin(self.device)).transpose()?;
        let mut names = Vec::with_capacity(tensors.len());
        for (name, _) in &tensors {
            let name = CString::new(name.as_str());
            names.push(name.map_err(|_| Error::invalid_argument("a name contains a NUL"))?);
        }
        let entries: Vec<ConstantEntry> = names
            .iter()
            .zip(&tensors)
            .map(|(name, (_, tensor))| ConstantEntry {
                name: name.as_ptr(),
                tensor: tensor.handle(),
            })
            .collect();
        let first = entries.as_ptr().expose_provenance();
        // Queued runs still read the constants that are replaced.
        self.wait()?;
        let arguments = [first, entries.len(), usize::from(inactive), 0];
        // SAFETY: the function takes entries, their number, and two truth values.
        let (updated, handles) = recorded(|| unsafe { container.call(UPDATE, arguments) });
        let mut of_model: Vec<Tensor> = handles.into_iter().map(Tensor::from_handle).collect();
        if let Err(error) = updated {
            // What the model took is in use by a part of its constants.
            of_model.into_iter().for_each(|tensor| {
                let _ = tensor.into_handle();
            });
            return Err(error);
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let set = if inactive { &mut kept.inactive } else { &mut kept.active };
        for (name, tensor) in tensors {
            let address = data_of(tensor.handle())?;
            let own = of_model
                .iter()
                .position(|own| data_of(own.handle()).is_ok_and(|own| own == address));
            let own = own.map(|at| of_model.swap_remove(at));
            set.insert(name, KeptConstant { _tensor: tensor, _model: own });
        }
        self.absent.forget(|name| kept.active.contains_key(name));
        drop(kept);
        self.forget_graphs();
        Ok(())
    }

    /// Makes the inactive set of constants the active one.
    pub fn swap_constants(&self) -> Result<()> {
        let _captures = Captures::stop();
        let container = self.container.write().unwrap_or_else(PoisonError::into_inner);
        let _device = (self.device >= 0).then(|| DeviceInUse::begin(self.device)).transpose()?;
        self.wait()?;
        if self.description.constants.iter().any(|constant| constant.folded) {
            let stream = match self.device {
                api::SCONCE_DEVICE_CPU => 0,
                device => native(current_stream(device)?)?.expose_provenance(),
            };
            let arguments = [1, stream, self.operators_address()];
            // SAFETY: the function takes a truth value, a stream and an executor.
            unsafe { container.call("AOTInductorModelContainerRunConstantFolding", arguments) }?;
        }
        // SAFETY: the function takes the container alone.
        unsafe { container.call("AOTInductorModelContainerSwapConstantBuffer", []) }?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Kept { active, inactive } = &mut *kept;
        std::mem::swap(active, inactive);
        self.absent.forget(|name| kept.active.contains_key(name));
        drop(kept);
        self.forget_graphs();
        Ok(())
    }

    /// The model's name of a constant, and a tensor for it on the model's device.
    fn constant(&self, name: &str, tensor: TensorHandle) -> Result<(String, Tensor)> {
        let constants = &self.description.constants;
        let found = constants.iter().find(|known| known.name == name || known.original == name);
        let found = found.ok_or_else(|| {
            Error::invalid_argument(format!(
                "the model has no constant {name:?}; sconce_model_describe lists the names"
            ))
        })?;
        let dtype = dtype_of_tensor(tensor)?;
        let mut bytes = 0;
        // SAFETY: the place is valid for a write.
        check(unsafe { api::sconce_dtype_get_bytes(dtype, &mut bytes) })?;
        let given = bytes as i64 * numel_of(tensor)?;
        if scalar_type_of(dtype)? != found.dtype
            || !usize::try_from(given).is_ok_and(|given| found.takes(given))
        {
            return Err(Error::invalid_argument(format!(
                "the constant {name:?} has {} bytes of another type or size than {}, which the model takes: {} bytes",
                given,
                crate::abi::copies::described(tensor),
                found.bytes
            )));
        }
        let mut options = crate::sconce::values::options(api::SCONCE_DTYPE_DEFAULT, self.device);
        options.memory_format = api::SCONCE_MEMORY_FORMAT_CONTIGUOUS;
        // SAFETY: options and place are valid.
        let moved = Tensor::made(|made| unsafe {
            api::sconce_tensor_to(tensor, &options, false, false, made)
        })?;
        Ok((found.name.clone(), moved))
    }

    /// Waits for the work of the model's device.
    fn wait(&self) -> Result<()> {
        if self.device < 0 {
            return Ok(());
        }
        // SAFETY: no preconditions.
        check(unsafe { api::sconce_device_synchronize(self.device) })
    }
}
