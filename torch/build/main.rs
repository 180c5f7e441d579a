//! Prepares what the crate is linked with and what it contains.
//!
//! | file | what it makes |
//! |---|---|
//! | `header` | the functions, structs and constants of libsconce's C headers as Rust declarations |
//! | `stub` | a library of the name and with the functions of libsconce.so, to link against before that is built |
//! | `aliases` | empty libraries with the names of PyTorch's libraries |
//! | `runtime` | libraries with the names of the CUDA runtime's functions |

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a build fails by panicking")]

mod aliases;
mod header;
mod runtime;
mod stub;

use std::path::{Path, PathBuf};

/// Places of elements in sorted lines on the CPU.
const PLACES: &str = "src/operations/ordering/places.cc";
/// Special functions of one element on the CPU.
const SPECIAL_FUNCTIONS: &str = "src/operations/special/functions.cc";

fn main() {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap());
    let out = PathBuf::from(std::env::var("OUT_DIR").unwrap());
    for watched in [
        "build",
        "src/foreign/allocator.cc",
        "src/foreign/calls.cc",
        "src/foreign/values.cc",
        PLACES,
        SPECIAL_FUNCTIONS,
        "kernels/special",
        "../include/sconce/sconce_all.h",
        "../include/sconce/c",
    ] {
        println!("cargo:rerun-if-changed={watched}");
    }

    let headers = header::files(&root.join("../include"));
    let text: String = headers.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let header = header::Header::read(&text);
    std::fs::write(out.join("sconce_api.rs"), header.rust()).unwrap();

    stub::build(&out, &header.functions);
    aliases::build(&out);
    runtime::build(&out);
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .files(["src/foreign/allocator.cc", "src/foreign/calls.cc", "src/foreign/values.cc"])
        .file(PLACES)
        .compile("sconce_torch_calls");
    // The kernels' source. Products and sums are rounded one by one, so that results are the same everywhere.
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .flag("-ffp-contract=off")
        .flag("-Wno-unknown-pragmas")
        .include("kernels")
        .file(SPECIAL_FUNCTIONS)
        .compile("sconce_torch_special");
    link(&out);
}

/// How the library is linked, and where tests find it and libsconce.so.
fn link(out: &Path) {
    let libraries = out.join("lib");
    println!("cargo:rustc-link-search=native={}", libraries.display());
    println!("cargo:rustc-link-lib=dylib=sconce");
    // The soname carries the number of the ABI, as that of libsconce.so does.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libsconce_torch.so.0");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-rpath,$ORIGIN");
    // Models and kernel libraries keep addresses of its functions.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");

    // OUT_DIR is target/<profile>/build/<package>/out; cargo puts libraries into target/<profile>/deps.
    let built = out.ancestors().nth(3).unwrap().join("deps");
    for name in ["sconce", "sconce_torch"] {
        let name_at_run_time = libraries.join(format!("lib{name}.so.0"));
        let _ = std::fs::remove_file(&name_at_run_time);
        std::os::unix::fs::symlink(built.join(format!("lib{name}.so")), name_at_run_time).unwrap();
    }
    // Tests that use the shared library are linked with it by this name.
    let shared = libraries.join("libsconce_torch.so");
    let _ = std::fs::remove_file(&shared);
    std::os::unix::fs::symlink(built.join("libsconce_torch.so"), shared).unwrap();
}
