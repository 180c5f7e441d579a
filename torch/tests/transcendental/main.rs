//! The kernels of functions of real and complex numbers on a CPU, compiled as those of attention
//! (`tests/attention/emulator`). Their results are compared with those of the C library (`check.cc`).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../attention/emulator/mod.rs"]
mod emulator;

const SOURCES: [&str; 2] = ["kernels/transcendental.cu", "tests/transcendental/check.cc"];

/// Launches of each kernel and function.
const ROUNDS: u32 = 3;

#[test]
fn kernels_return_what_the_c_library_does() {
    let cases = format!("{} cases\n", 4 * 13 * ROUNDS);
    assert_eq!(emulator::run("transcendental", &SOURCES, ROUNDS), cases);
}
