//! Kernel libraries and models under the sanitizer: what their schemas say is read or written races with copies that
//! are queued elsewhere. On simulated devices, which run none of the kernels.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the libraries through their C API")]

#[path = "../shared/mod.rs"]
mod shared;

use std::ffi::{CStr, c_char};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::null_mut;

use shared::operators::{NOTHING, Value, find, load, sconce_op_call};
use shared::{F32, load_model, message, release, run_model, run_model_into, update_constants};

#[repr(C)]
#[derive(Clone, Copy)]
struct Stream {
    id: i64,
    device: i32,
    reserved: i32,
}

#[repr(C)]
struct Options {
    struct_size: u32,
    dtype: i32,
    device: i32,
    memory_format: i32,
    pinned: bool,
    reserved: [u8; 7],
}

#[link(name = "sconce")]
unsafe extern "C" {
    safe fn sconce_stream_get_from_pool(device: i32, priority: i32, stream: &mut Stream) -> i32;
    safe fn sconce_stream_exchange(stream: Stream, previous: &mut Stream, device: &mut i32) -> i32;
    safe fn sconce_stream_restore(previous: Stream, device: i32) -> i32;
    safe fn sconce_stream_wait_stream(waiting: Stream, waited: Stream) -> i32;
    safe fn sconce_stream_synchronize(stream: Stream) -> i32;
    safe fn sconce_device_synchronize(device: i32) -> i32;
    fn sconce_tensor_zeros(
        sizes: *const i64,
        rank: usize,
        options: *const Options,
        tensor: *mut usize,
    ) -> i32;
    safe fn sconce_tensor_copy(tensor: usize, source: usize, non_blocking: bool) -> i32;
    safe fn sconce_tensor_narrow(
        tensor: usize,
        dim: i64,
        start: i64,
        length: i64,
        made: &mut usize,
    ) -> i32;
    safe fn sconce_sanitizer_report_count() -> i64;
    safe fn sconce_sanitizer_reset() -> i32;
    safe fn sconce_sanitizer_enable(mode: i32) -> i32;
    safe fn sconce_sanitizer_disable() -> i32;
    safe fn sconce_sanitizer_get_operations(all: &mut i64, unknown: &mut i64) -> i32;
    fn sconce_sanitizer_get_report(
        index: i64,
        text: *mut *mut c_char,
        json: *mut *mut c_char,
        count: *mut i64,
    ) -> i32;
    fn sconce_string_free(text: *mut c_char);
}

const CPU: i32 = -2;

/// Compiles a source, as the program's own build would.
fn built(source: &str, name: &str) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("libsanitized_{name}.so"));
    // Tests run side by side, each in a process: none sees a file that another one has half written.
    let unfinished = library.with_extension(std::process::id().to_string());
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let status = Command::new(compiler)
        .args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"])
        .arg(&unfinished)
        .arg(tests.join(source))
        .status()
        .unwrap();
    assert!(status.success());
    std::fs::rename(unfinished, &library).unwrap();
    library
}

fn begin() {
    shared::set_variable("SCONCE_BACKEND", "sim");
    shared::set_variable("SCONCE_SANITIZER", "report");
}

fn stream() -> Stream {
    let mut stream = Stream { id: 0, device: 0, reserved: 0 };
    assert_eq!(sconce_stream_get_from_pool(0, 0, &mut stream), 0);
    stream
}

/// Does something on a stream.
fn on<R>(stream: Stream, body: impl FnOnce() -> R) -> R {
    let (mut previous, mut device) = (stream, 0);
    assert_eq!(sconce_stream_exchange(stream, &mut previous, &mut device), 0);
    let result = body();
    assert_eq!(sconce_stream_restore(previous, device), 0);
    result
}

/// A tensor of zeros that all streams may use.
fn zeros(sizes: &[i64], device: i32, pinned: bool) -> usize {
    let struct_size = size_of::<Options>() as u32;
    let (dtype, memory_format, reserved) = (F32, 0, [0; 7]);
    let options = Options { struct_size, dtype, device, memory_format, pinned, reserved };
    let mut tensor = 0;
    // SAFETY: there are as many sizes as dimensions, and the place is valid for a write.
    let made = unsafe { sconce_tensor_zeros(sizes.as_ptr(), sizes.len(), &options, &mut tensor) };
    assert_eq!(made, 0);
    assert_eq!(sconce_device_synchronize(0), 0);
    tensor
}

fn narrow(tensor: usize, dim: i64, start: i64, length: i64) -> usize {
    let mut made = 0;
    assert_eq!(sconce_tensor_narrow(tensor, dim, start, length, &mut made), 0);
    made
}

fn copy(to: usize, from: usize) {
    assert_eq!(sconce_tensor_copy(to, from, true), 0);
}

