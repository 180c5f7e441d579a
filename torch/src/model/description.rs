//! What a model takes and returns, and its constants.

use std::collections::HashMap;

use super::functions::{Container, text};
use crate::abi::constants::dtype_of;
use crate::abi::tensors::{device_of_tensor, sizes_of, strides_of};
use crate::error::{Error, Result};
use crate::operations::tensors::bytes_of;
use crate::package::constants::{ConstantLayout, layouts_of_constants};
use crate::package::inputs::{Inputs, Symbol, Wanted};
use crate::package::outputs::outputs;
use crate::package::packaged::GeneratedSource;
use crate::sconce::{Tensor, api};

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
    /// Its sizes, if they are known.
    pub sizes: Option<Vec<i64>>,
    /// The strides that the model was compiled for, if they are known.
    pub strides: Option<Vec<i64>>,
    /// Whether it lies in the CPU's memory, also in a model of CUDA.
    pub is_of_cpu: bool,
    /// Whether it is a buffer or no state of the program: the inactive set takes its value from the active one if the
    /// program passes none.
    pub is_buffer: bool,
    /// Whether the model works it out of others.
    pub folded: bool,
}

/// What a model is.
#[derive(Clone, Debug)]
pub struct Description {
    /// The inputs, in order.
    pub inputs: Vec<Slot>,
    /// Symbols that sizes of inputs depend on.
    pub symbols: Vec<Symbol>,
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
    pub fn read(model: &Container, source: Option<&GeneratedSource>) -> Result<Description> {
        let read = source.map(|it| Inputs::read(&it.model, &it.kernels)).unwrap_or_default();
        let made = source.map(|it| outputs(&it.model, &read)).unwrap_or_default();
        let inputs = slots(model, "Input", read.wanted)?;
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
        let layouts = source.map(|it| layouts_of_constants(&it.model)).unwrap_or_default();
        let constants = constants(model, &layouts)?;
        Ok(Description {
            constant_bytes: constants.iter().map(|constant| constant.bytes as u64).sum(),
            inputs,
            symbols: read.symbols,
            outputs,
            constants,
            call_spec: addresses.map(text),
        })
    }
}

impl Description {
    /// Values of the library in the model's order, by the numbers of the constants. The model makes none of those that
    /// it computes later.
    pub fn by_constant(&self, made: Vec<Option<Tensor>>) -> Vec<Option<Tensor>> {
        let own = self.constants.iter().filter(|constant| !constant.folded).count();
        if made.len() != own {
            return Vec::new();
        }
        let mut made = made.into_iter();
        let next = |constant: &Constant| if constant.folded { None } else { made.next().flatten() };
        self.constants.iter().map(next).collect()
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
        let has_names = !names.iter().all(|name| is_generated(name));
        Error::invalid_argument(format!(
            "name: the model has no {what} {name:?}; it has {}{}",
            if names.is_empty() { "none".to_owned() } else { names.join(", ") },
            if names.is_empty() || has_names {
                ""
            } else {
                ". The package does not have the program's own names: PyTorch's compiler has replaced them, in the \
                 order of the program's arguments"
            }
        ))
    })
}

/// Whether a name is one of those that PyTorch's compiler makes up, such as `arg0_1`, `arg12_1` and `buf3`.
fn is_generated(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    name.strip_prefix("buf").is_some_and(is_number)
        || name
            .strip_prefix("arg")
            .and_then(|rest| rest.split_once('_'))
            .is_some_and(|(at, again)| is_number(at) && is_number(again))
}

impl Constant {
    /// Whether a tensor of so many bytes may become this constant, whose sizes are not known: what fits into the memory
    /// once its bytes are rounded up is taken.
    pub fn takes(&self, bytes: usize) -> bool {
        bytes == self.bytes || (self.bytes == self.memory && rounded(bytes) == self.memory)
    }

    /// Takes over what the library's own value says, which is known without the source, too.
    pub fn complete(&mut self, own: &Tensor) -> Result<()> {
        let tensor = own.handle();
        self.is_of_cpu = device_of_tensor(tensor)? == api::SCONCE_DEVICE_CPU;
        self.sizes = Some(sizes_of(tensor)?);
        self.strides = Some(strides_of(tensor)?);
        self.count_bytes();
        Ok(())
    }

    /// Counts the bytes of the elements. A view has other elements than its memory, and packed weights have other bytes
    /// than elements.
    fn count_bytes(&mut self) {
        let element = dtype_of(self.dtype).and_then(bytes_of).ok();
        let count = self.sizes.iter().flatten().try_fold(element.unwrap_or(0), |bytes, &size| {
            usize::try_from(size).ok().and_then(|size| bytes.checked_mul(size))
        });
        if let (Some(_), Some(_), Some(exact)) = (&self.sizes, element, count)
            && (exact == self.memory || rounded(exact) == self.memory)
        {
            self.bytes = exact;
        }
    }
}

/// The bytes that models for the CPU count for a constant of so many.
fn rounded(bytes: usize) -> usize {
    bytes.next_multiple_of(MEMORY_STEP)
}

/// What `AOTInductorModelContainerGetConstantType` returns for a buffer and for a constant that is no state.
const BUFFERS: [i32; 2] = [2, 3];

fn constants(
    model: &Container,
    layouts: &HashMap<String, ConstantLayout>,
) -> Result<Vec<Constant>> {
    let count: usize = model.number("AOTInductorModelContainerGetNumConstants")?;
    let of = |what: &str| format!("AOTInductorModelContainerGetConstant{what}");
    let has_kinds = model.has(&of("Type"));
    let mut constants = Vec::with_capacity(count);
    for index in 0..count {
        let name = model.text_of(&of("Name"), index)?;
        let memory = model.number_of(&of("DataSize"), index)?;
        let kind: i32 = if has_kinds { model.number_of(&of("Type"), index)? } else { 0 };
        let layout = layouts.get(&name).cloned().unwrap_or_default();
        let mut constant = Constant {
            name,
            original: model.text_of(&of("OriginalFQN"), index)?,
            dtype: model.number_of(&of("Dtype"), index)?,
            bytes: memory,
            memory,
            sizes: layout.sizes,
            strides: layout.strides,
            is_of_cpu: layout.is_of_cpu,
            is_buffer: BUFFERS.contains(&kind) || (kind != 0 && memory == 0),
            folded: model.number_of(&of("FromFolded"), index)?,
        };
        constant.count_bytes();
        constants.push(constant);
    }
    Ok(constants)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_name_that_the_package_does_not_have_is_refused_with_the_reason() {
        let slot = |name: &&str| Slot { name: (*name).to_owned(), wanted: Wanted::default() };
        let why = |names: &[&str], name: &str| {
            let slots: Vec<Slot> = names.iter().map(slot).collect();
            find(&slots, "input", name).unwrap_err().message
        };
        let lost = why(&["arg0_1", "arg12_1"], "x");
        assert!(
            lost.starts_with("name: the model has no input \"x\"; it has arg0_1, arg12_1. "),
            "{lost}"
        );
        assert!(lost.contains("does not have the program's own names"), "{lost}");
        for names in [&["arg0_1", "x"][..], &["arg", "arg_1"], &["buffer"], &[]] {
            assert!(!why(names, "y").contains("own names"), "{names:?}");
        }
        assert_eq!(find(&[slot(&"a"), slot(&"b")], "input", "b").unwrap(), 1);
    }
}
