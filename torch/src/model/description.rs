//! What a model takes and returns, and its constants.

use super::functions::{Container, text};
use crate::error::Result;
use crate::package::source::{self, Wanted};

/// An input.
#[derive(Clone, Debug)]
pub struct Input {
    /// The model's name of it.
    pub name: String,
    /// What it must be, as far as that is known.
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
    /// Bytes of the elements.
    pub bytes: usize,
    /// Whether the model works it out of others.
    pub folded: bool,
}

/// What a model is.
#[derive(Clone, Debug)]
pub struct Description {
    /// The inputs, in order.
    pub inputs: Vec<Input>,
    /// Names of the outputs, in order.
    pub outputs: Vec<String>,
    /// The constants, in the model's order.
    pub constants: Vec<Constant>,
    /// How the arguments of the program that was compiled become inputs, and outputs its result: JSON.
    pub call_spec: [String; 2],
    /// Bytes of all constants.
    pub constant_bytes: u64,
}

impl Description {
    /// Reads it from a model, and types and shapes of the inputs from its source.
    #[allow(unsafe_code, reason = "calls a function of a model")]
    pub fn read(model: &Container, source: Option<&str>) -> Result<Description> {
        let mut wanted = source.map(source::inputs).unwrap_or_default();
        let count: usize = model.number("AOTInductorModelContainerGetNumInputs")?;
        wanted.resize(count, Wanted::default());
        let mut inputs = Vec::with_capacity(count);
        for (index, wanted) in wanted.into_iter().enumerate() {
            let name = model.text_of("AOTInductorModelContainerGetInputName", index)?;
            inputs.push(Input { name, wanted });
        }
        let count: usize = model.number("AOTInductorModelContainerGetNumOutputs")?;
        let mut outputs = Vec::with_capacity(count);
        for index in 0..count {
            outputs.push(model.text_of("AOTInductorModelContainerGetOutputName", index)?);
        }
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
        let constants = constants(model)?;
        Ok(Description {
            constant_bytes: constants.iter().map(|constant| constant.bytes as u64).sum(),
            inputs,
            outputs,
            constants,
            call_spec: addresses.map(text),
        })
    }
}

fn constants(model: &Container) -> Result<Vec<Constant>> {
    let count: usize = model.number("AOTInductorModelContainerGetNumConstants")?;
    let of = |what: &str| format!("AOTInductorModelContainerGetConstant{what}");
    let mut constants = Vec::with_capacity(count);
    for index in 0..count {
        constants.push(Constant {
            name: model.text_of(&of("Name"), index)?,
            original: model.text_of(&of("OriginalFQN"), index)?,
            dtype: model.number_of(&of("Dtype"), index)?,
            bytes: model.number_of(&of("DataSize"), index)?,
            folded: model.number_of(&of("FromFolded"), index)?,
        });
    }
    Ok(constants)
}
