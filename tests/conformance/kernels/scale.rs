//! The kernels that multiply numbers in place, launched as transforms launch them.

use sconce_base::element::{Dtype, f16_bits, f16_value};
use sconce_base::types::DeviceIndex;
use sconce_kernels::images::SCALE;
use sconce_kernels::{ScaleAxis, scale_kernel_name, scale_launch};

use crate::support::host::Pageable;
use crate::support::stage::{Outcome, Stage};

crate::support::runner::tests![
    packed_runs_of_every_length_and_alignment,
    numbers_between_the_axes_stay_as_they_are,
    large_shapes_use_every_block,
    halves_are_rounded_once_and_others_keep_their_special_values,
];

const ZERO: DeviceIndex = DeviceIndex::ZERO;
const ELEMENTS: [Dtype; 3] = [Dtype::F16, Dtype::F32, Dtype::F64];
/// Not a power of two, so that products are rounded.
const FACTOR: f64 = 1.0 / 3.0;

/// The product, from bytes to bytes.
fn product(element: Dtype, bytes: &[u8], factor: f64) -> Vec<u8> {
    match element {
        Dtype::F64 => {
            (f64::from_le_bytes(bytes.try_into().unwrap()) * factor).to_le_bytes().to_vec()
        }
        Dtype::F32 => {
            (f32::from_le_bytes(bytes.try_into().unwrap()) * factor as f32).to_le_bytes().to_vec()
        }
        _ => {
            let value = f16_value(u16::from_le_bytes(bytes.try_into().unwrap()));
            f16_bits(value * factor as f32).to_le_bytes().to_vec()
        }
    }
}

/// So many numbers that differ from place to place.
fn numbers(element: Dtype, n: usize) -> Vec<u8> {
    let value = |i: usize| ((i * 31) % 1009) as f64 / 8.0 - 50.0;
    (0..n)
        .flat_map(|i| match element {
            Dtype::F64 => value(i).to_le_bytes().to_vec(),
            Dtype::F32 => (value(i) as f32).to_le_bytes().to_vec(),
            _ => f16_bits(value(i) as f32).to_le_bytes().to_vec(),
        })
        .collect()
}

/// Multiplies, on a device and here, elements of `reals` numbers along `axes` (sizes and strides, in
/// elements) from number `start` on, and compares all of the memory.
fn check(
    stage: &Stage<'_>,
    element: Dtype,
    reals: u32,
    (before, start): (&[u8], usize),
    axes: &[(u64, i64)],
    factor: f64,
) -> Outcome {
    let bytes = element.bytes();
    let mut expected = before.to_vec();
    let total: u64 = axes.iter().map(|axis| axis.0).product();
    for index in 0..total {
        let (mut rest, mut at) = (index, 0);
        for (size, stride) in axes {
            at += (rest % size) as i64 * stride;
            rest /= size;
        }
        for real in 0..i64::from(reals) {
            let at = (start as i64 + at * i64::from(reals) + real) as usize * bytes;
            let result = product(element, &before[at..at + bytes], factor);
            expected[at..at + bytes].copy_from_slice(&result);
        }
    }

    let (driver, stream) = (stage.driver, stage.stream(ZERO)?);
    let memory = stage.memory(ZERO, before.len())?;
    let staged = Pageable::holding(before);
    driver.copy_async(memory.ptr.into(), staged.raw(), before.len(), stream.at)?;
    let module = driver.module_load(ZERO, &SCALE)?;
    let kernel =
        driver.kernel_find(ZERO, module, scale_kernel_name(element).unwrap_or_default())?;
    let given: Vec<ScaleAxis> =
        axes.iter().map(|&(size, stride)| ScaleAxis { size, stride }).collect();
    let address = memory.ptr.offset((start * bytes) as u64);
    let (shape, arguments) = scale_launch(address, reals, &given, factor);
    driver.kernel_launch(kernel, shape, &arguments, stream.at)?;
    stream.synchronize()?;
    let seen = stage.read(ZERO, memory.ptr, before.len())?;
    let wrong = seen.iter().zip(&expected).position(|(seen, expected)| seen != expected);
    assert_eq!(wrong, None, "first wrong byte; {element:?}, {reals}, {start}, {axes:?}");
    driver.module_unload(ZERO, module)?;
    Ok(())
}

