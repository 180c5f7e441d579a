//! Recurrent networks: a step of a cell, cuDNN's layers, and one layer on the CPU.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::fallbacks::{Place, give_all};
use crate::operations::recurrent::cell::{Cell, Stepped, step};
use crate::operations::recurrent::layers::{CellKind, Layers};
use crate::sconce::operations::{empty, flip, permute, reshape};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api};

abi_functions! {
    /// Returns the hidden state and the state of a cell after a step, and the gates behind their functions. The ABI has
    /// no such function of the CPU.
    aoti_torch_cuda__thnn_fused_lstm_cell(
        input_gates: TensorHandle, hidden_gates: TensorHandle, cx: TensorHandle,
        input_bias: Option<TensorHandle>, hidden_bias: Option<TensorHandle>, ret0: Place,
        ret1: Place, ret2: Place,
    ) {
        let bias = [input_bias, hidden_bias];
        if bias[0].is_some() != bias[1].is_some() {
            return Err(Error::invalid_argument(
                "input_bias and hidden_bias must both be there, or neither",
            ));
        }
        let Stepped { hidden, state, gates } =
            step(&Cell { input_gates, hidden_gates, state: cx, bias })?;
        let results = [(ret0, "ret0", hidden), (ret1, "ret1", state), (ret2, "ret2", gates)];
        give_all(results)
    }

    /// Returns the outputs of layers of a recurrent network, their last hidden states and states of cells, nothing for
    /// a backward pass, and the buffer of the weights that was passed. The ABI has no such function of the CPU.
    aoti_torch_cuda__cudnn_rnn(
        input: TensorHandle, weight: &[TensorHandle], weight_stride0: i64,
        weight_buf: Option<TensorHandle>, hx: TensorHandle, cx: Option<TensorHandle>, mode: i64,
        hidden_size: i64, proj_size: i64, num_layers: i64, batch_first: bool, dropout: f64,
        train: bool, bidirectional: bool, batch_sizes: &[i64], _dropout_state as dropout_state: Option<TensorHandle>,
        ret0: Place, ret1: Place, ret2: Place, ret3: Place, ret4: Place,
    ) {
        if dropout != 0.0 && train && num_layers > 1 {
            return Err(Error::not_supported(format!(
                "a dropout of {dropout} between layers is not offered by Sconce: export the model in evaluation mode \
                 (model.eval())"
            )));
        }
        let layers = Layers {
            kind: CellKind::of(mode)?,
            weights: weight,
            weights_each: weight_stride0,
            layers: num_layers,
            directions: if bidirectional { 2 } else { 1 },
            hidden: hidden_size,
            projected: proj_size,
            batch_sizes,
            is_batch_first: batch_first,
        };
        let results = layers.run(input, hx, cx)?;
        let (dtype, device) = (dtype_of_tensor(input)?, device_of_tensor(input)?);
        let nothing = |dtype| empty(&[0], &options(dtype, device));
        let buffer = match weight_buf {
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
        give_all(results)
    }

    /// Returns the outputs of a layer of a recurrent network in one direction, its last hidden state and state of
    /// cells, and nothing for a backward pass. PyTorch's decomposition of an LSTM on the CPU calls it. The ABI has no
    /// such function of CUDA.
    aoti_torch_cpu_mkldnn_rnn_layer(
        input: TensorHandle, weight0: TensorHandle, weight1: TensorHandle, weight2: TensorHandle, weight3: TensorHandle,
        hx as hx_: TensorHandle, cx as cx_: TensorHandle, reverse: bool, batch_sizes: &[i64], mode: i64,
        hidden_size: i64, num_layers: i64, has_biases: bool, bidirectional: bool, batch_first: bool, train: bool,
        ret0: Place, ret1: Place, ret2: Place, ret3: Place,
    ) {
        if num_layers != 1 || bidirectional {
            return Err(Error::invalid_argument(format!(
                "num_layers is {num_layers} and bidirectional {bidirectional}; the weights are those of one layer in \
                 one direction"
            )));
        }
        if train || !batch_sizes.is_empty() {
            return Err(Error::not_supported(
                "a layer in training mode, or of sequences of several lengths, is not offered by Sconce: export the \
                 model in evaluation mode (model.eval()), with sequences of one length",
            ));
        }
        let kind = CellKind::of(mode)?;
        let (first, second) = (rows_of(weight0)?, rows_of(weight1)?);
        let all = [first.handle(), second.handle(), weight2, weight3];
        let weights = if has_biases { &all[..] } else { &all[..2] };
        let layers = Layers {
            kind,
            weights,
            weights_each: weights.len() as i64,
            layers: 1,
            directions: 1,
            hidden: hidden_size,
            projected: 0,
            batch_sizes,
            is_batch_first: batch_first,
        };
        let steps = i64::from(batch_first);
        let cells = (kind == CellKind::Lstm).then_some(cx);
        let (output, hidden, cells) = if reverse {
            let made = layers.run(flip(input, steps)?.handle(), hx, cells)?;
            (flip(made.output.handle(), steps)?, made.hidden, made.cells)
        } else {
            let made = layers.run(input, hx, cells)?;
            (made.output, made.hidden, made.cells)
        };
        let nothing = options(api::SCONCE_DTYPE_U8, device_of_tensor(input)?);
        let results = [
            (ret0, "ret0", output),
            (ret1, "ret1", hidden),
            (ret2, "ret2", cells),
            (ret3, "ret3", empty(&[0], &nothing)?),
        ];
        give_all(results)
    }
}

/// The weights of a layer as PyTorch's modules have them: a row for each gate and output. oneDNN's packed ones have a
/// layer, a direction, inputs, gates and outputs.
fn rows_of(weights: TensorHandle) -> Result<Tensor> {
    let [1, 1, inputs, gates, outputs] = sizes_of(weights)?[..] else {
        return Tensor::retained(weights);
    };
    let rows = gates.checked_mul(outputs).ok_or_else(|| {
        Error::invalid_argument(format!("{gates} gates of {outputs} outputs are too many"))
    })?;
    let plain = reshape(weights, &[inputs, gates, outputs])?;
    reshape(permute(plain.handle(), &[1, 2, 0])?.handle(), &[rows, inputs])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::sconce::operations::narrow;
    use crate::testing::{Cases, Dense, live};

    const F32: i32 = api::SCONCE_DTYPE_F32;

    /// The output and both states of a layer of an LSTM.
    fn layer(
        input: &Tensor,
        weights: &[Tensor; 4],
        states: [&Tensor; 2],
        reverse: i32,
    ) -> (i32, [Tensor; 3]) {
        let mut places = [std::ptr::null_mut(); 4];
        let [p0, p1, p2, p3] = &mut places;
        let [w0, w1, w2, w3] = weights.each_ref().map(Tensor::handle);
        let (hx, cx) = (states[0].handle(), states[1].handle());
        // SAFETY: the places are valid for writes; there are no batch sizes.
        let status = unsafe {
            aoti_torch_cpu_mkldnn_rnn_layer(
                input.handle(),
                w0,
                w1,
                w2,
                w3,
                hx,
                cx,
                reverse,
                std::ptr::null(),
                0,
                2,
                2,
                1,
                1,
                0,
                0,
                0,
                p0,
                p1,
                p2,
                p3,
            )
        };
        let [output, hidden, cells, nothing] = places.map(Tensor::from_handle);
        drop(nothing);
        (status, [output, hidden, cells])
    }

    /// A layer that reads backwards is one step after another, from the last to the first.
    #[test]
    fn a_layer_reads_in_both_directions() {
        let before = live();
        let mut cases = Cases::new(43);
        for reverse in [0, 1] {
            let mut make = |sizes: &[i64]| Dense::quarters(&mut cases, sizes).tensor(F32);
            let input = make(&[3, 2, 4]);
            let weights = [make(&[8, 4]), make(&[8, 2]), make(&[8]), make(&[8])];
            let (mut hidden, mut cells) = (make(&[1, 2, 2]), make(&[1, 2, 2]));
            let (status, whole) = layer(&input, &weights, [&hidden, &cells], reverse);
            assert_eq!(status, 0);
            for step in 0..3 {
                let at = if reverse == 0 { step } else { 2 - step };
                let one = narrow(input.handle(), 0, at, 1).unwrap();
                let (_, [output, h, c]) = layer(&one, &weights, [&hidden, &cells], 0);
                let found = narrow(whole[0].handle(), 0, at, 1).unwrap();
                Dense::of(output.handle()).assert_near(found.handle(), 1e-6, "a step");
                (hidden, cells) = (h, c);
            }
            Dense::of(hidden.handle()).assert_near(whole[1].handle(), 1e-6, "hidden state");
            Dense::of(cells.handle()).assert_near(whole[2].handle(), 1e-6, "cells");
        }
        assert_eq!(live(), before);
    }

    #[test]
    fn packed_weights_are_those_of_the_same_layer() {
        let mut cases = Cases::new(44);
        let mut make = |sizes: &[i64]| Dense::quarters(&mut cases, sizes);
        let (input, states) = (make(&[3, 2, 4]).tensor(F32), make(&[1, 2, 2]).tensor(F32));
        let (first, second) = (make(&[8, 4]), make(&[8, 2]));
        let packed = |of: &Dense| {
            let sizes = [1, 1, of.sizes[1], 4, 2];
            Dense::build(&sizes, |at| of.at(&[at[3] * 2 + at[4], at[2]])).tensor(F32)
        };
        let biases = [make(&[8]), make(&[8])];
        let run = |first: Tensor, second: Tensor| {
            let [third, fourth] = biases.each_ref().map(|bias| bias.tensor(F32));
            let weights = [first, second, third, fourth];
            let (status, results) = layer(&input, &weights, [&states, &states], 0);
            assert_eq!(status, 0);
            results.map(|result| Dense::of(result.handle()))
        };
        let plain = run(first.tensor(F32), second.tensor(F32));
        assert_eq!(run(packed(&first), packed(&second)), plain);
    }
}
