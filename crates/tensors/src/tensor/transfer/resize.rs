//! Tensors of other sizes in the same memory, or in more of it.

use std::sync::atomic::{AtomicBool, Ordering};

use sconce_base::error::{Error, Result};
use sconce_base::log;
use sconce_runtime::context::runtime;
use sconce_runtime::stream;

use super::copy::copy_into;
use crate::tensor::{Dims, Tensor, TensorOptions, contiguous_strides};

/// The tensor with other sizes, contiguous. Elements stay where they are in memory; what comes to them has no value
/// (`torch.Tensor.resize_`).
pub fn resize(tensor: &Tensor, sizes: &[i64]) -> Result<Tensor> {
    if tensor.sizes() == sizes {
        return Ok(tensor.clone());
    }
    crate::tensor::count(sizes)?;
    let strides = contiguous_strides(sizes);
    if let Some(view) = in_its_memory(tensor, sizes, &strides) {
        return Ok(view);
    }
    let larger = elsewhere(tensor, sizes, strides)?;
    let element = tensor.element() as i64;
    let kept = (tensor.storage().bytes() as i64 / element - tensor.offset()).max(0);
    let flat = |tensor: &Tensor, offset: i64| {
        Tensor::checked(tensor.storage().clone(), tensor.dtype(), &[kept], &[1], offset)
    };
    copy_into(&flat(&larger, 0)?, &flat(tensor, tensor.offset())?, true)?;
    if let Some(device) = tensor.place().device() {
        // The caller may free what is left here at once, and it may be another stream's.
        tensor.storage().record_stream(stream::current_on(runtime()?, device)?)?;
    }
    Ok(larger)
}

/// The tensor with the sizes of a result, whose values are not set. `is_used`: its memory must not be written.
pub fn resized(tensor: &Tensor, sizes: &[i64], strides: Dims, is_used: bool) -> Result<Tensor> {
    if tensor.numel() != 0 {
        warn(tensor, sizes);
    }
    match in_its_memory(tensor, sizes, &strides) {
        Some(view) if !is_used => Ok(view),
        _ => elsewhere(tensor, sizes, strides),
    }
}

fn in_its_memory(tensor: &Tensor, sizes: &[i64], strides: &[i64]) -> Option<Tensor> {
    let storage = tensor.storage().clone();
    Tensor::checked(storage, tensor.dtype(), sizes, strides, tensor.offset()).ok()
}

fn elsewhere(tensor: &Tensor, sizes: &[i64], strides: Dims) -> Result<Tensor> {
    if !tensor.storage().is_own() {
        return Err(Error::invalid_argument(format!(
            "Trying to resize storage that is not resizable: its memory belongs to another library and has {} \
             bytes, and the result has sizes {sizes:?}; pass a tensor that is large enough",
            tensor.storage().bytes()
        )));
    }
    let pinned = tensor.storage().is_pinned_block();
    TensorOptions { pinned, ..TensorOptions::of(tensor) }.empty_in_order(sizes, strides)
}

#[cold]
fn warn(tensor: &Tensor, sizes: &[i64]) {
    static WARNED: AtomicBool = AtomicBool::new(false);
    if WARNED.swap(true, Ordering::Relaxed) {
        return;
    }
    log::warn(format_args!(
        "An output with one or more elements was resized since it had shape {:?}, which does not match the required \
         output shape {sizes:?}. Resize it to zero elements first if that is what you want; later cases are not \
         reported",
        tensor.sizes()
    ));
}
