//! Many elements to one.

use super::call::{ReduceCall, ReduceOp, ReducedAxis};
use super::memory::{ElementMemory, read_each};
use super::number::Number;
use super::places::each_place;

/// What has been accumulated.
struct Accumulator {
    op: ReduceOp,
    value: Number,
    /// The index of `value`, for operations that compare.
    index: i64,
    count: i64,
}

impl Accumulator {
    fn new(call: &ReduceCall<'_>) -> Accumulator {
        let value = match call.op {
            ReduceOp::Sum | ReduceOp::Mean => Number::of(0, call.compute),
            ReduceOp::Prod => Number::of(1, call.compute),
            ReduceOp::Amax | ReduceOp::Argmax => Number::extreme(call.compute, false),
            ReduceOp::Amin | ReduceOp::Argmin => Number::extreme(call.compute, true),
            ReduceOp::All => Number::Whole(1),
            ReduceOp::Any => Number::Whole(0),
        };
        Accumulator { op: call.op, value, index: 0, count: 0 }
    }

    fn take(&mut self, element: Number) {
        match self.op {
            ReduceOp::Sum | ReduceOp::Mean => self.value = self.value.plus(element),
            ReduceOp::Prod => self.value = self.value.times(element),
            ReduceOp::Amax | ReduceOp::Argmax => self.compare(element, false),
            ReduceOp::Amin | ReduceOp::Argmin => self.compare(element, true),
            ReduceOp::All if !element.is_nonzero() => self.value = Number::Whole(0),
            ReduceOp::Any if element.is_nonzero() => self.value = Number::Whole(1),
            ReduceOp::All | ReduceOp::Any => {}
        }
        self.count += 1;
    }

    fn compare(&mut self, element: Number, smallest: bool) {
        if self.count == 0 || element.beats(self.value, smallest) {
            (self.value, self.index) = (element, self.count);
        }
    }

    fn result(&self) -> Number {
        match self.op {
            ReduceOp::Mean => self.value.over(self.count),
            ReduceOp::Argmax | ReduceOp::Argmin => Number::Whole(self.index),
            _ => self.value,
        }
    }
}

/// Calculates a reduction.
pub fn reduce<M: ElementMemory>(call: &ReduceCall<'_>, memory: &mut M) -> Result<(), M::Failure> {
    let whole = [ReducedAxis { size: 1, input_stride: 0 }];
    let (line, outer) = call.reduced.split_last().unwrap_or((&whole[0], &[]));
    let is_logical = call.op.is_logical();
    each_place(call.kept, |axis| axis.size, |axis| axis.both(), &mut |[from, to]| {
        let input = call.input.at(from);
        let mut accumulator = Accumulator::new(call);
        each_place(outer, |axis| axis.size, |axis| [axis.input_stride], &mut |[further]| {
            read_each(memory, input.at(further), line.input_stride, line.size, |element| {
                accumulator.take(if is_logical { element } else { element.to(call.compute) });
            })
        })?;
        let mut bytes = [0; 16];
        let bytes = &mut bytes[..call.output.dtype.bytes()];
        accumulator.result().store(call.output.dtype, bytes);
        memory.write(call.output.at(to).address, bytes)
    })
}
