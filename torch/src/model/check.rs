//! What a model takes and returns, in words.

use super::description::Slot;
use crate::error::{Error, Result};
use crate::sconce::api;

/// Refuses another number of tensors than the model has; `what` is `input` or `output`.
pub fn count(what: &str, given: usize, wanted: usize) -> Result<()> {
    if given == wanted {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "{what}_count is {given}; the model has {wanted} {what}s, which sconce_model_describe lists"
    )))
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
    let sizes = match &slot.wanted.dimensions {
        Some(all) => all.iter().map(|one| one.extent.to_string()).collect::<Vec<_>>().join(", "),
        None => "?".to_owned(),
    };
    format!("{dtype}[{sizes}]")
}
