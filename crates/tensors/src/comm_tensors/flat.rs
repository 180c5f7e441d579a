//! Many tensors as one, and back.

use sconce_base::error::Result;

use crate::tensor::operations::cat_flat;
use crate::tensor::transfer::contiguous;
use crate::tensor::{MemoryFormat, Tensor, views};

/// One tensor of one dimension with the elements of all, which have one type and place. A single one may share its
/// memory.
pub(super) fn flatten(tensors: &[&Tensor]) -> Result<Tensor> {
    if let [only] = tensors {
        return views::view(&contiguous(only, MemoryFormat::Contiguous)?, &[only.numel()]);
    }
    if tensors.iter().all(|tensor| tensor.is_contiguous()) {
        return cat_flat(tensors);
    }
    let packed = |tensor: &&Tensor| contiguous(tensor, MemoryFormat::Contiguous);
    let packed = tensors.iter().map(packed).collect::<Result<Vec<_>>>()?;
    cat_flat(&packed.iter().collect::<Vec<_>>())
}
