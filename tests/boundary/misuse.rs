//! Calls every exported function with NULL, zero, negative and huge arguments, each in a process of
//! its own, and sees a status, never a signal.
//!
//! What to pass is read from the header, so a new function is covered without being named here.
//! Out-parameters are NULL, misaligned or good: a pointer to memory that is not there is the one
//! mistake no library can notice.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls functions by address")]

use std::ffi::{c_char, c_void};
use testkit::fork::forked;
use testkit::header::Prototype;

use crate::calls::{Arguments, Function, Library};

/// How many combinations of arguments a function is called with at most, and the step between them if there are more.
const MOST_COMBINATIONS: u64 = 60_000;
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// The highest length that is passed, and bytes for so many entries of the longest struct.
const MOST_ENTRIES: u64 = 4096;
const SCRATCH_BYTES: usize = MOST_ENTRIES as usize * 1024;

/// Where good pointers point to: zeros at first, and behind them a page that nobody may touch, so that reads beyond
/// them fail wherever the heap lies.
pub(crate) fn scratch() -> &'static [u64] {
    // SAFETY: sysconf reads a constant.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap();
    let (writable, private) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    let length = SCRATCH_BYTES + page;
    // SAFETY: a new mapping, which is never unmapped.
    let memory = unsafe { libc::mmap(std::ptr::null_mut(), length, writable, private, -1, 0) };
    assert_ne!(memory, libc::MAP_FAILED);
    let behind = memory.wrapping_byte_add(SCRATCH_BYTES);
    // SAFETY: the last page of the mapping.
    let closed = unsafe { libc::mprotect(behind, page, libc::PROT_NONE) };
    assert_eq!(closed, 0);
    // SAFETY: so many words of the mapping, which are zeros.
    unsafe { std::slice::from_raw_parts(memory.cast(), SCRATCH_BYTES / size_of::<u64>()) }
}

pub(crate) unsafe extern "C" fn nothing(_: *mut c_void) {}
pub(crate) unsafe extern "C" fn no_gradients(
    _: *mut c_void,
    _: *const *mut c_void,
    _: usize,
    _: *mut *mut c_void,
    _: usize,
) -> i32 {
    0
}
pub(crate) unsafe extern "C" fn no_kernel(_: *mut sconce::sconce_sim_launch, _: *mut c_void) {}
pub(crate) unsafe extern "C" fn no_message(_: i32, _: *const c_char, _: *mut c_void) {}
pub(crate) unsafe extern "C" fn no_report(_: *const c_char, _: *const c_char, _: *mut c_void) {}
pub(crate) unsafe extern "C" fn no_error(_: *mut c_void, _: *const c_char, _: *const c_char) {}

pub(crate) unsafe extern "C" fn no_range(_: i64, _: i64, _: *mut c_void) {}

pub(crate) unsafe extern "C" fn no_observer(_: i32, _: usize, _: usize, _: usize, _: *mut c_void) {}

static SMALL_PRODUCT: sconce::sconce_matmul_desc = sconce::sconce_matmul_desc {
    struct_size: size_of::<sconce::sconce_matmul_desc>() as u32,
    dtype: sconce::SCONCE_DTYPE_F32,
    m: 1,
    n: 1,
    k: 1,
    batch: 2,
    alpha: 1.0,
    beta: 1.0,
    transpose_a: sconce::CBool::FALSE,
    transpose_b: sconce::CBool::FALSE,
    a_strides: [0; 3],
    b_strides: [0; 3],
    c_strides: [0; 3],
};

