//! Random bytes played as C calls, hostile ones among them; the fuzz target plays the same.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]
#![allow(unreachable_pub, reason = "shared with the fuzz target")]

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use testkit::fork::forked_result;
use testkit::memory::calls;

/// How many sequences; `SCONCE_TEST_SCRIPTS` asks for more.
fn sequences() -> u32 {
    std::env::var("SCONCE_TEST_SCRIPTS").map_or(200, |text| text.parse().unwrap())
}

#[track_caller]
fn check(test: &str, uncached: &str) {
    let environment = [
        ("SCONCE_BACKEND", "sim"),
        ("SCONCE_SIM_MEMORY", "512M"),
        ("SCONCE_LOG", "off"),
        ("PYTORCH_NO_CUDA_MEMORY_CACHING", uncached),
    ];
    testkit::in_child(test, &environment, || {
        let config = Config {
            cases: sequences(),
            max_shrink_time: 10_000,
            failure_persistence: None,
            ..Config::default()
        };
        let bytes = prop::collection::vec(any::<u8>(), 0..800);
        let result = TestRunner::new(config).run(&bytes, |bytes| {
            let played = forked_result(|| {
                calls::play(&bytes);
                Ok(())
            });
            played.map_err(TestCaseError::fail)
        });
        if let Err(failure) = result {
            panic!("{failure}");
        }
    });
}

#[test]
fn no_sequence_of_calls_is_answered_wrongly() {
    check("no_sequence_of_calls_is_answered_wrongly", "0");
}

#[test]
fn no_sequence_of_calls_is_answered_wrongly_without_caching() {
    check("no_sequence_of_calls_is_answered_wrongly_without_caching", "1");
}
