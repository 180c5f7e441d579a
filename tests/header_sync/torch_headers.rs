//! The headers of PyTorch's include paths: each includes the same header, and nothing declares entities in PyTorch's
//! namespaces.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

/// The first line of each file.
const FIRST: &str = "// Stands for PyTorch's header of this path.";
/// Paths that public code includes most, of each folder.
const FREQUENT: [&str; 12] = [
    "torch/extension.h",
    "torch/torch.h",
    "torch/all.h",
    "torch/library.h",
    "ATen/ATen.h",
    "ATen/cuda/CUDAContext.h",
    "ATen/cuda/Atomic.cuh",
    "ATen/native/cuda/KernelUtils.cuh",
    "c10/cuda/CUDAGuard.h",
    "c10/util/Half.h",
    "THC/THCAtomics.cuh",
    "pybind11/pybind11.h",
];

fn files(below: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![below.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found
}

/// The lines of a header that open one of PyTorch's namespaces at its outermost level, and what a block holds that is
/// neither a directive, a declaration by `using`, an alias nor another namespace.
fn declared(text: &str) -> Vec<String> {
    let (mut wrong, mut depth, mut inside) = (Vec::new(), 0_usize, false);
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        if depth == 0 {
            inside =
                ["namespace at {", "namespace c10 {", "namespace torch {", "namespace pybind11 {"]
                    .contains(&line);
        } else if inside && !line.is_empty() && !line.starts_with('}') {
            let names = line.starts_with("using ") && !line.contains('=')
                || line.starts_with("namespace ") && (line.contains('{') || line.contains('='));
            if !names {
                wrong.push(line.to_owned());
            }
        }
        depth += line.matches('{').count();
        depth = depth.saturating_sub(line.matches('}').count());
    }
    wrong
}

/// Whether a file of a path has nothing but includes of this library's headers, and all names. Some bring more: kernels'
/// files often define atomic operations themselves, so that no other header has these.
fn stands_for_a_path(text: &str) -> bool {
    let mut lines = text.lines();
    let is_include = |line: &str| {
        line.starts_with("#include <sconce/compat/") && line.ends_with("// IWYU pragma: export")
    };
    lines.next() == Some(FIRST)
        && lines.all(is_include)
        && text.contains("#include <sconce/compat/torch.hpp>")
}

#[test]
fn every_path_of_pytorch_brings_all_names() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/sconce/torch_headers");
    let files = files(&folder);
    assert!(files.len() > 300, "{} headers", files.len());
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        assert!(stands_for_a_path(&text), "{}: {text}", file.display());
    }
    for path in FREQUENT {
        assert!(folder.join(path).exists(), "there is no {path}");
    }
    assert!(!stands_for_a_path(FIRST));
    assert!(!stands_for_a_path(&format!(
        "{FIRST}\n#include <sconce/compat/torch.hpp>  // IWYU pragma: export\nint f();\n"
    )));
}

#[test]
fn namespaces_of_pytorch_hold_no_entities() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/sconce");
    let mut opened = 0;
    for file in files(&folder) {
        let text = std::fs::read_to_string(&file).unwrap();
        let wrong = declared(&text);
        assert!(wrong.is_empty(), "{}: {wrong:?}", file.display());
        opened += text.matches("\nnamespace at {").count();
    }
    assert!(opened > 0);
}

#[test]
fn planted_entities_are_seen() {
    let of = |text: &str| declared(text).len();
    assert_eq!(
        of("namespace at {\nusing namespace ::a;\nusing ::a::B;\nnamespace c = ::a::c;\n}"),
        0
    );
    assert_eq!(of("namespace a {\nnamespace at {\nint f();\n}\n}"), 0);
    assert_eq!(of("namespace at {\nint f();\n}"), 1);
    assert_eq!(of("namespace c10 {\nnamespace cuda {\nstruct S;\n}\n}"), 1);
    assert_eq!(of("namespace torch {\nusing S = int;\n}"), 1);
}
