//! The kernels of attention on a CPU: their source is compiled with stand-ins for a GPU's instructions (`emulator`), and
//! its results are compared with sums in doubles (`check.cc`). Threads of a block take turns in an order that is drawn,
//! copies to shared memory are made when a thread waits for them, and memory that nobody has written holds NaN.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod emulator;

const SOURCES: [&str; 6] = [
    "kernels/attention_tensor_f16.cu",
    "kernels/attention_tensor_bf16.cu",
    "kernels/attention_groups_f16.cu",
    "kernels/attention_groups_bf16.cu",
    "kernels/attention_f32.cu",
    "tests/attention/check.cc",
];

/// Cases of each form.
const ROUNDS: u32 = 4;

#[test]
fn kernels_return_what_sums_in_doubles_are() {
    // Seven forms of each 16-bit type, and three in float32.
    let cases = format!("{} cases\n", 17 * ROUNDS);
    assert_eq!(emulator::run("attention", &SOURCES, ROUNDS), cases);
}
