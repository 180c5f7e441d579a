//! The functions of PyTorch's C ABI beside those that the library exports. `functions.txt` has the functions that headers
//! of PyTorch 2.15 declare for the CPU and for CUDA (those of 2.11 are among them), and `left_out.txt` those that are not
//! exported, each with a reason.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod signatures;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

const FUNCTIONS: &str = include_str!("functions.txt");
const LEFT_OUT: &str = include_str!("left_out.txt");

/// What the shared library that cargo built defines.
fn exports() -> BTreeSet<String> {
    let program = std::env::current_exe().unwrap();
    let path: PathBuf = program.parent().unwrap().join("libsconce_torch.so");
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(&path).output().unwrap();
    assert!(output.status.success(), "{}", path.display());
    let text = String::from_utf8(output.stdout).unwrap();
    let names = text.lines().filter_map(|line| line.split_whitespace().last());
    names.map(|name| name.split('@').next().unwrap().to_owned()).collect()
}

/// The functions that are left out, with their reasons.
fn left_out() -> BTreeMap<&'static str, &'static str> {
    let (mut reason, mut found) = ("", BTreeMap::new());
    for line in LEFT_OUT.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix("  ") {
            Some(name) => {
                assert!(!reason.is_empty(), "{name} has no reason");
                assert_eq!(found.insert(name, reason), None, "{name} is there twice");
            }
            None => reason = line,
        }
    }
    found
}

#[test]
fn every_function_is_exported_or_left_out_for_a_reason() {
    let (exports, left_out) = (exports(), left_out());
    let lines = FUNCTIONS.lines().filter(|line| !line.starts_with('#'));
    let names: BTreeSet<&str> = lines.filter_map(|line| line.split('(').next()).collect();
    assert!(names.len() > 500 && exports.contains("aoti_torch_abi_version"));
    let missing: Vec<_> = names
        .iter()
        .filter(|name| !exports.contains(**name) && !left_out.contains_key(**name))
        .collect();
    assert!(missing.is_empty(), "neither exported nor in left_out.txt: {missing:?}");
    let offered: Vec<_> = left_out.keys().filter(|name| exports.contains(**name)).collect();
    assert!(offered.is_empty(), "exported, so take them out of left_out.txt: {offered:?}");
    let unknown: Vec<_> = left_out.keys().filter(|name| !names.contains(**name)).collect();
    assert!(unknown.is_empty(), "not in functions.txt: {unknown:?}");
}
