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
//! | `places` | the addresses along axes, in row-major order |
//! | `reduce` | many elements to one |
//! | `softmax` | softmax and its logarithm along a line |
//! | `scan` | running sums and products along a line |

mod call;
mod memory;
mod number;
mod places;
mod reduce;
mod scan;
mod softmax;
#[cfg(test)]
mod tests;

pub use call::{ElementOperand, KeptAxis, LineCall, LineOp, ReduceCall, ReduceOp, ReducedAxis};
pub use memory::ElementMemory;
pub(crate) use number::Number;
pub use reduce::reduce;
pub(crate) use reduce::{ReducePart, join_pairs, reduce_part};

/// Calculates the lines of a call, one after the other.
pub fn lines<M: ElementMemory>(call: &LineCall<'_>, memory: &mut M) -> Result<(), M::Failure> {
    places::each_place(call.lines, |axis| axis.size, |axis| axis.both(), &mut |[from, to]| {
        let line = memory::Line {
            input: call.input.at(from),
            input_stride: call.input_stride,
            output: call.output.at(to),
            output_stride: call.output_stride,
            length: call.length,
        };
        match call.op {
            LineOp::Softmax | LineOp::LogSoftmax => softmax::line(call, line, memory),
            LineOp::Cumsum | LineOp::Cumprod => scan::line(call, line, memory),
        }
    })
}
