//! A tensor as text, as torch prints it in Python: `torch._tensor_str` with its default options.
//!
//! Each file uses only files above it.
//!
//! | file | idea |
//! |---|---|
//! | `excerpt` | the elements that are printed: all, or the first and last of each dimension |
//! | `numbers` | the text of each element, of one width |
//! | `layout` | brackets, lines and what follows the elements |
//! | `tests` | texts that torch printed |

mod excerpt;
mod layout;
mod numbers;

use sconce_base::error::Result;

use super::value::Tensor;
use excerpt::Excerpt;
use numbers::Texts;

/// The text of a tensor. Waits for its device.
pub fn to_text(tensor: &Tensor) -> Result<String> {
    if !tensor.is_defined() {
        return Ok("[ Tensor (undefined) ]".to_owned());
    }
    let elements = if tensor.numel() == 0 {
        "[]".to_owned()
    } else {
        let excerpt = Excerpt::of(tensor)?;
        let texts = Texts::of(tensor.dtype(), &excerpt.numbers);
        layout::brackets(&excerpt, &texts, layout::INDENT)
    };
    Ok(layout::with_suffixes(tensor, &elements))
}

#[cfg(test)]
mod tests;
