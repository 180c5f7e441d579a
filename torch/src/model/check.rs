//! Inputs that a model does not take, and outputs that do not fit their places, in words: a model reads what it was
//! compiled for, whatever it is passed.

use super::description::Slot;
use crate::abi::constants::{DEVICE_TYPE_CPU, SCALAR_TYPES};
use crate::abi::copies::described;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of, strides_of};
use crate::error::{Error, Result};
use crate::sconce::api;
use crate::sconce::properties::is_defined;
use crate::sconce::tensor::TensorHandle;

/// Refuses another number of tensors than the model has.
pub fn count(what: &str, given: usize, wanted: usize) -> Result<()> {
    if given == wanted {
        return Ok(());
    }
    Err(Error::invalid_argument(format!("{given} {what} were passed; the model has {wanted}")))
}

/// Refuses an input of another type, device or shape than the model was compiled for.
pub fn input(index: usize, input: &Slot, tensor: TensorHandle, device: i32) -> Result<()> {
    let dtype = dtype_of_tensor(tensor)?;
    let place = device_of_tensor(tensor)?;
    let wanted = &input.wanted;
    let type_fits = wanted.dtype.as_deref().is_none_or(|wanted| {
        SCALAR_TYPES
            .iter()
            .find(|known| known.dtype == dtype)
            .is_some_and(|known| known.name == wanted)
    });
    let wanted_place = match wanted.device_type {
        Some(DEVICE_TYPE_CPU) => api::SCONCE_DEVICE_CPU,
        _ => device,
    };
    let sizes = sizes_of(tensor)?;
    let shape_fits = wanted.sizes.as_ref().is_none_or(|wanted| {
        wanted.len() == sizes.len()
            && wanted.iter().zip(&sizes).all(|(extent, &size)| extent.allows(size))
    });
    if !type_fits || place != wanted_place || !shape_fits {
        return Err(refused(index, input, tensor, wanted_place));
    }
    if wanted.strides.is_empty() {
        return Ok(());
    }
    let strides = strides_of(tensor)?;
    let fits = |&(at, wanted): &(usize, i64)| {
        // The stride of a single element, or of none, reaches nothing.
        sizes.get(at).is_none_or(|&size| size <= 1)
            || strides.get(at) == Some(&wanted)
            || sizes.contains(&0)
    };
    if wanted.strides.iter().all(fits) {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "input {index} ({}) has the strides {strides:?}; the model was compiled for {}. Copy it to that order, with \
         sconce_tensor_contiguous for a row-major one",
        input.name,
        wanted
            .strides
            .iter()
            .map(|(at, stride)| format!("{stride} along dimension {at}"))
            .collect::<Vec<_>>()
            .join(", ")
    )))
}

/// Copies an output to a tensor of the caller, unless the output is undefined. A failure names the output.
#[allow(unsafe_code, reason = "calls libsconce.so")]
pub fn copied(index: usize, outputs: &[Slot], from: TensorHandle, to: TensorHandle) -> Result<()> {
    if !is_defined(from)? {
        return Ok(());
    }
    // SAFETY: any number may be passed as a handle.
    let copied = crate::sconce::check(unsafe { api::sconce_tensor_copy(to, from, true) });
    copied.map_err(|error| {
        error.within(&format!(
            "output {index} ({}) is {}, and its place {}",
            outputs.get(index).map_or("?", |output| output.name.as_str()),
            described(from),
            described(to)
        ))
    })
}

fn refused(index: usize, input: &Slot, tensor: TensorHandle, place: i32) -> Error {
    Error::invalid_argument(format!(
        "input {index} ({}) is {}; the model takes {}",
        input.name,
        described(tensor),
        wanted(input, place)
    ))
}

/// What an input must be or an output is, as `float32[2..64, 256] on cuda:0`.
pub fn wanted(slot: &Slot, device: i32) -> String {
    format!("{} on {}", type_and_sizes(slot), place_name(device))
}

/// The name of a device.
pub fn place_name(device: i32) -> String {
    match device {
        api::SCONCE_DEVICE_CPU => "cpu".to_owned(),
        index => format!("cuda:{index}"),
    }
}

/// What an input must be or an output is, as `float32[2..64, 256]`.
pub fn type_and_sizes(slot: &Slot) -> String {
    let dtype = slot.wanted.dtype.as_deref().unwrap_or("any type");
    let sizes = match &slot.wanted.sizes {
        Some(sizes) => sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        None => "?".to_owned(),
    };
    format!("{dtype}[{sizes}]")
}
