//! The distributions are the ones they say: Kolmogorov–Smirnov for continuous ones, chi-square for
//! the others, on the simulator, from fixed seeds.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use sconce::sconce_status::SCONCE_OK;
use sconce::*;
use testkit::simulated::{Memory, generator};

const N: usize = 40_000;

type Pointer = *mut std::ffi::c_void;

fn drawn(
    seed: u64,
    fill: impl FnOnce(Pointer, *mut sconce_generator) -> sconce_status,
) -> Vec<f64> {
    let memory = Memory::new(4 * N);
    let generator = generator(seed);
    assert_eq!(fill(memory.as_ptr(), generator), SCONCE_OK);
    let values = memory.read_f32(N);
    assert_eq!(sconce_generator_destroy(generator), SCONCE_OK);
    values
}

/// The largest distance between the sample's distribution and `cdf`, times the root of its size:
/// above 1.95 once in a thousand samples.
fn kolmogorov_smirnov(mut values: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let largest = values
        .iter()
        .enumerate()
        .map(|(i, value)| {
            let at = cdf(*value);
            (at - i as f64 / n).max((i + 1) as f64 / n - at)
        })
        .fold(0.0, f64::max);
    largest * n.sqrt()
}

/// How many standard deviations chi-square is above its mean.
fn chi_square(counts: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(counts.len(), expected.len());
    assert!(expected.iter().all(|e| *e >= 5.0));
    let sum: f64 = counts.iter().zip(expected).map(|(c, e)| (c - e).powi(2) / e).sum();
    let freedom = (counts.len() - 1) as f64;
    (sum - freedom) / (2.0 * freedom).sqrt()
}

/// Normal distribution function (Abramowitz and Stegun 7.1.26, to 2e-7).
fn normal_cdf(x: f64) -> f64 {
    let z = x.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let series = [0.254_829_592, -0.284_496_736, 1.421_413_741, -1.453_152_027, 1.061_405_429];
    let sum = series.iter().rev().fold(0.0, |sum, c| (sum + c) * t);
    let tail = 0.5 * sum * (-z * z).exp();
    if x > 0.0 { 1.0 - tail } else { tail }
}

const F32: i32 = SCONCE_DTYPE_F32;

fn assert_continuous(name: &str, values: &[f64], cdf: impl Fn(f64) -> f64) {
    let distance = kolmogorov_smirnov(values.to_vec(), &cdf);
    assert!(distance < 1.95, "{name}: {distance}");
    // The test tells a distribution that is off by two hundredths.
    let off = kolmogorov_smirnov(values.to_vec(), |x| (cdf(x) * 1.02).min(1.0));
    assert!(off > 1.95, "{name}: not even a wrong one is noticed: {off}");
}

#[test]
fn continuous_distributions_are_what_they_say() {
    let values = drawn(1, |ptr, g| sconce_random_uniform(ptr, N, F32, -3.0, 5.0, g));
    assert!(values.iter().all(|x| (-3.0..5.0).contains(x)));
    assert_continuous("uniform", &values, |x| (x + 3.0) / 8.0);
    let values = drawn(2, |ptr, g| sconce_random_normal(ptr, N, F32, 1.0, 2.0, g));
    assert_continuous("normal", &values, |x| normal_cdf((x - 1.0) / 2.0));
    let values = drawn(3, |ptr, g| sconce_random_log_normal(ptr, N, F32, 0.5, 0.75, g));
    assert_continuous("log_normal", &values, |x| normal_cdf((x.ln() - 0.5) / 0.75));
    let values = drawn(4, |ptr, g| sconce_random_exponential(ptr, N, F32, 1.5, g));
    assert!(values.iter().all(|x| *x > 0.0));
    assert_continuous("exponential", &values, |x| 1.0 - (-1.5 * x).exp());
    let values = drawn(5, |ptr, g| sconce_random_cauchy(ptr, N, F32, 2.0, 3.0, g));
    assert_continuous("cauchy", &values, |x| 0.5 + ((x - 2.0) / 3.0).atan() / std::f64::consts::PI);
}

fn counts(values: &[f64], cells: usize, cell: impl Fn(f64) -> usize) -> Vec<f64> {
    let mut counts = vec![0.0; cells];
    for value in values {
        counts[cell(*value)] += 1.0;
    }
    counts
}

fn assert_discrete(name: &str, counts: &[f64], expected: &[f64]) {
    let deviations = chi_square(counts, expected);
    assert!(deviations < 4.0, "{name}: {deviations}");
    let mut off = counts.to_vec();
    let moved = 0.15 * off[0];
    off[0] -= moved;
    off[1] += moved;
    assert!(chi_square(&off, expected) > 4.0, "{name}: not even a wrong one is noticed");
}

#[test]
fn discrete_distributions_are_what_they_say() {
    let n = N as f64;
    for (name, low, high) in [("integers", -5, 15), ("wide integers", 0, 1 << 29)] {
        let values = drawn(6, |ptr, g| sconce_random_integers(ptr, N, F32, low, high, g));
        let width = (high - low) as f64 / 20.0;
        let cell = |x: f64| (((x - low as f64) / width) as usize).min(19);
        assert_discrete(name, &counts(&values, 20, cell), &[n / 20.0; 20]);
    }
    let values = drawn(7, |ptr, g| sconce_random_geometric(ptr, N, F32, 0.25, g));
    let expected: Vec<f64> = (0..21)
        .map(|k| n * if k < 20 { 0.25 * 0.75_f64.powi(k) } else { 0.75_f64.powi(20) })
        .collect();
    let counted = counts(&values, 21, |x| (x as usize - 1).min(20));
    assert_discrete("geometric", &counted, &expected);
    let values = drawn(8, |ptr, g| sconce_random_bernoulli(ptr, N, F32, 0.3, g));
    let counted = counts(&values, 2, |x| x as usize);
    assert_discrete("bernoulli", &counted, &[n * 0.7, n * 0.3]);
    let values = drawn(9, |ptr, g| sconce_random_full_range(ptr, N, F32, g));
    let cell = |x: f64| ((x / f64::from(1 << 24) * 16.0) as usize).min(15);
    assert_discrete("full_range", &counts(&values, 16, cell), &[n / 16.0; 16]);
}
