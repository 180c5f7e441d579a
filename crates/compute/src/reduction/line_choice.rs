//! Which kernel a calculation along lines takes, and how many threads and chunks.

use sconce_base::element::Dtype;
use sconce_kernels::{LINE_THREADS, LineForm, LineKernel, SOFTMAX_THREADS, chain_tile};
use sconce_math::folding::{LineCall, LineOp};

use super::choice::accumulator_of;
use super::shape::ReduceShape;
use super::threads::log2_up;

/// The most threads of a block of softmax that holds lines in accesses of several elements.
const HELD_THREADS: u32 = 512;
/// How many accesses a thread of a sum of rows has, in accesses of several elements and of one.
const SPANS: u64 = 4;
/// How many elements a thread takes of a column, of the kernel's type and of any.
const COLUMN_STEPS: [u64; 2] = [8, 4];
/// The least bytes of a chunk, and what its elements are a multiple of.
const LEAST_CHUNK: u64 = 64 << 10;
const CHUNK_ALIGNMENT: u64 = 4096;
/// Blocks of each multiprocessor from which on lines are not cut, and how many chunks make.
const BLOCKS_ENOUGH: u64 = 4;
const BLOCKS_WANTED: u64 = 16;

/// The most blocks of a launch.
const MOST_TILES: u64 = (1 << 31) - 1;

/// A kernel with its threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineChoice {
    pub(super) kernel: LineKernel,
    /// Lanes and rows of a block, as logarithms.
    pub(super) log2: [u32; 2],
    /// How many elements of a line a block takes.
    pub(super) chunk: u64,
}

/// Whether a kernel for one type takes the call.
fn is_fast(call: &LineCall<'_>) -> bool {
    let is_small = matches!(call.compute, Dtype::F32 | Dtype::F16 | Dtype::Bf16);
    let fits = match call.op {
        LineOp::Softmax | LineOp::LogSoftmax => is_small,
        LineOp::Cumsum => is_small || call.compute == Dtype::I64,
        LineOp::Cumprod => false,
    };
    fits && call.input.dtype == call.compute && call.output.dtype == call.compute
}

/// The kernel of softmax that holds lines of a length, how many elements a thread holds, and the most
/// threads of a block. More elements a thread leave less room for other blocks, so singles take them
/// only where a block could not hold the line otherwise. 16-bit elements, whose exponentials take longer
/// than their accesses, always take many, and of lines from which blocks of 512 threads would follow, more.
fn held(dtype: Dtype, is_narrow: bool, length: u64) -> (LineForm, u64, u32) {
    match (is_narrow, dtype) {
        (true, _) => (LineForm::Held, 8, SOFTMAX_THREADS),
        (false, Dtype::F32) if length <= 16 * u64::from(HELD_THREADS) => {
            (LineForm::Held, 16, HELD_THREADS)
        }
        (false, Dtype::F32) => (LineForm::HeldMore, 32, HELD_THREADS),
        (false, _) if length <= 8192 => (LineForm::Held, 32, HELD_THREADS),
        (false, _) => (LineForm::HeldMore, 64, HELD_THREADS),
    }
}

/// Whether lines lie side by side in accesses of `width` elements.
fn is_wide(call: &LineCall<'_>, shape: &ReduceShape, width: u64) -> bool {
    let bytes = width * call.input.dtype.bytes() as u64;
    let strides = shape
        .kept
        .iter()
        .fold(call.length as u64, |bits, axis| bits | axis.stride as u64 | axis.other as u64);
    strides.is_multiple_of(width)
        && (call.input.address | call.output.address).is_multiple_of(bytes)
}

impl LineChoice {
    /// The kernel for a call whose other axes are those kept by `shape`; lines are cut into chunks only if
    /// `may_cut`.
    pub(super) fn of(
        call: &LineCall<'_>,
        shape: &ReduceShape,
        multiprocessors: u64,
        may_cut: bool,
    ) -> LineChoice {
        let lines: u64 = shape.kept.iter().map(|axis| axis.size).product();
        let length = call.length as u64;
        let is_softmax = matches!(call.op, LineOp::Softmax | LineOp::LogSoftmax);
        let is_line = length == 1 || (call.input_stride, call.output_stride) == (1, 1);
        let width = 16 / call.input.dtype.bytes() as u64;
        let is_narrow = !is_wide(call, shape, width);
        let of = |form, dtype, is_narrow, log2, chunk| {
            let kernel = LineKernel { is_softmax, form, dtype, is_narrow };
            LineChoice { kernel, log2, chunk }
        };
        let all = LINE_THREADS.ilog2();
        match (is_softmax, is_fast(call)) {
            (true, true) if is_line => {
                let (form, held, most) = held(call.compute, is_narrow, length);
                let lanes = log2_up(length.div_ceil(held));
                if lanes > most.ilog2() {
                    let log2 = [SOFTMAX_THREADS.ilog2(), 0];
                    return of(LineForm::Long, call.compute, is_narrow, log2, length);
                }
                // Whole warps exchange values.
                let rows =
                    all.saturating_sub(lanes).min(log2_up(lines)).max(5_u32.saturating_sub(lanes));
                of(form, call.compute, is_narrow, [lanes, rows], length)
            }
            (false, true) if is_line => {
                let of_access = if is_narrow { 1 } else { width };
                let spans = if of_access == 8 { 2 } else { SPANS };
                let warps = log2_up(length.div_ceil(32 * of_access * spans)).min(all - 5);
                let rows = (all - 5 - warps).min(log2_up(lines));
                let bytes = length * call.input.dtype.bytes() as u64;
                let blocks = lines.div_ceil(1 << rows);
                let chunk = chunk(length, bytes, blocks, multiprocessors, may_cut);
                if let Some((tile, _)) = chain_tile(call.compute)
                    && chunk < length
                    && !is_narrow
                    && lines.saturating_mul(length.div_ceil(tile)) <= MOST_TILES
                {
                    return of(LineForm::Chain, call.compute, false, [all, 0], tile);
                }
                of(LineForm::Rows, call.compute, is_narrow, [5 + warps, rows], chunk)
            }
            (is_softmax, is_fast) => {
                let is_typed = is_fast && !is_softmax;
                let steps = if is_softmax { 1 } else { COLUMN_STEPS[usize::from(!is_typed)] };
                let rows = log2_up(lines).min(5);
                let lanes = log2_up(length.div_ceil(steps)).min(all - rows);
                let rows = (all - lanes).min(log2_up(lines));
                let bytes = (length * call.input.dtype.bytes() as u64) << rows;
                let blocks = lines.div_ceil(1 << rows);
                let may_cut = may_cut && !is_softmax;
                let chunk = chunk(length, bytes, blocks, multiprocessors, may_cut);
                let (form, dtype) = match is_typed {
                    true => (LineForm::Columns, call.compute),
                    false => (LineForm::General, accumulator_of(call.compute)),
                };
                of(form, dtype, false, [lanes, rows], chunk)
            }
        }
    }
}

