//! Running sums and products along a line.

use super::call::{LineCall, LineOp};
use super::memory::{ElementMemory, Line, map_each};
use super::number::Number;

/// Calculates one line.
pub(super) fn line<M: ElementMemory>(
    call: &LineCall<'_>,
    line: Line,
    memory: &mut M,
) -> Result<(), M::Failure> {
    let is_product = call.op == LineOp::Cumprod;
    let mut running = Number::of(u8::from(is_product), call.compute);
    map_each(memory, line, |element| {
        let element = element.to(call.compute);
        running = if is_product { running.times(element) } else { running.plus(element) };
        running
    })
}
