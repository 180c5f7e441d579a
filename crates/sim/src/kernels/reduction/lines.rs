//! Softmax and running sums. What a launch writes is what its slots say, whichever kernel it names.
#![forbid(unsafe_code)]

use sconce_kernels::{LineLaunch, SOFTMAX};
use sconce_math::folding::{ElementOperand, KeptAxis, LineCall, LineChunk, lines_chunk, sum_type};

use super::elements::{DeviceElements, aligned};
use crate::codes;
use crate::kernels::kernel::Kernel;
use crate::memory::{DeviceMemoryView, Intent, MemoryAccess};

macro_rules! line_kernels {
    ($accesses:ident, $run:ident: $($name:literal)*) => {
        &[$(Kernel {
            name: concat!("sconce_", $name),
            parameters: SOFTMAX.slots(),
            duration_ns: |_, latency| latency,
            accesses: $accesses,
            run: |memory, _, arguments| $run(memory, arguments),
        },)*]
    };
}

pub(in crate::kernels) const KERNELS: &[Kernel] = line_kernels! {
    accesses, run:
    "softmax_held_f32" "softmax_held_f32_1" "softmax_held_more_f32" "softmax_long_f32" "softmax_long_f32_1"
    "softmax_held_f16" "softmax_held_f16_1" "softmax_long_f16" "softmax_long_f16_1"
    "softmax_held_bf16" "softmax_held_bf16_1" "softmax_long_bf16" "softmax_long_bf16_1"
    "softmax_general_f32" "softmax_general_f64"
    "scan_rows_f32" "scan_rows_f32_1" "scan_columns_f32"
    "scan_rows_f16" "scan_rows_f16_1" "scan_columns_f16"
    "scan_rows_bf16" "scan_rows_bf16_1" "scan_columns_bf16"
    "scan_rows_i64" "scan_rows_i64_1" "scan_columns_i64"
    "scan_general_f32" "scan_general_f64" "scan_general_i64" "scan_general_c64"
    "scan_general_c128"
};

/// Sums in one pass.
pub(in crate::kernels) const CHAINS: &[Kernel] = line_kernels! {
    accesses_of_chain, run_chain: "scan_chain_f32" "scan_chain_f16" "scan_chain_bf16" "scan_chain_i64"
};

/// A launch of one pass as one that takes whole lines, and where its words begin and end.
fn whole_lines(arguments: &[u64]) -> Option<(LineLaunch, std::ops::Range<u64>)> {
    let mut launch = LineLaunch::read(arguments)?;
    let words = launch.offsets..launch.offsets.checked_add(8 * launch.chain_words())?;
    (launch.chunk, launch.offsets) = (launch.length, 0);
    Some((launch, words))
}

fn accesses_of_chain(arguments: &[u64]) -> Vec<MemoryAccess> {
    let Some((launch, words)) = whole_lines(arguments) else { return Vec::new() };
    let mut accesses = accesses_of(&launch);
    let count = (words.end - words.start) / 8;
    let of = |intent| MemoryAccess::strided(intent, words.start, 8, [(count, 8)]);
    accesses.extend([of(Intent::Read), of(Intent::Write)]);
    accesses
}

/// Refuses words that are not 0: on a device blocks would take them for sums, or wait for ever. Leaves
/// the counter as blocks do, so that a second launch without new zeros is refused.
fn run_chain(memory: &DeviceMemoryView<'_>, arguments: &[u64]) -> Result<(), i32> {
    let tiles = LineLaunch::read(arguments).ok_or(codes::INVALID_VALUE)?;
    let (launch, words) = whole_lines(arguments).ok_or(codes::INVALID_VALUE)?;
    aligned(&[(words.start, 8)])?;
    for word in words.clone().step_by(8) {
        let mut bytes = [0; 8];
        memory.read(word, &mut bytes)?;
        if bytes != [0; 8] {
            return Err(codes::INVALID_VALUE);
        }
    }
    memory.write(words.start, &(tiles.lines() * tiles.chunks()).to_le_bytes())?;
    calculate(memory, &launch)
}

fn accesses(arguments: &[u64]) -> Vec<MemoryAccess> {
    LineLaunch::read(arguments).map(|launch| accesses_of(&launch)).unwrap_or_default()
}

fn accesses_of(launch: &LineLaunch) -> Vec<MemoryAccess> {
    let of = |intent, address, side: usize| {
        let bytes = launch.types[2 * side].bytes() as u64;
        let step = |stride: i64| stride.wrapping_mul(bytes as i64);
        let axes =
            launch.axes.iter().map(|axis| (axis.size, step([axis.stride, axis.other][side])));
        let along = (launch.length, step(launch.strides[side]));
        MemoryAccess::strided(intent, address, bytes, axes.chain([along]))
    };
    let mut accesses = vec![of(Intent::Read, launch.input, 0), of(Intent::Write, launch.output, 1)];
    if launch.chunks() > 1 {
        let bytes = sum_type(launch.types[1]).bytes() as u64;
        let sizes = [launch.lines(), launch.chunks() - 1];
        let steps = launch.offset_steps.map(|step| step.wrapping_mul(bytes as i64));
        let axes = sizes.into_iter().zip(steps);
        accesses.push(MemoryAccess::strided(Intent::Read, launch.offsets, bytes, axes));
    }
    accesses
}

fn run(memory: &DeviceMemoryView<'_>, arguments: &[u64]) -> Result<(), i32> {
    calculate(memory, &LineLaunch::read(arguments).ok_or(codes::INVALID_VALUE)?)
}

fn calculate(memory: &DeviceMemoryView<'_>, launch: &LineLaunch) -> Result<(), i32> {
    let [input, compute, output] = launch.types;
    aligned(&[(launch.input, input.bytes()), (launch.output, output.bytes())])?;
    let axes = launch.axes.iter().rev().map(|axis| KeptAxis {
        size: axis.size as i64,
        input_stride: axis.stride,
        output_stride: axis.other,
    });
    let call = LineCall {
        op: launch.op,
        input: ElementOperand { address: launch.input, dtype: input },
        compute,
        output: ElementOperand { address: launch.output, dtype: output },
        lines: &axes.collect::<Vec<_>>(),
        length: launch.length as i64,
        input_stride: launch.strides[0],
        output_stride: launch.strides[1],
    };
    let offsets = ElementOperand { address: launch.offsets, dtype: sum_type(compute) };
    for number in 0..launch.chunks() {
        let first = number.saturating_mul(launch.chunk);
        let last = first.saturating_add(launch.chunk).min(launch.length);
        let of_previous = (number as i64 - 1).wrapping_mul(launch.offset_steps[1]);
        let chunk = LineChunk {
            elements: first as i64..last as i64,
            before: (number > 0).then(|| offsets.at(of_previous)),
            line_step: launch.offset_steps[0],
        };
        lines_chunk(&call, &chunk, &mut DeviceElements(memory))?;
    }
    Ok(())
}
