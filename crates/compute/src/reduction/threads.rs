//! How many threads and blocks reduce, and in how many parts.

use sconce_kernels::{COLUMN_THREADS, ROW_THREADS, ReduceForm, ReduceImage, SHORT_THREADS};

use super::choice::ReduceChoice;
use super::shape::ReduceShape;

/// Bytes of a result that one block reduces as quickly as several with a second launch.
const OF_ONE_BLOCK: u64 = 128 << 10;
/// The least bytes of a part, and those of a part where there are many.
const LEAST_PART: u64 = 32 << 10;
const LARGE_PART: u64 = 256 << 10;
/// The most parts.
const MOST_PARTS: u64 = 4096;
/// Accesses that a thread has under way: of a row and of columns of several elements, of a row that is summed,
/// of columns of one element.
const UNDER_WAY: u64 = 4;
const SUMS_UNDER_WAY: u64 = 8;
const NARROW_UNDER_WAY: u64 = 8;
/// The most elements of a short row that a warp reduces; a block reduces longer ones.
const ROW_OF_A_WARP: u64 = 512;

/// The threads of a block as logarithms, the blocks of grid x, and the elements of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReduceThreads {
    /// Lanes, steps and rows.
    pub(super) log2: [u32; 3],
    pub(super) blocks: u64,
    pub(super) chunk: u64,
    pub(super) kept_first: bool,
}

/// The smallest power of two that is not smaller, as a logarithm.
pub(super) fn log2_up(n: u64) -> u32 {
    n.max(1).next_power_of_two().ilog2()
}

/// The most blocks along grid x; kernels loop over what is beyond.
const MOST_BLOCKS: u64 = (1 << 31) - 1;

/// How many parts of `whole` bytes give a device enough blocks, where there are `blocks` of them.
fn parts(whole: u64, blocks: u64, multiprocessors: u64) -> u64 {
    let enough = (8 * multiprocessors).div_ceil(blocks);
    if blocks >= 4 * multiprocessors || whole <= OF_ONE_BLOCK {
        return 1;
    }
    (whole / LEAST_PART).clamp(1, enough.max(whole / LARGE_PART)).min(MOST_PARTS)
}

impl ReduceThreads {
    /// The threads for a kernel; in one part unless `may_split`.
    pub(super) fn of(
        choice: &ReduceChoice,
        shape: &ReduceShape,
        multiprocessors: u64,
        may_split: bool,
    ) -> ReduceThreads {
        let whole = shape.count.saturating_mul(choice.types[0].bytes() as u64);
        let threads = match choice.kernel.form {
            ReduceForm::Rows => rows(choice, shape, whole, multiprocessors),
            ReduceForm::Short => short_rows(shape),
            ReduceForm::Columns | ReduceForm::Narrow => columns(choice, shape, multiprocessors),
            ReduceForm::General | ReduceForm::Pairs => general(shape, whole, multiprocessors),
        };
        match may_split {
            true => ReduceThreads { chunk: threads.chunk.max(1), ..threads },
            false => threads.in_one_part(shape),
        }
    }

    /// The same threads for elements that are not split.
    pub(super) fn in_one_part(self, shape: &ReduceShape) -> ReduceThreads {
        ReduceThreads { chunk: shape.count.max(1), ..self }
    }
}

fn outputs(shape: &ReduceShape) -> u64 {
    shape.kept.iter().map(|axis| axis.size).product()
}

fn rows(
    choice: &ReduceChoice,
    shape: &ReduceShape,
    whole: u64,
    multiprocessors: u64,
) -> ReduceThreads {
    let (run, results) = (shape.reduced[0].size, outputs(shape));
    let accesses = run.div_ceil(choice.width);
    let is_sum = choice.kernel.image == ReduceImage::Sum;
    let of_run = accesses.div_ceil(if is_sum { SUMS_UNDER_WAY } else { UNDER_WAY });
    let few = results < 2 * multiprocessors;
    // A warp for middling rows, where a block would wait for its slowest warp. The registers of sums leave
    // room for one block of all threads: where there are several, smaller ones take turns.
    let most = match () {
        () if few && !(is_sum && whole > OF_ONE_BLOCK) => ROW_THREADS.ilog2(),
        () if !few && of_run <= 128 => 5,
        () => COLUMN_THREADS.ilog2(),
    };
    let least = u32::from(accesses > 1);
    let lanes = log2_up(of_run).clamp(least, most);
    let rounds = shape.count / run;
    let steps = log2_up(rounds).min(most.max(COLUMN_THREADS.ilog2()) - lanes);
    let group = lanes + steps;
    let of_block = COLUMN_THREADS.ilog2().saturating_sub(group).min(log2_up(results));
    // Whole warps exchange accumulators.
    let rows = of_block.max(5_u32.saturating_sub(group));
    let blocks = results.div_ceil(1 << rows).min(MOST_BLOCKS);
    let parts = parts(whole, blocks, multiprocessors);
    let chunk = match shape.reduced.len() {
        1 => shape.count.div_ceil(parts).next_multiple_of(512 * choice.width),
        _ => rounds.div_ceil(parts) * run,
    };
    ReduceThreads {
        log2: [lanes, steps, rows],
        blocks,
        chunk: chunk.min(shape.count),
        kept_first: false,
    }
}

