//! The kernels of attention on a CPU: their source is compiled with stand-ins for a GPU's instructions (`emulator`), and
//! its results are compared with sums in doubles (`check.cc`, `check_sequences.cc`). Threads of a block take turns in an order that is drawn,
//! copies to shared memory are made when a thread waits for them, and memory that nobody has written holds NaN.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod emulator;

const SOURCES: &[&str] = &[
    "kernels/attention_tensor_f16.cu",
    "kernels/attention_tensor_bf16.cu",
    "kernels/attention_groups_f16.cu",
    "kernels/attention_groups_bf16.cu",
    "kernels/attention_f32.cu",
    "tests/attention/check.cc",
];

/// The same for sequences of several lengths.
const OF_SEQUENCES: &[&str] = &[
    "kernels/attention_sequences_f16.cu",
    "kernels/attention_sequences_bf16.cu",
    "kernels/attention_sequences_groups_f16.cu",
    "kernels/attention_sequences_groups_bf16.cu",
    "tests/attention/check_sequences.cc",
];

/// Cases of each form.
const ROUNDS: u32 = 4;

#[test]
fn kernels_return_what_sums_in_doubles_are() {
    // Seven forms of each 16-bit type, and three in float32.
    let cases = format!("{} cases\n", 17 * ROUNDS);
    assert_eq!(emulator::run("attention", SOURCES, ROUNDS), cases);
}

#[test]
fn sequences_have_attention_of_their_own() {
    // Seven forms of each 16-bit type.
    let rounds = 2 * ROUNDS;
    let cases = format!("{} cases\n", 14 * rounds);
    assert_eq!(emulator::run("attention_sequences", OF_SEQUENCES, rounds), cases);
}
