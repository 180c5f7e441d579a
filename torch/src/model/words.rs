//! A loaded model in words.

use std::sync::PoisonError;

use super::check;
use super::description::Slot;
use super::inputs::is_checked;
use super::loaded::Model;
use super::operators::named_line;
use crate::abi::constants::scalar_type;
use crate::error::Result;
use crate::loading::process::is_of_torch;
use crate::sconce::precision::{convolutions_allow_tf32, tf32_setting};

/// Which inputs are not checked, and why.
pub(super) fn unchecked(inputs: &[Slot]) -> Option<String> {
    let unchecked: Vec<String> = inputs
        .iter()
        .enumerate()
        .filter(|(_, input)| !is_checked(input))
        .map(|(index, _)| index.to_string())
        .collect();
    (!unchecked.is_empty()).then(|| {
        format!(
            "unchecked inputs: {}; the model's source, which says what they must be, is missing or does not say it. The \
             model reads what it was compiled for, whatever it is passed",
            unchecked.join(", ")
        )
    })
}

/// Whether products and convolutions of float32 use TF32 on devices, and why.
fn precision_line() -> String {
    let with = |allowed: bool| if allowed { "with TF32" } else { "without TF32" };
    let products = match tf32_setting() {
        Some(allowed) => {
            format!("{} (as the program or the environment has set it)", with(allowed))
        }
        None => {
            "without TF32 (the default of compiled models; libsconce's is with TF32)".to_owned()
        }
    };
    let convolutions = with(convolutions_allow_tf32());
    format!("float32 on devices: products {products}, convolutions {convolutions}")
}

impl Model {
    /// What the model takes and returns, its constants, its memory, what it calls, and what it was compiled for.
    pub fn words(&self) -> Result<String> {
        let description = &self.description;
        let mut lines = Vec::new();
        for (index, input) in description.inputs.iter().enumerate() {
            let wanted = check::wanted(input, self.device);
            let related = self.checks.relations(index);
            let related = if related.is_empty() {
                String::new()
            } else {
                format!(", where {}", related.join(" and "))
            };
            lines.push(format!("input {index}: {} {wanted}{related}", input.name));
        }
        lines.extend(self.checks.symbol_words(&description.inputs));
        lines.extend(self.checks.unrelated_words(&description.inputs));
        lines.extend(unchecked(&description.inputs));
        for (index, output) in description.outputs.iter().enumerate() {
            let is_known = output.wanted.dtype.is_some() || output.wanted.dimensions.is_some();
            let made = if is_known { check::wanted(output, self.device) } else { String::new() };
            lines.push(format!("output {index}: {} {made}", output.name).trim_end().to_owned());
        }
        let (count, bytes) = (description.constants.len(), description.constant_bytes);
        lines.push(format!("constants: {count} with {bytes} bytes"));
        for constant in &description.constants {
            let dtype = scalar_type(constant.dtype).map_or("?", |known| known.name);
            lines
                .push(format!("constant {}: {dtype}, {} bytes", constant.original, constant.bytes));
        }
        if count > 0 {
            let inactive = self.constants.lock().inactive_words();
            lines.push(format!("inactive constants: {inactive}"));
        }
        lines.push(precision_line());
        let memory = self.memory()?;
        lines.push(format!(
            "memory: constants take {} bytes on {}, tensors of a run {} at most so far, {} graphs {} for inputs and {} \
             for the rest",
            memory.constants,
            check::place_name(self.device),
            memory.run,
            memory.graphs,
            memory.graph_inputs,
            memory.graph_pools
        ));
        let container = self.container.read().unwrap_or_else(PoisonError::into_inner);
        let needed = container.undefined().iter().filter(|name| is_of_torch(name)).count();
        drop(container);
        lines.push(format!("functions: {needed} of PyTorch's ABI and the libraries behind it"));
        for name in self.operators.names() {
            lines.push(named_line(&name));
        }
        for (key, value) in self.metadata.iter().filter(|(_, value)| !value.is_empty()) {
            lines.push(format!("{key}: {value}"));
        }
        lines.push(format!("arguments: {}", description.call_spec[0]));
        lines.push(format!("results: {}", description.call_spec[1]));
        Ok(lines.join("\n"))
    }
}
