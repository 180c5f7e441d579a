//! Random fills, with the arithmetic that the host side plans them with.
#![forbid(unsafe_code)]

use sconce_base::element::Dtype;
use sconce_base::lock::{Mutex, rank};
use sconce_base::types::DevicePtr;
use sconce_kernels::{
    FillLaunch, PermuteLaunch, RANDOM_FILL, RANDOM_PERMUTE, RANDOM_TAKE, TakeLaunch,
};
use sconce_math::philox::{Distribution, Fill, evaluate, philox};

use super::kernel::Kernel;
use crate::codes;
use crate::memory::{DeviceMemoryView, Intent, MemoryAccess};

/// One kernel for each distribution and each type it has.
macro_rules! fills {
    ($($distribution:ident $name:literal: $($dtype:ident $suffix:literal)*;)*) => {
        &[
            $($(Kernel {
                name: concat!("sconce_random_", $name, "_", $suffix),
                parameters: RANDOM_FILL.slots(),
                duration_ns: |_, latency| latency,
                accesses: |arguments| accesses_of_fill(arguments, Dtype::$dtype),
                run: |memory, _, arguments| {
                    fill(memory, arguments, Distribution::$distribution, Dtype::$dtype)
                },
            },)*)*
            Kernel {
                name: RANDOM_TAKE.family,
                parameters: RANDOM_TAKE.slots(),
                duration_ns: |_, latency| latency,
                accesses: accesses_of_take,
                run: |memory, _, arguments| take(memory, arguments),
            },
            Kernel {
                name: RANDOM_PERMUTE.family,
                parameters: RANDOM_PERMUTE.slots(),
                duration_ns: |_, latency| latency,
                accesses: accesses_of_permute,
                run: |memory, _, arguments| permute(memory, arguments),
            },
        ]
    };
}

pub(crate) const KERNELS: &[Kernel] = fills! {
    Uniform "uniform": F32 "f32" F64 "f64" F16 "f16" Bf16 "bf16";
    Normal "normal": F32 "f32" F64 "f64" F16 "f16" Bf16 "bf16";
    LogNormal "log_normal": F32 "f32" F64 "f64" F16 "f16" Bf16 "bf16";
    Exponential "exponential": F32 "f32" F64 "f64" F16 "f16" Bf16 "bf16";
    Cauchy "cauchy": F32 "f32" F64 "f64" F16 "f16" Bf16 "bf16";
    Geometric "geometric": F32 "f32" F64 "f64" F16 "f16" Bf16 "bf16"
        I8 "i8" I16 "i16" I32 "i32" I64 "i64" U8 "u8";
    Bernoulli "bernoulli": F32 "f32" F64 "f64" F16 "f16" Bf16 "bf16"
        I8 "i8" I16 "i16" I32 "i32" I64 "i64" U8 "u8" Bool "bool";
    Integers "integers": F32 "f32" F64 "f64" F16 "f16" Bf16 "bf16"
        I8 "i8" I16 "i16" I32 "i32" I64 "i64" U8 "u8" Bool "bool"
        F32 "f32_wide" F64 "f64_wide" Bf16 "bf16_wide" I32 "i32_wide" I64 "i64_wide";
    FullRange "full_range": F32 "f32" F64 "f64_wide" F16 "f16" Bf16 "bf16"
        I8 "i8" I16 "i16" I32 "i32" I64 "i64_wide" U8 "u8" Bool "bool";
};

/// Bytes of two numbers.
const PAIR_BYTES: u64 = 16;

fn accesses_of_fill(arguments: &[u64], dtype: Dtype) -> Vec<MemoryAccess> {
    let Some(FillLaunch { address, n, state, .. }) = FillLaunch::read(arguments) else {
        return Vec::new();
    };
    let bytes = n.saturating_mul(dtype.bytes() as u64);
    let mut accesses = vec![MemoryAccess::range(Intent::Write, address.0, bytes)];
    if state.0 != 0 {
        accesses.push(MemoryAccess::range(Intent::Read, state.0, PAIR_BYTES));
    }
    accesses
}

fn accesses_of_take(arguments: &[u64]) -> Vec<MemoryAccess> {
    let Some(TakeLaunch { record, increment, slot, .. }) = TakeLaunch::read(arguments) else {
        return Vec::new();
    };
    let mut used = vec![(Intent::Read, record), (Intent::Write, slot)];
    // An atomic addition of 0 changes nothing, whoever reads the record meanwhile.
    if increment != 0 {
        used.push((Intent::Write, record));
    }
    let access =
        |(intent, address): (Intent, DevicePtr)| MemoryAccess::range(intent, address.0, PAIR_BYTES);
    used.into_iter().map(access).collect()
}

fn accesses_of_permute(arguments: &[u64]) -> Vec<MemoryAccess> {
    let Some(launch) = PermuteLaunch::read(arguments) else { return Vec::new() };
    let width = if launch.is_wide { 8 } else { 4 };
    let bytes = |each: u64| launch.n.saturating_mul(each);
    let mut accesses = vec![
        MemoryAccess::range(Intent::Read, launch.keys.0, bytes(width)),
        MemoryAccess::range(Intent::Read, launch.values.0, bytes(8)),
        MemoryAccess::range(Intent::Write, launch.values.0, bytes(8)),
    ];
    if launch.state.0 != 0 {
        accesses.push(MemoryAccess::range(Intent::Read, launch.state.0, PAIR_BYTES));
    }
    accesses
}

/// Seed and offset, or two other numbers, in device memory.
fn read_pair(memory: &DeviceMemoryView<'_>, address: u64) -> Result<[u64; 2], i32> {
    let mut bytes = [[0_u8; 8]; 2];
    memory.read(address, bytes.as_flattened_mut())?;
    Ok(bytes.map(u64::from_le_bytes))
}

