//! What the CUDA backend makes of failures of cuFFT.

#![allow(unsafe_code, reason = "reaches into the fake libraries")]
#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

use std::ffi::{CStr, c_char, c_void};
use std::sync::Mutex;

use sconce_base::error::{Error, Status};
use sconce_base::log::{Callback, set_callback};
use sconce_driver::FftKind;
use sconce_driver::prelude::*;
use testkit::fake_cuda::fft::{MADE, MAKE, beside, call, device, packed, planned};

#[test]
fn what_could_not_be_set_is_set_the_next_time() {
    let (_fake, library, mut plan) = planned(&[]);
    let (set_stream, set_work_area, execute) =
        ("cufftSetStream", "cufftSetWorkArea", "cufftXtExec");
    // To go back to what it was before is no shorter than to go on: after a failure nobody knows.
    for (failing, again) in [
        (set_stream, &[set_stream, execute][..]),
        (set_work_area, &[set_stream, set_work_area, execute]),
        (execute, &[set_stream, set_work_area, execute]),
    ] {
        plan.execute(&call(0x7000, 0xA000)).unwrap();
        library.fail(failing, 5);
        plan.execute(&call(0x8000, 0xB000)).unwrap_err();
        library.fail("", 0);
        assert_eq!(library.names().last().unwrap(), failing);
        plan.execute(&call(0x7000, 0xA000)).unwrap();
        assert_eq!(library.names(), again, "{failing}");
    }
    library.fail(set_work_area, 5);
    plan.execute(&call(0x7000, 0xB000)).unwrap_err();
    library.fail("", 0);
    library.names();
    plan.execute(&call(0x7000, 0xA000)).unwrap();
    assert_eq!(library.names(), [set_work_area, execute]);
}

/// The library's numbers, and what they mean to a caller.
const CODES: [(i32, &str, Status); 18] = [
    (1, "CUFFT_INVALID_PLAN", Status::Driver),
    (2, "CUFFT_ALLOC_FAILED", Status::OutOfMemory),
    (3, "CUFFT_INVALID_TYPE", Status::NotSupported),
    (4, "CUFFT_INVALID_VALUE", Status::InvalidArgument),
    (5, "CUFFT_INTERNAL_ERROR", Status::Driver),
    (6, "CUFFT_EXEC_FAILED", Status::Driver),
    (7, "CUFFT_SETUP_FAILED", Status::Driver),
    (8, "CUFFT_INVALID_SIZE", Status::NotSupported),
    (9, "CUFFT_UNALIGNED_DATA", Status::InvalidArgument),
    (11, "CUFFT_INVALID_DEVICE", Status::Driver),
    (13, "CUFFT_NO_WORKSPACE", Status::Driver),
    (14, "CUFFT_NOT_IMPLEMENTED", Status::NotSupported),
    (16, "CUFFT_NOT_SUPPORTED", Status::NotSupported),
    (17, "CUFFT_MISSING_DEPENDENCY", Status::LibraryNotFound),
    (18, "CUFFT_NVRTC_FAILURE", Status::Driver),
    (20, "CUFFT_NVSHMEM_FAILURE", Status::Driver),
    (4711, "unrecognised", Status::Driver),
    (-3, "unrecognised", Status::Driver),
];

fn assert_tells(error: &Error, call: &str, (code, name, status): (i32, &str, Status)) {
    assert_eq!((error.status(), error.backend_code()), (status, code), "{error}");
    for part in [call, name, &format!("({code})")] {
        assert!(error.message().contains(part), "{part}: {error}");
    }
}

#[test]
fn a_plan_that_fails_while_being_made_is_destroyed() {
    let (fake, library) = beside(&[]);
    let shape = packed(FftKind::R2C, &[8], 2);
    for (call, destroyed) in [(MADE[0], false), (MADE[1], true), (MAKE, true)] {
        for code in CODES {
            library.fail(call, code.0);
            let error = fake.driver.fft_plan(device(), &shape).err().unwrap();
            // The plan is a new one: it is its sizes that are invalid.
            let refused = call == MAKE && code.0 == 1;
            let status = if refused { Status::NotSupported } else { code.2 };
            assert_tells(&error, call, (code.0, code.1, status));
            assert_eq!(fake.current(), None);
            let calls = library.calls();
            let last = calls.last().unwrap();
            assert_eq!(last.name == "cufftDestroy", destroyed, "{call}");
            assert_eq!(last.device, 1);
            if destroyed {
                assert_eq!(last.words[0], calls[1].words[0], "the one that was made");
            }
        }
    }
    library.fail("", 0);
    assert!(fake.driver.fft_plan(device(), &shape).is_ok());
}