fn of(tensor: usize) -> Value {
    Value { kind: 1, tensor, ..NOTHING }
}

/// Calls an operator, and returns its only result if that is a tensor.
fn call(name: &CStr, arguments: &[Value]) -> Option<usize> {
    let (op, mut result, mut count) = (find(name).unwrap(), [NOTHING], 0);
    let (values, n) = (arguments.as_ptr(), arguments.len());
    // SAFETY: the arrays have the lengths that are passed.
    let status = unsafe { sconce_op_call(op, values, n, result.as_mut_ptr(), 1, &mut count) };
    assert_eq!(status, 0, "{}", message());
    (count == 1 && result[0].kind == 1).then_some(result[0].tensor)
}

/// The texts of all reports since the last call.
fn reports() -> Vec<String> {
    let text = |index| {
        let mut text = null_mut();
        // SAFETY: the place is valid for a write, and the others may be NULL.
        let status =
            unsafe { sconce_sanitizer_get_report(index, &mut text, null_mut(), null_mut()) };
        assert_eq!(status, 0);
        // SAFETY: a text that ends with NUL.
        let copy = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        // SAFETY: it is one of the library, freed once.
        unsafe { sconce_string_free(text) };
        copy
    };
    let all = (0..sconce_sanitizer_report_count()).map(text).collect();
    assert_eq!(sconce_sanitizer_reset(), 0);
    all
}