fn packed_runs_of_every_length_and_alignment(stage: &Stage<'_>) -> Outcome {
    for element in ELEMENTS {
        let before = numbers(element, 5000);
        for start in [0, 1, 2, 3, 5, 7, 8] {
            for n in [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 1000, 4099] {
                check(stage, element, 1, (&before, start), &[(n, 1)], FACTOR)?;
            }
        }
    }
    Ok(())
}

fn numbers_between_the_axes_stay_as_they_are(stage: &Stage<'_>) -> Outcome {
    let shapes: [&[(u64, i64)]; 9] = [
        &[],
        &[(100, 3)],
        // Rows with room behind them, of even and of odd numbers.
        &[(8, 1), (9, 10)],
        &[(7, 1), (9, 10)],
        &[(7, 1), (9, 9)],
        &[(6, 1), (5, 8), (4, 50), (3, 220)],
        &[(6, 2), (5, 13), (4, 70), (3, 290)],
        // The batch innermost, and interleaved with a gap.
        &[(5, 7), (4, 35), (6, 1)],
        &[(12, -2), (3, -30)],
    ];
    for element in ELEMENTS {
        let before = numbers(element, 2600);
        for axes in shapes {
            for reals in [1, 2] {
                // Pairs that are aligned as one access, and pairs that are not.
                for start in [400, 401] {
                    check(stage, element, reals, (&before, start), axes, FACTOR)?;
                }
            }
        }
    }
    Ok(())
}

fn large_shapes_use_every_block(stage: &Stage<'_>) -> Outcome {
    let shapes: [&[(u64, i64)]; 3] =
        [&[(70_000, 1)], &[(201, 1), (301, 202)], &[(3, 1), (83, 5), (120, 420)]];
    for element in ELEMENTS {
        let before = numbers(element, 90_000);
        for axes in shapes {
            check(stage, element, 1, (&before, 3), axes, FACTOR)?;
        }
        check(stage, element, 2, (&before, 4), &[(150, 1), (149, 151)], FACTOR)?;
    }
    Ok(())
}

/// Numbers too small and too large, infinities, and factors that make such.
fn halves_are_rounded_once_and_others_keep_their_special_values(stage: &Stage<'_>) -> Outcome {
    // All halves but NaNs, of which only that they stay NaNs is promised.
    let halves: Vec<u8> = (0..=u16::MAX)
        .filter(|bits| !f16_value(*bits).is_nan())
        .flat_map(u16::to_le_bytes)
        .collect();
    let n = halves.len() as u64 / 2;
    for factor in [FACTOR, 1.0 / 1024.0, 1.0 / 1000.0, 3.0, -1.0, 0.1, 1e-5] {
        check(stage, Dtype::F16, 1, (&halves, 0), &[(n, 1)], factor)?;
    }
    let singles: Vec<u8> = [f32::MIN_POSITIVE, 1e-45, -0.0, f32::INFINITY, f32::MAX, -1e-40]
        .into_iter()
        .flat_map(f32::to_le_bytes)
        .collect();
    let doubles: Vec<u8> = [f64::MIN_POSITIVE, 5e-324, -0.0, f64::INFINITY, f64::MAX, -1e-310]
        .into_iter()
        .flat_map(f64::to_le_bytes)
        .collect();
    for factor in [FACTOR, 2.0, 1e-3] {
        check(stage, Dtype::F32, 1, (&singles, 0), &[(6, 1)], factor)?;
        check(stage, Dtype::F64, 1, (&doubles, 0), &[(6, 1)], factor)?;
    }
    Ok(())
}
