//! Packages and libraries that are none, and a model that is written by hand: no PyTorch is needed to make them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the libraries through their C API")]

#[path = "../shared/mod.rs"]
mod shared;

mod aliases;
mod files;
mod handle_kinds;
mod libtorch;
mod operators;
mod sets;
mod shapes;
mod weights;

use std::ffi::c_void;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::ptr::null;

use shared::{
    live, load_model, read_values, release, run_model, run_model_into, sconce_model_unload,
};
use zip::write::SimpleFileOptions;

#[link(name = "sconce_torch")]
unsafe extern "C" {
    safe fn aoti_torch_get_dim(tensor: usize, dim: &mut i64) -> i32;
    safe fn aoti_torch_delete_tensor_object(tensor: usize) -> i32;
}

#[link(name = "sconce")]
unsafe extern "C" {
    fn sconce_tensor_from_memory(
        address: *const f32,
        bytes: usize,
        sizes: *const i64,
        strides: *const i64,
        rank: usize,
        dtype: i32,
        device: i32,
        deleter: *const c_void,
        context: *const c_void,
        tensor: *mut usize,
    ) -> i32;
    safe fn sconce_tensor_is_defined(tensor: usize, defined: &mut bool) -> i32;
}

/// A folder for the files of a test.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("private")).unwrap();
    folder
}

