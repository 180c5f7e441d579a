//! What a model takes and returns, and its constants.

use std::collections::HashMap;

use super::functions::{Container, text};
use crate::abi::constants::dtype_of;
use crate::error::{Error, Result};
use crate::operations::tensors::bytes_of;
use crate::package::outputs::outputs;
use crate::package::source::{self, Wanted};

/// The memory of a constant of a model for the CPU is rounded up to a multiple of so many bytes.
const MEMORY_STEP: usize = 64;

/// An input or an output.
#[derive(Clone, Debug)]
pub struct Slot {
    /// The model's name of it.
    pub name: String,
    /// What an input must be and what an output is, as far as that is known.
    pub wanted: Wanted,
}

/// A constant: a parameter or a buffer.
#[derive(Clone, Debug)]
pub struct Constant {
    /// The model's name of it.
    pub name: String,
    /// Its name in the program that was compiled, such as `layers.0.weight`.
    pub original: String,
    /// c10's number of the type.
    pub dtype: i32,
    /// Bytes of the elements, as far as the source says how many there are; else those of the memory.
    pub bytes: usize,
    /// Bytes of the memory that the model counts for it.
    pub memory: usize,
    /// Whether the model works it out of others.
    pub folded: bool,
}

/// What a model is.
#[derive(Clone, Debug)]
pub struct Description {
    /// The inputs, in order.
    pub inputs: Vec<Slot>,
    /// The outputs, in order.
    pub outputs: Vec<Slot>,
    /// The constants, in the model's order.
    pub constants: Vec<Constant>,
    /// How the arguments of the program that was compiled become inputs, and outputs its result: JSON.
    pub call_spec: [String; 2],
    /// Bytes of all constants.
    pub constant_bytes: u64,
}

impl Description {
    /// Reads it from a model, and types and shapes of inputs and outputs from its source.
    #[allow(unsafe_code, reason = "calls a function of a model")]
    pub fn read(model: &Container, source: Option<&str>) -> Result<Description> {
        let wanted = source.map(source::inputs).unwrap_or_default();
        let made = source.map(|source| outputs(source, &wanted)).unwrap_or_default();
        let inputs = slots(model, "Input", wanted)?;
        let outputs = slots(model, "Output", made)?;
        let mut addresses = [0_usize; 2];
        let [first, second] = &mut addresses;
        let places =
            [(&raw mut *first).expose_provenance(), (&raw mut *second).expose_provenance()];
        let call_spec = match model.has("AOTInductorModelContainerGetCallSpec") {
            // SAFETY: the function takes two places for texts behind the container.
            true => unsafe { model.call("AOTInductorModelContainerGetCallSpec", places) },
            false => Ok(()),
        };
        call_spec?;
        let elements = source.map(source::elements_of_constants).unwrap_or_default();
        let constants = constants(model, &elements)?;
        Ok(Description {
            constant_bytes: constants.iter().map(|constant| constant.bytes as u64).sum(),
            inputs,
            outputs,
            constants,
            call_spec: addresses.map(text),
        })
    }
}

/// The inputs or the outputs, with what the source says of them.
fn slots(model: &Container, kind: &str, mut wanted: Vec<Wanted>) -> Result<Vec<Slot>> {
    let count: usize = model.number(&format!("AOTInductorModelContainerGetNum{kind}s"))?;
    wanted.resize(count, Wanted::default());
    let name = format!("AOTInductorModelContainerGet{kind}Name");
    let slot = |(index, wanted)| Ok(Slot { name: model.text_of(&name, index)?, wanted });
    wanted.into_iter().enumerate().map(slot).collect()
}

/// The place of a name among inputs or outputs. `what` is which of them.
pub fn find(slots: &[Slot], what: &str, name: &str) -> Result<usize> {
    slots.iter().position(|slot| slot.name == name).ok_or_else(|| {
        let names: Vec<&str> = slots.iter().map(|slot| slot.name.as_str()).collect();
        Error::invalid_argument(format!(
            "the model has no {what} {name:?}; it has {}",
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        ))
    })
}

impl Constant {
    /// Whether a tensor of so many bytes may become this constant. If the source is missing, what fits into the memory
    /// once its bytes are rounded up is taken.
    pub fn takes(&self, bytes: usize) -> bool {
        bytes == self.bytes || (self.bytes == self.memory && rounded(bytes) == self.memory)
    }
}

/// The bytes that models for the CPU count for a constant of so many.
fn rounded(bytes: usize) -> usize {
    bytes.next_multiple_of(MEMORY_STEP)
}

fn constants(model: &Container, elements: &HashMap<String, usize>) -> Result<Vec<Constant>> {
    let count: usize = model.number("AOTInductorModelContainerGetNumConstants")?;
    let of = |what: &str| format!("AOTInductorModelContainerGetConstant{what}");
    let mut constants = Vec::with_capacity(count);
    for index in 0..count {
        let name = model.text_of(&of("Name"), index)?;
        let dtype = model.number_of(&of("Dtype"), index)?;
        let memory = model.number_of(&of("DataSize"), index)?;
        let count = elements.get(&name).copied();
        let exact =
            count.and_then(|count| bytes_of(dtype_of(dtype).ok()?).ok()?.checked_mul(count));
        // A view has other elements than its memory, and packed weights have other bytes than elements.
        let exact = exact.filter(|exact| *exact == memory || rounded(*exact) == memory);
        constants.push(Constant {
            name,
            original: model.text_of(&of("OriginalFQN"), index)?,
            dtype,
            bytes: exact.unwrap_or(memory),
            memory,
            folded: model.number_of(&of("FromFolded"), index)?,
        });
    }
    Ok(constants)
}
