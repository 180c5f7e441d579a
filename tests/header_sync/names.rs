//! Names of the C API in texts: whatever a message, a comment or a page calls `sconce_…` exists.
//!
//! The compiler checks names in code only; a remedy that names a function which was renamed helps nobody.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files below a place (or the place itself) whose names end with one of these.
fn files(place: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    if place.is_file() {
        let name = place.to_string_lossy();
        found.extend(endings.iter().any(|end| name.ends_with(end)).then(|| place.to_owned()));
        return;
    }
    for entry in std::fs::read_dir(place).unwrap() {
        files(&entry.unwrap().path(), endings, found);
    }
}

fn texts(places: &[&str], endings: &[&str]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for place in places {
        files(&root().join(place), endings, &mut found);
    }
    found.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

/// Each `sconce_…` of a text, with its line.
fn names(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut rest = line;
        let mut before = ' ';
        while let Some(at) = rest.find("sconce_") {
            before = rest[..at].chars().next_back().unwrap_or(before);
            let name = &rest[at..];
            let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            let end = name.find(|c| !is_part(c)).unwrap_or(name.len());
            let whole = !before.is_ascii_alphanumeric() && before != '_';
            // `sconce_X` and `sconce_<type>` leave their end open, as `sconce_…` does.
            let open = name[end..].starts_with(|c: char| c.is_ascii_uppercase());
            if whole && !open {
                found.push((number + 1, &name[..end]));
            }
            before = name[..end].chars().next_back().unwrap_or(' ');
            rest = &name[end..];
        }
    }
    found
}

/// What exists: the headers' names, the kernels', the crates, and what CMake and cargo build.
fn known() -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    for (_, header) in texts(&["include/sconce"], &[".h"]) {
        let mut code = String::new();
        let mut rest = header.as_str();
        while let Some((before, comment)) = rest.split_once("/*") {
            code.push_str(before);
            rest = comment.split_once("*/").unwrap().1;
        }
        known.extend(names(&(code + rest)).into_iter().map(|(_, name)| name.to_owned()));
    }
    for (_, text) in texts(&["kernels/generated/manifest.json"], &[".json"]) {
        known.extend(names(&text).into_iter().map(|(_, name)| name.to_owned()));
    }
    let places = [
        "CMakeLists.txt",
        "benches/CMakeLists.txt",
        "cpp_tests/CMakeLists.txt",
        "cmake",
        "torch/Cargo.toml",
    ];
    for (_, text) in texts(&places, &[".txt", ".cmake", ".toml"]) {
        known.extend(names(&text).into_iter().map(|(_, name)| name.to_owned()));
    }
    for folder in std::fs::read_dir(root().join("crates")).unwrap() {
        known.insert(format!("sconce_{}", folder.unwrap().file_name().to_str().unwrap()));
    }
    known
}

/// Whether the name exists, or begins one that does, as `sconce_memory_*` is written.
fn exists(known: &BTreeSet<String>, name: &str) -> bool {
    known.contains(name) || name.ends_with('_') && known.iter().any(|known| known.starts_with(name))
}

#[test]
fn every_name_of_the_c_api_exists() {
    let known = known();
    for name in ["sconce_init", "sconce_matmul_desc", "sconce_scale_f32", "sconce_rust"] {
        assert!(known.contains(name), "{name} is not known: {known:?}");
    }
    let places = [
        "src",
        "crates",
        "include",
        "docs",
        "examples",
        "tools",
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
    ];
    let endings = [".rs", ".h", ".hpp", ".cpp", ".c", ".md", ".dox"];
    let (mut seen, mut wrong) = (0, Vec::new());
    for (path, text) in texts(&places, &endings) {
        // The page says what became of names that are gone.
        if path.ends_with("docs/guide/upgrading.md") {
            continue;
        }
        for (line, name) in names(&text) {
            seen += 1;
            if !exists(&known, name) {
                let path = path.strip_prefix(root()).unwrap().display().to_string();
                wrong.push(format!("{path}:{line}: {name}"));
            }
        }
    }
    assert!(seen > 2000, "the texts were not understood: {seen}");
    assert!(wrong.is_empty(), "names of nothing:\n{}", wrong.join("\n"));
}

#[test]
fn planted_names_are_seen() {
    let known = known();
    for (text, wrong) in [
        ("copy it with sconce_memory_copy_strided first", Some("sconce_memory_copy_strided")),
        ("`sconce_copy_strided`, libsconce_x, sconce_memory_*", None),
        ("sconce_memori_*", Some("sconce_memori_")),
        ("sconce_fft_desc.sconce_no", Some("sconce_no")),
    ] {
        let found =
            names(text).into_iter().map(|(_, name)| name).find(|name| !exists(&known, name));
        assert_eq!(found, wrong, "{text}");
    }
}
