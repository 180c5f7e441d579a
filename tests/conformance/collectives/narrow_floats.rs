//! Reductions of 8-bit floating-point numbers by two ranks: every pair of numbers.
//!
//! Two numbers are combined in F16 or better, and the result is rounded to the type, ties to even. What is too large
//! becomes the largest finite number. Both ways of computing have the same results: a sum or product that F16 cannot
//! hold exactly is far from the middle between two numbers of 8 bits.

use sconce_base::element::Dtype;
use sconce_driver::{CommCall, CommOp};

use super::Ranks;
use crate::support::stage::{Outcome, Stage, Stop};

crate::support::runner::tests![every_pair_of_narrow_floats_has_its_rounded_result];

const CODES: usize = 256;
const PAIRS: usize = CODES * CODES;

/// The value of a code.
fn value(dtype: Dtype, code: u8) -> f64 {
    let (fraction_bits, bias) = if dtype == Dtype::F8E5M2 { (2, 15) } else { (3, 7) };
    let magnitude = i32::from(code & 0x7f);
    let (exponent, fraction) = (magnitude >> fraction_bits, magnitude & ((1 << fraction_bits) - 1));
    let sign = if code & 0x80 == 0 { 1.0 } else { -1.0 };
    if dtype == Dtype::F8E5M2 && exponent == 31 {
        return if fraction == 0 { sign * f64::INFINITY } else { f64::NAN };
    }
    if dtype == Dtype::F8E4M3Fn && magnitude == 0x7f {
        return f64::NAN;
    }
    let scale = 2.0_f64.powi(exponent.max(1) - bias - fraction_bits);
    let hidden = if exponent == 0 { 0 } else { 1 << fraction_bits };
    sign * f64::from(fraction + hidden) * scale
}

/// The nearest number of the type, found by looking at all of them.
fn nearest(dtype: Dtype, exact: f64) -> f64 {
    if exact.is_nan() {
        return exact;
    }
    let finite = (0..=255).map(|code| (code, value(dtype, code))).filter(|(_, v)| v.is_finite());
    // Of two that are as near, the one whose last bit is 0.
    let key = |(code, value): &(u8, f64)| {
        let distance =
            if exact.is_infinite() { -value * exact.signum() } else { (value - exact).abs() };
        (distance, code & 1)
    };
    let best = finite.min_by(|a, b| key(a).partial_cmp(&key(b)).unwrap());
    best.unwrap().1
}

/// The result of a pair, where `rounded` is the nearest number.
fn combined(op: CommOp, a: f64, b: f64, rounded: impl Fn(f64) -> f64) -> f64 {
    match op {
        CommOp::Sum => rounded(a + b),
        CommOp::Prod => rounded(a * b),
        CommOp::Min => rounded(a.min(b)),
        CommOp::Max => rounded(a.max(b)),
        // Each is multiplied by the inverse of the number of ranks before.
        CommOp::Avg => rounded(rounded(a * 0.5) + rounded(b * 0.5)),
        CommOp::PremulSum(factor) => rounded(rounded(a * factor) + rounded(b * factor)),
    }
}

fn every_pair_of_narrow_floats_has_its_rounded_result(stage: &Stage<'_>) -> Outcome {
    let machine = stage.machine(2)?;
    let stage = Stage { driver: machine.driver(), subject: stage.subject };
    let mut ranks = Ranks::new(&stage, 2, PAIRS)?;
    let version = stage.driver.comm_version()?;
    if version < 22_400 {
        return Err(Stop::Skip(format!("NCCL {version} has no 8-bit floating-point numbers")));
    }
    for device in stage.devices() {
        if stage.driver.device_properties(device)?.major < 9 {
            return Err(Stop::Skip("needs devices of compute capability 9.0".to_owned()));
        }
    }
    let given = [0, 1].map(|rank| {
        (0..PAIRS).map(|pair| [pair / CODES, pair % CODES][rank] as u8).collect::<Vec<u8>>()
    });
    for dtype in [Dtype::F8E4M3Fn, Dtype::F8E5M2] {
        let cache = std::cell::RefCell::new(std::collections::HashMap::new());
        let rounded = |exact: f64| {
            *cache.borrow_mut().entry(exact.to_bits()).or_insert_with(|| nearest(dtype, exact))
        };
        for op in [
            CommOp::Sum,
            CommOp::Prod,
            CommOp::Min,
            CommOp::Max,
            CommOp::Avg,
            CommOp::PremulSum(1.5),
        ] {
            ranks.write(&given)?;
            ranks.queue(|_, rank| {
                let (send, recv, count) = (rank.send(), rank.recv(), PAIRS);
                CommCall::AllReduce { send, recv, count, dtype, op }
            })?;
            ranks.finish()?;
            for rank in 0..2 {
                for (pair, code) in ranks.result(rank, PAIRS)?.into_iter().enumerate() {
                    let [a, b] = [pair / CODES, pair % CODES].map(|code| value(dtype, code as u8));
                    if matches!(op, CommOp::Min | CommOp::Max) && (a.is_nan() || b.is_nan()) {
                        continue; // Whether NaN wins is the library's choice.
                    }
                    let (seen, expected) = (value(dtype, code), combined(op, a, b, rounded));
                    assert!(
                        seen == expected || seen.is_nan() && expected.is_nan(),
                        "{dtype:?} {op:?} of {a} and {b} on rank {rank}: {seen}, not {expected}"
                    );
                }
            }
        }
    }
    Ok(())
}
