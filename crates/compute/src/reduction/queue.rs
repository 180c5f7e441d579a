//! How a reduction becomes launches of kernels.
//!
//! One launch is enough where the results alone keep the device busy. Otherwise the elements of each result are split
//! in parts: a first launch reduces each part to a partial result in scratch memory, and a second one reduces the
//! partial results. `argmax` and the like have pairs of a value and its index for partial results. Calls with more axes
//! than a launch holds are cut: along kept axes into independent calls, along reduced axes into parts.

use sconce_base::element::{Dtype, DtypeKind};
use sconce_base::error::Result;
use sconce_kernels::{
    LineKernel, LineLaunch, REDUCE_AXES, ReduceAxes, ReduceAxis, ReduceForm, ReduceImage,
    ReduceKernel, ReduceLaunch,
};
use sconce_math::folding::{ElementOperand, KeptAxis, ReduceCall, ReduceOp, ReducedAxis};
use smallvec::SmallVec;

use super::choice::{ReduceChoice, accumulator_of, of_nothing};
use super::shape::ReduceShape;
use super::threads::ReduceThreads;

/// The most reduced axes of a launch. Each index along the others is a launch of its own.
const MOST_REDUCED: usize = 4;
/// Bytes of a value with its index.
const PAIR_BYTES: u64 = 16;

/// A stream of a device, as this module uses it.
pub(super) trait ReductionStream {
    /// How many multiprocessors the device has.
    fn multiprocessors(&self) -> Result<u64>;
    /// Queues a launch.
    fn launch(&self, kernel: ReduceKernel, launch: &ReduceLaunch) -> Result<()>;
    /// Queues a launch along lines.
    fn launch_lines(&self, kernel: LineKernel, launch: &LineLaunch) -> Result<()>;
    /// Queues that memory becomes 0.
    fn set_to_zero(&self, address: u64, bytes: u64) -> Result<()>;
    /// Calls `with` with the address of memory that work which it queues may use.
    fn with_scratch(&self, bytes: u64, with: &mut dyn FnMut(u64) -> Result<()>) -> Result<()>;
}

/// Queues a reduction.
pub(super) fn queue(stream: &dyn ReductionStream, call: &ReduceCall<'_>) -> Result<()> {
    let Some(shape) = ReduceShape::of(call) else { return Ok(()) };
    let reduced = shape.reduced.len().min(MOST_REDUCED);
    each_result_part(call, shape, REDUCE_AXES - reduced, &mut |call, shape| {
        if shape.reduced.len() > MOST_REDUCED {
            return in_rounds(stream, call, shape);
        }
        let multiprocessors = stream.multiprocessors()?;
        let of_part = call_of_parts(call);
        let choice = ReduceChoice::of(&of_part, shape);
        let threads = ReduceThreads::of(&choice, shape, multiprocessors, true);
        let parts = shape.count.div_ceil(threads.chunk);
        if parts <= 1 {
            if (of_part.op, of_part.output.dtype) == (call.op, call.output.dtype) {
                let threads = threads.in_one_part(shape);
                return stream.launch(choice.kernel, &launch(call, shape, &choice, threads));
            }
            let choice = ReduceChoice::of(call, shape);
            let threads = ReduceThreads::of(&choice, shape, multiprocessors, false);
            return stream.launch(choice.kernel, &launch(call, shape, &choice, threads));
        }
        in_parts(stream, call, shape, parts, &mut |first, partial| {
            let mut launch = launch(first, shape, &choice, threads);
            // In columns the parts of neighbouring results lie side by side, as their elements do.
            let is_wide = is_by_columns(choice.kernel.form);
            let results = launch.outputs() as i64;
            launch.kept = dense(&shape.kept, if is_wide { 1 } else { parts as i64 });
            launch.split = if is_wide { results } else { 1 };
            launch.output = partial;
            launch.as_pairs = call.op.is_index();
            stream.launch(choice.kernel, &launch)?;
            Ok(if is_wide { [1, results] } else { [parts as i64, 1] })
        })
    })
}

pub(super) fn is_by_columns(form: ReduceForm) -> bool {
    matches!(form, ReduceForm::Columns | ReduceForm::Narrow)
}

