//! The folders of headers: which use which, and that a caller of a header that has moved learns where.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::Path;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All headers, as programs include them.
fn headers() -> BTreeSet<String> {
    let include = root().join("include");
    let (mut found, mut folders) = (BTreeSet::new(), vec![include.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(&include).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found
}

/// The folder of a header below `sconce`; empty for those that lie there.
fn folder(header: &str) -> &str {
    header.strip_prefix("sconce/").and_then(|rest| rest.split_once('/')).map_or("", |parts| parts.0)
}

#[test]
fn the_runtime_needs_no_header_of_tensors_communicators_or_the_simulator() {
    // What each folder may include besides itself, `c`, `detail` and the forward declarations.
    let allowed: [(&str, &[&str]); 6] = [
        ("c", &[]),
        ("cuda", &[]),
        ("tensor", &["cuda"]),
        ("comm", &["cuda", "tensor"]),
        ("sim", &["cuda", "tensor", "comm"]),
        ("torch", &["cuda", "tensor"]),
    ];
    let mut seen = 0;
    for header in headers() {
        let Some((_, others)) = allowed.iter().find(|(name, _)| *name == folder(&header)) else {
            continue;
        };
        let mut waiting = vec![header.clone()];
        let mut read = BTreeSet::new();
        // What is reached through `detail` counts too.
        while let Some(next) = waiting.pop() {
            let text = std::fs::read_to_string(root().join("include").join(&next)).unwrap();
            for used in text.lines().filter_map(|line| line.strip_prefix("#include <")) {
                let used = used.split('>').next().unwrap();
                if !used.starts_with("sconce/") || !read.insert(used.to_owned()) {
                    continue;
                }
                let into = folder(used);
                let fits = ["c", "detail", folder(&header)].contains(&into)
                    || others.contains(&into)
                    || used == "sconce/fwd.hpp"
                    || folder(&header) == "torch" && used.contains("torch");
                assert!(fits, "{header} includes {used}, by way of {next}");
                seen += 1;
                if into == "detail" {
                    waiting.push(used.to_owned());
                }
            }
        }
    }
    assert!(seen > 300, "{seen} includes");
}

/// A unit that includes `sconce.hpp` takes twice as long if it also includes these standard headers.
#[test]
fn the_runtimes_headers_include_no_expensive_standard_header() {
    const EXPENSIVE: [&str; 9] = [
        "complex",
        "functional",
        "iostream",
        "iterator",
        "map",
        "mutex",
        "ostream",
        "sstream",
        "unordered_map",
    ];
    let mut waiting = vec!["sconce/sconce.hpp".to_owned()];
    let mut visited = BTreeSet::new();
    while let Some(header) = waiting.pop() {
        if !visited.insert(header.clone()) {
            continue;
        }
        let text = std::fs::read_to_string(root().join("include").join(&header)).unwrap();
        for line in text.lines() {
            let Some(used) =
                line.strip_prefix("#include <").and_then(|rest| rest.split('>').next())
            else {
                continue;
            };
            assert!(
                !EXPENSIVE.contains(&used),
                "{header}, a part of sconce.hpp, includes <{used}>"
            );
            if used.starts_with("sconce/") {
                waiting.push(used.to_owned());
            }
        }
    }
    assert!(visited.len() > 30, "{} headers", visited.len());
}

/// `SCONCE_BLESS=1` adds new headers to the list.
#[test]
fn headers_that_callers_knew_exist_or_have_a_row() {
    let list = root().join("tests/headers.txt");
    let known = std::fs::read_to_string(&list).unwrap_or_default();
    let mut known: BTreeSet<String> = known.lines().map(str::to_owned).collect();
    let headers = headers();
    if std::env::var_os("SCONCE_BLESS").is_some() {
        known.extend(headers.iter().cloned());
        let lines: Vec<String> = known.iter().map(|header| format!("{header}\n")).collect();
        std::fs::write(&list, lines.concat()).unwrap();
    }
    let page = std::fs::read_to_string(root().join("docs/guide/upgrading.md")).unwrap();
    for header in &known {
        let has_row = page.contains(&format!("\n| `<{header}>` |"));
        assert!(
            has_row || headers.contains(header),
            "{header} has moved: say where in docs/guide/upgrading.md"
        );
    }
    for header in &headers {
        assert!(
            known.contains(header),
            "{header} is not in tests/headers.txt; SCONCE_BLESS=1 adds it"
        );
    }
}
