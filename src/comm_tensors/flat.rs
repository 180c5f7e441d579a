//! Many tensors as one, and back.

use crate::error::Result;
use crate::tensor::operations::cat;
use crate::tensor::transfer::{contiguous, reshape};
use crate::tensor::{MemoryFormat, Tensor, views};

/// One tensor of one dimension with the elements of all, which have one type and place. A single one may share its
/// memory.
pub(super) fn flatten(tensors: &[Tensor]) -> Result<Tensor> {
    if let [only] = tensors {
        return views::view(&contiguous(only, MemoryFormat::Contiguous)?, &[only.numel()]);
    }
    let lines: Result<Vec<Tensor>> = tensors.iter().map(|tensor| reshape(tensor, &[-1])).collect();
    cat(&lines?, 0, None)
}

/// Views of a flat tensor with the shapes of those that it was made of.
pub(super) fn unflatten(flat: &Tensor, shapes: &[Tensor]) -> Result<Vec<Tensor>> {
    let mut start = 0;
    let part = |like: &Tensor| {
        let line = views::narrow(flat, 0, start, like.numel())?;
        start += like.numel();
        views::view(&line, like.sizes())
    };
    shapes.iter().map(part).collect()
}
