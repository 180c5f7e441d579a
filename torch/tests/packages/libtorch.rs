//! Loading where PyTorch is in the process, which libraries with its names and a part of its symbols stand in for.

use std::ffi::CString;
use std::path::{Path, PathBuf};

use super::{compiled, folder};
use crate::shared::{load_model, sconce_model_unload};

/// What tells PyTorch's libraries: the type of its exceptions, and the version of its ABI.
const ERROR_TYPE: &str = "int _ZTIN3c105ErrorE = 1;";
const ABI_VERSION: &str = "unsigned long aoti_torch_abi_version(void) { return 2ull << 56; }";

/// Compiles a library with a name of PyTorch's, and opens it as a program that uses PyTorch has it open.
fn open_fake(folder: &Path, name: &str, source: &str, flags: i32) -> PathBuf {
    let (library, text) = (folder.join(name), folder.join("fake.c"));
    std::fs::write(&text, source).unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let output = std::process::Command::new(compiler)
        .args(["-shared", "-fPIC", &format!("-Wl,-soname,{name}"), "-o"])
        .args([&library, &text])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let path = CString::new(library.to_str().unwrap()).unwrap();
    // SAFETY: the text ends with NUL. The library stays open until the process, which is this test's alone, ends.
    assert!(!unsafe { libc::dlopen(path.as_ptr(), flags) }.is_null());
    library
}

/// Loads a model twice: a refusal has to leave nothing behind that a second attempt would take for prepared.
fn refused(folder: &Path, library: &str) {
    let model = compiled(folder, &[]);
    for _ in 0..2 {
        let refused = load_model(&model).unwrap_err();
        assert!(refused.contains(&format!("{library} of PyTorch is in this process")), "{refused}");
        assert!(refused.contains("run the model in a process without PyTorch"), "{refused}");
    }
}

fn loads(folder: &Path) {
    let model = compiled(folder, &[]);
    // The second time the names are those of this library's own empty ones.
    for _ in 0..2 {
        let loaded = load_model(&model).unwrap();
        assert_eq!(sconce_model_unload(loaded), 0);
    }
}

#[test]
fn a_process_with_c10_is_refused() {
    let folder = folder("libtorch_c10");
    open_fake(&folder, "libc10.so", ERROR_TYPE, libc::RTLD_NOW | libc::RTLD_LOCAL);
    refused(&folder, "libc10.so");
}

#[test]
fn a_process_with_the_abi_of_libtorch_is_refused() {
    let folder = folder("libtorch_abi");
    open_fake(&folder, "libtorch_cpu.so", ABI_VERSION, libc::RTLD_NOW | libc::RTLD_LOCAL);
    refused(&folder, "libtorch_cpu.so");
}

#[test]
fn a_libtorch_before_the_abi_is_refused() {
    let folder = folder("libtorch_old");
    open_fake(&folder, "libtorch_cpu.so", ERROR_TYPE, libc::RTLD_NOW | libc::RTLD_GLOBAL);
    refused(&folder, "libtorch_cpu.so");
}

#[test]
fn a_libtorch_that_is_opened_between_two_models_is_refused() {
    let folder = folder("libtorch_later");
    loads(&folder);
    // The empty library of this one has the name libtorch_cpu.so now, and PyTorch's own would not be found by it.
    open_fake(&folder, "libc10.so", ERROR_TYPE, libc::RTLD_NOW | libc::RTLD_GLOBAL);
    let is_open = load_model(&folder.join("model.so"));
    let refused = is_open.unwrap_err();
    assert!(refused.contains("libc10.so of PyTorch is in this process"), "{refused}");
}

#[test]
fn libraries_that_only_have_the_names_are_none_of_pytorch() {
    let folder = folder("libtorch_names");
    for name in ["libc10.so", "libtorch_cpu.so"] {
        open_fake(&folder, name, "int something_else = 1;", libc::RTLD_NOW | libc::RTLD_LOCAL);
    }
    loads(&folder);
}
