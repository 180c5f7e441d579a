//! Other code that makes another device current on a thread: the library's current device follows, and a build
//! that checks the device reports it once. On the simulator and on the fake driver.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API and the fake driver")]

use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use sconce::sconce_status::*;
use sconce::sim_controls as sim;
use sconce::*;
use sconce_runtime::device;
use sconce_runtime::stream::{self, Stream};
use testkit::fake_cuda::Built;
use testkit::fake_cuda::streams::Program;
use testkit::simulated::launch_desc;
use testkit::statuses::ok;
use testkit::{in_child, last_message};

const SIM: (&str, &str) = ("SCONCE_BACKEND", "sim");
const CHECKED: (&str, &str) = ("SCONCE_CHECK_DEVICE", "1");

static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

unsafe extern "C" fn keep(_level: i32, message: *const c_char, _user: *mut c_void) {
    // SAFETY: a NUL-terminated text.
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    WARNINGS.lock().unwrap().push(text);
}

fn listen() {
    // SAFETY: a function that lives for ever.
    unsafe { sconce_log_set_callback(Some(keep), std::ptr::null_mut()) };
}

fn warnings() -> Vec<String> {
    WARNINGS.lock().unwrap().clone()
}

fn current() -> i32 {
    device::current().unwrap().as_i32()
}

fn exchange(index: i32) -> i32 {
    device::exchange(index).unwrap().unwrap().as_i32()
}

fn other_code_sets(index: i32) {
    sim::external_set_current_device(index).unwrap();
}

fn other_code_sees() -> i32 {
    sim::external_current_device().unwrap()
}

/// Makes stream 0 of a device current as a guard does; returns the device before.
fn enter_stream(index: i32) -> i32 {
    let runtime = sconce_runtime::context::runtime().unwrap();
    let stream = Stream::from_parts(runtime, 0, index).unwrap();
    stream::exchange(runtime, stream).unwrap().1.as_i32()
}

/// The device on which the kernel last ran.
static RAN_ON: AtomicI32 = AtomicI32::new(-1);

unsafe extern "C" fn note_device(launch: *mut sconce_sim_launch, _user: *mut c_void) {
    // SAFETY: the simulator's launch.
    RAN_ON.store(unsafe { (*launch).device }, Ordering::SeqCst);
}

fn kernel() -> *mut sconce_kernel {
    static KERNEL: OnceLock<usize> = OnceLock::new();
    let made = KERNEL.get_or_init(|| {
        let code =
            c".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry where()\n{ ret; }\n";
        let (name, mut module, mut kernel) = (c"where", null_mut(), null_mut());
        let (text, bytes) = (code.as_ptr().cast(), code.count_bytes());
        let at = name.as_ptr();
        let (function, nobody): (sconce_sim_kernel_function, _) = (Some(note_device), null_mut());
        // SAFETY: a text, no parameters, and a function for any thread.
        ok(unsafe { sconce_sim_register_kernel(at, null(), 0, 32, 1024, function, nobody, None) });
        // SAFETY: readable bytes and a writable place.
        ok(unsafe { sconce_module_load(text, bytes, &raw mut module) });
        // SAFETY: a text and a writable place.
        ok(unsafe { sconce_kernel_get(module, at, &raw mut kernel) });
        kernel.expose_provenance()
    });
    std::ptr::with_exposed_provenance_mut(*made)
}

fn launch() -> sconce_status {
    let shape = launch_desc(1, 1);
    // SAFETY: a whole description, and no arguments.
    unsafe { sconce_kernel_launch(kernel(), &raw const shape, null(), null(), 0) }
}

/// The device on which a launch without a stream runs.
fn launched() -> i32 {
    ok(launch());
    (0..2).for_each(|device| ok(sconce_device_synchronize(device)));
    RAN_ON.swap(-1, Ordering::SeqCst)
}

fn allocate() -> (sconce_status, *mut c_void) {
    let mut address = null_mut();
    // SAFETY: a writable place.
    (unsafe { sconce_memory_alloc(4096, &raw mut address) }, address)
}

/// The device of an allocation without a stream.
fn allocated() -> i32 {
    let ((status, address), mut device) = (allocate(), -1);
    ok(status);
    // SAFETY: a writable place.
    ok(unsafe { sconce_device_of_pointer(address, &raw mut device) });
    ok(sconce_memory_free(address));
    device
}

