//! What the libraries export: names of PyTorch's ABI come from libsconce_torch.so alone, and names of libsconce.so from
//! libsconce.so alone.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::PathBuf;

/// Names of dynamic symbols of a library that cargo built; `defined` chooses those that it defines or needs.
fn symbols(library: &str, defined: bool) -> BTreeSet<String> {
    let tests = std::env::current_exe().unwrap();
    let path: PathBuf = tests.parent().unwrap().join(library);
    let output = std::process::Command::new("nm")
        .args(["-D", if defined { "--defined-only" } else { "--undefined-only" }])
        .arg(&path)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}: {}",
        path.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let names = text.lines().filter_map(|line| line.split_whitespace().last());
    names.map(|name| name.split('@').next().unwrap().to_owned()).collect()
}

fn is_of_pytorch(name: &str) -> bool {
    ["aoti_", "torch_"].iter().any(|prefix| name.starts_with(prefix))
}

#[test]
fn no_name_of_pytorch_is_exported_by_libsconce() {
    let names = symbols("libsconce.so", true);
    assert!(names.contains("sconce_tensor_empty"));
    assert_eq!(names.iter().filter(|name| is_of_pytorch(name)).count(), 0);
}

#[test]
fn no_runtime_is_within_libsconce_torch() {
    let ours = symbols("libsconce_torch.so", true);
    let theirs = symbols("libsconce.so", true);
    assert!(ours.contains("aoti_torch_abi_version"));
    assert_eq!(ours.intersection(&theirs).collect::<Vec<_>>(), Vec::<&String>::new());
    let needed = symbols("libsconce_torch.so", false);
    let unknown: Vec<_> = needed
        .iter()
        .filter(|name| name.starts_with("sconce_") && !theirs.contains(*name))
        .collect();
    assert_eq!(unknown, Vec::<&String>::new());
}
