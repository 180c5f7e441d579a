//! Softmax and running sums as launches. Sums of few long lines are one launch where they lie side by
//! side; otherwise three: the sums of chunks, what is before each chunk, and the sums themselves.

use sconce_base::error::Result;
use sconce_kernels::{LINE_AXES, LineForm, LineLaunch};
use sconce_math::folding::{
    ElementOperand, KeptAxis, LineCall, LineOp, ReduceCall, ReduceOp, ReducedAxis,
};

use super::choice::{ReduceChoice, accumulator_of};
use super::line_choice::LineChoice;
use super::queue::{ReductionStream, dense, is_by_columns, launch};
use super::shape::ReduceShape;
use super::threads::ReduceThreads;

/// Queues a calculation along lines.
pub(super) fn queue(stream: &dyn ReductionStream, call: &LineCall<'_>) -> Result<()> {
    let reduced = [ReducedAxis { size: call.length, input_stride: call.input_stride }];
    let sums = sums_of(call, &reduced);
    match ReduceShape::of(&sums) {
        Some(shape) if call.length > 0 => each_group(stream, call, shape),
        _ => Ok(()),
    }
}

/// The reduction of the lines to their sums or products; nothing is known of where its results lie.
fn sums_of<'a>(call: &LineCall<'a>, reduced: &'a [ReducedAxis]) -> ReduceCall<'a> {
    let op = if call.op == LineOp::Cumprod { ReduceOp::Prod } else { ReduceOp::Sum };
    let dtype = accumulator_of(call.compute);
    let output = ElementOperand { dtype, ..call.output };
    let (input, compute, kept) = (call.input, call.compute, call.lines);
    ReduceCall { op, input, compute, output, kept, reduced }
}

/// Cuts along the outermost axes until a launch can hold the rest.
fn each_group(
    stream: &dyn ReductionStream,
    call: &LineCall<'_>,
    mut shape: ReduceShape,
) -> Result<()> {
    if shape.kept.len() <= LINE_AXES {
        return queue_group(stream, call, &shape, true);
    }
    let Some(outermost) = shape.kept.pop() else { return Ok(()) };
    for index in 0..outermost.size as i64 {
        let call = LineCall {
            input: call.input.at(index.wrapping_mul(outermost.stride)),
            output: call.output.at(index.wrapping_mul(outermost.other)),
            ..*call
        };
        each_group(stream, &call, shape.clone())?;
    }
    Ok(())
}

fn queue_group(
    stream: &dyn ReductionStream,
    call: &LineCall<'_>,
    shape: &ReduceShape,
    may_cut: bool,
) -> Result<()> {
    let choice = LineChoice::of(call, shape, stream.multiprocessors()?, may_cut);
    let mut launch = LineLaunch {
        input: call.input.address,
        output: call.output.address,
        op: call.op,
        types: [call.input.dtype, call.compute, call.output.dtype],
        length: call.length as u64,
        strides: [call.input_stride, call.output_stride],
        chunk: choice.chunk,
        offsets: 0,
        offset_steps: [0, 0],
        threads_log2: choice.log2,
        axes: shape.kept.clone(),
    };
    if choice.kernel.form == LineForm::Chain {
        let bytes = 8 * launch.chain_words();
        return stream.with_scratch(bytes, &mut |words| {
            stream.set_to_zero(words, bytes)?;
            launch.offsets = words;
            stream.launch_lines(choice.kernel, &launch)
        });
    }
    let (lines, chunks) = (launch.lines(), launch.chunks());
    if chunks == 1 {
        return stream.launch_lines(choice.kernel, &launch);
    }
    let bytes = lines * chunks * accumulator_of(call.compute).bytes() as u64;
    stream.with_scratch(bytes, &mut |offsets| {
        let steps = sum_chunks(stream, call, shape, choice.chunk, offsets)?;
        before_chunks(stream, call, lines, chunks, offsets, steps)?;
        (launch.offsets, launch.offset_steps) = (offsets, steps);
        stream.launch_lines(choice.kernel, &launch)
    })
}

/// Queues the sums of the chunks, and returns how far they are apart from line to line and from chunk to
/// chunk.
fn sum_chunks(
    stream: &dyn ReductionStream,
    call: &LineCall<'_>,
    shape: &ReduceShape,
    chunk: u64,
    sums: u64,
) -> Result<[i64; 2]> {
    let of_lines = sums_of(call, &[]);
    let choice = ReduceChoice::of(&of_lines, shape);
    let threads = ReduceThreads::of(&choice, shape, stream.multiprocessors()?, false);
    let mut launch = launch(&of_lines, shape, &choice, threads);
    let (lines, chunks) = (launch.outputs() as i64, shape.count.div_ceil(chunk) as i64);
    let [line, part] = if is_by_columns(choice.kernel.form) { [1, lines] } else { [chunks, 1] };
    launch.kept = dense(&shape.kept, line);
    (launch.output, launch.chunk, launch.split) = (sums, chunk, part);
    stream.launch(choice.kernel, &launch)?;
    Ok([line, part])
}

/// Queues the running sums of the chunks' sums, in place.
fn before_chunks(
    stream: &dyn ReductionStream,
    call: &LineCall<'_>,
    lines: u64,
    chunks: u64,
    sums: u64,
    [line, chunk]: [i64; 2],
) -> Result<()> {
    let dtype = accumulator_of(call.compute);
    let sums = ElementOperand { address: sums, dtype };
    let running = LineCall {
        op: call.op,
        input: sums,
        compute: dtype,
        output: sums,
        lines: &[KeptAxis { size: lines as i64, input_stride: line, output_stride: line }],
        length: chunks as i64,
        input_stride: chunk,
        output_stride: chunk,
    };
    let reduced = [ReducedAxis { size: running.length, input_stride: chunk }];
    match ReduceShape::of(&sums_of(&running, &reduced)) {
        Some(shape) => queue_group(stream, &running, &shape, false),
        None => Ok(()),
    }
}
