//! What a model is and needs, read from its package and from the symbols of its library. Nothing of it is opened, so
//! models are described that cannot be loaded here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::check;
use super::description::Slot;
use super::functions::REQUIRED;
use super::operators::{CALL, missing as missing_operators, names};
use super::words::unchecked;
use crate::error::Result;
use crate::loading::process::{is_of_torch, needs_runtime, offers, operation_of};
use crate::loading::symbols::symbols;
use crate::package::archive::{Source, Unpacked, is_library, source_beside, unpack};
use crate::package::inputs::{Inputs, Wanted};
use crate::package::nodes::{Node, nodes};
use crate::package::outputs::outputs;
use crate::registry::table::Place;

/// The files of a model.
struct Files {
    library: PathBuf,
    source: Option<Source>,
    operators: Option<Vec<Node>>,
    metadata: BTreeMap<String, String>,
    /// Where the values of the constants are, if they are in files of the package.
    weights: Option<String>,
    /// Removes the files of a package at its end.
    _package: Option<Unpacked>,
}

impl Files {
    fn of(path: &Path, name: Option<&str>) -> Result<Files> {
        if is_library(path)? {
            let operators = std::fs::read_to_string(path.with_extension("json")).ok();
            return Ok(Files {
                library: path.to_owned(),
                source: source_beside(path),
                operators: operators.and_then(|text| nodes(&text)).transpose()?,
                metadata: BTreeMap::new(),
                weights: None,
                _package: None,
            });
        }
        let mut unpacked = unpack(path, name)?;
        let weights = match (&unpacked.blob, unpacked.weights.len()) {
            (Some(_), _) => Some("in a file of the package".to_owned()),
            (None, 0) => None,
            (None, count) => Some(format!("in files of the package, {count} of them")),
        };
        Ok(Files {
            library: unpacked.library.clone(),
            source: unpacked.source.take(),
            operators: unpacked.operators.take(),
            metadata: std::mem::take(&mut unpacked.metadata),
            weights,
            _package: Some(unpacked),
        })
    }
}

/// What a model is and needs, in lines of text.
pub fn words(path: &Path, name: Option<&str>) -> Result<String> {
    let files = Files::of(path, name)?;
    let symbols = symbols(&files.library)?;
    let device = match files.metadata.get("AOTI_DEVICE_KEY").map(String::as_str) {
        Some(device) => device.to_owned(),
        None if needs_runtime(&symbols.undefined) => "cuda".to_owned(),
        None => "cpu".to_owned(),
    };
    let mut lines = vec![format!("compiled for: {device}")];
    if let Some(function) = REQUIRED.iter().find(|name| !symbols.defined.contains(**name)) {
        lines.push(format!("no compiled model: the library has no function {function}"));
    }
    tensors(&files, &device, &mut lines);
    if let Some(weights) = &files.weights {
        lines.push(format!("weights: {weights}"));
    }
    let needed: Vec<&String> = symbols.undefined.iter().filter(|name| is_of_torch(name)).collect();
    lines.push(format!("functions: {} of PyTorch's ABI and the libraries behind it", needed.len()));
    for function in needed.iter().filter(|name| !offers(name)) {
        lines.push(format!("missing function: {}", operation_of(function)));
    }
    let place = if device == "cpu" { Place::Cpu } else { Place::Cuda };
    match &files.operators {
        Some(operators) => {
            let missing = missing_operators(operators, place);
            for name in names(operators) {
                lines.push(format!("custom operator: {name}"));
            }
            for operator in missing {
                lines.push(format!("missing operator: {operator}"));
            }
        }
        None if symbols.undefined.iter().any(|name| name == CALL) => {
            lines.push("custom operators: the file that names them is missing".to_owned());
        }
        None => {}
    }
    for (key, value) in files.metadata.iter().filter(|(_, value)| !value.is_empty()) {
        lines.push(format!("{key}: {value}"));
    }
    Ok(lines.join("\n"))
}

/// Inputs and outputs, whose names the library alone has.
fn tensors(files: &Files, device: &str, lines: &mut Vec<String>) {
    let Some(source) = &files.source else {
        lines.push(
            "inputs and outputs: the package does not have the model's source, which says what they are; inputs are \
             not checked"
                .to_owned(),
        );
        return;
    };
    let inputs = Inputs::read(&source.model, &source.kernels);
    let made = outputs(&source.model, &inputs);
    let slots = |wanted: Vec<Wanted>| -> Vec<Slot> {
        wanted.into_iter().map(|wanted| Slot { name: String::new(), wanted }).collect()
    };
    let (inputs, made) = (slots(inputs.wanted), slots(made));
    for (what, slots) in [("input", &inputs), ("output", &made)] {
        for (index, slot) in slots.iter().enumerate() {
            lines.push(format!("{what} {index}: {} on {device}", check::type_and_sizes(slot)));
        }
    }
    lines.extend(unchecked(&inputs));
}
