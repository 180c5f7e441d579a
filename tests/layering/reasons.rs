//! A safety reason says why the operation is sound where it stands. Whoever reads it there must not have to look for the
//! reason elsewhere, and a duty of somebody else is named.

use crate::assert_none;
use crate::source::{files, text};

/// The folders of the libraries and of what tests them.
const ROOTS: &[&str] = &[
    "src",
    "crates",
    "testkit",
    "tests",
    "tools",
    "examples",
    "benches",
    "torch/build",
    "torch/src",
    "torch/tests",
];

/// How a comment begins that gives no reason: it points to another, or says that somebody has one.
const NO_REASONS: &[&str] = &[
    "as above",
    "as below",
    "as before",
    "as for ",
    "as in ",
    "as the caller promises",
    "ditto",
    "see above",
    "the caller promises it",
    "the caller promises what this",
    "the caller's promise",
    "the caller’s promise",
    "the promise of the caller",
    "the same",
];

/// The reason that a line begins, in lower case.
fn reason(line: &str) -> Option<String> {
    let comment = line.split_once("// SAFETY")?.1;
    Some(comment.split_once(':')?.1.trim_start().to_lowercase())
}

/// The comments of a file that give no reason.
fn faults(path: &str, text: &str) -> Vec<String> {
    let lines = text.lines().zip(1..);
    let wrong = lines.filter(|(line, _)| {
        reason(line).is_some_and(|reason| NO_REASONS.iter().any(|start| reason.starts_with(start)))
    });
    wrong.map(|(line, number)| format!("{path}:{number}: {}", line.trim())).collect()
}

#[test]
fn every_safety_reason_says_why_here() {
    let of_root = |root: &&str| files(root, "rs");
    let paths: Vec<String> = ROOTS.iter().flat_map(of_root).collect();
    let texts: Vec<(&String, String)> = paths.iter().map(|path| (path, text(path))).collect();
    let reasons = |text: &str| text.lines().filter(|line| reason(line).is_some()).count();
    let count: usize = texts.iter().map(|(_, text)| reasons(text)).sum();
    assert!(count > 500, "{count} reasons were found");
    let of_file = |(path, text): &(&String, String)| faults(path, text);
    assert_none(&texts.iter().flat_map(of_file).collect::<Vec<String>>());
}

#[test]
fn planted_reasons_are_seen() {
    let faults = |comment: &str| faults("a.rs", &format!("fn f() {{\n    {comment}\n}}")).len();
    for start in NO_REASONS {
        assert_eq!(faults(&format!("// SAFETY: {start}.")), 1, "{start}");
        assert_eq!(faults(&format!("// SAFETY (all): {}", start.to_uppercase())), 1, "{start}");
    }
    for comment in [
        "// SAFETY: the slice has so many elements.",
        "// SAFETY: the length was checked above.",
        "// The reason is as above.",
    ] {
        assert_eq!(faults(comment), 0, "{comment}");
    }
}
