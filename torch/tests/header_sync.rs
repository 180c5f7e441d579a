//! The committed `sconce_torch.h` is what the sources give. `SCONCE_BLESS=1` writes it anew.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

/// Files with functions of the header, in the order in which a reader wants them. Those that also export functions of
/// PyTorch's ABI do not belong here.
const FILES: &[&str] = &[
    "last_error",
    "model",
    "model_tensors",
    "model_runs",
    "model_constants",
    "model_memory",
    "precision",
    "operator_values",
    "operator",
];

/// A source as the header's generator reads it: places for results and texts are pointers in C.
fn with_pointers(source: &str) -> String {
    let source = source.replace("OutStruct<'_, ", "Out<'_, ");
    let mut text = String::new();
    let mut rest = &*source;
    while let Some((before, place)) = rest.split_once("Out<'_, ") {
        let (target, after) = place.split_once('>').unwrap();
        text.push_str(before);
        text.push_str("*mut ");
        text.push_str(target);
        rest = after;
    }
    text.push_str(rest);
    text.replace("CText<'_>", "*const c_char")
}

fn generated() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let mut builder = cbindgen::Builder::new().with_config(config);
    // Tests run side by side, each in a process: none sees a file that another one has half written.
    let folder = format!("header_sync.{}", std::process::id());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    for file in FILES {
        let name = format!("{file}.rs");
        let source = std::fs::read_to_string(root.join("src/capi").join(&name)).unwrap();
        std::fs::write(folder.join(&name), with_pointers(&source)).unwrap();
        builder = builder.with_src(folder.join(&name));
    }
    let mut header = Vec::new();
    builder.generate().unwrap().write(&mut header);
    std::fs::remove_dir_all(&folder).unwrap();
    String::from_utf8(header).unwrap()
}

#[test]
fn the_committed_header_is_what_the_sources_give() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../include/sconce/sconce_torch.h");
    let header = generated();
    if std::env::var_os("SCONCE_BLESS").is_some() {
        std::fs::write(&path, &header).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        header == committed,
        "include/sconce/sconce_torch.h differs from the sources; run SCONCE_BLESS=1 cargo test -p sconce-torch \
         --test header_sync and commit"
    );
}

#[test]
fn every_file_of_the_c_api_is_in_the_header() {
    let header = generated();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/capi");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let source = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for line in source.lines().filter(|line| line.contains("extern \"C\" fn sconce_")) {
            let name = line.split("fn ").nth(1).unwrap().split('(').next().unwrap();
            assert!(header.contains(&format!("{name}(")), "{name} is missing from the header");
            seen += 1;
        }
    }
    assert!(seen > 0);
}
