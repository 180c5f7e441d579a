//! The committed C header is what the sources give. `SCONCE_BLESS=1` writes it anew.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::path::Path;

fn generated() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let mut builder = cbindgen::Builder::new().with_config(config);
    // One file after the other in the order a reader wants them, rather than the crate's.
    for file in [
        "status",
        "last_error",
        "string",
        "version",
        "log",
        "backend",
        "context",
        "device_properties",
        "device",
        "device_query",
        "stream",
        "event",
        "stream_work",
        "memory",
        "memory_pool",
        "memory_settings",
        "memory_figures",
        "memory_stats",
        "memory_snapshot",
        "memory_layout",
        "memory_snapshot_arrays",
        "memory_drop_in",
        "host_memory_figures",
        "host_memory",
        "copy",
        "copy_shapes",
        "ipc",
        "generator",
        "generator_state",
        "random",
        "random_fill",
        "blas",
        "blas_workspaces",
        "dnn",
        "fft",
        "fft_cache",
        "nvtx",
        "sim",
        "sim_capture",
        "sim_external",
        "sim_memory",
    ] {
        builder = builder.with_src(root.join(format!("src/ffi/{file}.rs")));
    }
    let mut header = Vec::new();
    builder.generate().unwrap().write(&mut header);
    String::from_utf8(header).unwrap()
}

#[test]
fn the_committed_header_is_what_the_sources_give() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/sconce/sconce.h");
    let header = generated();
    if std::env::var_os("SCONCE_BLESS").is_some() {
        std::fs::write(&path, &header).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    if let Some((number, (new, old))) =
        header.lines().zip(committed.lines()).enumerate().find(|(_, (new, old))| new != old)
    {
        panic!(
            "include/sconce/sconce.h differs from the sources at line {}:\n sources: {new}\n \
             header:  {old}\nrun SCONCE_BLESS=1 cargo test --test header_sync and commit",
            number + 1
        );
    }
    assert_eq!(
        header.len(),
        committed.len(),
        "the header is shorter or longer than the sources say"
    );
}

#[test]
fn every_file_of_the_boundary_is_in_the_header() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = generated();
    for entry in std::fs::read_dir(root.join("src/ffi")).unwrap() {
        let source = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for line in source.lines().filter(|line| line.contains("extern \"C\" fn sconce_")) {
            let name = line.split("fn ").nth(1).unwrap().split('(').next().unwrap();
            assert!(header.contains(&format!("{name}(")), "{name} is missing from the header");
        }
    }
}

#[test]
fn version_macros_follow_the_package() {
    let header = generated();
    for (part, value) in [
        ("MAJOR", env!("CARGO_PKG_VERSION_MAJOR")),
        ("MINOR", env!("CARGO_PKG_VERSION_MINOR")),
        ("PATCH", env!("CARGO_PKG_VERSION_PATCH")),
    ] {
        assert!(header.contains(&format!("#define SCONCE_VERSION_{part} {value}")));
    }
}
