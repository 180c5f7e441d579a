//! Host functions that call the library on simulated devices: they get a status, and nothing hangs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Mutex;

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::places::{Kind, Place, pooled};
use testkit::simulated;

/// What the calls of the function returned, each with the driver's number and the words.
static SEEN: Mutex<Vec<(sconce_status, i32, String)>> = Mutex::new(Vec::new());

unsafe extern "C" fn calls(user: *mut c_void) {
    // SAFETY: the test passes its stream, which outlives the function.
    let stream = unsafe { *user.cast::<sconce_stream>() };
    let mut idle = false;
    let mut memory = null_mut();
    let note = |status| {
        let seen = (status, sconce_last_error_backend_code(), last_message());
        SEEN.lock().unwrap().push(seen);
    };
    note(sconce_stream_synchronize(stream));
    note(sconce_device_synchronize(0));
    // SAFETY: a writable place.
    note(unsafe { sconce_stream_query(stream, &mut idle) });
    note(sconce_stream_sleep(stream, 1));
    // SAFETY: a writable place.
    note(unsafe { sconce_sim_memory_alloc(0, 4096, &mut memory) });
    // SAFETY: a function that takes no memory.
    note(unsafe { sconce_stream_launch_host_function(stream, Some(nothing), null_mut()) });
}

unsafe extern "C" fn nothing(_: *mut c_void) {}

#[test]
fn a_host_function_that_calls_the_library_gets_a_status_and_does_not_hang() {
    simulated::runtime();
    let place = Place::new(Kind::Device(0), 64);
    let mut stream = pooled(0);
    let user: *mut c_void = std::ptr::from_mut(&mut stream).cast();
    // SAFETY: the stream outlives the function.
    let queued = unsafe { sconce_stream_launch_host_function(stream, Some(calls), user) };
    assert_eq!(queued, SCONCE_OK);
    assert_eq!(sconce_stream_synchronize(stream), SCONCE_OK);
    let seen = SEEN.lock().unwrap();
    assert_eq!(seen.len(), 6);
    for (at, (status, code, words)) in seen.iter().enumerate() {
        assert_eq!((*status, *code), (SCONCE_ERROR_DRIVER, 800), "{at}: {words}");
        assert!(words.contains("a host function called the library"), "{at}: {words}");
    }
    // The device has not failed, and the thread of the function may be the one that runs this.
    place.fill(3);
    assert_eq!(place.read(), vec![3; 64]);
    assert_eq!(sconce_sim_set_manual(CBool::TRUE), SCONCE_OK);
    // SAFETY: a function that takes no memory.
    let queued = unsafe { sconce_stream_launch_host_function(stream, Some(nothing), null_mut()) };
    assert_eq!(queued, SCONCE_OK);
    let mut stepped = false;
    // SAFETY: a writable place.
    assert_eq!(unsafe { sconce_sim_step(stream, &mut stepped) }, SCONCE_OK);
    assert!(stepped);
    assert_eq!(sconce_stream_sleep(stream, 1), SCONCE_OK, "the scope ends with the function");
    assert_eq!(sconce_sim_set_manual(CBool::FALSE), SCONCE_OK);
}

/// What a host function did, for the tests below.
static OUTCOMES: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

unsafe extern "C" fn ran(_: *mut c_void) {
    OUTCOMES.lock().unwrap().push("ran");
}

unsafe extern "C" fn abandoned(_: *mut c_void) {
    // The rules of the function apply to the alternative.
    if sconce_device_synchronize(1) == SCONCE_ERROR_DRIVER {
        OUTCOMES.lock().unwrap().push("abandoned");
    }
}

fn queue_either(stream: sconce_stream) -> sconce_status {
    // SAFETY: functions that take no memory.
    unsafe { sconce_stream_launch_host_function_or(stream, Some(ran), Some(abandoned), null_mut()) }
}

/// The outcomes, once there are so many, or after a second.
fn outcomes(count: usize) -> Vec<&'static str> {
    for _ in 0..1000 {
        if OUTCOMES.lock().unwrap().len() >= count {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    // More than one of the two would show now.
    std::thread::sleep(std::time::Duration::from_millis(20));
    std::mem::take(&mut *OUTCOMES.lock().unwrap())
}

#[test]
fn exactly_one_of_a_function_and_its_alternative_runs() {
    let runtime = simulated::runtime();
    let (stream, other) = (pooled(0), pooled(0));
    assert_eq!(queue_either(stream), SCONCE_OK);
    assert_eq!(sconce_stream_synchronize(stream), SCONCE_OK);
    assert_eq!(outcomes(1), ["ran"]);

    // Work before it fails, on its stream and on another one of the device.
    sconce::sim_controls::fail_operation("kernel_launch", 1, 719).unwrap();
    assert_eq!(sconce_stream_sleep(other, 20_000_000), SCONCE_OK);
    assert_eq!(queue_either(other), SCONCE_OK);
    assert_eq!(queue_either(stream), SCONCE_OK);
    assert_eq!(sconce_stream_synchronize(stream), SCONCE_OK, "it ran before the failure");
    assert_eq!(queue_either(pooled(1)), SCONCE_OK);
    assert_eq!(sconce_stream_synchronize(other), SCONCE_ERROR_DRIVER);
    let mut seen = outcomes(3);
    seen.sort_unstable();
    assert_eq!(seen, ["abandoned", "ran", "ran"]);

    // A failed device takes no work, so neither runs.
    assert_eq!(queue_either(stream), SCONCE_ERROR_DRIVER);
    assert_eq!(outcomes(1), [""; 0]);
    sconce::sim_controls::clear_faults().unwrap();
    sconce::sim_controls::clear_device_error(0).unwrap();

    // The operation itself fails.
    sconce::sim_controls::fail_operation("launch_host_function", 1, 700).unwrap();
    assert_eq!(queue_either(stream), SCONCE_OK);
    assert_eq!(outcomes(1), ["abandoned"]);
    sconce::sim_controls::clear_faults().unwrap();
    sconce::sim_controls::clear_device_error(0).unwrap();

    let of_library = sconce_runtime::stream::Stream::from_parts(runtime, stream.id, 0).unwrap();
    simulated::captured(runtime, of_library, || {
        assert_eq!(queue_either(stream), SCONCE_ERROR_INVALID_STATE);
        assert!(last_message().contains("cannot be captured"), "{}", last_message());
        assert_eq!(sconce_stream_sleep(stream, 1), SCONCE_OK, "the capture goes on");
    });
    assert_eq!(outcomes(1), [""; 0]);
    // SAFETY: one function is missing.
    let status =
        unsafe { sconce_stream_launch_host_function_or(stream, Some(ran), None, null_mut()) };
    assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT);
}

