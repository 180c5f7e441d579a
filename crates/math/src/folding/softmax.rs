//! Softmax and its logarithm along a line.

use super::call::{LineCall, LineOp};
use super::memory::{ElementMemory, Line, map_each, read_each};
use super::number::Number;

/// Calculates one line. The largest element is subtracted first; a NaN anywhere makes all results NaN,
/// as does a line of nothing but negative infinity.
pub(super) fn line<M: ElementMemory>(
    call: &LineCall<'_>,
    line: Line,
    memory: &mut M,
) -> Result<(), M::Failure> {
    let Line { input, input_stride, length, .. } = line;
    let value = |element: Number| element.to(call.compute).real();
    let mut largest = f64::NEG_INFINITY;
    read_each(memory, input, input_stride, length, |element| {
        largest = largest.max(value(element))
    })?;
    let mut sum = 0.0;
    read_each(memory, input, input_stride, length, |element| {
        sum += (value(element) - largest).exp();
    })?;
    map_each(memory, line, |element| {
        let from_largest = value(element) - largest;
        Number::Real(match call.op {
            LineOp::LogSoftmax => from_largest - sum.ln(),
            _ => from_largest.exp() / sum,
        })
    })
}
