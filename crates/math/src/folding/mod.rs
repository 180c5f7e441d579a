//! Reductions, softmax and running sums as pure arithmetic: what is calculated from which elements,
//! whatever memory they lie in. See `docs/design/reduction.md`.
//!
//! Operations on host tensors and the simulator's kernels calculate with it; the CUDA kernels
//! calculate the same within the rounding of the type.
//!
//! | file | idea |
//! |---|---|
//! | `call` | what is to be calculated: operation, operands, axes |
//! | `number` | an element as a number, and its conversions |
//! | `memory` | memory that elements are read from and written to, in runs |
//! | `values` | many elements as numbers of one kind |
//! | `places` | the addresses along axes, in row-major order |
//! | `reduce` | many elements to one |
//! | `softmax` | softmax and its logarithm along a line |
//! | `scan` | running sums and products along a line |
//! | `blocks` | reductions that threads share |
//! | `line_tiles` | softmax and running sums that threads share |
//! | `tiles` | neighbouring results or lines that are calculated together |
//! | `shared` | which calls threads share in which way |

mod blocks;
mod call;
mod line_tiles;
mod memory;
mod number;
mod places;
mod reduce;
mod scan;
mod shared;
#[cfg(test)]
mod shared_tests;
mod softmax;
#[cfg(test)]
mod tests;
mod tiles;
mod values;

use std::ops::Range;

use sconce_base::element::Dtype;

pub use call::{
    ElementOperand, KeptAxis, LineCall, LineOp, ReduceCall, ReduceOp, ReducedAxis, numbers,
};
pub use memory::ElementMemory;
pub use number::Number;
pub use reduce::reduce;
pub use reduce::{OfMean, ReducePart, join_pairs, reduce_part};
pub use shared::{lines_on_threads, reduce_on_threads};

/// A part of each line of a call: what a block of a kernel calculates.
pub struct LineChunk {
    /// Which elements.
    pub elements: Range<i64>,
    /// What is before them, for the first line; for a scan.
    pub before: Option<ElementOperand>,
    /// From there to what is before those of the next line.
    pub line_step: i64,
}

/// The type that sums of a type accumulate in.
pub const fn sum_type(compute: Dtype) -> Dtype {
    match compute {
        Dtype::F32 | Dtype::F16 | Dtype::Bf16 => Dtype::F32,
        Dtype::C32 => Dtype::C64,
        Dtype::F64 | Dtype::C64 | Dtype::C128 => compute,
        _ => Dtype::I64,
    }
}

/// Calculates the lines of a call, one after the other.
pub fn lines<M: ElementMemory>(call: &LineCall<'_>, memory: &mut M) -> Result<(), M::Failure> {
    let whole = LineChunk { elements: 0..call.length, before: None, line_step: 0 };
    lines_chunk(call, &whole, memory)
}

/// Calculates a part of each line.
pub fn lines_chunk<M: ElementMemory>(
    call: &LineCall<'_>,
    chunk: &LineChunk,
    memory: &mut M,
) -> Result<(), M::Failure> {
    let Range { start, end } = chunk.elements;
    let mut before = chunk.before;
    places::each_place(call.lines, |axis| axis.size, |axis| axis.both(), &mut |[from, to]| {
        let line = memory::Line {
            input: call.input.at(from).at(start.wrapping_mul(call.input_stride)),
            input_stride: call.input_stride,
            output: call.output.at(to).at(start.wrapping_mul(call.output_stride)),
            output_stride: call.output_stride,
            length: end - start,
        };
        match call.op {
            LineOp::Softmax | LineOp::LogSoftmax => softmax::line(call, line, memory),
            LineOp::Cumsum | LineOp::Cumprod => {
                scan::line(call, line, before, memory)?;
                before = before.map(|before| before.at(chunk.line_step));
                Ok(())
            }
        }
    })
}
