//! Element-wise operations, with the arithmetic that operations on host memory use. Every run's range is
//! checked, and that elements and wide accesses are aligned.
#![forbid(unsafe_code)]

use sconce_base::element::Dtype;
use sconce_kernels::{
    POINTWISE_1, POINTWISE_2, POINTWISE_3, PointwiseLaunch, TRANSPOSED, read_transposed,
};
use sconce_math::arithmetic::{
    Domain, ElementRun, ElementRuns, Elementwise, ElementwiseInput, evaluate,
};

use super::kernel::Kernel;
use crate::codes;
use crate::memory::{DeviceMemoryView, Intent, MemoryAccess};

/// The kernels of all domains with one, two and three inputs.
macro_rules! kernels {
    ($($domain:ident $one:literal $two:literal $three:literal;)*) => {
        &[$(
            kernel!($domain, 1, POINTWISE_1, $one),
            kernel!($domain, 2, POINTWISE_2, $two),
            kernel!($domain, 3, POINTWISE_3, $three),
        )*]
    };
}

macro_rules! kernel {
    ($domain:ident, $inputs:literal, $signature:ident, $name:literal) => {
        Kernel {
            name: $name,
            parameters: $signature.slots(),
            duration_ns: |_, latency| latency,
            accesses: |arguments| {
                PointwiseLaunch::read(arguments, Domain::$domain, $inputs)
                    .map(|launch| accesses(&launch.task))
                    .unwrap_or_default()
            },
            run: |memory, _, arguments| {
                let launch = PointwiseLaunch::read(arguments, Domain::$domain, $inputs)
                    .ok_or(codes::INVALID_VALUE)?;
                check_alignment(&launch)?;
                evaluate(&launch.task, &DeviceOperands { task: &launch.task, memory })
            },
        }
    };
}

pub(crate) const FLAT: &[Kernel] = &[
    kernel!(F32, 1, POINTWISE_1, "sconce_pointwise_1_f32_flat"),
    kernel!(F32, 2, POINTWISE_2, "sconce_pointwise_2_f32_flat"),
    kernel!(F32, 1, POINTWISE_1, "sconce_pointwise_1_f32_small"),
    kernel!(F32, 2, POINTWISE_2, "sconce_pointwise_2_f32_small"),
];

pub(crate) const ELEMENTWISE: &[Kernel] = kernels! {
    F32 "sconce_pointwise_1_f32" "sconce_pointwise_2_f32" "sconce_pointwise_3_f32";
    F64 "sconce_pointwise_1_f64" "sconce_pointwise_2_f64" "sconce_pointwise_3_f64";
    Integer "sconce_pointwise_1_integer" "sconce_pointwise_2_integer" "sconce_pointwise_3_integer";
    C64 "sconce_pointwise_1_c64" "sconce_pointwise_2_c64" "sconce_pointwise_3_c64";
    C128 "sconce_pointwise_1_c128" "sconce_pointwise_2_c128" "sconce_pointwise_3_c128";
};

macro_rules! transposed {
    ($($domain:ident $name:literal;)*) => {
        &[$(Kernel {
            name: $name,
            parameters: TRANSPOSED.slots(),
            duration_ns: |_, latency| latency,
            accesses: |arguments| {
                read_transposed(arguments, Domain::$domain)
                    .map(|task| accesses(&task))
                    .unwrap_or_default()
            },
            run: |memory, _, arguments| {
                let task =
                    read_transposed(arguments, Domain::$domain).ok_or(codes::INVALID_VALUE)?;
                let launch = PointwiseLaunch { task, width: 1, is_wide: [false; 4] };
                check_alignment(&launch)?;
                evaluate(&launch.task, &DeviceOperands { task: &launch.task, memory })
            },
        },)*]
    };
}

pub(crate) const CONVERSIONS: &[Kernel] = transposed! {
    F32 "sconce_pointwise_transposed_f32";
    F64 "sconce_pointwise_transposed_f64";
    Integer "sconce_pointwise_transposed_integer";
    C64 "sconce_pointwise_transposed_c64";
};

/// Where an operand's elements begin, and their type; nothing for a constant.
fn operand(task: &Elementwise, index: usize) -> Option<(u64, Dtype)> {
    let Some(input) = index.checked_sub(1) else { return Some(task.output) };
    match task.inputs.get(input)? {
        ElementwiseInput::Memory(address, dtype) => Some((*address, *dtype)),
        ElementwiseInput::Constant(_) => None,
    }
}

fn accesses(task: &Elementwise) -> Vec<MemoryAccess> {
    let of = |index: usize| {
        let (address, dtype) = operand(task, index)?;
        let intent = if index == 0 { Intent::Write } else { Intent::Read };
        let axes = task.axes.iter().map(|axis| (axis.size, axis.strides[index]));
        Some(MemoryAccess::strided(intent, address, dtype.bytes() as u64, axes))
    };
    (0..=task.inputs.len()).filter_map(of).collect()
}

/// Elements are aligned to their size, and groups that are moved at once to that of the group.
fn check_alignment(launch: &PointwiseLaunch) -> Result<(), i32> {
    let task = &launch.task;
    for index in 0..=task.inputs.len() {
        let Some((address, dtype)) = operand(task, index) else { continue };
        let is_wide = launch.is_wide[index] && launch.width > 1;
        let bytes = dtype.bytes() as u64 * if is_wide { launch.width } else { 1 };
        let outer = task.axes.iter().skip(usize::from(is_wide));
        let mut strides = outer.map(|axis| axis.strides[index].unsigned_abs());
        let is_aligned = |distance: u64| distance.is_multiple_of(bytes);
        let fits =
            !is_wide || task.axes.len() < 2 || task.axes[0].size.is_multiple_of(launch.width);
        if !is_aligned(address) || !strides.all(is_aligned) || !fits {
            return Err(codes::MISALIGNED_ADDRESS);
        }
    }
    Ok(())
}

/// The operands of a launch in device memory.
struct DeviceOperands<'a> {
    task: &'a Elementwise,
    memory: &'a DeviceMemoryView<'a>,
}

impl DeviceOperands<'_> {
    /// The places of a run's elements, each with its bytes; one for elements that are neighbours.
    fn places(&self, index: usize, run: ElementRun) -> impl Iterator<Item = (u64, usize)> + use<> {
        let start = operand(self.task, index).map_or(0, |(address, _)| address);
        let start = start.wrapping_add_signed(run.offset);
        let is_packed = run.stride == run.width as i64;
        let (count, bytes) =
            if is_packed { (1, run.width * run.count) } else { (run.count, run.width) };
        (0..count as i64)
            .map(move |k| (start.wrapping_add_signed(run.stride.wrapping_mul(k)), bytes))
    }
}

impl ElementRuns for DeviceOperands<'_> {
    type Refusal = i32;

    fn read(&self, index: usize, run: ElementRun, mut into: &mut [u8]) -> Result<(), i32> {
        for (place, bytes) in self.places(index, run) {
            let (part, rest) = into.split_at_mut(bytes);
            self.memory.read(place, part)?;
            into = rest;
        }
        Ok(())
    }

    fn write(&self, run: ElementRun, mut from: &[u8]) -> Result<(), i32> {
        for (place, bytes) in self.places(0, run) {
            let (part, rest) = from.split_at(bytes);
            self.memory.write(place, part)?;
            from = rest;
        }
        Ok(())
    }
}
