//! Kernel libraries: one of our own, `kernels/sample.cc`, compiled here, and torchvision's, fetched where the network
//! allows. Handles are counted after every call.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the libraries through their C API")]

mod shared;

use std::ffi::{CStr, CString, c_char};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::{null, null_mut};
use std::sync::Mutex;

use shared::{F32, live, message, numel, read_values, release, sconce_torch_string_free};

#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Value {
    kind: i32,
    reserved: i32,
    integer: i64,
    real: f64,
    tensor: usize,
    text: *const c_char,
    items: *const Value,
    count: usize,
}

#[link(name = "sconce_torch")]
unsafe extern "C" {
    fn sconce_torch_load(path: *const c_char, library: *mut usize) -> i32;
    fn sconce_torch_unload(library: usize) -> i32;
    fn sconce_op_find(name: *const c_char, overload: *const c_char, op: *mut usize) -> i32;
    fn sconce_op_schema(op: usize, text: *mut *mut c_char) -> i32;
    fn sconce_op_list(text: *mut *mut c_char) -> i32;
    fn sconce_op_call(
        op: usize,
        arguments: *const Value,
        n: usize,
        results: *mut Value,
        room: usize,
        count: *mut usize,
    ) -> i32;
    fn sconce_op_values_release(values: *mut Value, count: usize);
}

/// Tests count tensors of the process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

const NOTHING: Value = Value {
    kind: 0,
    reserved: 0,
    integer: 0,
    real: 0.0,
    tensor: 0,
    text: null(),
    items: null(),
    count: 0,
};

fn tensor_value(tensor: usize) -> Value {
    Value { kind: 1, tensor, ..NOTHING }
}
fn integer(integer: i64) -> Value {
    Value { kind: 2, integer, ..NOTHING }
}
fn real(real: f64) -> Value {
    Value { kind: 3, real, ..NOTHING }
}
fn truth(value: bool) -> Value {
    Value { kind: 4, integer: value.into(), ..NOTHING }
}
fn text(text: &CStr) -> Value {
    Value { kind: 5, text: text.as_ptr(), ..NOTHING }
}

fn tensor(values: &[f32], sizes: &[i64]) -> usize {
    shared::tensor(values, F32, sizes)
}

fn elements<T: Default + Clone>(tensor: usize) -> Vec<T> {
    let mut values = vec![T::default(); usize::try_from(numel(tensor)).unwrap()];
    read_values(tensor, &mut values);
    values
}

fn load(path: &Path) -> Result<usize, String> {
    let path = CString::new(path.to_str().unwrap()).unwrap();
    let mut library = 0;
    // SAFETY: the path ends with NUL; the place is valid for a write.
    match unsafe { sconce_torch_load(path.as_ptr(), &mut library) } {
        0 => Ok(library),
        _ => Err(message()),
    }
}

fn unload(library: usize) {
    // SAFETY: any number may be passed as a handle.
    assert_eq!(unsafe { sconce_torch_unload(library) }, 0, "{}", message());
}

fn find(name: &CStr) -> Result<usize, String> {
    let mut op = 0;
    // SAFETY: the name ends with NUL; the place is valid for a write.
    match unsafe { sconce_op_find(name.as_ptr(), null(), &mut op) } {
        0 => Ok(op),
        _ => Err(message()),
    }
}

/// Calls an operator. Nothing may be left alive but its results.
fn call(op: usize, arguments: &[Value]) -> Result<Vec<Value>, String> {
    let before = live();
    let mut results = [NOTHING; 8];
    let mut count = 0;
    // SAFETY: arguments and room are as counted.
    let status = unsafe {
        let (arguments, n) = (arguments.as_ptr(), arguments.len());
        sconce_op_call(op, arguments, n, results.as_mut_ptr(), results.len(), &mut count)
    };
    if status != 0 {
        assert_eq!(live(), before, "a call that failed left tensors: {}", message());
        return Err(message());
    }
    let made: usize = results[..count]
        .iter()
        .map(|value| if value.kind == 6 { value.count } else { (value.kind == 1).into() })
        .sum();
    assert!(live() <= before + made, "a call left tensors");
    Ok(results[..count].to_vec())
}

fn release_all(mut results: Vec<Value>) {
    // SAFETY: they are results of a call.
    unsafe { sconce_op_values_release(results.as_mut_ptr(), results.len()) };
    assert!(results.iter().all(|result| result.kind == 0));
}

