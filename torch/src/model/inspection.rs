//! What a model is and needs, read from its package and from the symbols of its library. Nothing of it is opened, so
//! models are described that cannot be loaded here.

use std::collections::BTreeMap;
use std::path::Path;

use super::check;
use super::description::Slot;
use super::functions::REQUIRED;
use super::operators::{CALL, missing as missing_operators, named_line, names};
use super::words::unchecked;
use crate::error::Result;
use crate::loading::process::{is_of_torch, needs_runtime, offers, operation_of};
use crate::loading::symbols::{Symbols, symbols, symbols_of};
use crate::package::archive::is_library;
use crate::package::inputs::{Inputs, Wanted};
use crate::package::outputs::outputs;
use crate::package::packaged::{
    GeneratedSource, NamedOperators, PackagedModel, operators_beside, source_beside,
};
use crate::registry::table::Place;

/// The files of a model.
struct Files {
    symbols: Symbols,
    source: Option<GeneratedSource>,
    operators: NamedOperators,
    metadata: BTreeMap<String, String>,
    /// Where the values of the constants are, if they are in files of the package.
    weights: Option<String>,
}

impl Files {
    fn of(path: &Path, name: Option<&str>) -> Result<Files> {
        if is_library(path)? {
            return Ok(Files {
                symbols: symbols(path)?,
                source: source_beside(path),
                operators: operators_beside(path),
                metadata: BTreeMap::new(),
                weights: None,
            });
        }
        let mut package = PackagedModel::open(path, name)?;
        let weights = match (package.has_blob(), package.weights.len()) {
            (true, _) => Some("in a file of the package".to_owned()),
            (false, 0) => None,
            (false, count) => Some(format!("in files of the package, {count} of them")),
        };
        Ok(Files {
            symbols: symbols_of(&package.library()?, path)?,
            source: package.source,
            operators: package.operators,
            metadata: package.metadata,
            weights,
        })
    }
}

/// What a model is and needs, in lines of text.
pub fn words(path: &Path, name: Option<&str>) -> Result<String> {
    let files = Files::of(path, name)?;
    let symbols = &files.symbols;
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
    let calls = symbols.undefined.iter().any(|name| name == CALL);
    match &files.operators {
        Ok(Some(operators)) => {
            lines.extend(names(operators).iter().map(|name| named_line(name)));
            for missing in missing_operators(operators, place) {
                let what = if missing.is_of_pytorch { "operation" } else { "operator" };
                lines.push(format!("missing {what}: {}", missing.line));
            }
        }
        Err(why) if calls => lines.push(format!("custom operators: {}", why.message)),
        Ok(None) if calls => {
            lines.push("custom operators: the file that names them is missing".to_owned());
        }
        _ => {}
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