/// The device whose default generator a seed goes to.
fn seeded() -> i32 {
    static SEED: AtomicU64 = AtomicU64::new(7000);
    let seed = SEED.fetch_add(1, Ordering::Relaxed);
    ok(sconce_random_manual_seed(seed));
    let has_seed = |device: &i32| {
        let (mut generator, mut found) = (null_mut(), 0);
        // SAFETY: a writable place.
        ok(unsafe { sconce_generator_get_default(*device, &raw mut generator) });
        // SAFETY: a writable place.
        ok(unsafe { sconce_generator_get_initial_seed(generator, &raw mut found) });
        found == seed
    };
    let devices: Vec<i32> = (0..2).filter(has_seed).collect();
    assert_eq!(devices.len(), 1, "{devices:?}");
    devices[0]
}

/// The device of an event that is shared before it was recorded.
fn shared_event() -> i32 {
    let (mut event, mut device) = (null_mut(), -1);
    let mut handle = [0; SCONCE_IPC_HANDLE_BYTES];
    // SAFETY: a writable place.
    ok(unsafe { sconce_event_create(SCONCE_EVENT_INTERPROCESS, &raw mut event) });
    // SAFETY: as many writable bytes as a handle has.
    ok(unsafe { sconce_event_get_ipc_handle(event, handle.as_mut_ptr()) });
    // SAFETY: a writable place.
    ok(unsafe { sconce_event_get_device(event, &raw mut device) });
    ok(sconce_event_destroy(event));
    device
}

#[test]
fn every_reader_of_the_current_device_follows_other_code() {
    in_child("every_reader_of_the_current_device_follows_other_code", &[SIM, CHECKED], || {
        type Reader = (&'static str, fn() -> i32);
        let readers: [Reader; 12] = [
            ("get_current", current),
            ("exchange(-1)", || exchange(-1)),
            ("exchange(0)", || exchange(0)),
            ("exchange(1)", || exchange(1)),
            ("stream_get_current(-1)", || stream::current(-1).unwrap().1.as_i32()),
            ("stream_exchange", || enter_stream(0)),
            ("stream_get_default(-1)", || stream::default(-1).unwrap().device().as_i32()),
            ("kernel_launch", launched),
            ("memory_alloc", allocated),
            ("memory_alloc of what was freed", allocated),
            ("random_manual_seed", seeded),
            ("event_get_ipc_handle", shared_event),
        ];
        for (name, read) in readers {
            device::set_current(0).unwrap();
            assert_eq!(current(), 0);
            other_code_sets(1);
            assert_eq!(read(), 1, "{name}");
            other_code_sets(0);
            assert_eq!(read(), 0, "{name}, back");
        }
    });
}

#[test]
fn what_was_set_last_is_current_whoever_set_it() {
    in_child("what_was_set_last_is_current_whoever_set_it", &[SIM, CHECKED], || {
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = |below: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random % below) as i32
        };
        let mut expected = 0;
        let mut guards: Vec<i32> = Vec::new();
        for step in 0..4000 {
            match next(6) {
                0 => {
                    expected = next(2);
                    device::set_current(expected).unwrap();
                }
                1 => {
                    expected = next(2);
                    other_code_sets(expected);
                }
                2 => {
                    other_code_sets(-1);
                    expected = 0;
                }
                3 => {
                    let to = next(3) - 1;
                    guards.push(exchange(to));
                    assert_eq!(guards.last(), Some(&expected), "step {step}");
                    expected = if to == -1 { expected } else { to };
                }
                4 => {
                    if let Some(back) = guards.pop() {
                        assert_eq!(exchange(back), expected, "step {step}");
                        expected = back;
                    }
                }
                _ => {
                    let to = next(2);
                    assert_eq!(enter_stream(to), expected, "step {step}");
                    expected = to;
                }
            }
            if next(2) == 0 {
                assert_eq!(current(), expected, "step {step}");
                assert!(matches!(other_code_sees(), -1 | 0) || other_code_sees() == expected);
            }
        }
    });
}

#[test]
fn a_guard_restores_although_other_code_switched_inside() {
    in_child("a_guard_restores_although_other_code_switched_inside", &[SIM, CHECKED], || {
        device::set_current(1).unwrap();
        let before = exchange(1);
        other_code_sets(0);
        exchange(before);
        assert_eq!((current(), other_code_sees()), (1, 1));
    });
}

#[test]
fn a_context_that_is_taken_away_leaves_device_0() {
    in_child("a_context_that_is_taken_away_leaves_device_0", &[SIM, CHECKED], || {
        device::set_current(1).unwrap();
        other_code_sets(-1);
        assert_eq!(current(), 0);
        assert_eq!(exchange(1), 0);
        assert_eq!(other_code_sees(), 1);
    });
}

