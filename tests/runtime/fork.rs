//! What a forked child gets from every function of the header, while threads of its parent hold locks.
//!
//! Debug builds refuse a lock in such a child with a panic, which a caller sees as an internal error.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls functions by address")]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use sconce::sconce_status::*;
use sconce::*;
use testkit::fork::forked;
use testkit::header::Prototype;
use testkit::{in_child, last_message};

const SIM: (&str, &str) = ("SCONCE_BACKEND", "sim");
const QUIET: (&str, &str) = ("SCONCE_LOG", "off");

/// Functions that take no lock and need no device: they do in a child what they do elsewhere.
const LOCKLESS: &[&str] = &[
    "sconce_context_set_benchmark_limit_cudnn",
    "sconce_context_set_float32_matmul_precision",
    "sconce_context_set_thread_allow_tf32_cublas",
    "sconce_convolution_get_output_sizes",
    "sconce_host_memory_is_pinned",
    "sconce_nvtx_mark",
    "sconce_nvtx_range_end",
    "sconce_nvtx_range_pop",
    "sconce_nvtx_range_push",
    "sconce_nvtx_range_start",
    "sconce_parallel_for",
    "sconce_parallel_set_num_threads",
];

/// Takes its arguments from the registers it needs and ignores the others.
type AnyFunction = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, f64, f64) -> u64;

/// The shared library, with every function of the header.
fn functions() -> Vec<(Prototype, AnyFunction)> {
    let path = std::ffi::CString::new(testkit::shared_library().to_str().unwrap()).unwrap();
    // SAFETY: a library of ours, opened by its path.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
    assert!(!library.is_null());
    let find = |prototype: Prototype| {
        let name = std::ffi::CString::new(prototype.name.as_str()).unwrap();
        // SAFETY: an open library and a NUL-terminated name.
        let address = unsafe { libc::dlsym(library, name.as_ptr()) };
        assert!(!address.is_null(), "{} is not exported", prototype.name);
        // SAFETY: the header declares functions of at most six integers or pointers and two reals, which the calling
        // convention passes in the registers that `AnyFunction` fills.
        let function: AnyFunction = unsafe { std::mem::transmute(address) };
        (prototype, function)
    };
    testkit::header::prototypes(&testkit::header::text()).into_iter().map(find).collect()
}

fn call(function: AnyFunction, arguments: [u64; 3]) -> u64 {
    let [a, b, c] = arguments;
    // SAFETY: handles and numbers of any value, and places that are NULL or good.
    unsafe { function(a, b, c, 0, 0, 0, 0, 0, 0.0, 0.0) }
}

/// Threads that use the library until the scope ends: each makes and destroys what has a destructor.
fn hammer(functions: &[(Prototype, AnyFunction)], stop: &AtomicBool, kind: &str) {
    let find = |name: &str| functions.iter().find(|(one, _)| one.name == name).unwrap().1;
    let create = find(&format!("{kind}_create"));
    let destroy = find(&format!("{kind}_destroy"));
    let set_callback = find("sconce_log_set_callback");
    while !stop.load(Ordering::Relaxed) {
        let mut handle = 0_u64;
        let place = &raw mut handle as u64;
        // Flags or a device, where there is one; pools and snapshots have the place alone.
        let arguments = match kind {
            "sconce_event" | "sconce_generator" => [0, place, 0],
            _ => [place, 0, 0],
        };
        assert_eq!(call(create, arguments) as i32, 0, "{kind}");
        assert_eq!(call(destroy, [handle, 0, 0]) as i32, 0, "{kind}");
        call(set_callback, [0, 0, 0]);
    }
}

const KINDS: [&str; 4] =
    ["sconce_event", "sconce_generator", "sconce_memory_pool", "sconce_memory_snapshot"];

#[test]
fn every_function_returns_in_a_child_and_refuses_what_needs_a_device_or_a_lock() {
    let name = "every_function_returns_in_a_child_and_refuses_what_needs_a_device_or_a_lock";
    in_child(name, &[SIM, QUIET], || {
        let functions = functions();
        let initialise = functions.iter().find(|(one, _)| one.name == "sconce_init").unwrap().1;
        assert_eq!(call(initialise, [0; 3]) as i32, 0);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for kind in KINDS {
                scope.spawn(|| hammer(&functions, &stop, kind));
            }
            let codes: Vec<i32> = (0..40)
                .map(|_| {
                    std::thread::sleep(Duration::from_micros(700));
                    forked(libc::_exit, || in_each(&functions))
                })
                .collect();
            stop.store(true, Ordering::Relaxed);
            assert!(codes.iter().all(|code| *code == 0), "{codes:?}");
        });
    });
}

/// Calls a function with good places, zeros, and what looks like a live handle for its destructor.
fn call_in_child(prototype: &Prototype, function: AnyFunction) -> u64 {
    static PLACE: [AtomicU64; 512] = [const { AtomicU64::new(0) }; 512];
    let name = prototype.name.as_str();
    let mut registers = Vec::new();
    for (kind, _) in &prototype.parameters {
        match kind.as_str() {
            "double" | "float" => {}
            _ if name == "sconce_string_free" => registers.push(0),
            _ if name.ends_with("_destroy") || name.ends_with("_free") => registers.push(1 << 32),
            kind if kind.ends_with("sconce_stream") => registers.extend([0, 0]),
            kind if kind.ends_with('*') => registers.push(PLACE.as_ptr() as u64),
            _ => registers.push(0),
        }
    }
    registers.resize(8, 0);
    let [a, b, c, d, e, f, g, h] = registers[..] else { unreachable!("{name} has more") };
    // SAFETY: handles and numbers of any value, and places that are NULL or good.
    unsafe { function(a, b, c, d, e, f, g, h, 0.0, 0.0) }
}

