//! The allocator against a naive one that follows torch's rules to the letter, and every script on both policies against
//! a naive account of its requests.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unreachable_pub, reason = "one word for what other modules of the test use")]

mod both;
mod journal;
mod oracle;
mod play;
mod requests;
mod script;

use oracle::{Answer, Oracle, Rules};
use proptest::strategy::{Strategy, ValueTree};
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
    check_play(test, device_memory, more, scripts(), script, play::play);
}

/// The same on both policies, with data.
#[track_caller]
fn check_both(test: &str, device_memory: &str, script: impl Strategy<Value = script::Script>) {
    // Each is played twice, with data.
    let cases = scripts().div_ceil(2);
    check_play(test, device_memory, &[], cases, script, |script| both::play(script).map(|_| ()));
}

#[track_caller]
fn check_play(
    test: &str,
    device_memory: &str,
    more: &[(&str, &str)],
    cases: u32,
    script: impl Strategy<Value = script::Script>,
    play: impl Fn(&script::Script) -> Result<(), String>,
) {
    let usual = [
        ("SCONCE_BACKEND", "sim"),
        ("SCONCE_LOG", "off"),
        ("SCONCE_SIM_MEMORY", device_memory),
        ("RUST_BACKTRACE", "0"),
    ];
    testkit::in_child(test, &[&usual, more].concat(), || {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/memory/model/regressions.txt");
        let config = Config {
            cases,
            max_shrink_time: 20_000,
            failure_persistence: Some(Box::new(FileFailurePersistence::Direct(file))),
            ..Config::default()
        };
        let result = TestRunner::new(config)
            .run(&script, |script| forked_result(|| play(&script)).map_err(TestCaseError::fail));
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

#[test]
fn scripts_on_both_policies_with_little_memory() {
    check_both("scripts_on_both_policies_with_little_memory", "96M", script::any_script());
}

/// No request fails, so the two answer alike throughout.
#[test]
fn scripts_on_both_policies_with_much_memory() {
    check_both("scripts_on_both_policies_with_much_memory", "64G", script::any_script());
}

#[test]
fn scripts_on_both_policies_of_large_blocks() {
    check_both("scripts_on_both_policies_of_large_blocks", "224M", script::large_script());
}

/// The scripts do what they are for: pages are mapped more than once.
#[test]
fn scripts_on_both_policies_have_aliases() {
    let test = "scripts_on_both_policies_have_aliases";
    let environment =
        [("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off"), ("SCONCE_SIM_MEMORY", "4G")];
    testkit::in_child(test, &environment, || {
        let mut runner = TestRunner::deterministic();
        let mut with_aliases = 0;
        for _ in 0..30 {
            let script = script::any_script().new_tree(&mut runner).unwrap().current();
            // The result of a child is words.
            let words = forked_result(|| Err(format!("aliases: {}", both::play(&script)?)));
            let words = words.unwrap_err();
            let made = words.strip_prefix("aliases: ").unwrap_or_else(|| panic!("{words}"));
            with_aliases += u32::from(made.parse::<u64>().unwrap() > 0);
        }
        assert!(with_aliases >= 5, "only {with_aliases} scripts of 30 had aliases");
    });
}