/// The values to try for a parameter; each takes one register, or two for a struct by value.
fn values(kind: &str, name: &str, scratch: &'static [u64]) -> Vec<Vec<u64>> {
    let good = scratch.as_ptr() as u64;
    let one = |values: &[u64]| values.iter().map(|value| vec![*value]).collect();
    let plain = kind.replace("struct ", "").replace("enum ", "").replace("const ", "");
    match plain.as_str() {
        "int32_t" | "int" => {
            one(&[0, 1, -1_i64 as u64, -2_i64 as u64, 99, 0x8000_0000, 0x7fff_ffff])
        }
        "uint32_t" => one(&[0, 1, 8, 0xffff_ffff]),
        // A longer wait would be one.
        "int64_t" if name == "timeout_ms" => one(&[0, 1, 1 << 63, -2_i64 as u64]),
        "uint64_t" | "int64_t" => one(&[0, 1, 1 << 63, u64::MAX, i64::MAX as u64]),
        // A length that the scratch memory does not have would be a lie about memory.
        "size_t" => one(&[0, 1, MOST_ENTRIES]),
        "ptrdiff_t" => one(&[0, 1, 4096, u64::MAX, 1 << 63]),
        "uint8_t" => one(&[0, 1, 255]),
        "uint16_t" => one(&[0, 1, 65535]),
        "bool" => one(&[0, 1, 2, 255]),
        "sconce_stream" => [
            (0, 0),
            (0, 1),
            (0, -1),
            (0, 99),
            (3, 0),
            (-1, 0),
            (i64::MAX, 0),
            (i64::MIN, 0),
            (0xdead_beee, 1),
            (0, i32::MIN),
        ]
        .iter()
        .map(|(id, device): &(i64, i32)| vec![*id as u64, *device as u32 as u64])
        .collect(),
        "sconce_backward_graph *"
        | "sconce_event *"
        | "sconce_generator *"
        | "sconce_graph *"
        | "sconce_kernel *"
        | "sconce_memory_pool *"
        | "sconce_memory_snapshot *"
        | "sconce_module *"
        | "sconce_store *" => one(&[0, 1, 8, 1 << 32, (1 << 32) | 1, 0xdead_beef, u64::MAX]),
        "sconce_backward_function" => one(&[0, no_gradients as *const () as u64]),
        "sconce_host_function" | "sconce_scoped_function" | "sconce_deleter" => {
            one(&[0, nothing as *const () as u64])
        }
        "sconce_range_function" => one(&[0, no_range as *const () as u64]),
        "sconce_sim_kernel_function" => one(&[0, no_kernel as *const () as u64]),
        "sconce_dlpack_set_error" => one(&[0, no_error as *const () as u64]),
        "sconce_log_callback" => one(&[0, no_message as *const () as u64]),
        "sconce_sanitizer_callback" => one(&[0, no_report as *const () as u64]),
        "sconce_oom_observer" => one(&[0, no_observer as *const () as u64]),
        "sconce_matmul_desc *" => {
            let desc = std::ptr::from_ref(&SMALL_PRODUCT) as u64;
            one(&[0, good, desc + 1, desc])
        }
        "char *" if name == "text" => one(&[0]),
        "char *" if kind.starts_with("const") => one(&[0, c"text".as_ptr() as u64]),
        // A struct that is followed.
        "void *" if name == "prototype" => one(&[0, good, good + 1]),
        "void *" => one(&[0, 2, 3, good, 0xdead_0000, u64::MAX, u64::MAX - 1]),
        "sconce_convolution_desc *" => {
            let desc = Box::leak(Box::new(sconce::sconce_convolution_desc {
                struct_size: size_of::<sconce::sconce_convolution_desc>() as u32,
                dtype: 0,
                operation: 0,
                spatial_rank: 1,
                batch: 1,
                in_channels: 1,
                out_channels: 1,
                groups: 1,
                input_sizes: [1; 3],
                filter_sizes: [1; 3],
                stride: [1; 3],
                padding: [0; 3],
                dilation: [1; 3],
                input_strides: [0; 5],
                filter_strides: [0; 5],
                output_strides: [0; 5],
            }));
            let desc = std::ptr::from_ref(desc) as u64;
            one(&[0, good, desc + 1, desc])
        }
        pointer if pointer.ends_with('*') => one(&[0, good, good + 1]),
        other => panic!("this test does not know what to pass for {other} {name}; teach it"),
    }
}

