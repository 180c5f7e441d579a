//! Normal numbers in blocks of 16, by Box and Muller: the first 8 of a block give the radii, the others the
//! angles.

use sconce_base::element::{Dtype, bf16_bits, bf16_value, f16_bits, f16_value};

use super::sequence::Sequence;
use super::single_functions::{logarithm, sine_and_cosine};

/// Numbers of a block.
pub(super) const BLOCK: usize = 16;

/// The next block of normal numbers of a type.
pub(super) fn block(
    sequence: &mut Sequence,
    dtype: Dtype,
    uniform: impl Fn(&mut Sequence) -> f64,
    [mean, deviation]: [f64; 2],
) -> [f64; BLOCK] {
    let mut numbers: [f64; BLOCK] = std::array::from_fn(|_| uniform(sequence));
    let (first, second) = numbers.split_at_mut(BLOCK / 2);
    for (a, b) in first.iter_mut().zip(second) {
        let [cosine, sine] = match dtype {
            Dtype::F64 => doubles([*a, *b], [mean, deviation]),
            Dtype::F32 => singles([*a, *b].map(|u| u as f32), [mean, deviation].map(|p| p as f32)),
            _ => halves(dtype, [*a, *b].map(|u| u as f32), [mean, deviation]),
        };
        (*a, *b) = (cosine, sine);
    }
    numbers
}

fn doubles([a, b]: [f64; 2], [mean, deviation]: [f64; 2]) -> [f64; 2] {
    let radius = (-2.0 * (1.0 - a).ln()).sqrt();
    let (sine, cosine) = (2.0 * std::f64::consts::PI * b).sin_cos();
    [cosine, sine].map(|part| (radius * part).mul_add(deviation, mean))
}

fn singles([a, b]: [f32; 2], [mean, deviation]: [f32; 2]) -> [f64; 2] {
    let radius = (-2.0 * logarithm(1.0 - a)).sqrt();
    let [sine, cosine] = sine_and_cosine(2.0 * std::f32::consts::PI * b);
    [cosine, sine].map(|part| f64::from((radius * part).mul_add(deviation, mean)))
}

/// In a type of 16 bits every step is rounded to the type.
fn halves(dtype: Dtype, [a, b]: [f32; 2], parameters: [f64; 2]) -> [f64; 2] {
    let round = |value: f32| match dtype {
        Dtype::F16 => f16_value(f16_bits(value)),
        _ => bf16_value(bf16_bits(value)),
    };
    let [mean, deviation] = parameters.map(|parameter| round(parameter as f32));
    let radius = round(round(-2.0 * round(round(1.0 - a).ln())).sqrt());
    let angle = round((2.0 * std::f64::consts::PI * f64::from(b)) as f32);
    [angle.cos(), angle.sin()]
        .map(|part| f64::from(round(round(round(radius * round(part)) * deviation) + mean)))
}