/// Compiles the sample with definitions.
fn sample(name: &str, flags: &[&str]) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("lib{name}.so"));
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let status = Command::new(compiler)
        .args(["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(tests.join("sample.cc"))
        .args(flags)
        .status()
        .unwrap();
    assert!(status.success());
    library
}

fn owned_text(get: impl FnOnce(*mut *mut c_char) -> i32) -> String {
    let mut text = null_mut();
    assert_eq!(get(&mut text), 0, "{}", message());
    // SAFETY: a text that ends with NUL.
    let copy = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    // SAFETY: it is one of the library, freed once.
    unsafe { sconce_torch_string_free(text) };
    copy
}

#[test]
fn operators_of_a_library_are_found_and_called() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let path = sample("sample", &[]);
    let library = load(&path).unwrap();
    let scaled = find(c"sample::scaled").unwrap();
    // SAFETY: the place is valid for a write.
    let schema = owned_text(|place| unsafe { sconce_op_schema(scaled, place) });
    assert_eq!(schema, "sample::scaled(Tensor x, float factor=2, str? mode=None) -> Tensor");
    // SAFETY: as above.
    let list = owned_text(|place| unsafe { sconce_op_list(place) });
    assert_eq!(list.lines().filter(|line| line.starts_with("sample::")).count(), 5, "{list}");

    let values: Vec<f32> = (0..1000_u16).map(f32::from).collect();
    let x = tensor(&values, &[1000]);
    let before = live();
    for (arguments, factor) in [
        (vec![tensor_value(x)], 2.0),
        (vec![tensor_value(x), real(-0.5)], -0.5),
        (vec![tensor_value(x), integer(3), text(c"plain")], 3.0),
        (vec![tensor_value(x), integer(3), NOTHING], 3.0),
    ] {
        let results = call(scaled, &arguments).unwrap();
        let expected: Vec<f32> = values.iter().map(|value| value * factor).collect();
        assert_eq!(elements::<f32>(results[0].tensor), expected);
        release_all(results);
        assert_eq!(live(), before);
    }

    let halves = find(c"sample::halves").unwrap();
    let items = [tensor_value(x), tensor_value(x)];
    let list = Value { kind: 6, items: items.as_ptr(), count: 2, ..NOTHING };
    let results = call(halves, &[list]).unwrap();
    assert_eq!((results[0].kind, results[0].count, results[1].integer), (6, 2, 2));
    // SAFETY: the list has two values.
    let parts = unsafe { std::slice::from_raw_parts(results[0].items, 2) };
    assert_eq!(elements::<f32>(parts[1].tensor), values[..500]);
    release_all(results);
    assert_eq!(live(), before);

    let results = call(find(c"sample::twice").unwrap(), &[tensor_value(x)]).unwrap();
    release_all(results);
    assert_eq!(elements::<f32>(x)[999], 1998.0);
    let results = call(find(c"sample::number").unwrap(), &[]).unwrap();
    assert_eq!((results[0].kind, results[0].integer), (2, 42));

    // Many handles: none is left.
    for _ in 0..10_000 {
        release_all(call(scaled, &[tensor_value(x)]).unwrap());
    }
    assert_eq!(live(), before);

    for (arguments, wanted) in [
        (vec![], "the argument x of sample::scaled"),
        (vec![tensor_value(x); 4], "which takes 3"),
        (vec![integer(1)], "the argument x is an integer; its type is Tensor"),
        (vec![tensor_value(12345)], "tensor"),
        (vec![tensor_value(x), text(c"2")], "the argument factor is a text; its type is float"),
        (vec![tensor_value(x), real(1.0), text(c"throw")], "the mode says to throw"),
        (vec![tensor_value(x), real(1.0), text(c"odd")], "no std::exception"),
        (vec![Value { kind: 77, ..NOTHING }], "77 is no kind of value"),
    ] {
        let why = call(scaled, &arguments).unwrap_err();
        assert!(why.contains(wanted), "{why}");
    }
    let why = call(find(c"sample::unknown").unwrap(), &[tensor_value(x)]).unwrap_err();
    assert!(why.contains("aten::spectral_norm.frobenius") && why.contains("not offered"), "{why}");
    assert!(find(c"sample::nothing").unwrap_err().contains("there is no operator"));
    assert!(find(c"sample::scaled.out").unwrap_err().contains("its overloads are the default"));
    assert!(call(0x770, &[]).unwrap_err().contains("op is no operator"));

    // A second handle keeps the operators; the last one ends them, and another load brings them back.
    let second = load(&path).unwrap();
    unload(library);
    release_all(call(scaled, &[tensor_value(x)]).unwrap());
    unload(second);
    assert!(call(scaled, &[tensor_value(x)]).unwrap_err().contains("there is no operator"));
    // SAFETY: any number may be passed as a handle.
    assert_ne!(unsafe { sconce_torch_unload(second) }, 0);
    let again = load(&path).unwrap();
    release_all(call(scaled, &[tensor_value(x)]).unwrap());
    unload(again);
    release(x);
}

