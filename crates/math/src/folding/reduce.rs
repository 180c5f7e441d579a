//! Many elements to one.

use std::ops::Range;

use sconce_base::element::Dtype;
use smallvec::SmallVec;

use super::call::{ReduceCall, ReduceOp, ReducedAxis};
use super::memory::{ElementMemory, read_each};
use super::number::Number;
use super::places::each_place;
use super::sum_type;

/// Whether a value with its index is preferred to another one: if it beats it, or equals it and comes
/// earlier.
fn is_preferred(value: (Number, i64), best: (Number, i64), smallest: bool) -> bool {
    let is_equal = || !best.0.beats(value.0, smallest);
    value.0.beats(best.0, smallest) || (value.1 < best.1 && is_equal())
}

/// What has been accumulated.
struct Accumulator {
    op: ReduceOp,
    value: Number,
    /// The index of `value`, for operations that compare.
    index: i64,
    count: i64,
    of_mean: OfMean,
    /// The type of sums.
    sum: Dtype,
}

impl Accumulator {
    fn new(call: &ReduceCall<'_>, part: &ReducePart<'_>) -> Accumulator {
        let value = match call.op {
            ReduceOp::Sum | ReduceOp::Mean => Number::of(0, call.compute),
            ReduceOp::Prod => Number::of(1, call.compute),
            ReduceOp::Amax | ReduceOp::Argmax => Number::extreme(call.compute, false),
            ReduceOp::Amin | ReduceOp::Argmin => Number::extreme(call.compute, true),
            ReduceOp::All => Number::Whole(1),
            ReduceOp::Any | ReduceOp::Count => Number::Whole(0),
        };
        let sum = sum_type(call.compute);
        Accumulator { op: call.op, value, index: 0, count: 0, of_mean: part.of_mean, sum }
    }

    fn take(&mut self, element: Number, index: i64) {
        match self.op {
            ReduceOp::Sum | ReduceOp::Mean => self.value = self.value.plus(element),
            ReduceOp::Prod => self.value = self.value.times(element),
            ReduceOp::Amax | ReduceOp::Argmax => self.compare(element, index, false),
            ReduceOp::Amin | ReduceOp::Argmin => self.compare(element, index, true),
            ReduceOp::All if !element.is_nonzero() => self.value = Number::Whole(0),
            ReduceOp::Any if element.is_nonzero() => self.value = Number::Whole(1),
            ReduceOp::Count if element.is_nonzero() => {
                self.value = self.value.plus(Number::Whole(1));
            }
            ReduceOp::All | ReduceOp::Any | ReduceOp::Count => {}
        }
        self.count += 1;
    }

    fn compare(&mut self, element: Number, index: i64, smallest: bool) {
        let is_first = self.count == 0;
        if is_first || is_preferred((element, index), (self.value, self.index), smallest) {
            (self.value, self.index) = (element, index);
        }
    }

    fn result(&self) -> Number {
        match self.op {
            ReduceOp::Mean => match self.of_mean {
                OfMean::Divided(count) => self.value.over(count, self.sum),
                OfMean::Multiplied(factor) => self.value.scaled(factor),
            },
            ReduceOp::Argmax | ReduceOp::Argmin => Number::Whole(self.index),
            _ => self.value,
        }
    }

    /// The value and its index; the value so that the largest is always the one to be found.
    fn store_pair(&self, bytes: &mut [u8; 16]) {
        let turn = self.op == ReduceOp::Argmin;
        let value = match self.value {
            Number::Real(value) => if turn { -value } else { value }.to_bits(),
            Number::Natural(value) => (if turn { !value } else { value }) ^ 1 << 63,
            Number::Whole(value) => (if turn { !value } else { value }) as u64,
            Number::Complex(..) => 0,
        };
        let index = if self.count == 0 { -1 } else { self.index };
        bytes[..8].copy_from_slice(&value.to_le_bytes());
        bytes[8..].copy_from_slice(&index.to_le_bytes());
    }
}

/// How a mean comes from the sum: torch divides on the CPU, except complex numbers, and multiplies on devices.
#[derive(Clone, Copy)]
pub enum OfMean {
    /// By a count, not always that of the part's elements; complex numbers are multiplied by its reciprocal, rounded to
    /// the type of the sum.
    Divided(i64),
    /// By the count's reciprocal, which is rounded to the type of the sum.
    Multiplied(f64),
}

/// A part of a reduction: what a block of a kernel calculates.
pub struct ReducePart<'a> {
    /// Which elements, by their numbers in row-major order.
    pub elements: Range<i64>,
    pub of_mean: OfMean,
    /// What is added to an index.
    pub start: i64,
    /// Whether the value is written with its index, as two words.
    pub as_pair: bool,
    /// What a step along each reduced axis adds to an index; nothing for row-major order.
    pub weights: &'a [i64],
}

