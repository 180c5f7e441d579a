//! Convolutions with an empty reduction (a tensor without elements): the result is filled with zeros, without
//! cuDNN.

use sconce_base::error::Result;
use sconce_base::types::DevicePtr;
use sconce_driver::ConvolutionTensor;
use sconce_runtime::context::Runtime;
use sconce_runtime::memory::Temporary;
use sconce_runtime::stream::{Stream, after_enqueue};

use crate::copy::{self, Axis};

/// Sets the elements of a tensor to 0, and nothing between them. `span` is the bytes from its first
/// to its last.
pub(super) fn fill(
    runtime: &Runtime,
    stream: Stream,
    (ptr, tensor, span): (DevicePtr, &ConvolutionTensor, usize),
    element: usize,
) -> Result<()> {
    let elements: i64 = tensor.sizes.iter().product();
    if elements as usize * element == span {
        runtime.driver().fill_async(ptr, 0, span, stream.driver_ref())?;
        return after_enqueue(runtime, stream);
    }
    // A zero that is copied everywhere.
    let zero = Temporary::new(element, stream)?;
    runtime.driver().fill_async(zero.address(), 0, element, stream.driver_ref())?;
    let axis = |at: usize| Axis {
        size: tensor.sizes[at] as u64,
        dst_stride: tensor.strides[at],
        src_stride: 0,
    };
    let axes: [Axis; 5] = std::array::from_fn(axis);
    copy::copy_strided(ptr.into(), zero.address().into(), element, &axes, true)
}