#[test]
fn libraries_that_cannot_work_are_refused_and_leave_nothing() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    for (name, flag, wanted) in [
        ("twice", "-DSAMPLE_DEFINES_TWICE", "sample::number is defined twice"),
        ("wrong", "-DSAMPLE_HAS_A_WRONG_SCHEMA", "is not understood at byte"),
        ("later", "-DSAMPLE_NEEDS_MORE", "aoti_torch_function_of_a_later_release"),
    ] {
        let path = sample(name, &[flag]);
        for _ in 0..2 {
            let why = load(&path).unwrap_err();
            assert!(why.contains(wanted), "{why}");
            assert!(find(c"sample::scaled").is_err());
        }
    }
    assert!(load(Path::new("/nowhere/at_all.so")).unwrap_err().contains("could not be opened"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels/sample.cc");
    assert!(load(&source).unwrap_err().contains("is no shared library"));
    // SAFETY: NULL is refused.
    assert_ne!(unsafe { sconce_torch_load(null(), null_mut()) }, 0);
}

#[test]
fn a_library_may_be_unloaded_while_it_is_used() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let path = sample("used", &[]);
    for _ in 0..20 {
        let library = load(&path).unwrap();
        let scaled = find(c"sample::scaled").unwrap();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let x = tensor(&[1.0, 2.0], &[2]);
                    for _ in 0..200 {
                        let mut result = NOTHING;
                        // SAFETY: there is one argument and room for one result.
                        let status = unsafe {
                            sconce_op_call(scaled, &tensor_value(x), 1, &mut result, 1, null_mut())
                        };
                        if status != 0 {
                            assert!(message().contains("there is no operator"), "{}", message());
                            break;
                        }
                        release_all(vec![result]);
                    }
                    release(x);
                });
            }
            unload(library);
        });
    }
}

/// Fetches a package and returns the folder that has its files.
fn package(name: &str, version: &str, file: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{version}"));
    if !folder.join(file).exists() {
        let output = Command::new("python3")
            .args(["-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check"])
            .args(["--only-binary", ":all:", "--target"])
            .arg(&folder)
            .arg(format!("{name}=={version}"))
            .output()
            .ok()?;
        if !output.status.success() {
            return None;
        }
    }
    folder.join(file).exists().then_some(folder)
}

#[test]
fn operators_of_torchvision_calculate_what_is_worked_out_by_hand() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    const RUNTIME: &str = "nvidia/cu13/lib/libcudart.so.13";
    let found = package("torchvision", "0.29.2", "torchvision/_C_stable.so").zip(package(
        "nvidia-cuda-runtime",
        "13.5.37",
        RUNTIME,
    ));
    let Some((vision, runtime)) = found else {
        println!("skipped: torchvision 0.29.2 and a CUDA runtime could not be fetched with pip");
        return;
    };
    // SAFETY: no other thread of this process reads or writes variables now.
    unsafe { std::env::set_var("SCONCE_LIBCUDART", runtime.join(RUNTIME)) };
    let library = load(&vision.join("torchvision/_C_stable.so")).unwrap();
    let before = live();

    // Means of quarters of a 4x4 ramp.
    let ramp: Vec<f32> = (0..16_u8).map(f32::from).collect();
    let (input, rois) = (tensor(&ramp, &[1, 1, 4, 4]), tensor(&[0.0, 0.0, 0.0, 4.0, 4.0], &[1, 5]));
    let align = find(c"torchvision::roi_align").unwrap();
    let (scale, two) = (real(1.0), integer(2));
    let arguments = [tensor_value(input), tensor_value(rois), scale, two, two, two, truth(true)];
    let results = call(align, &arguments).unwrap();
    assert_eq!(elements::<f32>(results[0].tensor), [2.5, 4.5, 10.5, 12.5]);
    release_all(results);

    // The first two boxes share 81 of 119 units of area.
    let boxes = tensor(&[0., 0., 10., 10., 1., 1., 11., 11., 20., 20., 30., 30.], &[3, 4]);
    let scores = tensor(&[0.9, 0.8, 0.95], &[3]);
    let nms = find(c"torchvision::nms").unwrap();
    for (threshold, kept) in [(0.5, vec![2_i64, 0]), (0.7, vec![2, 0, 1])] {
        let arguments = [tensor_value(boxes), tensor_value(scores), real(threshold)];
        let results = call(nms, &arguments).unwrap();
        assert_eq!(elements::<i64>(results[0].tensor), kept);
        release_all(results);
    }
    // The kernel's own check is an exception, whose text arrives.
    let why = call(nms, &[tensor_value(scores), tensor_value(scores), real(0.5)])
        .map(|_| ())
        .unwrap_err();
    assert!(why.contains("boxes should be a 2d tensor"), "{why}");

    for tensor in [input, rois, boxes, scores] {
        release(tensor);
    }
    assert_eq!(live(), before);
    unload(library);
}