#[test]
fn failures_of_an_execution_tell_call_code_and_name() {
    let (fake, library, mut plan) = planned(&[]);
    for call_name in ["cufftSetStream", "cufftSetWorkArea", "cufftXtExec"] {
        for code in CODES {
            library.fail(call_name, code.0);
            let error = plan.execute(&call(0x7000, 0xA000)).unwrap_err();
            assert_tells(&error, call_name, code);
            assert_eq!(fake.current(), None);
        }
        library.fail("", 0);
        plan.execute(&call(0x7000, 0xA000)).unwrap();
        plan.execute(&call(0x6000, 0xB000)).unwrap();
        library.names();
    }
}

static LOGGED: Mutex<Vec<String>> = Mutex::new(Vec::new());

unsafe extern "C" fn keep(_: i32, text: *const c_char, _: *mut c_void) {
    // SAFETY: a NUL-terminated text that lives through the call.
    let text = unsafe { CStr::from_ptr(text) };
    LOGGED.lock().unwrap().push(text.to_string_lossy().into_owned());
}

#[test]
fn a_plan_that_cannot_be_destroyed_is_told_of_unless_the_driver_is_gone() {
    // SAFETY: the function may be called from any thread at any time.
    set_callback(Some(unsafe { Callback::new(keep, std::ptr::null_mut()) }));
    let logged = || {
        // The end of a C call hands messages over; there is none here.
        sconce_base::log::flush();
        std::mem::take(&mut *LOGGED.lock().unwrap())
    };

    let (_fake, library, plan) = planned(&[]);
    library.fail("cufftDestroy", 5);
    drop(plan);
    let text = logged().join("\n");
    for part in ["cuFFT", "cufftDestroy", "CUFFT_INTERNAL_ERROR (5)"] {
        assert!(text.contains(part), "{part}: {text}");
    }

    let (fake, library, plan) = planned(&[]);
    fake.answer_current(700);
    drop(plan);
    assert!(logged().join("\n").contains("CUDA_ERROR_ILLEGAL_ADDRESS"));
    assert_eq!(library.names(), [""; 0]);

    let (fake, library, plan) = planned(&[]);
    fake.answer_current(4);
    drop(plan);
    assert_eq!(logged(), [""; 0], "the driver has shut down, and the plan went with it");
    assert_eq!(library.names(), [""; 0]);
    set_callback(None);
}

#[test]
fn a_failure_of_the_driver_is_told_before_the_library_is_called() {
    let (fake, library, mut plan) = planned(&[]);
    fake.answer_current(700);
    let error = plan.execute(&call(0x7000, 0xA000)).unwrap_err();
    assert_eq!((error.status(), error.backend_code()), (Status::Driver, 700));
    assert!(fake.driver.fft_plan(device(), &packed(FftKind::C2C, &[8], 1)).is_err());
    assert_eq!(library.names(), [""; 0]);
    fake.answer_current(0);
}

#[test]
fn functions_that_are_missing_are_named() {
    let needed = ["cufftSetStream", "cufftSetWorkArea", "cufftXtExec", "cufftDestroy"];
    for symbol in MADE.into_iter().chain(needed) {
        let (fake, _library) = beside(&[&format!("{symbol}=gone")]);
        let error = fake.driver.fft_plan(device(), &packed(FftKind::C2C, &[8], 1)).err().unwrap();
        assert_eq!(error.status(), Status::LibraryNotFound);
        for part in ["libcufft.so.12", "cuFFT", &format!("symbol {symbol};")] {
            assert!(error.message().contains(part), "{part}: {error}");
        }
        assert_eq!(fake.retained(1), 0, "no context was made");
    }
}
