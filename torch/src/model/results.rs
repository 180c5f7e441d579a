//! What a run returns: handles of their own, and copies in tensors of the caller.
//!
//! A model hands a tensor out as often as the program returns it, always with the same handle; it may hand out an input,
//! and views of anything. Each output is a handle of its own here. Outputs may share their memory with each other and
//! with inputs, as in PyTorch, but not with the memory of the model's library, which goes when the model is unloaded.

use super::constant_state::ConstantState;
use super::description::Slot;
use crate::abi::arguments::{GivenTensors, name_tensor};
use crate::abi::copies::{cloned, described};
use crate::abi::handles::another_handle;
use crate::abi::tensors::{data_of, sizes_of, storage_of, strides_of};
use crate::error::{Error, Result};
use crate::sconce::operations::undefined;
use crate::sconce::properties::is_defined;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, check};

/// The handles that a run has written to its places for outputs; each is owned once, however often it occurs.
pub(super) struct RunHandles(Vec<RunOutput>);

/// An output as the model returned it.
enum RunOutput {
    /// The program returned None.
    None,
    Own(Tensor),
    /// The same handle as of an earlier output.
    Again(usize),
}

impl RunHandles {
    pub(super) fn new(handles: Vec<TensorHandle>) -> RunHandles {
        let mut outputs: Vec<RunOutput> = Vec::with_capacity(handles.len());
        for (at, &handle) in handles.iter().enumerate() {
            outputs.push(match handles[..at].iter().position(|&before| before == handle) {
                _ if handle.is_null() => RunOutput::None,
                Some(first) => RunOutput::Again(first),
                None => RunOutput::Own(Tensor::from_handle(handle)),
            });
        }
        RunHandles(outputs)
    }

    /// The outputs, each with a handle of its own and none with one of the inputs.
    pub(super) fn outputs(
        self,
        inputs: &[TensorHandle],
        constants: &ConstantState,
    ) -> Result<Vec<Tensor>> {
        let mut outputs: Vec<Tensor> = Vec::with_capacity(self.0.len());
        for output in self.0 {
            outputs.push(match output {
                RunOutput::None => undefined()?,
                RunOutput::Again(first) => another_handle(outputs[first].handle())?,
                RunOutput::Own(tensor) if constants.is_in_library(tensor.handle())? => {
                    cloned(tensor.handle())?
                }
                RunOutput::Own(tensor) if inputs.contains(&tensor.handle()) => {
                    another_handle(tensor.handle())?
                }
                RunOutput::Own(tensor) => tensor,
            });
        }
        Ok(outputs)
    }
}

/// A tensor's memory: begin and end.
fn memory_of(tensor: TensorHandle) -> Result<(usize, usize)> {
    let (begin, bytes) = storage_of(tensor)?;
    Ok((begin.addr(), begin.addr() + bytes))
}

fn overlap(a: (usize, usize), b: (usize, usize)) -> bool {
    a.0 < b.1 && b.0 < a.1
}

/// Whether two tensors are the same elements in the same order.
fn is_same(a: TensorHandle, b: TensorHandle) -> Result<bool> {
    Ok(data_of(a)? == data_of(b)?
        && sizes_of(a)? == sizes_of(b)?
        && strides_of(a)? == strides_of(b)?)
}

/// Copies tensors to places, as if all were read before the first is written: a place may be the memory of a tensor that
/// is copied after it. Undefined tensors are not copied, and their places not used. `name` describes a failure.
pub(super) fn copy_to_places(
    tensors: &[TensorHandle],
    places: &[Option<TensorHandle>],
    failed: impl Fn(usize, Error) -> Error,
) -> Result<()> {
    let mut pairs = Vec::with_capacity(tensors.len());
    for (at, (&from, &to)) in tensors.iter().zip(places).enumerate() {
        if let (Some(to), true) = (to, is_defined(from)?) {
            let place = memory_of(to).map_err(|error| failed(at, error))?;
            pairs.push((at, from, memory_of(from)?, to, place));
        }
    }
    let mut held: Vec<Tensor> = Vec::new();
    for now in 0..pairs.len() {
        let (at, _, _, to, place) = pairs[now];
        for (later, (_, from, memory, ..)) in pairs.iter_mut().enumerate().skip(now) {
            if overlap(*memory, place) && !(later == now && is_same(*from, to)?) {
                let copy = cloned(*from)?;
                (*from, *memory) = (copy.handle(), memory_of(copy.handle())?);
                held.push(copy);
            }
        }
        let copied = check(api::sconce_tensor_copy(to, pairs[now].1, true));
        copied.map_err(|error| failed(at, error))?;
    }
    Ok(())
}

/// A failure with an output and its place.
fn misfit(
    at: usize,
    outputs: &[Slot],
    from: TensorHandle,
    place: Option<TensorHandle>,
    error: Error,
) -> Error {
    error.within(&format!(
        "output {at} ({}) is {}, and its place {}",
        outputs.get(at).map_or("?", |output| output.name.as_str()),
        described(from),
        place.map_or_else(String::new, described)
    ))
}

/// Refuses places that have other sizes than the outputs, though a copy would repeat the elements in a larger one.
pub(super) fn check_places(
    outputs: &[Slot],
    tensors: &[TensorHandle],
    places: &[Option<TensorHandle>],
) -> Result<()> {
    for (at, (&from, &place)) in tensors.iter().zip(places).enumerate() {
        let Some(to) = place.filter(|_| is_defined(from).unwrap_or(true)) else { continue };
        let failed = |error| misfit(at, outputs, from, place, error);
        let sizes = sizes_of(to).map_err(|error| {
            let places = || GivenTensors::of(&[(&format!("outputs[{at}]"), to)]);
            failed(name_tensor(error, places))
        })?;
        let wanted = sizes_of(from)?;
        if sizes != wanted {
            return Err(failed(Error::invalid_argument(format!(
                "outputs[{at}] has the sizes {sizes:?}; pass a tensor with the sizes {wanted:?}"
            ))));
        }
    }
    Ok(())
}

/// Copies outputs to tensors of the caller. A failure names the output. None is written if one does not fit.
pub fn copy_outputs(
    outputs: &[Slot],
    tensors: &[TensorHandle],
    places: &[Option<TensorHandle>],
) -> Result<()> {
    check_places(outputs, tensors, places)?;
    copy_to_places(tensors, places, |at, error| {
        let place = places.get(at).copied().flatten();
        misfit(at, outputs, tensors.get(at).copied().unwrap_or_default(), place, error)
    })
}
