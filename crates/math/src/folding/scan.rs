//! Running sums and products along a line.

use super::call::{ElementOperand, LineCall, LineOp};
use super::memory::{ElementMemory, Line, map_each, read_each};
use super::number::Number;

/// Calculates one line, which goes on from the sum or product that is at `before`.
pub(super) fn line<M: ElementMemory>(
    call: &LineCall<'_>,
    line: Line,
    before: Option<ElementOperand>,
    memory: &mut M,
) -> Result<(), M::Failure> {
    let is_product = call.op == LineOp::Cumprod;
    let mut running = Number::of(u8::from(is_product), call.compute);
    if let Some(before) = before {
        read_each(memory, before, 1, 1, |number| running = number)?;
    }
    map_each(memory, line, |element| {
        let element = element.to(call.compute);
        running = if is_product { running.times(element) } else { running.plus(element) };
        running
    })
}
