//! Every fill that PyTorch 2.11 recorded on an H200, computed here: uniform, integer, full-range
//! and Bernoulli bit for bit (the digest of the whole result too), the others as close as a CPU
//! can be to a GPU's fast functions, and the generator's state after each.
//!
//! In debug builds the results that are recorded as samples are compared at the samples; their
//! digests need all of their millions of elements and are checked in release builds.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::cell::Cell;
use testkit::simulated;

use sconce::sconce_status::SCONCE_OK;
use sconce::*;
use sconce_base::element::Dtype;
use sconce_base::sha256;
use sconce_math::philox::{DeviceShape, Distribution, Fill, LaunchPlan, evaluate};
use testkit::random_golden::{self, Golden, Operation};

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
fn result(fill: &Fill, plan: &LaunchPlan, seed: u64, offset: u64) -> Vec<u8> {
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

/// Compares a result with the recorded one; says whether it was an exact one.
fn compare(what: &str, operation: &Operation, all: &[u8], bytes: usize) -> bool {
    let part = operation.recorded_part(all, bytes);
    assert_eq!(part.len(), operation.bytes.len());
    if is_exact(operation) {
        assert!(part == operation.bytes, "{what}");
        assert_eq!(sha256::hex(all), operation.sha256, "{what}");
        return true;
    }
    let pairs = part.chunks_exact(bytes).zip(operation.bytes.chunks_exact(bytes));
    for (i, (ours, theirs)) in pairs.enumerate() {
        let distance = distance(&operation.dtype, ours, theirs);
        assert!(distance <= 1.0, "{what}: {distance} at {i}");
    }
    false
}

/// Debug builds take a minute for the millions of elements of the larger fills.
const LARGEST: u64 = if cfg!(debug_assertions) { 4096 } else { u64::MAX };

/// Runs every recorded fill that is small enough: `make` gives its result, `after` the state.
fn check(
    golden: &Golden,
    mut begin: impl FnMut(u64),
    mut make: impl FnMut(&Fill, &Operation) -> Option<Vec<u8>>,
    mut after: impl FnMut() -> Vec<u8>,
) {
    let (mut compared, mut digests) = (0, 0);
    for sequence in &golden.sequences {
        begin(sequence.seed);
        for operation in &sequence.operations {
            let what = format!(
                "seed {}: {} {} n={} {:?}",
                sequence.seed, operation.name, operation.dtype, operation.n, operation.parameters
            );
            let fill = fill_of(operation);
            if let Some(all) = make(&fill, operation) {
                compared += 1;
                digests += u32::from(compare(&what, operation, &all, fill.dtype.bytes()));
            }
            assert_eq!(after(), operation.state_after, "{what}");
        }
    }
    let all = if LARGEST == u64::MAX { 420 } else { 240 };
    assert_eq!((compared, digests), (all, all * 11 / 20));
}

#[test]
fn recorded_fills_are_reproduced() {
    let golden = random_golden::read();
    let shape = DeviceShape {
        multi_processors: golden.multi_processors,
        threads_per_multi_processor: golden.threads_per_multi_processor,
    };
    let (seed, offset) = (Cell::new(0), Cell::new(0));
    check(
        &golden,
        |next| {
            seed.set(next);
            offset.set(0);
        },
        |fill, operation| {
            let plan =
                LaunchPlan::new(operation.n, fill.dtype.bytes(), fill.elements_per_draw(), shape);
            let all =
                (operation.n <= LARGEST).then(|| result(fill, &plan, seed.get(), offset.get()));
            offset.set(offset.get() + plan.increment());
            all
        },
        || [seed.get().to_le_bytes(), offset.get().to_le_bytes()].concat(),
    );
}

#[test]
fn recorded_fills_are_reproduced_by_the_c_api_on_the_simulator() {
    let golden = random_golden::read();
    let generator = simulated::generator(0);
    check(
        &golden,
        |seed| assert_eq!(sconce_generator_set_seed(generator, seed), SCONCE_OK),
        |fill, operation| {
            if operation.n > LARGEST {
                // Moves on as the fill would have, so that what follows is compared too.
                let state = operation.state_after;
                // SAFETY: 16 readable bytes.
                let status = unsafe { sconce_generator_set_state(generator, state.as_ptr(), 16) };
                assert_eq!(status, SCONCE_OK);
                return None;
            }
            let (n, dtype) = (operation.n as usize, fill.dtype as i32);
            let memory = simulated::Memory::new(n * fill.dtype.bytes());
            let ptr = memory.as_ptr();
            let [a, b] = operation.parameters.each_ref().map(|text| text.parse().unwrap_or(0.0));
            let status = match fill.distribution {
                Distribution::Uniform => sconce_random_uniform(ptr, n, dtype, a, b, generator),
                Distribution::Normal => sconce_random_normal(ptr, n, dtype, a, b, generator),
                Distribution::LogNormal => sconce_random_log_normal(ptr, n, dtype, a, b, generator),
                Distribution::Exponential => sconce_random_exponential(ptr, n, dtype, a, generator),
                Distribution::Cauchy => sconce_random_cauchy(ptr, n, dtype, a, b, generator),
                Distribution::Geometric => sconce_random_geometric(ptr, n, dtype, a, generator),
                Distribution::Bernoulli => sconce_random_bernoulli(ptr, n, dtype, a, generator),
                Distribution::Integers => {
                    let [low, high] = operation.integer_parameters();
                    sconce_random_integers(ptr, n, dtype, low, high, generator)
                }
                Distribution::FullRange => sconce_random_full_range(ptr, n, dtype, generator),
            };
            assert_eq!(status, SCONCE_OK);
            Some(memory.read(n * fill.dtype.bytes()))
        },
        || simulated::state(generator).to_vec(),
    );
}