/// The same for functions that follow addresses of the host, which the caller promises to be valid:
/// they get memory of this test with sizes that stay inside it, or any address with nothing to do.
fn values_for_host_memory(
    kind: &str,
    name: &str,
    scratch: &'static [u64],
    wild: bool,
) -> Vec<Vec<u64>> {
    let good = scratch.as_ptr() as u64;
    match (kind, name) {
        ("const struct sconce_strided_copy *", _) => {
            let mut sizes = [3, 2, 0, 0, 0, 0, 0, 0];
            if wild {
                sizes[1] = 0;
            }
            let strides = [2, 1, 0, 0, 0, 0, 0, 0];
            let shape = Box::leak(Box::new(sconce::sconce_strided_copy {
                struct_size: size_of::<sconce::sconce_strided_copy>() as u32,
                rank: 2,
                element_bytes: 8,
                sizes,
                dst_strides: strides,
                src_strides: strides,
            }));
            let shape = std::ptr::from_ref(shape) as u64;
            [0, good, shape + 1, shape].iter().map(|value| vec![*value]).collect()
        }
        // A row has no bytes, or rows do not reach beyond the memory.
        ("size_t", "bytes" | "image_bytes" | "width_bytes") if wild => vec![vec![0]],
        ("size_t", _) => [0, 1, 8].iter().map(|value| vec![*value]).collect(),
        ("void *" | "const void *", _) if !wild => vec![vec![0], vec![good]],
        _ => values(kind, name, scratch),
    }
}

fn call(prototype: &Prototype) {
    let name = prototype.name.as_str();
    let follows = ["sconce_memory_set", "sconce_memory_set_2d", "sconce_module_load"];
    if follows.contains(&name.trim_end_matches("_on")) || name.starts_with("sconce_copy") {
        call_with(prototype, &|kind, name, scratch| {
            values_for_host_memory(kind, name, scratch, false)
        });
        call_with(prototype, &|kind, name, scratch| {
            values_for_host_memory(kind, name, scratch, true)
        });
    } else {
        call_with(prototype, &values);
    }
}

