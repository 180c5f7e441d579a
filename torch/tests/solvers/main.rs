//! The kernels of linear equations on a CPU: their source is compiled with stand-ins for a GPU's instructions, those of
//! the kernels of attention (`tests/attention/emulator`), and their results are compared with plain loops in doubles
//! (`check.cc`). Threads of a block take turns in an order that is drawn.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

const SOURCES: [&str; 6] = [
    "kernels/solvers.cu",
    "kernels/solvers_panels.cu",
    "kernels/solvers_jacobi.cu",
    "kernels/integers.cu",
    "tests/solvers/check.cc",
    "tests/attention/emulator/gpu.cc",
];

/// Cases of each kernel and type.
const ROUNDS: u32 = 4;

#[test]
fn kernels_return_what_plain_loops_do() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("solvers");
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let status = Command::new(compiler)
        .current_dir(root)
        .args(["-std=c++17", "-O1", "-ffp-contract=off", "-Wall", "-Werror"])
        .args(["-Wno-unknown-pragmas", "-Wno-maybe-uninitialized", "-Wno-unused-function"])
        .args(["-include", "tests/attention/emulator/gpu.hpp"])
        .args(["-Itests/attention/emulator", "-Ikernels", "-I../kernels", "-x", "c++"])
        .args(SOURCES)
        .arg("-o")
        .arg(&program)
        .status()
        .unwrap();
    assert!(status.success());
    let output = Command::new(program).arg(ROUNDS.to_string()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Ten kernels of four types, and one of five.
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        format!("{} cases\n", (10 * 4 + 5) * ROUNDS)
    );
}
