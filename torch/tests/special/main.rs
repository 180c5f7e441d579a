//! The kernels of special functions on a CPU: their source is compiled with stand-ins for a GPU's instructions
//! (`tests/attention/emulator`), and compared with the functions that operations call on the CPU (`check.cc`).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../attention/emulator/mod.rs"]
mod emulator;

const SOURCES: [&str; 5] = [
    "kernels/special.cu",
    "kernels/special_gamma.cu",
    "kernels/special_polynomials.cu",
    "src/operations/special/functions.cc",
    "tests/special/check.cc",
];

/// Launches of each kernel and type.
const ROUNDS: u32 = 6;

#[test]
fn kernels_return_what_the_cpu_does() {
    // 26 functions of four types.
    let cases = format!("{} cases\n", 26 * 4 * ROUNDS);
    assert_eq!(emulator::run("special", &SOURCES, ROUNDS), cases);
}
