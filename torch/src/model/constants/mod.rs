//! Constants replaced and swapped.
//!
//! A model has an active and an inactive set of constants. It takes a handle of its own of each tensor that the program
//! passes; models of PyTorch 2.9 to 2.11 never delete it. So the loaded model keeps both handles as long as the constant
//! is in use. A model that deletes its handle makes the second deletion an error that is ignored, as handles are
//! checked.
//!
//! The model itself checks little: it looks up constants that a set lacks without asking whether they are there, and
//! swaps in a set without values. So what a set has is known here (`constant_state`), and refused before.
//!
//! | file | idea |
//! |---|---|
//! | `weights` | constants that a package keeps beside the library |

#![allow(unsafe_code, reason = "calls functions of a model")]

mod weights;

use std::collections::HashSet;
use std::ffi::CString;
use std::sync::PoisonError;

use super::constant_state::{KeptConstant, Sets};
use crate::abi::arguments::{GivenTensors, name_tensor};
use crate::abi::constants::{scalar_type, scalar_type_of};
use crate::abi::copies::{cloned, described};
use crate::abi::devices::{current_stream, native};
use crate::abi::handles::recorded;
use crate::abi::tensors::{data_of, dtype_of_tensor, numel_of, sizes_of};
use crate::error::{Error, Result};
use crate::model::captures::Captures;
use crate::model::description::Constant;
use crate::model::device::DeviceInUse;
use crate::model::functions::{ConstantEntry, Container};
use crate::model::loaded::Model;
use crate::operations::tensors::bytes_of;
use crate::sconce::operations::{self, laid_out};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api, check};

const UPDATE: &str = "AOTInductorModelContainerUpdateUserManagedConstantBufferPairs";
const SWAP: &str = "AOTInductorModelContainerSwapConstantBuffer";
const FOLD: &str = "AOTInductorModelContainerRunConstantFolding";
const FREE: &str = "AOTInductorModelContainerFreeInactiveConstantBuffer";

impl Model {
    /// Replaces constants of the active or of the inactive set. Names are the model's or those of the program that was
    /// compiled. A tensor that lies as the model expects it is used as it is; others are copied.
    pub fn update_constants(
        &self,
        constants: &[(String, TensorHandle)],
        inactive: bool,
    ) -> Result<()> {
        let mut tensors = Vec::with_capacity(constants.len());
        let mut passed = HashSet::new();
        for (at, (name, tensor)) in constants.iter().enumerate() {
            let index =
                self.constant_of(name).map_err(|error| error.within(&format!("names[{at}]")))?;
            if !passed.insert(index) {
                return Err(Error::invalid_argument(format!(
                    "names[{at}]: the constant {name:?} is passed twice in one call"
                )));
            }
            let constant = &self.description.constants[index];
            let value = value_of(constant, *tensor, self.device);
            let value = value.map_err(|error| {
                name_tensor(error, || GivenTensors::of(&[(&format!("tensors[{at}]"), *tensor)]))
            })?;
            tensors.push((index, value));
        }
        self.install(tensors, inactive)
    }

    /// Lets the model use tensors as constants, by their numbers.
    pub(in crate::model) fn install(
        &self,
        tensors: Vec<(usize, Tensor)>,
        inactive: bool,
    ) -> Result<()> {
        let _captures = Captures::stop();
        let container = self.container.write().unwrap_or_else(PoisonError::into_inner);
        let _device = (self.device >= 0).then(|| DeviceInUse::begin(self.device)).transpose()?;
        let mut sets = self.constants.lock();
        let mut tensors = tensors;
        if inactive {
            tensors.extend(self.buffers(&sets, &tensors)?);
        }
        // Queued runs still read the constants that are replaced.
        self.wait()?;
        let kept = self.pass(&container, tensors, inactive)?;
        sets.fill(inactive, kept);
        self.changed(&sets);
        Ok(())
    }

    /// The buffers that an update of the inactive set has to pass along. The model takes the active set's value for each
    /// that is not passed, also if the inactive set has one; so values stay, and buffers without any are copied.
    fn buffers(&self, sets: &Sets, given: &[(usize, Tensor)]) -> Result<Vec<(usize, Tensor)>> {
        let constants = self.description.constants.iter().enumerate();
        let buffers = constants.filter(|(index, constant)| {
            constant.is_buffer && !constant.folded && given.iter().all(|(at, _)| at != index)
        });
        let mut values = Vec::new();
        for (index, constant) in buffers {
            let own = if sets.has(true, index) { sets.another(true, index)? } else { None };
            let value = match (own, sets.has(false, index)) {
                (Some(own), _) => own,
                (None, true) => match sets.another(false, index)? {
                    Some(other) => cloned(other.handle())?,
                    // The model has it, and finds it.
                    None => continue,
                },
                (None, false) => {
                    return Err(Error::new(
                        api::SCONCE_ERROR_INVALID_STATE,
                        format!(
                            "the buffer {} has no value in either set of constants; pass it, too",
                            constant.original
                        ),
                    ));
                }
            };
            values.push((index, value));
        }
        Ok(values)
    }

