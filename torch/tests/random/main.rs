//! The kernels of random numbers that are drawn until one fits, on a CPU: their source is compiled with stand-ins for a
//! GPU's instructions (`tests/attention/emulator`), and the distribution of what they draw is compared with the exact
//! one (`check.cc`).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../attention/emulator/mod.rs"]
mod emulator;

const SOURCES: [&str; 3] =
    ["kernels/random_rejection.cu", "src/operations/special/functions.cc", "tests/random/check.cc"];

#[test]
fn numbers_have_their_distributions() {
    // 8 rates, 9 pairs of counts and chances, 7 shapes, of four types; one shape is not for types of 16 bits.
    assert_eq!(emulator::run("random", &SOURCES, 1), format!("{} cases\n", (8 + 9 + 7) * 4 - 2));
}