/// Things that a host function gives back.
struct GivenBack {
    memory: *mut c_void,
    elsewhere: *mut c_void,
    pinned: *mut c_void,
    event: *mut sconce_event,
}

unsafe extern "C" fn gives_back(user: *mut c_void) {
    // SAFETY: the test passes them, and does not use them afterwards.
    let things = unsafe { &*user.cast::<GivenBack>() };
    let mut more = null_mut();
    let mut seen = SEEN.lock().unwrap();
    let mut note = |status| seen.push((status, sconce_last_error_backend_code(), last_message()));
    note(sconce_memory_free(things.memory));
    note(sconce_memory_free(things.elsewhere));
    note(sconce_host_memory_free(things.pinned));
    note(sconce_event_destroy(things.event));
    // What would be a cached block.
    // SAFETY: a writable place.
    note(unsafe { sconce_memory_alloc(512, &mut more) });
    // SAFETY: a writable place.
    note(unsafe { sconce_host_memory_alloc(512, &mut more) });
    note(sconce_memory_empty_cache());
    assert!(sconce_is_initialized());
}

#[test]
fn a_host_function_may_give_back_and_other_threads_go_on() {
    simulated::runtime();
    let alloc = || {
        let mut memory = null_mut();
        // SAFETY: a writable place.
        assert_eq!(unsafe { sconce_memory_alloc(512, &mut memory) }, SCONCE_OK);
        memory
    };
    let (mut pinned, mut event) = (null_mut(), null_mut());
    // SAFETY: writable places.
    assert_eq!(unsafe { sconce_host_memory_alloc(512, &mut pinned) }, SCONCE_OK);
    // SAFETY: writable places.
    assert_eq!(unsafe { sconce_event_create(0, &mut event) }, SCONCE_OK);
    let stream = pooled(0);
    assert_eq!(sconce_event_record(event, stream), SCONCE_OK);
    let (memory, elsewhere) = (alloc(), alloc());
    assert_eq!(sconce_memory_record_stream(elsewhere, pooled(0)), SCONCE_OK);
    let mut things = GivenBack { memory, elsewhere, pinned, event };
    // Another thread allocates while host functions run.
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::SeqCst) {
                assert_eq!(sconce_memory_free(alloc()), SCONCE_OK);
            }
        });
        let user: *mut c_void = std::ptr::from_mut(&mut things).cast();
        // SAFETY: the things outlive the function.
        let queued = unsafe { sconce_stream_launch_host_function(stream, Some(gives_back), user) };
        assert_eq!(queued, SCONCE_OK);
        assert_eq!(sconce_stream_synchronize(stream), SCONCE_OK);
        done.store(true, std::sync::atomic::Ordering::SeqCst);
    });
    let seen = SEEN.lock().unwrap();
    assert_eq!(seen.len(), 7, "{seen:?}");
    for (at, (status, code, words)) in seen.iter().enumerate() {
        match at {
            0..4 => assert_eq!(*status, SCONCE_OK, "{at}: {words}"),
            _ => assert_eq!((*status, *code), (SCONCE_ERROR_DRIVER, 800), "{at}: {words}"),
        }
    }
    assert_eq!(sconce_memory_free(alloc()), SCONCE_OK);
    assert_eq!(testkit::places::allocated(0), 0);
}

unsafe extern "C" fn follows(user: *mut c_void) {
    // SAFETY: not safe at all: nobody may read there, which is what the test is about.
    let value = unsafe { user.cast::<u32>().read_volatile() };
    panic!("read {value}");
}

#[test]
fn a_host_function_that_follows_a_device_address_ends_with_words() {
    const NAME: &str = "a_host_function_that_follows_a_device_address_ends_with_words";
    if std::env::var_os("SCONCE_TEST_FOLLOWS").is_some() {
        simulated::runtime();
        let place = Place::new(Kind::Device(0), 4096);
        // SAFETY: the function ends the process.
        let queued =
            unsafe { sconce_stream_launch_host_function(pooled(0), Some(follows), place.at(100)) };
        assert_eq!(queued, SCONCE_OK);
        std::thread::sleep(std::time::Duration::from_secs(20));
        return;
    }
    let name = testkit::child::full_name(NAME);
    let done = std::process::Command::new(std::env::current_exe().unwrap())
        .args([name.as_str(), "--exact", "--nocapture"])
        .env("SCONCE_TEST_FOLLOWS", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&done.stderr);
    let signal = std::os::unix::process::ExitStatusExt::signal(&done.status);
    assert_eq!(signal, Some(libc::SIGSEGV), "{text}");
    for part in [
        "a host function dereferences the device address 0x",
        "bytes that device 0 allocated at 0x",
        "copy it to host memory",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
