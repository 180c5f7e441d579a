//! The allocator against a naive one that follows torch's rules to the letter.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unreachable_pub, reason = "one word for what other modules of the test use")]

mod oracle;
mod play;
mod script;

use oracle::{Answer, Oracle, Rules};
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, FileFailurePersistence, TestCaseError, TestRunner};
use testkit::fork::forked_result;
use testkit::memory::figures::{differences, flat};
use testkit::memory::golden::{self, Call, Recording};

fn replay(recording: &Recording) -> u32 {
    let mut oracle = Oracle::new(Rules::read(&recording.text), usize::MAX >> 1);
    let mut blocks = std::collections::BTreeMap::new();
    let mut checks = recording.checks.iter();
    for (step, call) in recording.calls.iter().enumerate() {
        match *call {
            Call::Alloc { id, bytes, stream } => {
                blocks.insert(id, oracle.alloc(bytes, stream, 0));
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
    let checks: u32 = golden::of_segments().iter().map(replay).sum();
    assert_eq!(checks, 120);
}

/// How many scripts; `SCONCE_TEST_SCRIPTS` asks for more.
fn scripts() -> u32 {
    let asked = std::env::var("SCONCE_TEST_SCRIPTS");
    asked.map_or(100, |text| text.parse().unwrap())
}

/// Random scripts on a device with as much memory as is named.
#[track_caller]
fn check(test: &str, device_memory: &str, script: impl Strategy<Value = script::Script>) {
    check_with(test, device_memory, &[], script);
}

/// The same with more of an environment.
#[track_caller]
fn check_with(
    test: &str,
    device_memory: &str,
    more: &[(&str, &str)],
    script: impl Strategy<Value = script::Script>,
) {
    let usual =
        [("SCONCE_BACKEND", "sim"), ("SCONCE_SIM_MEMORY", device_memory), ("RUST_BACKTRACE", "0")];
    testkit::in_child(test, &[&usual, more].concat(), || {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/memory/model/regressions.txt");
        let config = Config {
            cases: scripts(),
            max_shrink_time: 20_000,
            failure_persistence: Some(Box::new(FileFailurePersistence::Direct(file))),
            ..Config::default()
        };
        let result = TestRunner::new(config).run(&script, |script| {
            forked_result(|| play::play(&script)).map_err(TestCaseError::fail)
        });
        if let Err(failure) = result {
            panic!("{failure}");
        }
    });
}

#[test]
fn scripts_with_little_memory() {
    check("scripts_with_little_memory", "96M", script::any_script());
}

#[test]
fn scripts_with_much_memory() {
    check("scripts_with_much_memory", "4G", script::any_script());
}

#[test]
fn scripts_on_a_device_that_reuses_addresses() {
    let test = "scripts_on_a_device_that_reuses_addresses";
    check_with(test, "96M", &[("SCONCE_SIM_REUSE_ADDRESSES", "1")], script::any_script());
}

#[test]
fn scripts_of_large_blocks() {
    check("scripts_of_large_blocks", "224M", script::large_script());
}

#[test]
fn scripts_at_the_borders_of_the_rules() {
    testkit::in_child(
        "scripts_at_the_borders_of_the_rules",
        &[("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off")],
        || {
            for script in script::border_scripts() {
                forked_result(|| play::play(&script)).unwrap_or_else(|e| panic!("{script:?}: {e}"));
            }
        },
    );
}