type Values<'a> = &'a dyn Fn(&str, &str, &'static [u64]) -> Vec<Vec<u64>>;

fn call_with(prototype: &Prototype, values: Values<'_>) {
    let function = Library::open().function(&prototype.name);
    let newest = Library::open().function("sconce_last_error_message");

    let scratch = scratch();
    let mut choices: Vec<(bool, Vec<Vec<u64>>)> = Vec::new();
    for (kind, name) in &prototype.parameters {
        if kind == "double" || kind == "float" {
            let numbers = [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300];
            choices.push((true, numbers.iter().map(|n: &f64| vec![n.to_bits()]).collect()));
        } else {
            choices.push((false, values(kind, name, scratch)));
        }
    }
    let total: u64 = choices.iter().map(|(_, values)| values.len() as u64).product();
    for round in 0..total.min(MOST_COMBINATIONS) {
        // All combinations, or of very many some that are spread over all of them.
        let spread = if total > MOST_COMBINATIONS { SPREAD } else { 1 };
        let mut rest = round.wrapping_mul(spread) % total;
        let picked: Vec<usize> = choices
            .iter()
            .map(|(_, values)| {
                let pick = rest % values.len() as u64;
                rest /= values.len() as u64;
                pick as usize
            })
            .collect();
        let mut arguments = Arguments::default();
        for ((is_float, values), pick) in choices.iter().zip(&picked) {
            if *is_float {
                arguments.real(f64::from_bits(values[*pick][0]));
            } else {
                arguments.words(&values[*pick]);
            }
        }
        // SAFETY: out-parameters are NULL, misaligned or good; everything else may be any number.
        let result = unsafe { function.call(&arguments) };
        if prototype.returns.ends_with("sconce_status") {
            let status = result as i32;
            if status != 0 && is_negative_alone(prototype, &choices, &picked) {
                let text = message(&newest);
                assert_eq!(
                    unsigned_words(&text),
                    [""; 0],
                    "{} for {arguments:x?}: {text}",
                    prototype.name
                );
            }
            assert!((0..=17).contains(&status), "{} gave {status}", prototype.name);
            assert_ne!(status, 14, "{} had an internal error for {arguments:x?}", prototype.name);
        }
    }
}

/// Negative numbers as they look where they are printed as unsigned ones.
fn unsigned_words(text: &str) -> Vec<String> {
    let wrong =
        |value: u64, text: &str| text.contains(&value.to_string()).then(|| value.to_string());
    let negative = [-1_i64, -2, i64::from(i32::MIN)];
    let all = negative.into_iter().flat_map(|value| [value as u32 as u64, value as u64]);
    // 2^31 is the number itself in other places.
    all.filter(|value| *value != 1 << 31).filter_map(|value| wrong(value, text)).collect()
}

/// Whether some signed argument is negative, and none is a number that is printed as `unsigned_words` finds.
fn is_negative_alone(
    prototype: &Prototype,
    choices: &[(bool, Vec<Vec<u64>>)],
    picked: &[usize],
) -> bool {
    let chosen = choices.iter().zip(picked).map(|((_, values), pick)| &values[*pick]);
    let mut negative = false;
    for ((kind, _), values) in prototype.parameters.iter().zip(chosen) {
        let is_signed = ["int32_t", "int", "int64_t", "ptrdiff_t"].contains(&kind.as_str());
        let is_negative = (values[0] as i64) < 0;
        negative |= is_signed && is_negative;
        if !is_signed && values.iter().any(|value| *value as i64 >> 31 != 0) && !kind.ends_with('*')
        {
            return false;
        }
    }
    negative
}

/// The message of the newest failure of the library that is called by address.
fn message(newest: &Function) -> String {
    // SAFETY: it takes nothing.
    let text = unsafe { newest.call(&Arguments::default()) };
    // SAFETY: a text that ends with NUL and stays until a later one was read.
    unsafe { std::ffi::CStr::from_ptr(text as *const c_char) }.to_string_lossy().into_owned()
}

#[test]
fn negative_numbers_that_look_unsigned_are_seen() {
    for text in
        ["rank is 4294967295; it must", "dim 18446744073709551614", "18446744071562067968 elements"]
    {
        assert!(!unsigned_words(text).is_empty(), "{text}");
    }
    for text in ["rank is -1; it must be from 0 to 3", "2147483648 bytes"] {
        assert_eq!(unsigned_words(text), [""; 0], "{text}");
    }
}

#[test]
fn no_argument_makes_a_function_crash() {
    let prototypes = testkit::header::prototypes(&testkit::header::text());
    // This process does not start the library, so each child does.
    for backend in ["sim", "cuda"] {
        for prototype in &prototypes {
            let code = forked(libc::exit, || {
                // SAFETY: always allowed. However busy the machine is, the calls may end.
                unsafe { libc::alarm(0) };
                for (name, value) in [("SCONCE_BACKEND", backend), ("SCONCE_LOG", "off")] {
                    // SAFETY: no other thread runs in the child yet.
                    unsafe { std::env::set_var(name, value) };
                }
                std::env::set_current_dir(env!("CARGO_TARGET_TMPDIR")).unwrap();
                let called = std::panic::catch_unwind(|| call(prototype));
                i32::from(called.is_err())
            });
            assert_eq!(code, 0, "{} on {backend}; below 0 is a signal", prototype.name);
        }
    }
}

#[test]
fn null_and_dead_arguments_are_named() {
    use sconce::*;
    let message = || {
        // SAFETY: the pointer is a NUL-terminated string of this thread.
        let text = unsafe { std::ffi::CStr::from_ptr(sconce_last_error_message()) };
        text.to_string_lossy().into_owned()
    };
    // SAFETY: NULL is allowed everywhere.
    let status = unsafe { sconce_device_get_current(std::ptr::null_mut()) };
    assert_eq!(status, sconce_status::SCONCE_ERROR_INVALID_ARGUMENT);
    assert!(message().contains("out_device"), "{}", message());
    let mut event = std::ptr::null_mut();
    // SAFETY: a good place for the event.
    let status = unsafe { sconce_event_create(8, &raw mut event) };
    assert_eq!(status, sconce_status::SCONCE_ERROR_INVALID_ARGUMENT);
    assert!(message().contains("flags") && event.is_null(), "{}", message());
    // SAFETY: a good place for the event.
    assert_eq!(unsafe { sconce_event_create(0, &raw mut event) }, sconce_status::SCONCE_OK);
    assert_eq!(sconce_event_destroy(event), sconce_status::SCONCE_OK);
    assert_eq!(sconce_event_destroy(event), sconce_status::SCONCE_ERROR_INVALID_HANDLE);
    assert!(message().contains("event is not a live event"), "{}", message());
}
