//! Every fill that PyTorch 2.11 recorded on an H200, computed here: uniform, integer, full-range
//! and Bernoulli bit for bit (the digest of the whole result too), the others as close as a CPU
//! can be to a GPU's fast functions, and the generator's state after each.
//!
//! In debug builds the results that are recorded as samples are compared at the samples; their
//! digests need all of their millions of elements and are checked in release builds.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "common/golden.rs"]
mod golden;
#[path = "common/sha256.rs"]
mod sha256;

use golden::{Golden, Operation};
use sconce::philox::{DeviceShape, Distribution, Dtype, Fill, Plan, evaluate};

fn fill_of(operation: &Operation) -> Fill {
    let dtype = Dtype::ALL.into_iter().find(|dtype| dtype.suffix() == operation.dtype).unwrap();
    let distribution =
        Distribution::ALL.into_iter().find(|kind| kind.name() == operation.name).unwrap();
    match distribution {
        Distribution::Integers => {
            let [low, high] = operation.integer_parameters();
            Fill::integers(dtype, high.wrapping_sub(low) as u64, low)
        }
        Distribution::FullRange => Fill::full_range(dtype),
        _ => {
            let [first, second] = operation.real_parameters();
            Fill::real(distribution, dtype, first, second)
        }
    }
}

fn is_exact(operation: &Operation) -> bool {
    matches!(operation.name.as_str(), "uniform" | "integers" | "full_range" | "bernoulli")
}

/// The whole result, of one launch.
fn result(fill: &Fill, plan: &Plan, seed: u64, offset: u64) -> Vec<u8> {
    let parts: Vec<_> = plan.parts().collect();
    let [part] = parts[..] else { panic!("the recorded fills are one launch each") };
    let bytes = fill.dtype.bytes();
    let mut all = vec![0; part.n as usize * bytes];
    evaluate::<()>(fill, part.n, seed, offset, part.threads, |first, run| {
        let at = first as usize * bytes;
        all[at..at + run.len()].copy_from_slice(run);
        Ok(())
    })
    .unwrap();
    all
}

/// How far two elements are apart, in units of what is allowed.
fn distance(dtype: &str, ours: &[u8], theirs: &[u8]) -> f64 {
    let relative = |ours: f64, theirs: f64, allowed: f64| {
        (ours - theirs).abs() / (allowed * theirs.abs().max(1.0))
    };
    match dtype {
        "f32" => {
            let [ours, theirs] =
                [ours, theirs].map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()));
            relative(f64::from(ours), f64::from(theirs), 1e-5)
        }
        "f64" => {
            let [ours, theirs] =
                [ours, theirs].map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()));
            relative(ours, theirs, 1e-12)
        }
        "f16" | "bf16" => {
            // Steps between neighbours, both signs on one line.
            let [ours, theirs] = [ours, theirs].map(|bytes| {
                let bits = i32::from(u16::from_le_bytes(bytes.try_into().unwrap()));
                if bits & 0x8000 != 0 { -(bits & 0x7fff) } else { bits }
            });
            f64::from((ours - theirs).abs())
        }
        other => panic!("{other} results are exact"),
    }
}

fn check(golden: &Golden, largest: u64) {
    let shape = DeviceShape {
        multi_processors: golden.multi_processors,
        threads_per_multi_processor: golden.threads_per_multi_processor,
    };
    let (mut compared, mut digests) = (0, 0);
    for sequence in &golden.sequences {
        let mut offset = 0;
        for operation in &sequence.operations {
            let what = format!("seed {}: {operation:?}", sequence.seed);
            let what = what.split(", bytes").next().unwrap();
            let fill = fill_of(operation);
            let bytes = fill.dtype.bytes();
            let plan = Plan::new(operation.n, bytes, fill.elements_per_draw(), shape);
            if operation.n <= largest {
                let all = result(&fill, &plan, sequence.seed, offset);
                let part = operation.recorded_part(&all, bytes);
                assert_eq!(part.len(), operation.bytes.len());
                if is_exact(operation) {
                    assert!(part == operation.bytes, "{what}");
                    assert_eq!(sha256::hex(&all), operation.sha256, "{what}");
                    digests += 1;
                } else {
                    let pairs = part.chunks_exact(bytes).zip(operation.bytes.chunks_exact(bytes));
                    for (i, (ours, theirs)) in pairs.enumerate() {
                        let distance = distance(&operation.dtype, ours, theirs);
                        assert!(distance <= 1.0, "{what}: {distance} at {i}");
                    }
                }
                compared += 1;
            }
            offset += plan.increment();
            let mut state = sequence.seed.to_le_bytes().to_vec();
            state.extend(offset.to_le_bytes());
            assert_eq!(state, operation.state_after, "{what}");
        }
    }
    let all = if largest == u64::MAX { 420 } else { 240 };
    assert_eq!((compared, digests), (all, all * 11 / 20));
}

#[test]
fn recorded_fills_are_reproduced() {
    check(&golden::read(), if cfg!(debug_assertions) { 4096 } else { u64::MAX });
}
