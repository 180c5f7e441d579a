//! Multiplication in place. Every run's range is checked, and that it is aligned to its numbers.
#![forbid(unsafe_code)]

use sconce_base::element::{f16_bits, f16_value};
use sconce_kernels::{SCALE, ScaleLaunch};

use super::kernel::Kernel;
use crate::codes;
use crate::memory::{DeviceMemoryView, Intent, MemoryAccess};

macro_rules! scales {
    ($($name:literal $bytes:literal $multiply:expr;)*) => {
        &[$(Kernel {
            name: $name,
            parameters: SCALE.slots(),
            duration_ns: |_, latency| latency,
            accesses: |arguments| accesses(arguments, $bytes),
            run: |memory, _, arguments| scale::<$bytes>(memory, arguments, $multiply),
        },)*]
    };
}

pub(crate) const KERNELS: &[Kernel] = scales! {
    // Multiplied in single precision, rounded once.
    "sconce_scale_f16" 2 |number, factor| {
        f16_bits(f16_value(u16::from_le_bytes(number)) * factor as f32).to_le_bytes()
    };
    "sconce_scale_f32" 4 |number, factor| {
        (f32::from_le_bytes(number) * factor as f32).to_le_bytes()
    };
    "sconce_scale_f64" 8 |number, factor| (f64::from_le_bytes(number) * factor).to_le_bytes();
};

/// Bytes a piece; small enough for the stack of a worker.
const PIECE: u64 = 8192;

fn accesses(arguments: &[u64], bytes: u64) -> Vec<MemoryAccess> {
    let Some(launch) = ScaleLaunch::read(arguments) else { return Vec::new() };
    let unit = launch.reals * bytes;
    let axes = launch.axes().map(|axis| (axis.size, axis.stride.wrapping_mul(unit as i64)));
    let of_units =
        |intent| MemoryAccess::strided(intent, launch.unit(0, bytes), unit, axes.clone());
    vec![of_units(Intent::Read), of_units(Intent::Write)]
}

fn scale<const BYTES: usize>(
    memory: &DeviceMemoryView<'_>,
    arguments: &[u64],
    multiply: fn([u8; BYTES], f64) -> [u8; BYTES],
) -> Result<(), i32> {
    let launch = ScaleLaunch::read(arguments).ok_or(codes::INVALID_VALUE)?;
    let mut buffer = [0_u8; PIECE as usize];
    let (run, of_unit) = (launch.run(), launch.reals * BYTES as u64);
    let mut index = 0;
    while index < launch.n {
        // To the end of the run, or as much as the buffer holds.
        let units = (run - index % run).min(PIECE / of_unit);
        let at = launch.unit(index, BYTES as u64);
        if at % BYTES as u64 != 0 {
            return Err(codes::MISALIGNED_ADDRESS);
        }
        let bytes = &mut buffer[..(units * of_unit) as usize];
        memory.read(at, bytes)?;
        for number in bytes.as_chunks_mut::<BYTES>().0 {
            *number = multiply(*number, launch.factor);
        }
        memory.write(at, bytes)?;
        index += units;
    }
    Ok(())
}