#[test]
fn the_report_names_both_devices_once() {
    in_child("the_report_names_both_devices_once", &[SIM, CHECKED], || {
        listen();
        // The first use of the device that is current anyway makes no report.
        other_code_sets(0);
        assert_eq!(current(), 0);
        assert_eq!(warnings(), Vec::<String>::new());
        for _ in 0..3 {
            other_code_sets(1);
            let mut device = -1;
            // SAFETY: a good place.
            assert_eq!(unsafe { sconce_device_get_current(&raw mut device) }, SCONCE_OK);
            assert_eq!(device, 1);
            // SAFETY: a good place.
            assert_eq!(unsafe { sconce_device_exchange(0, &raw mut device) }, SCONCE_OK);
            assert_eq!(device, 1);
        }
        let reports = warnings();
        assert_eq!(reports.len(), 1, "{reports:?}");
        for words in ["made device 1 current", "whose device was 0", "SCONCE_CHECK_DEVICE=0"] {
            assert!(reports[0].contains(words), "{words}: {reports:?}");
        }
    });
}

#[test]
fn a_check_that_is_off_reports_nothing() {
    let off = ("SCONCE_CHECK_DEVICE", "0");
    in_child("a_check_that_is_off_reports_nothing", &[SIM, off], || {
        listen();
        other_code_sets(1);
        let mut device = -1;
        // SAFETY: a good place.
        assert_eq!(unsafe { sconce_device_get_current(&raw mut device) }, SCONCE_OK);
        assert_eq!(warnings(), Vec::<String>::new());
    });
}

#[test]
fn other_code_of_another_thread_changes_nothing_here() {
    in_child("other_code_of_another_thread_changes_nothing_here", &[SIM, CHECKED], || {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                other_code_sets(1);
                assert_eq!(current(), 1);
            });
        });
        assert_eq!(current(), 0);
    });
}

#[test]
fn a_driver_that_cannot_say_what_is_current_gives_a_status() {
    in_child("a_driver_that_cannot_say_what_is_current_gives_a_status", &[SIM, CHECKED], || {
        let get = || {
            let mut device = -7;
            // SAFETY: a good place.
            (unsafe { sconce_device_get_current(&raw mut device) }, device)
        };
        let fails = |call: &CStr| {
            // SAFETY: a NUL-terminated name.
            let status = unsafe { sconce_sim_inject_fault(call.as_ptr(), 1, 999) };
            assert_eq!(status, SCONCE_OK);
            assert_eq!(get(), (SCONCE_ERROR_DRIVER, -7), "{call:?}");
            assert!(last_message().contains("CUDA_ERROR_UNKNOWN"), "{}", last_message());
        };
        fails(c"current_context");
        assert_eq!(get(), (SCONCE_OK, 0));
        other_code_sets(1);
        fails(c"current_context");
        fails(c"current_device");
        assert_eq!(get(), (SCONCE_OK, 1), "what failed is asked again");
        let _loaded = kernel();
        let users: [fn() -> sconce_status; 3] =
            [launch, || allocate().0, || sconce_random_manual_seed(1)];
        for call in users {
            let name = c"current_context";
            // SAFETY: a NUL-terminated name.
            ok(unsafe { sconce_sim_inject_fault(name.as_ptr(), 1, 999) });
            assert_eq!(call(), SCONCE_ERROR_DRIVER);
            ok(call());
        }
    });
}

#[test]
fn the_first_call_of_a_thread_may_be_an_allocation() {
    in_child("the_first_call_of_a_thread_may_be_an_allocation", &[SIM, CHECKED], || {
        let first = || {
            other_code_sets(1);
            allocated()
        };
        assert_eq!(first(), 1);
        assert_eq!(std::thread::spawn(first).join().unwrap(), 1);
    });
}

#[test]
fn contexts_of_the_driver_are_followed() {
    const TEST: &str = "contexts_of_the_driver_are_followed";
    let path = std::env::var("SCONCE_LIBCUDA").ok().filter(|_| testkit::is_child());
    let built =
        path.is_none().then(|| Built::new("fake_cuda.c", "libcuda.so.1", &["DEVICE_COUNT=2"]));
    let path = built.as_ref().map_or_else(|| path.unwrap_or_default(), Built::path);
    let environment = [
        ("SCONCE_BACKEND", "cuda"),
        ("SCONCE_LIBCUDA", path.as_str()),
        ("SCONCE_LIBNVML", "no-nvml-here.so"),
        CHECKED,
    ];
    in_child(TEST, &environment, || {
        let program = Program::open(&path);
        assert_eq!(current(), 0);
        program.push_context(1);
        assert_eq!((current(), exchange(1)), (1, 1));
        // A guard of the library inside of the pushed context.
        assert_eq!(exchange(0), 1);
        assert_eq!(exchange(1), 0);
        // The other library's context of the library's own device.
        program.push_context(1);
        assert_eq!(current(), 1);
        let asked = program.state().get_current;
        assert_eq!(exchange(1), 1);
        assert_eq!(program.state().get_current, asked + 1, "a guard asks once");
    });
}
