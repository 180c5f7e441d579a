//! The kernels of attention on a CPU: their source is compiled with stand-ins for a GPU's instructions (`emulator`), and
//! its results are compared with sums in doubles (`check.cc`). Threads of a block take turns in an order that is drawn,
//! copies to shared memory are made when a thread waits for them, and memory that nobody has written holds NaN.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

const SOURCES: [&str; 5] = [
    "kernels/attention_tensor_f16.cu",
    "kernels/attention_tensor_bf16.cu",
    "kernels/attention_f32.cu",
    "tests/attention/check.cc",
    "tests/attention/emulator/gpu.cc",
];

/// Cases of each form.
const ROUNDS: u32 = 4;

#[test]
fn kernels_return_what_sums_in_doubles_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("attention");
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
    // Five forms of each 16-bit type, and three in float32.
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{} cases\n", 13 * ROUNDS));
}
