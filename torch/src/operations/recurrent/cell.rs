//! A step of a long short-term memory (LSTM), whose products are made before.

use crate::abi::tensors::{dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::sconce::operations::{
    Operand, binary, cat, contiguous, narrow, to_dtype, unary, widened,
};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// What goes into a cell.
#[derive(Clone, Copy)]
pub struct Cell {
    /// The product of the input: lines of the input, forget, cell and output gates, one behind the other.
    pub input_gates: TensorHandle,
    /// The product of the hidden state.
    pub hidden_gates: TensorHandle,
    /// The state of the cell.
    pub state: TensorHandle,
    /// Added to the gates: nothing, or both.
    pub bias: [Option<TensorHandle>; 2],
}

/// What comes out of it.
pub struct Stepped {
    /// The hidden state.
    pub hidden: Tensor,
    /// The state of the cell.
    pub state: Tensor,
    /// The gates behind their functions, for a backward pass.
    pub gates: Tensor,
}

/// A step of a cell, in float32 for the 16-bit types; each result is rounded once.
pub fn step(cell: &Cell) -> Result<Stepped> {
    let dtype = dtype_of_tensor(cell.input_gates)?;
    let (sizes, state) = (sizes_of(cell.input_gates)?, sizes_of(cell.state)?);
    let fits = matches!((&sizes[..], &state[..]), (&[rows, wide], &[lines, width]) if rows == lines && wide == 4 * width);
    if !fits || sizes_of(cell.hidden_gates)? != sizes {
        return Err(Error::invalid_argument(format!(
            "input_gates and hidden_gates have the sizes {sizes:?} and {:?}, and cx {state:?}; expected four gates of \
             the state's width",
            sizes_of(cell.hidden_gates)?
        )));
    }
    let width = state[1];
    let add = |first: &Tensor, second: TensorHandle| {
        binary(api::SCONCE_BINARY_ADD, first, Operand::Tensor(&widened(second)?))
    };
    let mut gates = add(&widened(cell.input_gates)?, cell.hidden_gates)?;
    for bias in cell.bias.into_iter().flatten() {
        if sizes_of(bias)? != [4 * width] {
            return Err(Error::invalid_argument(format!(
                "a bias has the sizes {:?}; expected [{}]",
                sizes_of(bias)?,
                4 * width
            )));
        }
        gates = add(&gates, bias)?;
    }
    let gate = |at: i64, function| -> Result<Tensor> {
        unary(function, &narrow(gates.handle(), 1, at * width, width)?)
    };
    let (sigmoid, tanh) = (api::SCONCE_UNARY_SIGMOID, api::SCONCE_UNARY_TANH);
    let (input, forget) = (gate(0, sigmoid)?, gate(1, sigmoid)?);
    let (cell_gate, output) = (gate(2, tanh)?, gate(3, sigmoid)?);
    let multiply = |first: &Tensor, second: &Tensor| {
        binary(api::SCONCE_BINARY_MUL, first, Operand::Tensor(second))
    };
    let kept = multiply(&forget, &widened(cell.state)?)?;
    let new = multiply(&input, &cell_gate)?;
    let state = binary(api::SCONCE_BINARY_ADD, &kept, Operand::Tensor(&new))?;
    let hidden = multiply(&output, &unary(tanh, &state)?)?;
    let all = [&input, &forget, &cell_gate, &output].map(Tensor::handle);
    let narrowed = |tensor: &Tensor| -> Result<Tensor> {
        contiguous(to_dtype(tensor.handle(), dtype)?.handle())
    };
    Ok(Stepped {
        hidden: narrowed(&hidden)?,
        state: narrowed(&state)?,
        gates: narrowed(&cat(&all, 1)?)?,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::testing::{Cases, Dense};

    #[test]
    fn steps_agree_with_the_formulas() {
        let mut cases = Cases::new(51);
        for turn in 0..20 {
            let (rows, width) = (cases.int(0, 4), cases.int(1, 5));
            let dtype = cases.one(&[api::SCONCE_DTYPE_F32, api::SCONCE_DTYPE_F16]);
            let wide = [rows, 4 * width];
            let [first, second] = [(); 2].map(|()| Dense::quarters(&mut cases, &wide));
            let [one, other] = [(); 2].map(|()| Dense::quarters(&mut cases, &wide[1..]));
            let before = Dense::quarters(&mut cases, &[rows, width]);
            let with_bias = cases.int(0, 1) == 1;
            let sum = |row: i64, at: i64| {
                let bias = if with_bias { one.at(&[at]) + other.at(&[at]) } else { 0.0 };
                first.at(&[row, at]) + second.at(&[row, at]) + bias
            };
            let sigmoid = |value: f64| 1.0 / (1.0 + (-value).exp());
            let gate = |row: i64, at: i64| match at / width {
                2 => sum(row, at).tanh(),
                _ => sigmoid(sum(row, at)),
            };
            let state = Dense::build(&[rows, width], |at| {
                let of = |part: i64| gate(at[0], part * width + at[1]);
                of(1) * before.at(at) + of(0) * of(2)
            });
            let hidden = Dense::build(&[rows, width], |at| {
                gate(at[0], 3 * width + at[1]) * state.at(at).tanh()
            });
            let tensors = [&first, &second, &before].map(|dense| dense.either(&mut cases, dtype));
            let biases = [&one, &other].map(|dense| dense.tensor(dtype));
            let [input_gates, hidden_gates, cx] = tensors.each_ref().map(Tensor::handle);
            let bias = biases.each_ref().map(|bias| with_bias.then(|| bias.handle()));
            let found = step(&Cell { input_gates, hidden_gates, state: cx, bias }).unwrap();
            let within = if dtype == api::SCONCE_DTYPE_F16 { 2e-3 } else { 1e-6 };
            hidden.assert_near(found.hidden.handle(), within, &format!("hidden {turn}"));
            state.assert_near(found.state.handle(), within, &format!("state {turn}"));
            Dense::build(&wide, |at| gate(at[0], at[1])).assert_near(
                found.gates.handle(),
                within,
                &format!("gates {turn}"),
            );
            assert_eq!(dtype_of_tensor(found.state.handle()).unwrap(), dtype);
        }
    }

    #[test]
    fn gates_of_another_width_are_refused() {
        let of = |sizes: &[i64]| Dense::build(sizes, |_| 1.0).tensor(api::SCONCE_DTYPE_F32);
        let (gates, state, bias) = (of(&[2, 12]), of(&[2, 4]), of(&[4]));
        let [g, s] = [&gates, &state].map(Tensor::handle);
        let cell = Cell { input_gates: g, hidden_gates: g, state: s, bias: [None; 2] };
        let why = step(&cell).err().unwrap();
        assert!(why.message.contains("cx [2, 4]"), "{why:?}");
        let narrow = of(&[2, 3]);
        let cell = Cell { state: narrow.handle(), bias: [Some(bias.handle()); 2], ..cell };
        let why = step(&cell).err().unwrap();
        assert!(why.message.contains("expected [12]"), "{why:?}");
    }
}