/// A package with these files.
fn package(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in files {
        writer.start_file(*name, stored).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// The model of `model.cpp`.
fn compiled(folder: &Path, flags: &[&str]) -> PathBuf {
    compiled_from(folder, "model.cpp", flags)
}

/// A model that is written by hand, in a file beside this one.
fn compiled_from(folder: &Path, source: &str, flags: &[&str]) -> PathBuf {
    let library = folder.join("model.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/packages").join(source);
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let output = std::process::Command::new(compiler)
        .args(["-std=c++17", "-shared", "-fPIC", "-Wall", "-Werror", "-o"])
        .arg(&library)
        .arg(source)
        .args(flags)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    library
}

fn refused(folder: &Path, bytes: &[u8], words: &str) {
    let path = folder.join("package.pt2");
    std::fs::write(&path, bytes).unwrap();
    let why = load_model(&path).unwrap_err();
    assert!(why.contains(words), "expected {words:?} in {why:?}");
}

#[test]
fn damaged_and_hostile_packages_are_refused_in_words() {
    let folder = folder("hostile");
    shared::set_variable("TMPDIR", folder.join("private"));
    let format = ("m/archive_format", b"pt2".as_slice());
    let whole = package(&[format, ("m/data/aotinductor/model/a.so", b"no library".as_slice())]);
    refused(&folder, &whole, "is no shared library: it does not begin as a 64-bit ELF file");
    for length in 0..whole.len() {
        let path = folder.join("package.pt2");
        std::fs::write(&path, &whole[..length]).unwrap();
        let text = load_model(&path).unwrap_err();
        assert!(text.contains("is no package that can be read"), "{length}: {text}");
    }
    refused(&folder, b"PK\x03\x04 and nothing", "it is no zip file, or its end is missing");
    refused(&folder, &package(&[format]), "has no compiled model");
    refused(
        &folder,
        &package(&[("m/archive_format", b"zip".as_slice())]),
        "archive_format is \"zip\"",
    );
    // Entries that are read as text are named.
    let library = ("m/data/aotinductor/model/a.so", b"\x7fELF".as_slice());
    for name in [
        "m/archive_format",
        "m/data/aotinductor/model/a.wrapper.cpp",
        "m/data/aotinductor/model/a.kernel.cpp",
        "m/data/aotinductor/model/a_metadata.json",
        "m/data/aotinductor/model/a.json",
        "m/data/aotinductor/model/weights_config.json",
    ] {
        let no_text = package(&[library, (name, b"pt\xff2".as_slice())]);
        refused(&folder, &no_text, &format!("{name}: it is no text in UTF-8 (byte 2)"));
    }
    let escapes =
        package(&[format, ("m/data/aotinductor/model/../../../../escaped.so", b"x".as_slice())]);
    refused(&folder, &escapes, "leads out of the package");
    refused(
        &folder,
        &package(&[format, ("/etc/escaped", b"x".as_slice())]),
        "leads out of the package",
    );
    let text = ("m/data/aotinductor/model/a.wrapper.cpp", b"int x;".as_slice());
    refused(&folder, &package(&[format, text]), "has no shared library");
    let (a, b) = (
        ("m/data/aotinductor/a/x.so", b"x".as_slice()),
        ("m/data/aotinductor/b/x.so", b"x".as_slice()),
    );
    refused(&folder, &package(&[format, a, b]), "has the models a, b; name one of them");
    let (a, b) = (
        ("m/data/aotinductor/a/x.so", b"x".as_slice()),
        ("m/data/aotinductor/a/y.so", b"x".as_slice()),
    );
    refused(&folder, &package(&[format, a, b]), "has 2 shared libraries");
    let other =
        ("m/data/aotinductor/model/a_metadata.json", br#"{"AOTI_DEVICE_KEY": "mps"}"#.as_slice());
    let library = ("m/data/aotinductor/model/a.so", b"\x7fELF".as_slice());
    refused(&folder, &package(&[format, library, other]), "compiled for mps");
    assert!(load_model(&folder).unwrap_err().contains("could not be read"));
    assert!(load_model(Path::new("/nonexistent")).unwrap_err().contains("could not be read"));
    // Nothing was written elsewhere, and the private folders are gone.
    assert!(!folder.join("escaped.so").exists());
    assert_eq!(std::fs::read_dir(folder.join("private")).unwrap().count(), 0);
}

/// A tensor that borrows numbers.
fn borrowed(values: &[f32]) -> usize {
    let mut input = 0;
    let sizes = [values.len() as i64];
    // SAFETY: the memory lives until the tensor is released.
    let status = unsafe {
        sconce_tensor_from_memory(
            values.as_ptr(),
            size_of_val(values),
            sizes.as_ptr(),
            null(),
            1,
            0,
            -2,
            null(),
            null(),
            &mut input,
        )
    };
    assert_eq!(status, 0);
    input
}

/// Whether runs of the model succeed and leave its output undefined, also where there is a tensor for it or none.
fn has_no_output(model: usize, values: &[f32]) -> bool {
    let (input, place) = (borrowed(values), borrowed(values));
    let (mut output, mut defined) = ([0], true);
    run_model(model, &[input], &mut output).unwrap();
    assert_eq!(sconce_tensor_is_defined(output[0], &mut defined), 0);
    for into in [place, 0] {
        run_model_into(model, &[input], &[into]).unwrap();
    }
    for tensor in [input, place, output[0]] {
        release(tensor);
    }
    !defined
}

/// Runs the model on numbers.
fn doubled(model: usize, values: &[f32]) -> Result<Vec<f32>, String> {
    let (input, mut output) = (borrowed(values), [0]);
    let result = run_model(model, &[input], &mut output).map(|()| {
        let mut results = vec![0.0; values.len()];
        read_values(output[0], &mut results);
        release(output[0]);
        results
    });
    release(input);
    result
}

#[test]
fn a_model_written_by_hand_runs_and_its_failures_have_their_words() {
    let folder = folder("by_hand");
    let library = compiled(&folder, &[]);
    let bytes = std::fs::read(&library).unwrap();
    let packed = folder.join("packed.pt2");
    std::fs::write(
        &packed,
        package(&[("archive_format", b"pt2"), ("data/aotinductor/model/m.so", &bytes)]),
    )
    .unwrap();
    for path in [&library, &packed] {
        let model = load_model(path).unwrap();
        let before = live();
        assert_eq!(doubled(model, &[1.0, -2.5, 4.0]).unwrap(), [2.0, -5.0, 8.0]);
        assert_eq!(doubled(model, &[]).unwrap(), [0.0; 0]);
        for (count, words) in [
            (13, "thirteen elements bring bad luck"),
            (14, "thrown by the model"),
            (15, "negative"),
        ] {
            let why = doubled(model, &vec![1.0; count]).unwrap_err();
            assert!(why.contains("the model failed") && why.contains(words), "{why}");
            assert_eq!(live(), before, "{count} elements leak");
        }
        assert!(has_no_output(model, &[1.0; 12]));
        assert_eq!(live(), before);
        assert_eq!(doubled(model, &[7.0]).unwrap(), [14.0]);
        assert_eq!(sconce_model_unload(model), 0);
    }
}

#[test]
fn a_model_calls_the_functions_of_flexible_attention() {
    let folder = folder("flexible");
    let model = load_model(&compiled(&folder, &["-DFLEXIBLE"])).unwrap();
    assert_eq!(doubled(model, &[1.0, -2.5, 4.0]).unwrap(), [2.0, -5.0, 8.0]);
    assert_eq!(doubled(model, &[]).unwrap(), [0.0; 0]);
    let many: Vec<f32> = (0..100).map(|at| at as f32).collect();
    let expected: Vec<f32> = many.iter().map(|value| 2.0 * value).collect();
    assert_eq!(doubled(model, &many).unwrap(), expected);
    assert_eq!(sconce_model_unload(model), 0);
}

/// The threads of OpenMP that a model started wait for more work after it is unloaded, so their code has to stay.
#[test]
fn threads_of_a_model_outlive_it() {
    let folder = folder("threads");
    let model = load_model(&compiled(&folder, &["-fopenmp"])).unwrap();
    assert_eq!(doubled(model, &[1.0, -2.5, 4.0]).unwrap(), [2.0, -5.0, 8.0]);
    assert_eq!(sconce_model_unload(model), 0);
    // Until they would have come back from their wait.
    std::thread::sleep(std::time::Duration::from_millis(200));
}

#[test]
fn functions_that_are_missing_are_named_with_their_operation() {
    let folder = folder("missing");
    let why = load_model(&compiled(&folder, &["-DMISSING"])).unwrap_err();
    for words in [
        "aoti_torch_cpu_no_such_operation",
        "the operation aten::no_such_operation",
        "run_decompositions",
    ] {
        assert!(why.contains(words), "{why}");
    }
    let why = load_model(&compiled(&folder, &["-DMISSING_CPP"])).unwrap_err();
    for words in [
        "needs C++ functions of PyTorch (2), such as _ZN3c10",
        "compile the model without them",
        "aot_inductor.allow_stack_allocation",
    ] {
        assert!(why.contains(words), "{why}");
    }
}

#[test]
fn a_million_wrong_handles_are_errors() {
    let mut dim = -7;
    for number in 0..1_000_000_usize {
        let handle = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        assert_eq!(aoti_torch_get_dim(handle, &mut dim), 1, "{handle}");
    }
    assert_eq!(dim, -7);
    assert_eq!(aoti_torch_delete_tensor_object(12345), 1);
}
