//! Kernel libraries: one of our own, `kernels/sample.cc`, compiled here, and published ones, fetched where the network
//! allows. Handles are counted after every call.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the libraries through their C API")]

#[path = "../shared/mod.rs"]
mod shared;

mod published;
mod registration;

use std::ffi::{CStr, c_char};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::{null, null_mut};
use std::sync::Mutex;

use shared::operators::{
    NOTHING, Value, find, load, sconce_op_call, sconce_torch_load, sconce_torch_unload, unload,
};
use shared::{
    F32, live, load_model, message, numel, read_values, release, sconce_torch_string_free,
};

#[link(name = "sconce_torch")]
unsafe extern "C" {
    safe fn sconce_op_schema(op: usize, text: &mut *mut c_char) -> i32;
    safe fn sconce_op_list(text: &mut *mut c_char) -> i32;
    fn sconce_op_values_release(values: *mut Value, count: usize);
}

/// Tests count tensors of the process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

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

/// Calls an operator. Nothing may be left alive but its results.
fn call(op: usize, arguments: &[Value]) -> Result<Vec<Value>, String> {
    let before = live();
    let mut results = [NOTHING; 8];
    let mut count = 0;
    // SAFETY: the arrays have the lengths that are passed.
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
    built("sample.cc", name, flags)
}

/// Compiles a source with definitions.
fn built(source: &str, name: &str, flags: &[&str]) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("lib{name}.so"));
    // Tests run side by side, each in a process: none sees a file that another one has half written.
    let unfinished = library.with_extension(std::process::id().to_string());
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let status = Command::new(compiler)
        .args(["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"])
        .arg(&unfinished)
        .arg(tests.join(source))
        .args(flags)
        .status()
        .unwrap();
    assert!(status.success());
    std::fs::rename(unfinished, &library).unwrap();
    library
}

fn owned_text(get: impl FnOnce(&mut *mut c_char) -> i32) -> String {
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
    let schema = owned_text(|place| sconce_op_schema(scaled, place));
    assert_eq!(schema, "sample::scaled(Tensor x, float factor=2, str? mode=None) -> Tensor");
    let list = owned_text(|place| sconce_op_list(place));
    assert_eq!(list.lines().filter(|line| line.starts_with("sample::")).count(), 6, "{list}");

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
        (vec![tensor_value(x); 4], "argument_count is 4; sample::scaled takes 3"),
        (vec![integer(1)], "the argument x is an integer; its type is Tensor"),
        (vec![tensor_value(12345)], "arguments[0].tensor is not a tensor"),
        (vec![tensor_value(x), text(c"2")], "the argument factor is a text; its type is float"),
        (vec![tensor_value(x), real(1.0), text(c"throw")], "the mode says to throw"),
        (vec![tensor_value(x), real(1.0), text(c"odd")], "no std::exception"),
        (vec![Value { kind: 77, ..NOTHING }], "arguments[0].kind is 77, which is no kind of value"),
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
    assert_ne!(sconce_torch_unload(second), 0);
    let again = load(&path).unwrap();
    release_all(call(scaled, &[tensor_value(x)]).unwrap());
    unload(again);
    release(x);
}

#[link(name = "sconce")]
unsafe extern "C" {
    safe fn sconce_generator_get_default(device: i32, generator: &mut usize) -> i32;
    safe fn sconce_generator_create(device: i32, generator: &mut usize) -> i32;
    safe fn sconce_generator_destroy(generator: usize) -> i32;
    safe fn sconce_generator_set_seed(generator: usize, seed: u64) -> i32;
}

#[test]
#[allow(clippy::multiple_unsafe_ops_per_block, reason = "calls of one kind, with the same promise")]
fn operators_draw_from_the_generator_that_is_passed() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let library = load(&sample("drawing", &[])).unwrap();
    let drawn = find(c"sample::drawn").unwrap();
    let (mut default, mut own) = (0, 0);
    let x = tensor(&[7.0; 3], &[3]);
    let generator = |generator| Value { kind: 9, generator, ..NOTHING };
    {
        assert_eq!(sconce_generator_get_default(-2, &mut default), 0);
        assert_eq!(sconce_generator_create(-2, &mut own), 0);
    }
    // What torch.rand(3) returns after torch.manual_seed(42).
    let expected = [0.882_269_26_f32, 0.915_003_96, 0.382_863_76];
    for (seeded, arguments) in [
        (default, vec![tensor_value(x)]),
        (default, vec![tensor_value(x), NOTHING]),
        (default, vec![tensor_value(x), generator(0)]),
        (default, vec![tensor_value(x), generator(default)]),
        (own, vec![tensor_value(x), generator(own)]),
    ] {
        {
            assert_eq!(sconce_generator_set_seed(own, 5), 0);
            assert_eq!(sconce_generator_set_seed(default, 6), 0);
            assert_eq!(sconce_generator_set_seed(seeded, 42), 0);
        }
        release_all(call(drawn, &arguments).unwrap());
        assert_eq!(elements::<f32>(x), expected);
        release_all(call(drawn, &arguments).unwrap());
        assert_ne!(elements::<f32>(x), expected, "the generator goes on");
    }
    let why = call(drawn, &[tensor_value(x), integer(1)]).unwrap_err();
    assert!(why.contains("the argument generator is an integer"), "{why}");
    assert_eq!(sconce_generator_destroy(own), 0);
    let why = call(drawn, &[tensor_value(x), generator(own)]).unwrap_err();
    assert!(why.contains("generator"), "{why}");
    unload(library);
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
    // Taken for a model, it is not opened, so it registers nothing.
    let path = sample("no_model", &[]);
    let why = load_model(&path).unwrap_err();
    assert!(why.contains("is no compiled model") && why.contains("sconce_torch_load"), "{why}");
    assert!(find(c"sample::scaled").is_err());
    unload(load(&path).unwrap());
    assert!(load(Path::new("/nowhere/at_all.so")).unwrap_err().contains("could not be opened"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels/sample.cc");
    assert!(load(&source).unwrap_err().contains("is no shared library"));
    // SAFETY: NULL is refused.
    assert_ne!(unsafe { sconce_torch_load(null(), null_mut()) }, 0);
}

#[test]
fn an_initialiser_may_load_another_library() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let inner = sample("inner", &[]);
    let flag = format!("-DINNER=\"{}\"", inner.display());
    let outer = built("loader.cc", "outer", &[&flag]);
    // Several threads at once: the system's loader lets one open, and no lock of ours makes it wait.
    let handles: Vec<usize> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|at| {
                let path = if at % 2 == 0 { &outer } else { &inner };
                scope.spawn(move || load(path).unwrap())
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (name, value) in [(c"sample::seven", 7), (c"sample::number", 42)] {
        let results = call(find(name).unwrap(), &[]).unwrap();
        assert_eq!((results[0].kind, results[0].integer), (2, value));
    }
    handles.into_iter().for_each(unload);
    // The initialiser's own handle keeps the inner library.
    assert!(find(c"sample::seven").is_err());
    assert!(find(c"sample::number").is_ok());
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
                        // SAFETY: there is one argument, and an array of one result.
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
