//! Whether a tensor may be written: its memory is not read-only, and is not shared with itself or with what is
//! read, as torch checks.

use sconce_base::error::{Error, Result};

use super::dims;
use super::value::Tensor;

/// Refuses to write to a tensor in read-only memory, or several of whose elements are one place in memory.
pub(crate) fn refuse_unwritable(output: &Tensor) -> Result<()> {
    if output.storage().is_read_only() {
        return Err(Error::invalid_argument(
            "unsupported operation: the written-to tensor is read-only, as its producer said. Please clone() the \
             tensor before performing the operation.",
        ));
    }
    let repeated = |(size, stride): (&i64, &i64)| *size > 1 && *stride == 0;
    if output.numel() != 0 && output.sizes().iter().zip(output.strides()).any(repeated) {
        return Err(Error::invalid_argument(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory \
             location. Please clone() the tensor before performing the operation.",
        ));
    }
    Ok(())
}

/// What memory two tensors have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// None.
    Nothing,
    /// Each element of one is the same element of the other.
    Same,
    /// A part of it, or all of it in another order.
    Part,
    /// The ranges of memory meet; whether elements do would take too long to find out.
    Unknown,
}

/// What memory a tensor that is written has in common with one that is read.
pub(super) fn sharing(output: &Tensor, input: &Tensor) -> Sharing {
    if !output.storage().is(input.storage()) || output.numel() == 0 || input.numel() == 0 {
        return Sharing::Nothing;
    }
    let span = |tensor: &Tensor| {
        let extent = dims::extent(tensor.sizes(), tensor.strides()).unwrap_or(i64::MAX);
        let begin = tensor.offset() * tensor.element() as i64;
        (begin, begin + extent * tensor.element() as i64)
    };
    let (written, read) = (span(output), span(input));
    if written.1 <= read.0 || read.1 <= written.0 {
        return Sharing::Nothing;
    }
    let is_same = written == read && output.strides() == input.strides();
    match output.is_dense() && input.is_dense() {
        true if is_same => Sharing::Same,
        true => Sharing::Part,
        false if is_same && output.sizes() == input.sizes() => Sharing::Same,
        false => Sharing::Unknown,
    }
}

/// Refuses to write to a tensor that shares part of its memory with one that is read. All of it in the
/// same order is fine: each element is read before it is written. Tensors with gaps are not looked at, as in
/// torch.
pub(super) fn refuse_partly_shared(output: &Tensor, input: &Tensor) -> Result<()> {
    match sharing(output, input) {
        Sharing::Part => Err(shared()),
        _ => Ok(()),
    }
}

/// Why an output is refused that shares memory with an input.
#[cold]
pub(super) fn shared() -> Error {
    Error::invalid_argument(
        "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single \
         memory location. Please clone() the tensor before performing the operation.",
    )
}
