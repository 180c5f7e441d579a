//! Builds kernels with stand-ins for a GPU's instructions, and runs a program that checks them.

use std::path::Path;
use std::process::Command;

/// Compiles the sources, whose paths begin in the crate's folder, to a program of that name, runs it for some rounds, and
/// returns what it prints. It prints an error and fails if a kernel is wrong.
pub(crate) fn run(name: &str, sources: &[&str], rounds: u32) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Tests run side by side, each in a process: none sees a file that another one has half written.
    let program =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let status = Command::new(compiler)
        .current_dir(root)
        .args(["-std=c++17", "-O1", "-ffp-contract=off", "-Wall", "-Werror"])
        .args(["-Wno-unknown-pragmas", "-Wno-maybe-uninitialized", "-Wno-unused-function"])
        .args(["-include", "tests/attention/emulator/gpu.hpp"])
        .args(["-Itests/attention/emulator", "-Ikernels", "-I../kernels", "-x", "c++"])
        .args(sources)
        .arg("tests/attention/emulator/gpu.cc")
        .arg("-o")
        .arg(&program)
        .status()
        .unwrap();
    assert!(status.success());
    let output = Command::new(&program).arg(rounds.to_string()).output().unwrap();
    std::fs::remove_file(program).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