/// What an operator does to memory that a copy uses, too.
#[derive(Clone, Copy, Debug)]
enum Uses {
    Reads(&'static CStr),
    ReadsInList(&'static CStr),
    ReadsSecond(&'static CStr),
    Writes(&'static CStr),
    /// The copy reads the result.
    Makes(&'static CStr),
    /// It returns a view.
    Nothing(&'static CStr),
}

/// An operator and a copy on two streams. Whether the second waits for the first.
fn race(uses: Uses, waits: bool) -> Vec<String> {
    let (first, second) = (stream(), stream());
    let (x, other, host) =
        (zeros(&[64], 0, false), zeros(&[64], 0, false), zeros(&[64], CPU, true));
    let wait = || {
        if waits {
            assert_eq!(sconce_stream_wait_stream(second, first), 0);
        }
    };
    let copied = |to, from| {
        on(first, || copy(to, from));
        wait();
    };
    let called = |name, arguments: &[Value]| on(second, || call(name, arguments));
    let result = match uses {
        Uses::Reads(name) => {
            copied(x, host);
            called(name, &[of(x)])
        }
        Uses::ReadsInList(name) => {
            copied(x, host);
            let items = [of(other), of(x)];
            called(name, &[Value { kind: 6, items: items.as_ptr(), count: 2, ..NOTHING }])
        }
        Uses::ReadsSecond(name) => {
            copied(x, host);
            called(name, &[of(other), of(x)])
        }
        Uses::Writes(name) => {
            // A copy that reads.
            copied(host, x);
            called(name, &[of(x)])
        }
        Uses::Nothing(name) => {
            copied(x, host);
            called(name, &[of(x)])
        }
        Uses::Makes(name) => {
            let made = on(first, || call(name, &[of(x)]));
            wait();
            on(second, || copy(host, made.unwrap()));
            made
        }
    };
    assert_eq!(sconce_device_synchronize(0), 0);
    result.into_iter().for_each(release);
    [x, other, host].into_iter().for_each(release);
    reports()
}

#[test]
fn operators_use_what_their_schemas_say() {
    begin();
    load(&built("kernels/unseen.cc", "unseen")).unwrap();
    for (uses, name, word) in [
        (Uses::Reads(c"sample::read"), "sample::read", "reads"),
        (Uses::ReadsSecond(c"sample::read"), "sample::read", "reads"),
        (Uses::ReadsInList(c"sample::list"), "sample::list", "reads"),
        (Uses::Reads(c"sample::made"), "sample::made", "reads"),
        (Uses::Reads(c"sample::outer"), "sample::outer", "reads"),
        (Uses::Writes(c"sample::written"), "sample::written", "writes"),
        (Uses::Makes(c"sample::made"), "sample::made", "writes"),
        (Uses::Makes(c"sample::outer"), "sample::outer", "writes"),
    ] {
        let found = race(uses, false);
        assert_eq!(found.len(), 1, "{uses:?}: {found:?}");
        assert!(found[0].contains(&format!("{name} {word}")), "{uses:?}: {}", found[0]);
        // The place is the program's, not libsconce_torch's.
        assert!(found[0].contains("sanitizer::call"), "{}", found[0]);
        assert_eq!(race(uses, true), [""; 0], "{uses:?}");
    }
    assert_eq!(race(Uses::Nothing(c"sample::seen"), false), [""; 0]);
}

/// Operators of libsconce_torch itself: beside their own kernels, which are followed, a call is one operation.
#[test]
fn operators_of_the_library_use_what_their_schemas_say() {
    begin();
    for (uses, words) in [
        (Uses::Reads(c"aten::relu"), "aten::relu reads"),
        (Uses::Makes(c"aten::relu"), "aten::relu writes"),
        (Uses::Writes(c"aten::relu_"), "aten::relu_ writes"),
        // One that only makes a tensor like another one writes nothing.
        (Uses::Makes(c"aten::empty_like"), "the allocation writes"),
    ] {
        let found = race(uses, false);
        assert!(found.iter().any(|text| text.contains(words)), "{uses:?}: {found:?}");
        assert_eq!(race(uses, true), [""; 0], "{uses:?}");
    }
    let found = race(Uses::Makes(c"aten::empty_like"), false);
    assert!(!found.iter().any(|text| text.contains("aten::empty_like writes")), "{found:?}");
}

#[test]
fn operands_are_exact_to_the_byte() {
    begin();
    load(&built("kernels/unseen.cc", "unseen")).unwrap();
    let (a, b) = (stream(), stream());
    let (whole, host) = (zeros(&[8, 8], 0, false), zeros(&[8, 3], CPU, true));
    let [left, right] = [narrow(whole, 1, 0, 3), narrow(whole, 1, 3, 3)];
    for (written, expected) in [(right, 0), (left, 1)] {
        on(a, || copy(left, host));
        on(b, || call(c"sample::written", &[of(written)]).into_iter().for_each(release));
        assert_eq!(sconce_device_synchronize(0), 0);
        assert_eq!(reports().len(), expected);
    }
    [left, right, whole, host].into_iter().for_each(release);
}

#[test]
fn nothing_is_declared_while_the_sanitizer_is_off() {
    begin();
    load(&built("kernels/unseen.cc", "unseen")).unwrap();
    let x = zeros(&[4], 0, false);
    let count = || {
        let (mut all, mut unknown) = (0, 0);
        assert_eq!(sconce_sanitizer_get_operations(&mut all, &mut unknown), 0);
        all
    };
    for (is_on, expected) in [(false, 0), (true, 1)] {
        let switched = if is_on { sconce_sanitizer_enable(1) } else { sconce_sanitizer_disable() };
        assert_eq!(switched, 0);
        let before = count();
        call(c"sample::read", &[of(x)]);
        assert_eq!(count() - before, expected);
    }
    release(x);
}

/// A model of the CPU and a copy between a device and pinned memory. Whether the host waits for the copy. With `writes`
/// the output is the program's: those that such a model makes are not pinned, and no device uses them.
fn race_with_model(model: usize, writes: bool, waits: bool) -> Vec<String> {
    let a = stream();
    let [pinned, output] = [zeros(&[4], CPU, true), zeros(&[4], CPU, true)];
    let x = zeros(&[4], 0, false);
    on(a, || if writes { copy(x, output) } else { copy(pinned, x) });
    if waits {
        assert_eq!(sconce_stream_synchronize(a), 0);
    }
    if writes {
        run_model_into(model, &[pinned], &[output]).unwrap();
    } else {
        let mut made = [0];
        run_model(model, &[pinned], &mut made).unwrap();
        release(made[0]);
    }
    assert_eq!(sconce_device_synchronize(0), 0);
    [pinned, output, x].into_iter().for_each(release);
    reports()
}

#[test]
fn models_read_their_inputs_and_write_their_outputs() {
    begin();
    let model = load_model(&built("packages/model.cpp", "model")).unwrap();
    for (writes, words) in [(false, "model libsanitized_model.so reads"), (true, "writes")] {
        let found = race_with_model(model, writes, false);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains(words), "{}", found[0]);
        assert_eq!(race_with_model(model, writes, true), [""; 0]);
    }
}

/// Constants that the program has given a model, in pinned memory to which a copy is queued.
#[test]
fn models_read_their_constants() {
    begin();
    let model = load_model(&built("packages/sets.cpp", "sets")).unwrap();
    let [given, input] = [zeros(&[3], CPU, true), zeros(&[1], CPU, false)];
    let x = zeros(&[3], 0, false);
    update_constants(model, &[("b", given)], false).unwrap();
    for waits in [false, true] {
        let a = stream();
        on(a, || copy(given, x));
        if waits {
            assert_eq!(sconce_stream_synchronize(a), 0);
        }
        let mut made = [0; 5];
        run_model(model, &[input], &mut made).unwrap();
        assert_eq!(sconce_device_synchronize(0), 0);
        made.into_iter().for_each(release);
        let found = reports();
        assert_eq!(found.len(), usize::from(!waits), "{found:?}");
        assert!(
            found.iter().all(|text| text.contains("model libsanitized_sets.so reads")),
            "{found:?}"
        );
    }
    [given, input, x].into_iter().for_each(release);
}