    /// Passes tensors to the model, and returns them with the handles that it took of them.
    fn pass(
        &self,
        container: &Container,
        tensors: Vec<(usize, Tensor)>,
        inactive: bool,
    ) -> Result<Vec<(usize, KeptConstant)>> {
        let mut names = Vec::with_capacity(tensors.len());
        for (index, _) in &tensors {
            let name = CString::new(self.description.constants[*index].name.as_str());
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
        let mut kept = Vec::with_capacity(tensors.len());
        for (index, tensor) in tensors {
            let address = data_of(tensor.handle())?;
            let own = of_model
                .iter()
                .position(|own| data_of(own.handle()).is_ok_and(|own| own == address));
            let own = own.map(|at| of_model.swap_remove(at));
            kept.push((index, KeptConstant { tensor, model: own }));
        }
        Ok(kept)
    }

    /// Makes the inactive set of constants the active one.
    pub fn swap_constants(&self) -> Result<()> {
        let _captures = Captures::stop();
        let container = self.container.write().unwrap_or_else(PoisonError::into_inner);
        let _device = (self.device >= 0).then(|| DeviceInUse::begin(self.device)).transpose()?;
        let mut sets = self.constants.lock();
        sets.check_swap(&self.description.constants)?;
        self.wait()?;
        // SAFETY: the function takes the container alone.
        let swap = || unsafe { container.call(SWAP, []) };
        if self.description.constants.iter().any(|constant| constant.folded) {
            let stream = match self.device {
                api::SCONCE_DEVICE_CPU => 0,
                device => native(current_stream(device)?)?.expose_provenance(),
            };
            let arguments = [1, stream, self.operators_address()];
            // SAFETY: the function takes a truth value, a stream and an executor.
            let folded = unsafe { container.call(FOLD, arguments) };
            if folded.is_err() {
                // The model has the inactive set in use where this failed. Two swaps put it right.
                swap().and_then(|()| swap())?;
            }
            folded?;
        }
        swap()?;
        sets.swap();
        self.changed(&sets);
        Ok(())
    }

    /// Takes the values of the inactive set from it, and gives up their memory.
    pub fn free_inactive_constants(&self) -> Result<()> {
        let _captures = Captures::stop();
        let container = self.container.write().unwrap_or_else(PoisonError::into_inner);
        let _device = (self.device >= 0).then(|| DeviceInUse::begin(self.device)).transpose()?;
        let mut sets = self.constants.lock();
        self.wait()?;
        // The function leaves the constants that the model computes without handles, which the next update asks for
        // their addresses. Without such constants it frees the memory of the library.
        let computes = self.description.constants.iter().any(|constant| constant.folded);
        if sets.inactive_is_of_library() && !computes {
            // SAFETY: the function takes the container alone.
            unsafe { container.call(FREE, []) }?;
        }
        sets.empty_inactive()?;
        self.changed(&sets);
        Ok(())
    }

    /// Notes that constants have changed: graphs read the old ones, and the next run, which may compute constants of
    /// others without a lock, has the model alone.
    fn changed(&self, sets: &Sets) {
        self.constants.changed(sets);
        self.forget_runs();
        self.forget_graphs();
    }

    /// The number of a constant.
    fn constant_of(&self, name: &str) -> Result<usize> {
        let constants = &self.description.constants;
        let found = constants
            .iter()
            .position(|known| known.name == name)
            .or_else(|| constants.iter().position(|known| known.original == name));
        let found = found.ok_or_else(|| {
            Error::invalid_argument(format!(
                "the model has no constant {name:?}; sconce_model_describe lists the names"
            ))
        })?;
        if constants[found].folded {
            return Err(Error::invalid_argument(format!(
                "the model computes the constant {name:?} from others; pass those"
            )));
        }
        Ok(found)
    }

    /// Waits for the work of the model's device.
    fn wait(&self) -> Result<()> {
        if self.device < 0 {
            return Ok(());
        }
        check(api::sconce_device_synchronize(self.device))
    }
}

/// A tensor as the model reads it as a constant: on its device, with the strides that it was compiled for.
fn value_of(constant: &Constant, tensor: TensorHandle, device: i32) -> Result<Tensor> {
    let dtype = dtype_of_tensor(tensor)?;
    let sizes = sizes_of(tensor)?;
    let is_of_type = scalar_type_of(dtype)? == constant.dtype;
    let fits = match &constant.sizes {
        Some(wanted) => *wanted == sizes,
        None => {
            let bytes = bytes_of(dtype)? as i64 * numel_of(tensor)?;
            usize::try_from(bytes).is_ok_and(|bytes| constant.takes(bytes))
        }
    };
    if !is_of_type || !fits {
        return Err(refused(constant, tensor));
    }
    let place = if constant.is_of_cpu { api::SCONCE_DEVICE_CPU } else { device };
    let Some(wanted) = &constant.strides else {
        let mut options = options(api::SCONCE_DTYPE_DEFAULT, place);
        options.memory_format = api::SCONCE_MEMORY_FORMAT_CONTIGUOUS;
        return operations::to(tensor, &options);
    };
    laid_out(tensor, place, wanted)
}

fn refused(constant: &Constant, tensor: TensorHandle) -> Error {
    let dtype = scalar_type(constant.dtype).map_or("?", |known| known.name);
    let wanted = match &constant.sizes {
        Some(sizes) => format!("{dtype}{sizes:?}"),
        None => format!("{dtype} in {} bytes", constant.bytes),
    };
    Error::invalid_argument(format!(
        "{} was passed for the constant {}, which is {wanted}; convert or reshape it",
        described(tensor),
        constant.original
    ))
}
