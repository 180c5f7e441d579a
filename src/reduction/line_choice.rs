//! Which kernel a calculation along lines takes, and how many threads and chunks.

use super::choice::accumulator_of;
use super::shape::ReduceShape;
use super::threads::log2_up;
use crate::element::Dtype;
use crate::folding::{LineCall, LineOp};
use crate::kernels::{LINE_THREADS, LineForm, LineKernel, SOFTMAX_THREADS};

/// How many elements a thread of softmax holds, in accesses of several elements and of one.
const SOFTMAX_HELD: [u64; 2] = [16, 8];
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
                let held = SOFTMAX_HELD[usize::from(is_narrow)];
                let lanes = log2_up(length.div_ceil(held));
                if lanes > SOFTMAX_THREADS.ilog2() {
                    let log2 = [SOFTMAX_THREADS.ilog2(), 0];
                    return of(LineForm::Long, call.compute, is_narrow, log2, length);
                }
                // Whole warps exchange values.
                let rows =
                    all.saturating_sub(lanes).min(log2_up(lines)).max(5_u32.saturating_sub(lanes));
                of(LineForm::Held, call.compute, is_narrow, [lanes, rows], length)
            }
            (false, true) if is_line => {
                let of_access = if is_narrow { 1 } else { width };
                let spans = if of_access == 8 { 2 } else { SPANS };
                let warps = log2_up(length.div_ceil(32 * of_access * spans)).min(all - 5);
                let rows = (all - 5 - warps).min(log2_up(lines));
                let bytes = length * call.input.dtype.bytes() as u64;
                let blocks = lines.div_ceil(1 << rows);
                let chunk = chunk(length, bytes, blocks, multiprocessors, may_cut);
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