/// A warp a row, or a block.
fn short_rows(shape: &ReduceShape) -> ReduceThreads {
    let results = outputs(shape);
    let lanes = if shape.count <= ROW_OF_A_WARP { 5 } else { SHORT_THREADS.ilog2() };
    let rows = if lanes == 5 { log2_up(results).min(2) } else { 0 };
    let blocks = results.div_ceil(1 << rows);
    ReduceThreads { log2: [lanes, 0, rows], blocks, chunk: shape.count, kept_first: false }
}

fn columns(choice: &ReduceChoice, shape: &ReduceShape, multiprocessors: u64) -> ReduceThreads {
    let under_way = if choice.width == 1 { NARROW_UNDER_WAY } else { UNDER_WAY };
    let width = shape.kept[0].size;
    let height = outputs(shape) / width;
    let all = COLUMN_THREADS.ilog2();
    let lanes = log2_up(width.div_ceil(choice.width)).min(5);
    let wanted = log2_up(shape.count.div_ceil(under_way)).min(all - lanes);
    let rows = (all - lanes - wanted).min(log2_up(height));
    let steps = (all - lanes - rows).min(log2_up(shape.count));
    let tiles = width.div_ceil(choice.width << lanes);
    let blocks = (tiles * height.div_ceil(1 << rows)).min(MOST_BLOCKS);
    let round = under_way << steps;
    let most = |of_part: u64, blocks_each: u64| {
        let enough = (blocks_each * multiprocessors).div_ceil(blocks);
        (shape.count / (of_part * round)).min(enough)
    };
    let elements = shape.count.saturating_mul(outputs(shape));
    let bytes = elements.saturating_mul(choice.types[0].bytes() as u64);
    let parts = match bytes <= LARGE_PART || blocks >= 8 * multiprocessors {
        true => 1,
        // Long parts where there are enough of them, shorter ones otherwise.
        false => most(8, 32).max(most(1, 4)).clamp(1, MOST_PARTS),
    };
    let chunk = shape.count.div_ceil(parts);
    ReduceThreads { log2: [lanes, steps, rows], blocks, chunk, kept_first: false }
}

fn general(shape: &ReduceShape, whole: u64, multiprocessors: u64) -> ReduceThreads {
    let results = outputs(shape);
    let all = COLUMN_THREADS.ilog2();
    let stride = |axes: &[sconce_kernels::ReduceAxis]| {
        axes.first().map_or(u64::MAX, |axis| axis.stride.unsigned_abs().wrapping_sub(1))
    };
    let kept_first = stride(&shape.kept) < stride(&shape.reduced);
    let wanted = log2_up(shape.count.div_ceil(UNDER_WAY));
    let least_rows = if kept_first { log2_up(results).min(5) } else { 0 };
    let lanes = wanted.min(all - least_rows);
    let rows = (all - lanes).min(log2_up(results));
    let blocks = results.div_ceil(1 << rows).min(MOST_BLOCKS);
    let parts = parts(whole, blocks, multiprocessors);
    ReduceThreads { log2: [lanes, 0, rows], blocks, chunk: shape.count.div_ceil(parts), kept_first }
}

#[cfg(test)]
mod tests {
    use sconce_base::element::Dtype;
    use sconce_math::folding::{ElementOperand, KeptAxis, ReduceCall, ReduceOp, ReducedAxis};

    use super::*;

    /// The logarithm of the threads of a row, of many rows on a device of 100 multiprocessors.
    fn lanes(op: ReduceOp, dtype: Dtype, length: i64) -> u32 {
        let operand = ElementOperand { address: 1 << 20, dtype };
        let call = ReduceCall {
            op,
            input: operand,
            compute: dtype,
            output: operand,
            kept: &[KeptAxis { size: 10_000, input_stride: length, output_stride: 1 }],
            reduced: &[ReducedAxis { size: length, input_stride: 1 }],
        };
        let shape = ReduceShape::of(&call).unwrap();
        let choice = ReduceChoice::of(&call, &shape);
        assert_eq!(choice.kernel.form, ReduceForm::Rows);
        ReduceThreads::of(&choice, &shape, 100, true).log2[0]
    }

    #[test]
    fn a_warp_takes_a_row_that_would_leave_a_block_few_accesses() {
        for (op, dtype, length, expected) in [
            (ReduceOp::Sum, Dtype::F32, 256, 3),
            (ReduceOp::Sum, Dtype::F32, 2048, 5),
            (ReduceOp::Sum, Dtype::F32, 4096, 5),
            (ReduceOp::Sum, Dtype::F32, 4100, 8),
            (ReduceOp::Mean, Dtype::F16, 8192, 5),
            (ReduceOp::Amax, Dtype::F32, 2048, 5),
            (ReduceOp::Amax, Dtype::F32, 4096, 8),
        ] {
            assert_eq!(lanes(op, dtype, length), expected, "{op:?} {dtype:?} {length}");
        }
    }
}