/// How many elements each result has.
fn elements_of(reduced: &[ReducedAxis]) -> i64 {
    reduced.iter().fold(1, |count: i64, axis| count.saturating_mul(axis.size))
}

/// Calculates a reduction.
pub fn reduce<M: ElementMemory>(call: &ReduceCall<'_>, memory: &mut M) -> Result<(), M::Failure> {
    let count = elements_of(call.reduced);
    let whole = ReducePart {
        elements: 0..count,
        of_mean: OfMean::Divided(count),
        start: 0,
        as_pair: false,
        weights: &[],
    };
    reduce_part(call, &whole, memory)
}

/// Calculates a part of a reduction.
pub fn reduce_part<M: ElementMemory>(
    call: &ReduceCall<'_>,
    part: &ReducePart<'_>,
    memory: &mut M,
) -> Result<(), M::Failure> {
    let axes = numbered(call.reduced, part.weights);
    let (line, outer) = axes.split_last().unwrap_or((&SINGLE, &[]));
    let (ReducedAxis { size, input_stride }, weight) = *line;
    let is_logical = call.op.is_logical();
    each_place(call.kept, |axis| axis.size, |axis| axis.both(), &mut |[from, to]| {
        let input = call.input.at(from);
        let mut accumulator = Accumulator::new(call, part);
        let mut number = 0;
        let strides = |axis: &NumberedAxis| [axis.0.input_stride, axis.1];
        each_place(outer, |axis| axis.0.size, strides, &mut |[further, base]| {
            // What the line and the part have in common.
            let first = part.elements.start.max(number) - number;
            let last = part.elements.end.min(number + size) - number;
            number += size;
            let mut index = part.start + base + first * weight;
            let begin = input.at(further).at(first.wrapping_mul(input_stride));
            read_each(memory, begin, input_stride, last - first, |element| {
                let element = if is_logical { element } else { element.to(call.compute) };
                accumulator.take(element, index);
                index += weight;
            })
        })?;
        let mut bytes = [0; 16];
        if part.as_pair {
            accumulator.store_pair(&mut bytes);
            return memory.write(call.output.address.wrapping_add_signed(to * 16), &bytes);
        }
        let bytes = &mut bytes[..call.output.dtype.bytes()];
        accumulator.result().store(call.output.dtype, bytes);
        memory.write(call.output.at(to).address, bytes)
    })
}

/// A reduced axis, and what a step along it adds to an index.
type NumberedAxis = (ReducedAxis, i64);

/// The axis of one element.
const SINGLE: NumberedAxis = (ReducedAxis { size: 1, input_stride: 0 }, 0);

/// The axes with given weights, or those of row-major order.
fn numbered(reduced: &[ReducedAxis], weights: &[i64]) -> SmallVec<[NumberedAxis; 8]> {
    let mut weight = 1_i64;
    let mut axes: SmallVec<[NumberedAxis; 8]> = reduced
        .iter()
        .rev()
        .map(|axis| {
            let own = weight;
            weight = weight.wrapping_mul(axis.size);
            (*axis, own)
        })
        .collect();
    axes.reverse();
    axes.iter_mut().zip(weights).for_each(|(axis, weight)| axis.1 = *weight);
    axes
}

/// Joins the values and indices that parts of a reduction have written, and writes the indices. The steps
/// go from one result to the next, and from one part to the next.
pub fn join_pairs<M: ElementMemory>(
    call: &ReduceCall<'_>,
    count: i64,
    [result_step, part_step]: [i64; 2],
    memory: &mut M,
) -> Result<(), M::Failure> {
    let pair = |number: i64| call.input.address.wrapping_add_signed(number.wrapping_mul(16));
    let mut result = 0_i64;
    each_place(call.kept, |axis| axis.size, |axis| axis.both(), &mut |[_, to]| {
        let mut best: Option<(Number, i64)> = None;
        for part in 0..count {
            let mut bytes = [0; 16];
            memory.read(pair(result * result_step + part * part_step), &mut bytes)?;
            let value = Number::load(call.compute, &bytes[..8]);
            let Number::Whole(index) = Number::load(Dtype::I64, &bytes[8..]) else { continue };
            // An index of -1 is that of nothing.
            let is_better = best.is_none_or(|best| is_preferred((value, index), best, false));
            if index >= 0 && is_better {
                best = Some((value, index));
            }
        }
        result += 1;
        let index = best.map_or(0, |(_, index)| index);
        memory.write(call.output.at(to).address, &index.to_le_bytes())
    })
}