/// Cuts a call along its outermost kept axes until `most` are left, and calls `each` with each piece.
fn each_result_part(
    call: &ReduceCall<'_>,
    mut shape: ReduceShape,
    most: usize,
    each: &mut dyn FnMut(&ReduceCall<'_>, &ReduceShape) -> Result<()>,
) -> Result<()> {
    if shape.kept.len() <= most {
        return each(call, &shape);
    }
    let Some(outermost) = shape.kept.pop() else { return each(call, &shape) };
    for index in 0..outermost.size as i64 {
        let call = ReduceCall {
            input: call.input.at(index.wrapping_mul(outermost.stride)),
            output: call.output.at(index.wrapping_mul(outermost.other)),
            ..*call
        };
        each_result_part(&call, shape.clone(), most, each)?;
    }
    Ok(())
}

/// The kept axes for results that are packed, `step` elements from one to the next.
pub(super) fn dense(kept: &[ReduceAxis], step: i64) -> ReduceAxes {
    let mut reach = step;
    let axes = kept.iter().map(|axis| {
        let dense = ReduceAxis { other: reach, ..*axis };
        reach *= axis.size as i64;
        dense
    });
    axes.collect()
}

/// What the sum of a mean is multiplied by: results over elements, in the type of the sum, as torch on CUDA has it.
fn factor_of_mean(compute: Dtype, shape: &ReduceShape) -> f64 {
    let results: u64 = shape.kept.iter().map(|axis| axis.size).product();
    let elements = results.saturating_mul(shape.count);
    match accumulator_of(compute) {
        Dtype::F64 | Dtype::C128 => results as f64 / elements as f64,
        _ => f64::from(results as f32 / elements as f32),
    }
}

pub(super) fn launch(
    call: &ReduceCall<'_>,
    shape: &ReduceShape,
    choice: &ReduceChoice,
    threads: ReduceThreads,
) -> ReduceLaunch {
    ReduceLaunch {
        input: call.input.address,
        output: call.output.address,
        op: choice.op,
        types: choice.types,
        as_pairs: false,
        kept_first: threads.kept_first,
        count: shape.count,
        chunk: threads.chunk,
        split: 0,
        factor: factor_of_mean(call.compute, shape),
        mask: choice.mask,
        threads_log2: threads.log2,
        kept: shape.kept.clone(),
        reduced: shape.reduced.clone(),
        start: of_nothing(choice.op, call.compute),
        blocks: threads.blocks,
    }
}

/// The operation that reduces each part, the type of the partial results, and the operation that reduces these.
fn of_parts(call: &ReduceCall<'_>) -> (ReduceOp, Dtype, ReduceOp) {
    match call.op {
        ReduceOp::Sum | ReduceOp::Mean => (ReduceOp::Sum, accumulator_of(call.compute), call.op),
        ReduceOp::Prod => (ReduceOp::Prod, accumulator_of(call.compute), ReduceOp::Prod),
        ReduceOp::All | ReduceOp::Any => (call.op, Dtype::Bool, call.op),
        ReduceOp::Count => (ReduceOp::Count, Dtype::I64, ReduceOp::Sum),
        ReduceOp::Amax | ReduceOp::Amin | ReduceOp::Argmax | ReduceOp::Argmin => {
            (call.op, call.compute, call.op)
        }
    }
}

/// The call that reduces a part. Its output has the type of the partial results, but not yet their address.
fn call_of_parts<'a>(call: &ReduceCall<'a>) -> ReduceCall<'a> {
    let (op, dtype, _) = of_parts(call);
    let dtype = if call.op.is_index() { call.output.dtype } else { dtype };
    ReduceCall { op, output: ElementOperand { dtype, ..call.output }, ..*call }
}

