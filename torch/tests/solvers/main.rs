//! The kernels of linear equations on a CPU: their source is compiled with stand-ins for a GPU's instructions, those of
//! the kernels of attention (`tests/attention/emulator`), and their results are compared with plain loops in doubles
//! (`check.cc`). Threads of a block take turns in an order that is drawn.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../attention/emulator/mod.rs"]
mod emulator;

const SOURCES: [&str; 5] = [
    "kernels/solvers.cu",
    "kernels/solvers_panels.cu",
    "kernels/solvers_jacobi.cu",
    "kernels/integers.cu",
    "tests/solvers/check.cc",
];

const SYMMETRIC: [&str; 2] = ["kernels/solvers_symmetric.cu", "tests/solvers/symmetric.cc"];

/// Cases of each kernel and type.
const ROUNDS: u32 = 4;

#[test]
fn kernels_return_what_plain_loops_do() {
    // Ten kernels of four types, and one of five.
    let cases = format!("{} cases\n", (10 * 4 + 5) * ROUNDS);
    assert_eq!(emulator::run("solvers", &SOURCES, ROUNDS), cases);
}

#[test]
fn factors_of_symmetric_matrices_solve_their_equations() {
    let rounds = 3 * ROUNDS;
    let cases = format!("{} cases\n", 4 * rounds);
    assert_eq!(emulator::run("symmetric", &SYMMETRIC, rounds), cases);
}