/// How many elements of a line a block takes, where `blocks` of them take whole lines, `bytes` each.
fn chunk(length: u64, bytes: u64, blocks: u64, multiprocessors: u64, may_cut: bool) -> u64 {
    if !may_cut || blocks >= BLOCKS_ENOUGH * multiprocessors {
        return length;
    }
    let wanted = (BLOCKS_WANTED * multiprocessors).div_ceil(blocks);
    let chunks = (bytes / LEAST_CHUNK).clamp(1, wanted);
    length.div_ceil(chunks).next_multiple_of(CHUNK_ALIGNMENT).min(length)
}

#[cfg(test)]
mod tests {
    use sconce_math::folding::{ElementOperand, KeptAxis, ReduceCall, ReduceOp, ReducedAxis};

    use super::*;
    use Dtype::{Bf16, F16, F32, F64, I64};

    /// The kernel for lines side by side on a device of 100 multiprocessors.
    fn choice(op: LineOp, dtype: Dtype, [lines, length]: [i64; 2], address: u64) -> LineChoice {
        let kept = [KeptAxis { size: lines, input_stride: length, output_stride: length }];
        let operand = ElementOperand { address, dtype };
        let call = LineCall {
            op,
            input: operand,
            compute: dtype,
            output: operand,
            lines: &kept,
            length,
            input_stride: 1,
            output_stride: 1,
        };
        let reduced = [ReducedAxis { size: length, input_stride: 1 }];
        let sums = ReduceCall {
            op: ReduceOp::Sum,
            input: operand,
            compute: dtype,
            output: operand,
            kept: &kept,
            reduced: &reduced,
        };
        LineChoice::of(&call, &ReduceShape::of(&sums).unwrap(), 100, true)
    }

    #[test]
    fn softmax_holds_lines_in_the_registers_of_at_most_512_threads() {
        for (dtype, length, form, lanes) in [
            (F32, 16, LineForm::Held, 0),
            (F32, 8192, LineForm::Held, 9),
            (F32, 8196, LineForm::HeldMore, 9),
            (F32, 16384, LineForm::HeldMore, 9),
            (F32, 16388, LineForm::Long, 10),
            (F16, 8192, LineForm::Held, 8),
            (F16, 8200, LineForm::HeldMore, 8),
            (Bf16, 16384, LineForm::HeldMore, 8),
            (F16, 32768, LineForm::HeldMore, 9),
            (F16, 32776, LineForm::Long, 10),
        ] {
            let chosen = choice(LineOp::Softmax, dtype, [1000, length], 1 << 20);
            assert_eq!((chosen.kernel.form, chosen.log2[0]), (form, lanes), "{dtype:?} {length}");
            assert!(chosen.log2[0] + chosen.log2[1] >= 5, "whole warps exchange values");
        }
        let narrow = choice(LineOp::Softmax, F32, [1000, 8191], 1 << 20);
        assert_eq!((narrow.kernel.form, narrow.kernel.is_narrow), (LineForm::Held, true));
    }

    #[test]
    fn few_long_lines_are_summed_in_one_pass_where_their_elements_are_aligned() {
        for (dtype, sizes, address, form) in [
            (F32, [1, 1 << 20], 1 << 20, LineForm::Chain),
            (F16, [3, 1 << 20], 1 << 20, LineForm::Chain),
            (I64, [1, 1 << 20], 1 << 20, LineForm::Chain),
            (F32, [1, 1 << 20], 8, LineForm::Rows),
            (F32, [1, (1 << 20) + 1], 1 << 20, LineForm::Rows),
            (F32, [10_000, 1 << 20], 1 << 20, LineForm::Rows),
            (F32, [1, 8192], 1 << 20, LineForm::Rows),
            (F64, [1, 1 << 20], 1 << 20, LineForm::General),
        ] {
            let chosen = choice(LineOp::Cumsum, dtype, sizes, address);
            assert_eq!(chosen.kernel.form, form, "{dtype:?} {sizes:?} {address}");
            if form == LineForm::Chain {
                assert_eq!(Some(chosen.chunk), chain_tile(dtype).map(|(tile, _)| tile));
                assert_eq!(chosen.log2, [8, 0]);
            }
        }
    }
}
