//! What the package links: of Sconce's crates the three below the simulator and the CUDA backend, and nothing that
//! calculates. And that its program runs.

use std::collections::BTreeSet;
use std::process::Command;

const CRATES: [&str; 4] = ["own-driver", "sconce-base", "sconce-driver", "sconce-runtime"];
/// Libraries of the other crates.
const NOT_NEEDED: [&str; 5] = ["cudarc", "matrixmultiply", "realfft", "rustfft", "testkit"];

/// Those of the packages, one a line, that should not be there, and those that are missing.
fn faults(packages: &str) -> Vec<String> {
    let names: BTreeSet<&str> =
        packages.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let is_ours = |name: &str| name.starts_with("sconce") || name == CRATES[0];
    let too_many = names
        .iter()
        .filter(|name| is_ours(name) && !CRATES.contains(name) || NOT_NEEDED.contains(name));
    let missing = CRATES.iter().filter(|name| !names.contains(**name));
    too_many.chain(missing).map(|name| name.to_string()).collect()
}

#[test]
fn the_program_links_three_crates_of_sconce() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into());
    let tree = Command::new(cargo)
        .args(["tree", "--package", CRATES[0], "--edges", "normal,build", "--prefix", "none"])
        .args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), "--offline"])
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let packages = String::from_utf8(tree.stdout).unwrap();
    assert_eq!(faults(&packages), [""; 0], "{packages}");
    // A crate more, a library more, and a crate less are found.
    for (planted, found) in [
        (format!("{packages}sconce-sim v0.1.0 (/crates/sim)\n"), "sconce-sim"),
        (format!("{packages}rustfft v6.4.1\n"), "rustfft"),
        (packages.replace("sconce-base", "anything"), "sconce-base"),
    ] {
        assert_eq!(faults(&planted), [found]);
    }
}

#[test]
fn the_driver_has_at_most_200_lines() {
    let lines = include_str!("../src/driver.rs").lines().count();
    assert!(lines <= 200, "{lines} lines");
}

#[test]
fn the_program_runs() {
    let run = Command::new(env!("CARGO_BIN_EXE_own-driver")).output().unwrap();
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(run.status.success(), "{text}{}", String::from_utf8_lossy(&run.stderr));
    for line in [
        "the second request got the first block: true",
        "left on the device: 0 allocations, 0 bytes",
    ] {
        assert!(text.contains(line), "{text}");
    }
}
