//! Segments of a dimension.

#![allow(unsafe_code, reason = "functions of C over handles, texts and pointers of the caller")]

use std::ffi::c_char;

use super::give;
use crate::abi::arguments::{optional, optional_tensor};
use crate::abi::errors::{not_null, text_of};
use crate::error::{Error, Result};
use crate::operations::segments::{Reduction, Segmented};
use crate::sconce::tensor::TensorHandle;

/// The reduction of a name.
///
/// # Safety
/// The name is NULL or ends with NUL.
unsafe fn reduction_of(name: *const c_char) -> Result<Reduction> {
    not_null(name, "reduce")?;
    // SAFETY: `name` is a text of the ABI: NULL, or bytes that end with NUL.
    Reduction::new(&unsafe { text_of(name) })
}

fallbacks! {
    /// Returns the sum, mean, product, maximum or minimum of each segment of a dimension.
    aoti_torch_cpu_segment_reduce | aoti_torch_cuda_segment_reduce(
        data: TensorHandle,
        reduce: *const c_char,
        lengths: *const TensorHandle,
        indices: *const TensorHandle,
        offsets: *const TensorHandle,
        axis: i64,
        is_unsafe: i32,
        initial: *const f64,
        ret0: *mut TensorHandle,
    ) {
        // SAFETY: `indices` is an optional tensor of the ABI: NULL, or the address of a handle.
        if unsafe { optional_tensor(indices) }.is_some() {
            return Err(Error::not_supported(
                "segment_reduce(): indices based reduction is not supported yet; pass lengths or offsets",
            ));
        }
        let segmented = Segmented {
            tensor: data,
            // SAFETY: `reduce` is an argument of the ABI that is NULL or valid for reads.
            reduction: unsafe { reduction_of(reduce) }?,
            // SAFETY: `lengths` is an optional tensor of the ABI: NULL, or the address of a handle.
            lengths: unsafe { optional_tensor(lengths) },
            // SAFETY: `offsets` is an optional tensor of the ABI: NULL, or the address of a handle.
            offsets: unsafe { optional_tensor(offsets) },
            axis,
            // SAFETY: `initial` is an optional argument of the ABI: NULL, or the address of a value.
            initial: unsafe { optional(initial) },
        };
        give(ret0, segmented.reduce(is_unsafe != 0)?)
    }

    /// Returns the gradient of the elements for what `segment_reduce` returned.
    aoti_torch_cpu__segment_reduce_backward | aoti_torch_cuda__segment_reduce_backward(
        grad: TensorHandle,
        output: TensorHandle,
        data: TensorHandle,
        reduce: *const c_char,
        lengths: *const TensorHandle,
        offsets: *const TensorHandle,
        axis: i64,
        initial: *const f64,
        ret0: *mut TensorHandle,
    ) {
        let segmented = Segmented {
            tensor: data,
            // SAFETY: `reduce` is an argument of the ABI that is NULL or valid for reads.
            reduction: unsafe { reduction_of(reduce) }?,
            // SAFETY: `lengths` is an optional tensor of the ABI: NULL, or the address of a handle.
            lengths: unsafe { optional_tensor(lengths) },
            // SAFETY: `offsets` is an optional tensor of the ABI: NULL, or the address of a handle.
            offsets: unsafe { optional_tensor(offsets) },
            axis,
            // SAFETY: `initial` is an optional argument of the ABI: NULL, or the address of a value.
            initial: unsafe { optional(initial) },
        };
        give(ret0, segmented.gradient(grad, output)?)
    }
}
