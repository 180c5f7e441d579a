//! Whether a tensor may be written: its memory is not read-only, and is not shared with itself or with what is
//! read, as torch checks.

use super::dims;
use super::value::Tensor;
use crate::error::{Error, Result};

/// Refuses to write to a tensor in read-only memory, or several of whose elements are one place in memory.
pub(super) fn refuse_unwritable(output: &Tensor) -> Result<()> {
    if output.storage().is_read_only() {
        return Err(Error::invalid_argument(
            "unsupported operation: the written-to tensor is read-only, as its producer said. Please clone() the \
             tensor before performing the operation.",
        ));
    }
    let repeated = |(size, stride): (&i64, &i64)| *size > 1 && *stride == 0;
    if output.sizes().iter().zip(output.strides()).any(repeated) {
        return Err(Error::invalid_argument(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory \
             location. Please clone() the tensor before performing the operation.",
        ));
    }
    Ok(())
}

/// Refuses to write to a tensor that shares part of its memory with one that is read. All of it in the
/// same order is fine: each element is read before it is written.
pub(super) fn refuse_partly_shared(output: &Tensor, input: &Tensor) -> Result<()> {
    if !output.storage().is(input.storage()) || output.numel() == 0 || input.numel() == 0 {
        return Ok(());
    }
    // What is not dense is not looked at, as in torch: it would take too long to find out.
    if !output.is_dense() || !input.is_dense() {
        return Ok(());
    }
    let span = |tensor: &Tensor| {
        let extent = dims::extent(tensor.sizes(), tensor.strides()).unwrap_or(i64::MAX);
        let begin = tensor.offset() * tensor.element() as i64;
        (begin, begin + extent * tensor.element() as i64)
    };
    let (written, read) = (span(output), span(input));
    let same = written == read && output.strides() == input.strides();
    if same || written.1 <= read.0 || read.1 <= written.0 {
        return Ok(());
    }
    Err(Error::invalid_argument(
        "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single \
         memory location. Please clone() the tensor before performing the operation.",
    ))
}