/// Calls every function in a child, with a handle that looks alive; 0 if all answer as they should.
fn in_each(functions: &[(Prototype, AnyFunction)]) -> i32 {
    let last = functions.iter().find(|(one, _)| one.name == "sconce_last_error_message").unwrap().1;
    for (prototype, function) in functions {
        let name = prototype.name.as_str();
        let result = call_in_child(prototype, *function) as i32;
        // A panic in a function that returns no status leaves only its message.
        let message = call(last, [0; 3]) as *const std::ffi::c_char;
        // SAFETY: a NUL-terminated string of this thread, which lives until the next call.
        let message = unsafe { std::ffi::CStr::from_ptr(message) }.to_string_lossy();
        if message.contains("a defect of the library") {
            eprintln!("{name} in a forked child: {message}");
            return 1;
        }
        if !prototype.returns.ends_with("sconce_status") {
            continue;
        }
        let as_it_should = if LOCKLESS.contains(&name) {
            result != SCONCE_ERROR_INTERNAL as i32
        } else {
            result == SCONCE_ERROR_FORKED as i32
        };
        if !as_it_should {
            eprintln!("{name} gave {result} in a forked child");
            return 1;
        }
    }
    0
}

#[test]
fn a_child_forked_during_start_up_does_not_wait_for_it() {
    in_child("a_child_forked_during_start_up_does_not_wait_for_it", &[SIM, QUIET], || {
        for round in 0..60_u64 {
            // Each in a process that has not started yet.
            let code = forked(libc::_exit, || {
                let starting = std::thread::spawn(|| sconce_init());
                std::thread::sleep(Duration::from_nanos(round * 7919 % 1_000_000));
                let code = forked(libc::_exit, || {
                    let status = sconce_init();
                    let count = sconce_device_count();
                    let is_fresh = status == SCONCE_OK && count == 2;
                    let is_cut_off = status == SCONCE_ERROR_FORKED && count == 0;
                    i32::from(!is_fresh && !is_cut_off)
                });
                starting.join().unwrap();
                code
            });
            assert_eq!(code, 0, "round {round}");
        }
    });
}

#[test]
fn a_child_forked_while_others_use_locks_without_a_device_does_not_wait_for_them() {
    let name = "a_child_forked_while_others_use_locks_without_a_device_does_not_wait_for_them";
    in_child(name, &[SIM, QUIET], || {
        let stop = AtomicBool::new(false);
        let pair = || {
            let mut event = std::ptr::null_mut();
            // SAFETY: a good place.
            match unsafe { sconce_event_create(0, &raw mut event) } {
                SCONCE_OK => sconce_event_destroy(event),
                status => status,
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        assert_eq!(pair(), SCONCE_OK);
                    }
                });
            }
            let codes: Vec<i32> = (0..100)
                .map(|_| {
                    std::thread::sleep(Duration::from_micros(300));
                    forked(libc::_exit, || match pair() {
                        SCONCE_OK | SCONCE_ERROR_FORKED => 0,
                        status => status as i32,
                    })
                })
                .collect();
            stop.store(true, Ordering::Relaxed);
            assert!(codes.iter().all(|code| *code == 0), "{codes:?}");
        });
    });
}

fn is_pinned(address: usize) -> (sconce_status, bool) {
    let mut pinned = true;
    // SAFETY: a good place; the address is not followed.
    let status = unsafe {
        sconce_host_memory_is_pinned(std::ptr::without_provenance(address), &raw mut pinned)
    };
    (status, pinned)
}

#[test]
fn asking_whether_memory_is_pinned_starts_nothing() {
    in_child("asking_whether_memory_is_pinned_starts_nothing", &[SIM], || {
        let place = Box::new(0_u64);
        let address = std::ptr::from_ref(&*place) as usize;
        assert_eq!(is_pinned(address), (SCONCE_OK, false));
        assert!(!sconce_is_initialized());
        // A worker that is forked now may use devices.
        let code = forked(libc::_exit, || i32::from(sconce_init() != SCONCE_OK));
        assert_eq!(code, 0, "{}", last_message());
        let mut block = std::ptr::null_mut();
        // SAFETY: a good place.
        assert_eq!(unsafe { sconce_host_memory_alloc(4096, &raw mut block) }, SCONCE_OK);
        assert_eq!(is_pinned(block as usize), (SCONCE_OK, true));
        assert_eq!(is_pinned(address), (SCONCE_OK, false));
        // A worker that is forked now may not, and still gets an answer.
        let code = forked(libc::_exit, || i32::from(is_pinned(address) != (SCONCE_OK, false)));
        assert_eq!(code, 0);
    });
}

#[test]
fn without_a_device_nothing_is_pinned() {
    let nowhere = ("SCONCE_LIBCUDA", "libcuda-that-is-not-there.so.1");
    in_child("without_a_device_nothing_is_pinned", &[nowhere, QUIET], || {
        assert_eq!(is_pinned(0x1000), (SCONCE_OK, false));
        assert_ne!(sconce_init(), SCONCE_OK);
        assert_eq!(is_pinned(0x1000), (SCONCE_OK, false));
    });
}
