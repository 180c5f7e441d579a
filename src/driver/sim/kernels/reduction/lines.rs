//! Softmax and running sums. What a launch writes is what its slots say, whichever kernel it names.
#![forbid(unsafe_code)]

use super::elements::{DeviceElements, aligned};
use crate::driver::sim::codes;
use crate::driver::sim::kernels::kernel::Kernel;
use crate::driver::sim::memory::{DeviceMemoryView, Intent, MemoryAccess};
use crate::folding::{ElementOperand, KeptAxis, LineCall, LineChunk, lines_chunk, sum_type};
use crate::kernels::{LineLaunch, SOFTMAX};

macro_rules! line_kernels {
    ($($name:literal)*) => {
        &[$(Kernel {
            name: concat!("sconce_", $name),
            parameters: SOFTMAX.slots(),
            duration_ns: |_, latency| latency,
            accesses,
            run: |memory, _, arguments| run(memory, arguments),
        },)*]
    };
}

pub(in crate::driver::sim::kernels) const KERNELS: &[Kernel] = line_kernels! {
    "softmax_held_f32" "softmax_held_f32_1" "softmax_long_f32" "softmax_long_f32_1"
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

fn accesses(arguments: &[u64]) -> Vec<MemoryAccess> {
    let Some(launch) = LineLaunch::read(arguments) else { return Vec::new() };
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
    let launch = LineLaunch::read(arguments).ok_or(codes::INVALID_VALUE)?;
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
