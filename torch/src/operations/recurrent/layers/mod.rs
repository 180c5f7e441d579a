//! Layers of a recurrent network, step by step, in float32 for the 16-bit types.

#[cfg(test)]
mod tests;

use super::cell::{Cell, step};
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::sconce::operations::{
    self, Operand, binary, contiguous_copy, copy, empty, matmul, narrow, reshape, to_dtype,
    transpose, unary, widened,
};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api};

/// What a step does, with cuDNN's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// The sum of both products, without what is below 0.
    Relu,
    /// Its hyperbolic tangent.
    Tanh,
    /// Long short-term memory: four gates.
    Lstm,
    /// Gated recurrent unit: three gates.
    Gru,
}

impl CellKind {
    /// The kind of a number.
    pub fn of(mode: i64) -> Result<CellKind> {
        match mode {
            0 => Ok(CellKind::Relu),
            1 => Ok(CellKind::Tanh),
            2 => Ok(CellKind::Lstm),
            3 => Ok(CellKind::Gru),
            other => Err(Error::invalid_argument(format!(
                "mode is {other}; expected 0 (ReLU), 1 (tanh), 2 (LSTM) or 3 (GRU)"
            ))),
        }
    }

    fn gates(self) -> i64 {
        match self {
            CellKind::Relu | CellKind::Tanh => 1,
            CellKind::Lstm => 4,
            CellKind::Gru => 3,
        }
    }
}

/// Layers of a recurrent network.
pub struct Layers<'a> {
    /// What a step does.
    pub kind: CellKind,
    /// For each layer and direction: the weights of the input and of the hidden state, both biases if there are any, and
    /// the projection.
    pub weights: &'a [TensorHandle],
    /// How many of them a layer and direction has.
    pub weights_each: i64,
    /// The number of layers.
    pub layers: i64,
    /// 2 if sequences are also read from their end, else 1.
    pub directions: i64,
    /// Numbers of a state.
    pub hidden: i64,
    /// Numbers to which the hidden state is projected; 0 for no projection.
    pub projected: i64,
    /// How many sequences have a first element, a second one and so on, if they lie one step behind the other; else
    /// empty.
    pub batch_sizes: &'a [i64],
    /// Whether the batch comes before the steps.
    pub is_batch_first: bool,
}

/// What layers return.
pub struct Outputs {
    /// The hidden states of the last layer in each step, directions side by side.
    pub output: Tensor,
    /// The last hidden states of all layers and directions.
    pub hidden: Tensor,
    /// The last states of the cells; without elements if there are no cells.
    pub cells: Tensor,
}

/// The weights of a layer in one direction, in the type that is calculated in; matrices are turned.
struct Weights {
    input: Tensor,
    hidden: Tensor,
    bias: Option<[Tensor; 2]>,
    projection: Option<Tensor>,
}

/// The most numbers of a state: as many gates of them can be counted.
const MOST_HIDDEN: i64 = 1 << 32;

/// The lines of a step: the first, and how many.
type LineRange = [i64; 2];

fn add(first: &Tensor, second: &Tensor) -> Result<Tensor> {
    binary(api::SCONCE_BINARY_ADD, first, Operand::Tensor(second))
}

fn multiply(first: &Tensor, second: &Tensor) -> Result<Tensor> {
    binary(api::SCONCE_BINARY_MUL, first, Operand::Tensor(second))
}

