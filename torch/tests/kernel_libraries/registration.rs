//! What libraries register in several files, for several keys, and without a schema.

use std::ffi::{CStr, CString, c_char};
use std::path::PathBuf;

use super::shared::message;
use super::{ONE_AT_A_TIME, built, call, find, load, release, tensor, tensor_value, unload};

#[link(name = "sconce_torch")]
unsafe extern "C" {
    fn sconce_op_define(schema: *const c_char) -> i32;
}

#[test]
fn a_library_finds_the_files_of_its_folder_that_it_needs() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let core = built("split.cc", "splitcore", &["-DCORE", "-Wl,-soname,libsplitcore.so"]);
    let folder = core.parent().unwrap();
    let path = built("split.cc", "split", &["-L", folder.to_str().unwrap(), "-lsplitcore"]);

    // In a folder without the other file, the loader says which one is missing.
    let elsewhere = folder.join("split-alone");
    std::fs::create_dir_all(&elsewhere).unwrap();
    let alone = elsewhere.join("libsplit.so");
    std::fs::copy(&path, &alone).unwrap();
    let why = load(&alone).unwrap_err();
    assert!(why.contains("could not be opened: libsplitcore.so"), "{why}");

    let library = load(&path).unwrap();
    let x = tensor(&[1.0, 2.0, 3.0], &[3]);
    let results = call(find(c"sample::elements").unwrap(), &[tensor_value(x)]).unwrap();
    assert_eq!((results[0].kind, results[0].integer), (2, 3));
    release(x);
    unload(library);
    // Both files are closed.
    for name in [c"libsplit.so", c"libsplitcore.so"] {
        // SAFETY: the name ends with NUL. Nothing is loaded.
        let open = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        assert!(open.is_null(), "{name:?}");
    }
}

#[test]
fn kernels_that_select_the_backend_come_first() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let library = load(&built("selected.cc", "selected", &[])).unwrap();
    let x = tensor(&[1.0], &[1]);
    for (name, with, without) in [(c"sample::chosen", 3, 3), (c"sample::plain", 1, 2)] {
        let op = find(name).unwrap();
        for (arguments, wanted) in [(vec![tensor_value(x)], with), (vec![], without)] {
            let results = call(op, &arguments).unwrap();
            assert_eq!((results[0].kind, results[0].integer), (2, wanted), "{name:?}");
        }
    }
    release(x);
    unload(library);
}

/// The library of `of_twelve.cc`, and the runtime that it needs.
fn of_twelve() -> [PathBuf; 2] {
    let soname = "-Wl,-soname,libcudart.so.12";
    let runtime = built("of_twelve.cc", "cudart-of-a-test", &["-DRUNTIME", soname]);
    let folder = runtime.parent().unwrap().to_str().unwrap();
    [built("of_twelve.cc", "of_twelve", &["-L", folder, "-lcudart-of-a-test"]), runtime]
}

#[test]
fn a_library_gets_the_cuda_runtime_that_it_lists() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let [path, runtime] = of_twelve();
    let other =
        built("of_twelve.cc", "cudart-of-another", &["-DOTHER", "-Wl,-soname,libcudart.so.13"]);
    // All libraries see the other runtime. Of the one that is needed the loader knows the name, as if the file were where
    // it looks.
    for (file, seen) in [(other, libc::RTLD_GLOBAL), (runtime, libc::RTLD_LOCAL)] {
        let file = CString::new(file.to_str().unwrap()).unwrap();
        // SAFETY: the name ends with NUL.
        let open = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | seen) };
        assert!(!open.is_null());
    }
    let library = load(&path).unwrap();
    let results = call(find(c"sample::runtime").unwrap(), &[]).unwrap();
    assert_eq!((results[0].kind, results[0].integer), (2, 12));
    unload(library);
}

#[test]
fn a_missing_function_of_the_cuda_runtime_has_a_remedy() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let why = load(&of_twelve()[0]).unwrap_err();
    for part in ["cudaOfVersionTwelve", "install the version that the library was built for"] {
        assert!(why.contains(part), "{why}");
    }
    assert!(!why.contains("_Z"), "{why}");
}

#[test]
fn the_newest_kernel_counts_while_its_library_is_loaded() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let older = load(&built("selected.cc", "older", &[])).unwrap();
    let newer = built("selected.cc", "newer", &["-DNEWER"]);
    let x = tensor(&[1.0], &[1]);
    let plain = find(c"sample::plain").unwrap();
    let answer = || call(plain, &[tensor_value(x)]).unwrap()[0].integer;
    for _ in 0..3 {
        assert_eq!((answer(), answer()), (1, 1));
        let newer = load(&newer).unwrap();
        assert_eq!((answer(), answer()), (5, 5));
        unload(newer);
    }
    assert_eq!(answer(), 1);
    unload(older);
    let why = call(plain, &[tensor_value(x)]).unwrap_err();
    assert!(why.contains("there is no operator sample::plain"), "{why}");
    release(x);
}

fn define(schema: &CStr) -> Result<(), String> {
    // SAFETY: the text ends with NUL.
    if unsafe { sconce_op_define(schema.as_ptr()) } == 0 { Ok(()) } else { Err(message()) }
}

#[test]
fn a_program_declares_what_a_library_leaves_to_python() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let path = built("selected.cc", "declared", &[]);
    let library = load(&path).unwrap();
    let why = find(c"sample::undeclared").unwrap_err();
    assert!(why.contains("has kernels but no schema") && why.contains("sconce_op_define"), "{why}");

    for (schema, part) in [
        (c"undeclared(Tensor? x=None) -> int", "write namespace::undeclared"),
        (c"sample::undeclared", "is defined without a schema"),
        (c"sample::undeclared(Tensor -> (", "undeclared"),
    ] {
        let why = define(schema).unwrap_err();
        assert!(why.contains(part), "{why}");
        assert!(find(c"sample::undeclared").is_err());
    }

    let schema = c"sample::undeclared(Tensor? x=None) -> int";
    define(schema).unwrap();
    define(schema).unwrap();
    let x = tensor(&[1.0], &[1]);
    let answer = |library: usize| {
        let results = call(find(c"sample::undeclared").unwrap(), &[tensor_value(x)]).unwrap();
        assert_eq!((results[0].kind, results[0].integer), (2, 4));
        unload(library);
    };
    answer(library);
    // The schema stays, and serves the library when it is loaded again.
    let op = find(c"sample::undeclared").unwrap();
    assert!(call(op, &[tensor_value(x)]).unwrap_err().contains("has kernels for the keys: none"));
    answer(load(&path).unwrap());
    release(x);

    let why = define(c"sample::undeclared(Tensor x) -> int").unwrap_err();
    assert!(
        why.contains("sample::undeclared is defined twice: here and at sconce_op_define"),
        "{why}"
    );
}
