//! Recurrent networks: a step of a cell, and cuDNN's layers.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use crate::abi::arguments::{array, numbers, optional_tensor};
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor};
use crate::error::Error;
use crate::fallbacks::{give_all, operation};
use crate::operations::recurrent::cell::{Cell, Stepped, step};
use crate::operations::recurrent::layers::{Kind, Layers};
use crate::sconce::operations::empty;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api};

/// Returns the hidden state and the state of a cell after a step, and the gates behind their functions. The ABI has no
/// such function of the CPU.
///
/// # Safety
/// Optional arguments are NULL or valid for reads, results' places NULL or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cuda__thnn_fused_lstm_cell(
    input_gates: TensorHandle,
    hidden_gates: TensorHandle,
    cx: TensorHandle,
    input_bias: *const TensorHandle,
    hidden_bias: *const TensorHandle,
    ret0: *mut TensorHandle,
    ret1: *mut TensorHandle,
    ret2: *mut TensorHandle,
) -> i32 {
    operation("_thnn_fused_lstm_cell", || {
        // SAFETY: the caller's promise.
        let bias = [input_bias, hidden_bias].map(|bias| unsafe { optional_tensor(bias) });
        if bias[0].is_some() != bias[1].is_some() {
            return Err(Error::invalid_argument(
                "input_bias and hidden_bias must both be there, or neither",
            ));
        }
        let Stepped { hidden, state, gates } =
            step(&Cell { input_gates, hidden_gates, state: cx, bias })?;
        let results = [(ret0, "ret0", hidden), (ret1, "ret1", state), (ret2, "ret2", gates)];
        // SAFETY: the caller's promise for the places.
        unsafe { give_all(results) }
    })
}

/// Returns the outputs of layers of a recurrent network, their last hidden states and states of cells, nothing for a
/// backward pass, and the buffer of the weights that was passed. The ABI has no such function of the CPU.
///
/// # Safety
/// Optional arguments are NULL or valid for reads, results' places NULL or valid for writes; arrays have as many entries
/// as is said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cuda__cudnn_rnn(
    input: TensorHandle,
    weight: *const TensorHandle,
    weight_len: i64,
    weight_stride0: i64,
    weight_buf: *const TensorHandle,
    hx: TensorHandle,
    cx: *const TensorHandle,
    mode: i64,
    hidden_size: i64,
    proj_size: i64,
    num_layers: i64,
    batch_first: i32,
    dropout: f64,
    train: i32,
    bidirectional: i32,
    batch_sizes: *const i64,
    batch_sizes_len: i64,
    _dropout_state: *const TensorHandle,
    ret0: *mut TensorHandle,
    ret1: *mut TensorHandle,
    ret2: *mut TensorHandle,
    ret3: *mut TensorHandle,
    ret4: *mut TensorHandle,
) -> i32 {
    operation("_cudnn_rnn", || {
        if dropout != 0.0 && train != 0 && num_layers > 1 {
            return Err(Error::not_supported(format!(
                "a dropout of {dropout} between layers is not offered by Sconce: export the model in evaluation mode \
                 (model.eval())"
            )));
        }
        let count = usize::try_from(weight_len)
            .map_err(|_| Error::invalid_argument(format!("weight has {weight_len} entries")))?;
        // SAFETY: the caller's promise.
        let weights = unsafe { array(weight, count, "weight") }?;
        // SAFETY: as above.
        let batch_sizes = unsafe { numbers(batch_sizes, batch_sizes_len, "batch_sizes") }?;
        // SAFETY: as above.
        let [buffer, cells] = [weight_buf, cx].map(|tensor| unsafe { optional_tensor(tensor) });
        let layers = Layers {
            kind: Kind::of(mode)?,
            weights,
            weights_each: weight_stride0,
            layers: num_layers,
            directions: if bidirectional != 0 { 2 } else { 1 },
            hidden: hidden_size,
            projected: proj_size,
            batch_sizes,
            is_batch_first: batch_first != 0,
        };
        let results = layers.run(input, hx, cells)?;
        let (dtype, device) = (dtype_of_tensor(input)?, device_of_tensor(input)?);
        let nothing = |dtype| empty(&[0], &options(dtype, device));
        let buffer = match buffer {
            Some(buffer) => Tensor::retained(buffer)?,
            None => nothing(dtype)?,
        };
        let results = [
            (ret0, "ret0", results.output),
            (ret1, "ret1", results.hidden),
            (ret2, "ret2", results.cells),
            (ret3, "ret3", nothing(api::SCONCE_DTYPE_U8)?),
            (ret4, "ret4", buffer),
        ];
        // SAFETY: the caller's promise for the places.
        unsafe { give_all(results) }
    })
}