impl Layers<'_> {
    /// Numbers of a hidden state.
    fn width(&self) -> i64 {
        if self.projected > 0 { self.projected } else { self.hidden }
    }

    /// Runs all layers from these hidden states and states of cells.
    pub fn run(
        &self,
        input: TensorHandle,
        hidden: TensorHandle,
        cells: Option<TensorHandle>,
    ) -> Result<Outputs> {
        let dtype = dtype_of_tensor(input)?;
        let blocks = self.blocks()?;
        let (lines, batch, steps) = self.lines(input)?;
        check("hx", hidden, &[blocks, batch, self.width()])?;
        match (self.kind, cells) {
            (CellKind::Lstm, Some(cells)) => check("cx", cells, &[blocks, batch, self.hidden])?,
            (CellKind::Lstm, None) => {
                return Err(Error::invalid_argument("an LSTM needs cx, the states of the cells"));
            }
            _ => {}
        }
        let mut below = self.packed(input)?;
        // States that each step replaces.
        let hidden = contiguous_copy(widened(hidden)?.handle())?;
        let cells = cells.filter(|_| self.kind == CellKind::Lstm);
        let cells = cells.map(|cells| contiguous_copy(widened(cells)?.handle())).transpose()?;
        let options = options(dtype_of_tensor(below.handle())?, device_of_tensor(input)?);
        for layer in 0..self.layers {
            let rows = sizes_of(below.handle())?[0];
            let output = empty(&[rows, self.directions * self.width()], &options)?;
            for direction in 0..self.directions {
                let block = layer * self.directions + direction;
                let state = |states: &Tensor| {
                    let part = narrow(states.handle(), 0, block, 1)?;
                    operations::squeeze(part.handle(), 0)
                };
                let place = narrow(output.handle(), 1, direction * self.width(), self.width())?;
                let mut ordered = lines.clone();
                if direction == 1 {
                    ordered.reverse();
                }
                let weights = self.weights_of(block)?;
                let cells = cells.as_ref().map(state).transpose()?;
                self.pass(&weights, &below, &place, &ordered, &state(&hidden)?, cells.as_ref())?;
            }
            below = output;
        }
        let narrowed = |tensor: &Tensor| to_dtype(tensor.handle(), dtype);
        let mut output = narrowed(&below)?;
        if self.batch_sizes.is_empty() {
            let sizes = [steps, batch, self.directions * self.width()];
            output = reshape(output.handle(), &sizes)?;
            if self.is_batch_first {
                output = transpose(output.handle(), 0, 1)?;
            }
        }
        let cells = match &cells {
            Some(cells) => narrowed(cells)?,
            None => empty(&[0], &crate::sconce::values::options(dtype, options.device))?,
        };
        Ok(Outputs { output, hidden: narrowed(&hidden)?, cells })
    }

    /// The number of layers times directions. Refuses numbers that the weights do not have, so that no product of them
    /// is too large afterwards.
    fn blocks(&self) -> Result<i64> {
        let refused = |why: String| Err(Error::invalid_argument(why));
        let Layers { weights, weights_each, layers, directions, hidden, projected, .. } = *self;
        if !(2..=5).contains(&weights_each) {
            return refused(format!(
                "weight_stride0 is {weights_each}; expected 2 to 5 weights for each layer and direction"
            ));
        }
        if layers < 1 || !(1..=2).contains(&directions) {
            return refused(format!(
                "num_layers is {layers}, and there are {directions} directions; expected a layer or more, and 1 or 2 \
                 directions"
            ));
        }
        let wanted = layers.checked_mul(directions * weights_each);
        if wanted != Some(weights.len() as i64) {
            return refused(format!(
                "weight has {} entries; expected {weights_each} for each of {layers} layers and {directions} directions",
                weights.len()
            ));
        }
        if hidden < 1 || !(0..=hidden).contains(&projected) || hidden > MOST_HIDDEN {
            return refused(format!(
                "hidden_size is {hidden} and proj_size {projected}; expected 1 to {MOST_HIDDEN}, and 0 to hidden_size"
            ));
        }
        Ok(layers * directions)
    }

    /// The lines of each step, the number of sequences, and that of steps.
    fn lines(&self, input: TensorHandle) -> Result<(Vec<LineRange>, i64, i64)> {
        let sizes = sizes_of(input)?;
        let is_packed = !self.batch_sizes.is_empty();
        if sizes.len() != if is_packed { 2 } else { 3 } {
            return Err(Error::invalid_argument(format!(
                "input has the sizes {sizes:?}; expected steps, batch and numbers, or lines and numbers beside \
                 batch_sizes"
            )));
        }
        if !is_packed {
            let (steps, batch) =
                if self.is_batch_first { (sizes[1], sizes[0]) } else { (sizes[0], sizes[1]) };
            let mut lines = Vec::new();
            let fits = usize::try_from(steps).is_ok_and(|it| lines.try_reserve_exact(it).is_ok());
            if steps.checked_mul(batch).is_none() || !fits {
                return Err(Error::invalid_argument(format!(
                    "input has {steps} steps of {batch} sequences, more than can be numbered"
                )));
            }
            lines.extend((0..steps).map(|step| [step * batch, batch]));
            return Ok((lines, batch, steps));
        }
        let mut begin = 0_i64;
        let mut lines: Vec<LineRange> = Vec::with_capacity(self.batch_sizes.len());
        let falls = self.batch_sizes.windows(2).all(|pair| pair[0] >= pair[1]);
        let fits = falls
            && self.batch_sizes.iter().all(|&count| {
                lines.push([begin, count]);
                begin = begin.saturating_add(count);
                count >= 1
            });
        if !fits || begin != sizes[0] {
            return Err(Error::invalid_argument(format!(
                "batch_sizes is {:?}; expected numbers that do not rise, of {} lines in all",
                self.batch_sizes, sizes[0]
            )));
        }
        Ok((lines, self.batch_sizes[0], self.batch_sizes.len() as i64))
    }

    /// The input as lines, one step behind the other.
    fn packed(&self, input: TensorHandle) -> Result<Tensor> {
        let wide = widened(input)?;
        if !self.batch_sizes.is_empty() {
            return Ok(wide);
        }
        let ordered = if self.is_batch_first { transpose(wide.handle(), 0, 1)? } else { wide };
        let sizes = sizes_of(ordered.handle())?;
        reshape(ordered.handle(), &[sizes[0] * sizes[1], sizes[2]])
    }

    fn weights_of(&self, block: i64) -> Result<Weights> {
        let begin = (block * self.weights_each) as usize;
        let all = &self.weights[begin..begin + self.weights_each as usize];
        let has_projection = self.projected > 0;
        let has_bias = match (all.len(), has_projection) {
            (2, false) | (3, true) => false,
            (4, false) | (5, true) => true,
            (count, _) => {
                return Err(Error::invalid_argument(format!(
                    "a layer and direction has {count} weights; expected two matrices, two biases or none, and one \
                     matrix more with a projection"
                )));
            }
        };
        let gates = self.kind.gates() * self.hidden;
        let turned = |tensor| transpose(widened(tensor)?.handle(), 0, 1);
        let bias = |at: usize| {
            check("a bias", all[at], &[gates])?;
            widened(all[at])
        };
        check("the weights of the hidden state", all[1], &[gates, self.width()])?;
        if has_projection {
            check("the projection", all[all.len() - 1], &[self.projected, self.hidden])?;
        }
        Ok(Weights {
            input: turned(all[0])?,
            hidden: turned(all[1])?,
            bias: if has_bias { Some([bias(2)?, bias(3)?]) } else { None },
            projection: has_projection.then(|| turned(all[all.len() - 1])).transpose()?,
        })
    }

    /// One layer in one direction: all steps in the order of `lines`. The states of sequences that have no more elements
    /// stay as they are.
    fn pass(
        &self,
        weights: &Weights,
        input: &Tensor,
        output: &Tensor,
        lines: &[LineRange],
        hidden: &Tensor,
        cells: Option<&Tensor>,
    ) -> Result<()> {
        // The products of all inputs at once.
        let mut gates = matmul(input.handle(), weights.input.handle())?;
        if let Some([bias, _]) = &weights.bias {
            gates = add(&gates, bias)?;
        }
        for &[begin, count] in lines {
            let of_input = narrow(gates.handle(), 0, begin, count)?;
            let before = narrow(hidden.handle(), 0, 0, count)?;
            let mut of_hidden = matmul(before.handle(), weights.hidden.handle())?;
            if let Some([_, bias]) = &weights.bias {
                of_hidden = add(&of_hidden, bias)?;
            }
            let mut after = match (self.kind, cells) {
                (CellKind::Lstm, Some(cells)) => {
                    let place = narrow(cells.handle(), 0, 0, count)?;
                    let stepped = step(&Cell {
                        input_gates: of_input.handle(),
                        hidden_gates: of_hidden.handle(),
                        state: place.handle(),
                        bias: [None; 2],
                    })?;
                    copy(&place, stepped.state.handle())?;
                    stepped.hidden
                }
                (CellKind::Gru, _) => self.gated(&of_input, &of_hidden, &before)?,
                (CellKind::Relu, _) => unary(api::SCONCE_UNARY_RELU, &add(&of_input, &of_hidden)?)?,
                _ => unary(api::SCONCE_UNARY_TANH, &add(&of_input, &of_hidden)?)?,
            };
            if let Some(projection) = &weights.projection {
                after = matmul(after.handle(), projection.handle())?;
            }
            copy(&before, after.handle())?;
            copy(&narrow(output.handle(), 0, begin, count)?, after.handle())?;
        }
        Ok(())
    }

    /// A step of a gated recurrent unit: the reset gate, the update gate and the new state, one behind the other.
    fn gated(&self, input: &Tensor, hidden: &Tensor, before: &Tensor) -> Result<Tensor> {
        let part =
            |gates: &Tensor, at: i64| narrow(gates.handle(), 1, at * self.hidden, self.hidden);
        let open = |at| {
            let sum = add(&part(input, at)?, &part(hidden, at)?)?;
            unary(api::SCONCE_UNARY_SIGMOID, &sum)
        };
        let (reset, update) = (open(0)?, open(1)?);
        let kept = multiply(&reset, &part(hidden, 2)?)?;
        let new = unary(api::SCONCE_UNARY_TANH, &add(&part(input, 2)?, &kept)?)?;
        // What stays of the state before, and of the difference to the new one.
        let difference = binary(api::SCONCE_BINARY_SUB, before, Operand::Tensor(&new))?;
        add(&new, &multiply(&update, &difference)?)
    }
}

fn check(name: &str, tensor: TensorHandle, wanted: &[i64]) -> Result<()> {
    let sizes = sizes_of(tensor)?;
    if sizes == wanted {
        return Ok(());
    }
    Err(Error::invalid_argument(format!("{name} has the sizes {sizes:?}; expected {wanted:?}")))
}
