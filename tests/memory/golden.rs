//! The figures that PyTorch 2.11's allocator gave on an H200 for the same calls, to the last one:
//! every key at every check, peaks and sums included. Each recording runs in a process of its own,
//! since figures count from the start of the process.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use testkit::memory::structure;

use sconce_runtime::{device, memory, stream};
use testkit::memory::figures::{differences, flat};
use testkit::memory::golden::{self, Call, Recording};

/// Figures by PyTorch's names.
pub(crate) type Figures = BTreeMap<String, i64>;

/// How the configuration reaches the allocator.
#[derive(Clone, Copy, Debug)]
enum By {
    Environment,
    Call,
}

/// Makes the calls of a recording, and passes our figures and PyTorch's to `compare` wherever they were recorded, with
/// the number of the call.
pub(crate) fn replay(recording: &Recording, compare: impl Fn(usize, &Figures, &Figures)) {
    let streams = [
        stream::default(0).unwrap(),
        stream::from_pool(0, 0).unwrap(),
        stream::from_pool(0, 0).unwrap(),
    ];
    let mut blocks: BTreeMap<usize, usize> = BTreeMap::new();
    let mut checks = recording.checks.iter();
    for (step, call) in recording.calls.iter().enumerate() {
        match *call {
            Call::Alloc { id, bytes, stream } => {
                blocks.insert(id, memory::alloc_on(bytes, streams[stream]).unwrap());
            }
            Call::Free { id } => memory::free(blocks.remove(&id).unwrap()).unwrap(),
            Call::EmptyCache => {
                device::synchronize(0).unwrap();
                memory::empty_cache().unwrap();
            }
            Call::ResetPeak => memory::reset_peak_stats(0).unwrap(),
            Call::Check => {
                compare(step, &flat(&memory::stats(0).unwrap()), checks.next().unwrap());
                structure::assert_sound();
            }
        }
    }
    assert!(checks.next().is_none());
}

/// The figures are PyTorch's.
fn assert_equal(recording: &Recording, step: usize, ours: &Figures, torchs: &Figures) {
    let wrong = differences(ours, torchs);
    let (config, seed) = (&recording.config, recording.seed);
    assert!(wrong.is_empty(), "{config}/{seed}, call {step}: (key, ours, PyTorch's) {wrong:#?}");
}

#[track_caller]
fn check(test: &str, config: &str, seed: u64, by: By) {
    let recordings = golden::of_segments();
    let recording = recordings
        .into_iter()
        .find(|recording| recording.config == config && recording.seed == seed)
        .unwrap();
    assert_eq!(recording.checks.len(), 12);
    let text = recording.text.clone();
    let mut environment = vec![("SCONCE_BACKEND", "sim")];
    if matches!(by, By::Environment) {
        environment.push(("PYTORCH_CUDA_ALLOC_CONF", &text));
    }
    testkit::in_child(test, &environment, || {
        if matches!(by, By::Call) {
            memory::configure(&recording.text).unwrap();
        }
        replay(&recording, |step, ours, torchs| assert_equal(&recording, step, ours, torchs));
    });
}

macro_rules! recordings {
    ($($test:ident: $config:literal, $seed:literal, $by:ident;)*) => {
        $(
            #[test]
            fn $test() {
                check(stringify!($test), $config, $seed, By::$by);
            }
        )*
    };
}

recordings! {
    default_11: "default", 11, Environment;
    default_12: "default", 12, Call;
    split64_11: "split64", 11, Call;
    split64_12: "split64", 12, Environment;
    round4_11: "round4", 11, Environment;
    round4_12: "round4", 12, Call;
    roundmix_11: "roundmix", 11, Call;
    roundmix_12: "roundmix", 12, Environment;
    split32round2_11: "split32round2", 11, Environment;
    split32round2_12: "split32round2", 12, Call;
}