fn write_pair(memory: &DeviceMemoryView<'_>, address: u64, pair: [u64; 2]) -> Result<(), i32> {
    memory.write(address, pair.map(u64::to_le_bytes).as_flattened())
}

fn fill(
    memory: &DeviceMemoryView<'_>,
    arguments: &[u64],
    distribution: Distribution,
    dtype: Dtype,
) -> Result<(), i32> {
    let launch = FillLaunch::read(arguments).ok_or(codes::INVALID_VALUE)?;
    let FillLaunch { address, n, mut seed, mut offset, threads, first, second, state } = launch;
    if state.0 != 0 {
        let [there, start] = read_pair(memory, state.0)?;
        (seed, offset) = (there, start.wrapping_add(offset));
    }
    let fill = Fill { distribution, dtype, first, second };
    evaluate(&fill, n, seed, offset, threads, |element, run| {
        let at = element
            .checked_mul(dtype.bytes() as u64)
            .and_then(|distance| address.0.checked_add(distance))
            .ok_or(codes::ILLEGAL_ADDRESS)?;
        memory.write(at, run)
    })
}

/// Takes a piece of a generator's sequence: what a GPU does with an atomic addition.
fn take(memory: &DeviceMemoryView<'_>, arguments: &[u64]) -> Result<(), i32> {
    static ATOMIC: Mutex<rank::SimAtomic, ()> = Mutex::new(());
    let launch = TakeLaunch::read(arguments).ok_or(codes::INVALID_VALUE)?;
    let TakeLaunch { record, increment, slot, seed, offset } = launch;
    let _atomic = ATOMIC.lock();
    let [change, taken] = read_pair(memory, record.0)?;
    if increment != 0 {
        write_pair(memory, record.0, [change, taken.wrapping_add(increment)])?;
    }
    write_pair(memory, slot.0, [seed ^ change, offset.wrapping_add(taken)])
}

/// Gives equal keys a random order: what the thread of the first of them does on a GPU.
fn permute(memory: &DeviceMemoryView<'_>, arguments: &[u64]) -> Result<(), i32> {
    let launch = PermuteLaunch::read(arguments).ok_or(codes::INVALID_VALUE)?;
    let PermuteLaunch { keys, values, n, is_wide, mut seed, mut offset, state } = launch;
    if state.0 != 0 {
        let [there, start] = read_pair(memory, state.0)?;
        (seed, offset) = (there, start.wrapping_add(offset));
    }
    let width = if is_wide { 8 } else { 4 };
    let read = |address: u64, index: u64, width: usize| -> Result<u64, i32> {
        let mut bytes = [0; 8];
        let at = address.checked_add(index * width as u64).ok_or(codes::ILLEGAL_ADDRESS)?;
        memory.read(at, &mut bytes[..width])?;
        Ok(u64::from_le_bytes(bytes))
    };
    let mut first = 0;
    while first < n {
        let own = read(keys.0, first, width)?;
        let mut size = 1;
        while first + size < n && read(keys.0, first + size, width)? == own {
            size += 1;
        }
        for (drawn, last) in (1..size).rev().enumerate() {
            let words = philox(seed, offset / 4 + drawn as u64 / 4, first);
            let other = u64::from(words[drawn % 4]) % (last + 1);
            let (end, chosen) =
                (read(values.0, first + last, 8)?, read(values.0, first + other, 8)?);
            memory.write(values.0 + (first + last) * 8, &chosen.to_le_bytes())?;
            memory.write(values.0 + (first + other) * 8, &end.to_le_bytes())?;
        }
        first += size;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use sconce_kernels::fill_kernel_name;

    use super::*;

    #[test]
    fn a_record_is_written_if_something_is_taken_from_it() {
        let accesses = |increment| {
            let (record, slot) = (DevicePtr(0x1000), DevicePtr(0x2000));
            let launch = TakeLaunch { record, increment, slot, seed: 1, offset: 2 };
            accesses_of_take(launch.arguments().slots())
        };
        let read = MemoryAccess::range(Intent::Read, 0x1000, PAIR_BYTES);
        let write = |address| MemoryAccess::range(Intent::Write, address, PAIR_BYTES);
        assert_eq!(accesses(0), [read.clone(), write(0x2000)]);
        assert_eq!(accesses(4), [read, write(0x2000), write(0x1000)]);
    }

    #[test]
    fn every_supported_pair_has_a_kernel_of_its_name() {
        let mut fills: Vec<Fill> = Vec::new();
        for distribution in Distribution::ALL {
            for dtype in Dtype::ALL.into_iter().filter(|dtype| dtype.real().1 == 1) {
                if distribution.supports(dtype) {
                    fills.push(Fill { distribution, dtype, first: 1, second: 0 });
                    let reaches_far = !matches!(
                        dtype,
                        Dtype::F16 | Dtype::I8 | Dtype::I16 | Dtype::U8 | Dtype::Bool
                    );
                    if reaches_far {
                        fills.push(Fill { distribution, dtype, first: 1 << 28, second: 0 });
                    }
                }
            }
        }
        let mut names: Vec<_> = fills.iter().map(fill_kernel_name).collect();
        names.push("sconce_random_take".to_owned());
        names.push("sconce_random_permute".to_owned());
        names.sort();
        names.dedup();
        let mut kernels: Vec<_> = KERNELS.iter().map(|kernel| kernel.name.to_owned()).collect();
        kernels.sort();
        assert_eq!(kernels, names);
    }
}
