//! Which calls threads share, and in which way.

use super::blocks::reduce_in_blocks;
use super::call::{ElementOperand, KeptAxis, LineCall, ReduceCall};
use super::line_tiles::lines_in_tiles;
use super::memory::ElementMemory;
use super::{lines, reduce};
use crate::parallel::{GRAIN, for_elements};

/// Calculates a reduction, on several threads if there is work for them. Results have the same bits for any number of
/// threads.
pub fn reduce_on_threads<M>(call: &ReduceCall<'_>, memory: &M) -> Result<(), M::Failure>
where
    M: ElementMemory + Clone + Sync,
    M::Failure: Send,
{
    reduce_in_blocks(call, memory).unwrap_or_else(|| {
        let elements = call.reduced.iter().map(|axis| axis.size.max(0) as u64).product();
        in_parts(call.kept, elements, [call.input, call.output], &|kept, [input, output]| {
            reduce(&ReduceCall { kept, input, output, ..*call }, &mut memory.clone())
        })
    })
}

/// Calculates the lines of a call, on several threads if there is work for them.
pub fn lines_on_threads<M>(call: &LineCall<'_>, memory: &M) -> Result<(), M::Failure>
where
    M: ElementMemory + Clone + Sync,
    M::Failure: Send,
{
    lines_in_tiles(call, memory).unwrap_or_else(|| {
        let elements = call.length.max(0) as u64;
        in_parts(call.lines, elements, [call.input, call.output], &|axes, [input, output]| {
            lines(&LineCall { lines: axes, input, output, ..*call }, &mut memory.clone())
        })
    })
}

/// Calculates some results, which lie along axes.
type CalculatePart<'a, E> = dyn Fn(&[KeptAxis], [ElementOperand; 2]) -> Result<(), E> + Sync + 'a;

/// Calls `calculate` for parts of the longest axis, where each result takes so many elements.
fn in_parts<E: Send>(
    axes: &[KeptAxis],
    elements: u64,
    operands: [ElementOperand; 2],
    calculate: &CalculatePart<'_, E>,
) -> Result<(), E> {
    let size = |axis: &KeptAxis| axis.size.max(0) as u64;
    let longest = (0..axes.len()).max_by_key(|at| axes[*at].size);
    let Some(longest) = longest.filter(|at| axes[*at].size > 1) else {
        return calculate(axes, operands);
    };
    let all: u64 = axes.iter().map(size).product();
    let work = (all / size(&axes[longest])).saturating_mul(elements).max(1);
    // An element takes some ten times as long here.
    for_elements(size(&axes[longest]), (GRAIN / 8).div_ceil(work), &|part| {
        let mut own = axes.to_vec();
        own[longest].size = (part.end - part.start) as i64;
        let [input, output] = operands;
        let [from, to] = axes[longest].both().map(|stride| stride.wrapping_mul(part.start as i64));
        calculate(&own, [input.at(from), output.at(to)])
    })
}
