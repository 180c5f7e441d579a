//! Segments of a dimension.

#![allow(unsafe_code, reason = "functions of C over handles, texts and pointers of the caller")]

use super::{Place, give};
use crate::abi::arguments::CText;
use crate::error::{Error, Result};
use crate::operations::segments::{Reduction, Segmented};
use crate::sconce::tensor::TensorHandle;

/// The reduction of a name.
fn reduction_of(name: CText<'_>) -> Result<Reduction> {
    name.required("reduce")?;
    Reduction::new(&name.text())
}

abi_functions! {
    /// Returns the sum, mean, product, maximum or minimum of each segment of a dimension.
    aoti_torch_cpu_segment_reduce | aoti_torch_cuda_segment_reduce(
        data: TensorHandle, reduce: CText, lengths: Option<TensorHandle>,
        indices: Option<TensorHandle>, offsets: Option<TensorHandle>, axis: i64, is_unsafe: bool,
        initial: Option<f64>, ret0: Place,
    ) {
        if indices.is_some() {
            return Err(Error::not_supported(
                "segment_reduce(): indices based reduction is not supported yet; pass lengths or offsets",
            ));
        }
        let segmented = Segmented {
            tensor: data,
            reduction: reduction_of(reduce)?,
            lengths,
            offsets,
            axis,
            initial,
        };
        give(ret0, segmented.reduce(is_unsafe)?)
    }

    /// Returns the gradient of the elements for what `segment_reduce` returned.
    aoti_torch_cpu__segment_reduce_backward | aoti_torch_cuda__segment_reduce_backward(
        grad: TensorHandle, output: TensorHandle, data: TensorHandle, reduce: CText,
        lengths: Option<TensorHandle>, offsets: Option<TensorHandle>, axis: i64,
        initial: Option<f64>, ret0: Place,
    ) {
        let segmented = Segmented {
            tensor: data,
            reduction: reduction_of(reduce)?,
            lengths,
            offsets,
            axis,
            initial,
        };
        give(ret0, segmented.gradient(grad, output)?)
    }
}
