//! Brackets, lines and what follows the elements.

use sconce_base::element::Dtype;

use super::excerpt::{EDGE, Excerpt};
use super::numbers::Texts;
use crate::tensor::{Place, Tensor};

const PREFIX: &str = "tensor(";
/// Lines after the first begin below what follows the prefix.
pub(super) const INDENT: usize = PREFIX.len();
const LINE_WIDTH: usize = 80;

/// The elements in nested brackets.
pub(super) fn brackets(excerpt: &Excerpt, texts: &Texts, indent: usize) -> String {
    slice(excerpt, texts.width, 0, &texts.elements, indent)
}

/// The elements of one index of the dimensions before `dim`.
fn slice(
    excerpt: &Excerpt,
    width: usize,
    dim: usize,
    elements: &[String],
    indent: usize,
) -> String {
    let dims_left = excerpt.sizes.len() - dim;
    match dims_left {
        0 => return elements.concat(),
        1 => return vector(excerpt.is_cut[dim], width, elements, indent),
        _ => {}
    }
    let size = excerpt.sizes[dim] as usize;
    let mut slices: Vec<String> = elements
        .chunks(elements.len() / size)
        .map(|part| slice(excerpt, width, dim + 1, part, indent + 1))
        .collect();
    if excerpt.is_cut[dim] {
        slices.insert(EDGE as usize, "...".to_owned());
    }
    let separator = format!(",{}{}", "\n".repeat(dims_left - 1), " ".repeat(indent + 1));
    format!("[{}]", slices.join(&separator))
}

/// The elements of the last dimension, as many on a line as fit.
fn vector(is_cut: bool, width: usize, elements: &[String], indent: usize) -> String {
    let per_line = (LINE_WIDTH.saturating_sub(indent) / width).max(1);
    let mut shown: Vec<&str> = elements.iter().map(String::as_str).collect();
    if is_cut {
        shown.insert(EDGE as usize, " ...");
    }
    let lines: Vec<String> = shown.chunks(per_line).map(|line| line.join(", ")).collect();
    format!("[{}]", lines.join(&format!(",\n{}", " ".repeat(indent + 1))))
}

/// The whole text: device, shape and type follow the elements where the elements do not tell them.
pub(super) fn with_suffixes(tensor: &Tensor, elements: &str) -> String {
    let mut text = format!("{PREFIX}{elements}");
    let last_line = text.len() - text.rfind('\n').unwrap_or(0);
    // torch counts two characters more in a text of one line, and one in others.
    let mut used = last_line + if text.contains('\n') { 1 } else { 2 };
    for suffix in suffixes(tensor) {
        if used + suffix.len() + 2 > LINE_WIDTH {
            text += &format!(",\n{}{suffix}", " ".repeat(INDENT));
            used = INDENT + suffix.len();
        } else {
            text += &format!(", {suffix}");
            used += suffix.len() + 2;
        }
    }
    text + ")"
}

fn suffixes(tensor: &Tensor) -> Vec<String> {
    let mut suffixes = Vec::new();
    if tensor.place() != Place::Cpu {
        suffixes.push(format!("device='{}'", tensor.place()));
    }
    let dtype = tensor.dtype();
    let is_told = if tensor.numel() == 0 {
        if tensor.rank() != 1 {
            let sizes: Vec<String> = tensor.sizes().iter().map(i64::to_string).collect();
            suffixes.push(format!("size=({})", sizes.join(", ")));
        }
        dtype == Dtype::F32
    } else {
        matches!(dtype, Dtype::F32 | Dtype::C64 | Dtype::I64 | Dtype::Bool)
    };
    if !is_told {
        suffixes.push(format!("dtype=torch.{}", dtype.torch_name()));
    }
    suffixes
}
