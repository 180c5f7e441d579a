//! Reductions. What a launch writes is what its slots say, whichever kernel it names.
#![forbid(unsafe_code)]

use sconce_base::element::Dtype;
use sconce_kernels::{REDUCE, ReduceAxis, ReduceLaunch};
use sconce_math::folding::{
    ElementOperand, KeptAxis, OfMean, ReduceCall, ReducePart, ReducedAxis, join_pairs, reduce_part,
};

use super::elements::{DeviceElements, aligned};
use crate::codes;
use crate::kernels::kernel::Kernel;
use crate::memory::{DeviceMemoryView, Intent, MemoryAccess};

/// Bytes of a value with its index.
const PAIR_BYTES: u64 = 16;

macro_rules! reductions {
    ($run:ident, $accesses:ident: $($name:literal)*) => {
        &[$(Kernel {
            name: concat!("sconce_reduce_", $name),
            parameters: REDUCE.slots(),
            duration_ns: |_, latency| latency,
            accesses: $accesses,
            run: |memory, _, arguments| $run(memory, arguments),
        },)*]
    };
}

pub(in crate::kernels) const KERNELS: [&[Kernel]; 2] = [
    reductions! {
        run, accesses:
        "sum_rows_f32" "sum_columns_f32" "sum_narrow_f32" "sum_short_f32"
        "sum_rows_f16" "sum_columns_f16" "sum_narrow_f16" "sum_short_f16"
        "sum_rows_bf16" "sum_columns_bf16" "sum_narrow_bf16" "sum_short_bf16"
        "sum_rows_f64" "sum_narrow_f64"
        "sum_rows_i64" "sum_narrow_i64"
        "extreme_rows_f32" "extreme_narrow_f32" "extreme_rows_f16" "extreme_narrow_f16"
        "extreme_rows_bf16" "extreme_narrow_bf16" "extreme_rows_f64" "extreme_narrow_f64"
        "extreme_rows_i64" "extreme_narrow_i64"
        "index_rows_f32" "index_narrow_f32" "index_rows_f16" "index_narrow_f16"
        "index_rows_bf16" "index_narrow_bf16"
        "count_rows_u8" "count_narrow_u8"
        "general_f32" "general_f64" "general_i64" "general_c64" "general_c128"
    },
    reductions! { run_pairs, accesses_of_pairs: "general_pairs_f64" "general_pairs_i64" },
];

/// The axes with the strides that `stride` takes, as the dimensions of an access of `bytes` each.
fn dimensions<'a>(
    axes: &'a [ReduceAxis],
    stride: fn(&ReduceAxis) -> i64,
    bytes: u64,
) -> impl Iterator<Item = (u64, i64)> + 'a {
    axes.iter().map(move |axis| (axis.size, stride(axis).wrapping_mul(bytes as i64)))
}

/// Bytes of a result.
fn result_bytes(launch: &ReduceLaunch) -> u64 {
    if launch.as_pairs { PAIR_BYTES } else { launch.types[2].bytes() as u64 }
}

fn accesses(arguments: &[u64]) -> Vec<MemoryAccess> {
    let Some(launch) = ReduceLaunch::read(arguments) else { return Vec::new() };
    let (from, to) = (launch.types[0].bytes() as u64, result_bytes(&launch));
    let inputs = dimensions(&launch.kept, |axis| axis.stride, from).chain(dimensions(
        &launch.reduced,
        |axis| axis.stride,
        from,
    ));
    let split = (launch.splits(), launch.split.wrapping_mul(to as i64));
    let outputs = dimensions(&launch.kept, |axis| axis.other, to).chain([split]);
    vec![
        MemoryAccess::strided(Intent::Read, launch.input, from, inputs),
        MemoryAccess::strided(Intent::Write, launch.output, to, outputs),
    ]
}

fn accesses_of_pairs(arguments: &[u64]) -> Vec<MemoryAccess> {
    let Some(launch) = ReduceLaunch::read(arguments) else { return Vec::new() };
    let to = launch.types[2].bytes() as u64;
    let bytes = launch.outputs().saturating_mul(launch.count).saturating_mul(PAIR_BYTES);
    let outputs = dimensions(&launch.kept, |axis| axis.other, to);
    vec![
        MemoryAccess::range(Intent::Read, launch.input, bytes),
        MemoryAccess::strided(Intent::Write, launch.output, to, outputs),
    ]
}

/// The axes as a calculation takes them: the outermost first.
fn kept_axes(launch: &ReduceLaunch) -> Vec<KeptAxis> {
    let axes = launch.kept.iter().rev().map(|axis| KeptAxis {
        size: axis.size as i64,
        input_stride: axis.stride,
        output_stride: axis.other,
    });
    axes.collect()
}

fn operand(address: u64, dtype: Dtype) -> ElementOperand {
    ElementOperand { address, dtype }
}

fn run(memory: &DeviceMemoryView<'_>, arguments: &[u64]) -> Result<(), i32> {
    let launch = ReduceLaunch::read(arguments).ok_or(codes::INVALID_VALUE)?;
    let bytes = result_bytes(&launch);
    aligned(&[(launch.input, launch.types[0].bytes()), (launch.output, bytes as usize)])?;
    let reduced: Vec<ReducedAxis> = launch
        .reduced
        .iter()
        .rev()
        .map(|axis| ReducedAxis { size: axis.size as i64, input_stride: axis.stride })
        .collect();
    let weights: Vec<i64> = launch.reduced.iter().rev().map(|axis| axis.other).collect();
    let kept = kept_axes(&launch);
    for split in 0..launch.splits() {
        let first = split.saturating_mul(launch.chunk);
        let last = first.saturating_add(launch.chunk).min(launch.count);
        let further = (split as i64).wrapping_mul(launch.split).wrapping_mul(bytes as i64);
        let call = ReduceCall {
            op: launch.op,
            input: operand(launch.input, launch.types[0]),
            compute: launch.types[1],
            output: operand(launch.output.wrapping_add_signed(further), launch.types[2]),
            kept: &kept,
            reduced: &reduced,
        };
        let part = ReducePart {
            elements: first as i64..last as i64,
            of_mean: OfMean::Multiplied(launch.factor),
            start: if launch.op.is_index() { launch.start as i64 } else { 0 },
            as_pair: launch.as_pairs,
            weights: &weights,
        };
        reduce_part(&call, &part, &mut DeviceElements(memory))?;
    }
    Ok(())
}

fn run_pairs(memory: &DeviceMemoryView<'_>, arguments: &[u64]) -> Result<(), i32> {
    let launch = ReduceLaunch::read(arguments).ok_or(codes::INVALID_VALUE)?;
    let &[steps] = launch.reduced.as_slice() else { return Err(codes::INVALID_VALUE) };
    aligned(&[(launch.input, PAIR_BYTES as usize), (launch.output, launch.types[2].bytes())])?;
    let call = ReduceCall {
        op: launch.op,
        input: operand(launch.input, launch.types[0]),
        compute: launch.types[1],
        output: operand(launch.output, launch.types[2]),
        kept: &kept_axes(&launch),
        reduced: &[],
    };
    join_pairs(&call, launch.count as i64, [steps.other, steps.stride], &mut DeviceElements(memory))
}
