//! The allocator against a naive one that follows torch's rules to the letter.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unreachable_pub, reason = "one word for what other modules of the test use")]

#[path = "../common/memory_figures.rs"]
mod memory_figures;
#[path = "../common/memory_golden.rs"]
mod memory_golden;
mod oracle;

use memory_figures::{differences, flat};
use memory_golden::{Call, Recording};
use oracle::{Answer, Oracle, Rules};

fn replay(recording: &Recording) -> u32 {
    let mut oracle = Oracle::new(Rules::read(&recording.text), usize::MAX >> 1);
    let mut blocks = std::collections::BTreeMap::new();
    let mut checks = recording.checks.iter();
    for (step, call) in recording.calls.iter().enumerate() {
        match *call {
            Call::Alloc { id, bytes, stream } => {
                blocks.insert(id, oracle.alloc(bytes, stream));
            }
            Call::Free { id } => match blocks.remove(&id).unwrap() {
                Answer::Block { id, .. } => oracle.free(id),
                answer => assert_eq!(answer, Answer::Nothing),
            },
            Call::EmptyCache => oracle.empty_cache(),
            Call::ResetPeak => oracle.reset_peaks(),
            Call::Check => {
                let wrong = differences(&flat(&oracle.stats), checks.next().unwrap());
                let (config, seed) = (&recording.config, recording.seed);
                assert!(wrong.is_empty(), "{config}/{seed}, call {step}: {wrong:?}");
            }
        }
    }
    assert!(checks.next().is_none());
    recording.checks.len() as u32
}

/// Before anything is measured with it, the measure itself.
#[test]
fn the_oracle_gives_what_pytorch_gave() {
    let checks: u32 = memory_golden::of_segments().iter().map(replay).sum();
    assert_eq!(checks, 120);
}