/// Queues a reduction in parts. `first` queues the launches of the parts: it gets their call and the address of the
/// partial results, and returns the distances from one result to the next and from one part to the next. Then a launch
/// reduces the partial results.
fn in_parts(
    stream: &dyn ReductionStream,
    call: &ReduceCall<'_>,
    shape: &ReduceShape,
    parts: u64,
    first: &mut dyn FnMut(&ReduceCall<'_>, u64) -> Result<[i64; 2]>,
) -> Result<()> {
    let (_, dtype, joining) = of_parts(call);
    let results: u64 = shape.kept.iter().map(|axis| axis.size).product();
    let is_index = call.op.is_index();
    let width = if is_index { PAIR_BYTES } else { dtype.bytes() as u64 };
    stream.with_scratch(results * parts * width, &mut |partial| {
        let output = ElementOperand { address: partial, dtype };
        let [result_step, part_step] = first(&call_of_parts(call), partial)?;
        let kept = dense(&shape.kept, result_step);
        if is_index {
            return join_pairs(
                stream,
                call,
                [partial, result_step as u64, part_step as u64],
                shape,
                parts,
            );
        }
        let axes = shape.kept.iter().zip(&kept);
        let kept: SmallVec<[KeptAxis; REDUCE_AXES]> = axes
            .map(|(axis, dense)| KeptAxis {
                size: axis.size as i64,
                input_stride: dense.other,
                output_stride: axis.other,
            })
            .collect();
        let joined = ReduceCall {
            op: joining,
            input: output,
            compute: dtype,
            output: call.output,
            kept: &kept,
            reduced: &[ReducedAxis { size: parts as i64, input_stride: part_step }],
        };
        let Some(joined_shape) = ReduceShape::of(&joined) else { return Ok(()) };
        let choice = ReduceChoice::of(&joined, &joined_shape);
        let threads = ReduceThreads::of(&choice, &joined_shape, stream.multiprocessors()?, false);
        let mut launch = launch(&joined, &joined_shape, &choice, threads);
        launch.factor = factor_of_mean(call.compute, shape);
        stream.launch(choice.kernel, &launch)
    })
}

/// Queues the launch that reduces partial results with indices. The array is their address, and the distances from one
/// result to the next and from one part to the next.
fn join_pairs(
    stream: &dyn ReductionStream,
    call: &ReduceCall<'_>,
    [pairs, result_step, part_step]: [u64; 3],
    shape: &ReduceShape,
    parts: u64,
) -> Result<()> {
    let dtype = match call.compute.kind() {
        DtypeKind::Float => Dtype::F64,
        _ => Dtype::I64,
    };
    let kernel = ReduceKernel { image: ReduceImage::General, form: ReduceForm::Pairs, dtype };
    let choice = ReduceChoice { kernel, op: call.op, types: [Dtype::I64; 3], mask: 0, width: 1 };
    let results: u64 = shape.kept.iter().map(|axis| axis.size).product();
    // Eight warps, each with a result.
    let threads = ReduceThreads {
        log2: [5, 0, 3],
        blocks: results.div_ceil(8),
        chunk: parts,
        kept_first: false,
    };
    let mut launch = launch(call, shape, &choice, threads);
    launch.input = pairs;
    launch.kept = shape.kept.clone();
    launch.reduced =
        [ReduceAxis { size: parts, stride: part_step as i64, other: result_step as i64 }]
            .into_iter()
            .collect();
    (launch.count, launch.types) = (parts, [Dtype::I64, dtype, Dtype::I64]);
    stream.launch(kernel, &launch)
}

/// Queues a reduction along more axes than a launch holds: each index along the outermost reduced axes is a part.
fn in_rounds(
    stream: &dyn ReductionStream,
    call: &ReduceCall<'_>,
    shape: &ReduceShape,
) -> Result<()> {
    let (inner, outer) = shape.reduced.split_at(MOST_REDUCED);
    let parts: u64 = outer.iter().map(|axis| axis.size).product();
    let inner = ReduceShape {
        kept: dense(&shape.kept, parts as i64),
        reduced: inner.into(),
        count: inner.iter().map(|axis| axis.size).product(),
    };
    in_parts(stream, call, shape, parts, &mut |first, partial| {
        let width =
            if first.op.is_index() { PAIR_BYTES } else { first.output.dtype.bytes() as u64 };
        for part in 0..parts {
            let (mut rest, mut from, mut start) = (part, 0_i64, 0_i64);
            for axis in outer {
                let here = (rest % axis.size) as i64;
                from = from.wrapping_add(here.wrapping_mul(axis.stride));
                start = start.wrapping_add(here.wrapping_mul(axis.other));
                rest /= axis.size;
            }
            let of_part = ReduceCall { input: first.input.at(from), ..*first };
            let choice = match first.op.is_index() {
                true => ReduceChoice::general(&of_part),
                false => ReduceChoice::of(&of_part, &inner),
            };
            let threads = ReduceThreads::of(&choice, &inner, stream.multiprocessors()?, false);
            let mut launch = launch(&of_part, &inner, &choice, threads);
            launch.output = partial + part * width;
            if first.op.is_index() {
                (launch.as_pairs, launch.start) = (true, start as u64);
            }
            stream.launch(choice.kernel, &launch)?;
        }
        Ok([parts as i64, 1])
    })
}
