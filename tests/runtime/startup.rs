//! How the library starts, in processes of its own: which backend, what is initialised when, what a
//! missing driver says, what a forked child gets.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use sconce::sconce_status::*;
use sconce::*;
use testkit::fork::forked;
use testkit::{in_child, last_message};

const SIM: (&str, &str) = ("SCONCE_BACKEND", "sim");
const NOWHERE: (&str, &str) = ("SCONCE_LIBCUDA", "libcuda-that-is-not-there.so.1");

fn options(backend: sconce_backend, devices: i32) -> sconce_options {
    sconce_options {
        struct_size: size_of::<sconce_options>() as u32,
        backend: backend as i32,
        sim_devices: devices,
        sim_sms: 0,
        sim_memory_bytes: 0,
    }
}

fn init_with(options: &sconce_options) -> sconce_status {
    // SAFETY: a struct of the right size.
    unsafe { sconce_init_with(options) }
}

fn current_device() -> Result<i32, sconce_status> {
    let mut device = -7;
    // SAFETY: a good place for the result.
    match unsafe { sconce_device_get_current(&raw mut device) } {
        SCONCE_OK => Ok(device),
        status => {
            assert_eq!(device, -7, "outputs stay untouched on failure");
            Err(status)
        }
    }
}

fn has_context(device: i32) -> bool {
    let mut active = false;
    // SAFETY: a good place for the result.
    assert_eq!(unsafe { sconce_device_has_context(device, &raw mut active) }, SCONCE_OK);
    active
}

#[test]
fn asking_does_not_initialise_and_using_does() {
    in_child("asking_does_not_initialise_and_using_does", &[SIM], || {
        assert!(!sconce_is_initialized());
        assert!(sconce_is_available());
        assert_eq!(sconce_device_count(), 2);
        assert_eq!(sconce_backend_get_active(), sconce_backend::SCONCE_BACKEND_SIM);
        assert!(!sconce_is_initialized());
        assert_eq!(current_device(), Ok(0));
        assert!(sconce_is_initialized());
        assert!(!has_context(0) && !has_context(1));
    });
}

#[test]
fn automatic_choice_without_a_driver_is_no_device_and_says_what_was_searched() {
    in_child(
        "automatic_choice_without_a_driver_is_no_device_and_says_what_was_searched",
        &[NOWHERE],
        || {
            assert!(!sconce_is_available());
            assert_eq!(sconce_device_count(), 0);
            assert_eq!(sconce_backend_get_active(), sconce_backend::SCONCE_BACKEND_NONE);
            assert_eq!(sconce_init(), SCONCE_ERROR_NO_DEVICE);
            for part in [NOWHERE.1, "SCONCE_BACKEND=sim"] {
                assert!(last_message().contains(part), "{}", last_message());
            }
            assert_eq!(current_device(), Err(SCONCE_ERROR_NO_DEVICE));
            assert_eq!(sconce_device_synchronize(-1), SCONCE_ERROR_NO_DEVICE);
            assert!(!sconce_is_initialized());
            // The switches need no device.
            sconce_context_set_allow_tf32_cublas(false.into());
            assert!(!sconce_context_get_allow_tf32_cublas());
            // Nothing has been initialised, so another choice is still possible.
            assert_eq!(
                init_with(&options(sconce_backend::SCONCE_BACKEND_SIM, 3)),
                SCONCE_OK,
                "{}",
                last_message()
            );
            assert_eq!(sconce_device_count(), 3);
        },
    );
}

#[test]
fn cuda_by_name_without_a_driver_is_library_not_found() {
    in_child(
        "cuda_by_name_without_a_driver_is_library_not_found",
        &[("SCONCE_BACKEND", "cuda"), NOWHERE],
        || {
            assert_eq!(sconce_init(), SCONCE_ERROR_LIBRARY_NOT_FOUND);
            assert!(last_message().contains(NOWHERE.1), "{}", last_message());
            assert_eq!(current_device(), Err(SCONCE_ERROR_LIBRARY_NOT_FOUND));
            assert!(!sconce_is_available());
        },
    );
}

#[test]
fn options_choose_once_and_conflicts_are_refused() {
    in_child("options_choose_once_and_conflicts_are_refused", &[NOWHERE], || {
        let mut bad = options(sconce_backend::SCONCE_BACKEND_SIM, 65);
        assert_eq!(init_with(&bad), SCONCE_ERROR_INVALID_ARGUMENT);
        assert!(last_message().contains("sim_devices"), "{}", last_message());
        bad = options(sconce_backend::SCONCE_BACKEND_SIM, 2);
        bad.struct_size = 4;
        assert_eq!(init_with(&bad), SCONCE_ERROR_INVALID_ARGUMENT);
        assert!(last_message().contains("struct_size"), "{}", last_message());
        bad = options(sconce_backend::SCONCE_BACKEND_SIM, 2);
        bad.backend = 7;
        assert_eq!(init_with(&bad), SCONCE_ERROR_INVALID_ARGUMENT);
        assert!(!sconce_is_initialized());

        let good = options(sconce_backend::SCONCE_BACKEND_SIM, 8);
        assert_eq!(init_with(&good), SCONCE_OK, "{}", last_message());
        assert_eq!(sconce_device_count(), 8);
        assert_eq!(init_with(&good), SCONCE_OK);
        assert_eq!(sconce_init(), SCONCE_OK);
        let other = options(sconce_backend::SCONCE_BACKEND_SIM, 2);
        assert_eq!(init_with(&other), SCONCE_ERROR_INVALID_STATE);
        let cuda = options(sconce_backend::SCONCE_BACKEND_CUDA, 0);
        assert_eq!(init_with(&cuda), SCONCE_ERROR_INVALID_STATE);
        assert!(last_message().contains("already initialised"), "{}", last_message());
    });
}

#[test]
fn threads_that_race_to_start_all_get_the_same_backend() {
    in_child("threads_that_race_to_start_all_get_the_same_backend", &[SIM], || {
        let barrier = std::sync::Barrier::new(16);
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    barrier.wait();
                    assert_eq!(current_device(), Ok(0));
                    assert_eq!(sconce_device_count(), 2);
                });
            }
        });
    });
}

#[test]
fn using_device_one_makes_no_context_on_device_zero() {
    in_child("using_device_one_makes_no_context_on_device_zero", &[SIM], || {
        let mut previous = -7;
        // SAFETY: a good place for the result.
        assert_eq!(unsafe { sconce_device_exchange(1, &raw mut previous) }, SCONCE_OK);
        assert_eq!(previous, 0);
        let mut stream = sconce_stream { id: -1, device: -1, reserved: -1 };
        // SAFETY: a good place for the result.
        let status = unsafe { sconce_stream_get_from_pool(-1, 0, &raw mut stream) };
        assert_eq!((status, stream.device), (SCONCE_OK, 1));
        assert_eq!(sconce_stream_synchronize(stream), SCONCE_OK);
        // SAFETY: a good place for the result.
        assert_eq!(unsafe { sconce_device_exchange(previous, &raw mut previous) }, SCONCE_OK);
        assert_eq!(previous, 1);
        assert_eq!(current_device(), Ok(0));
        assert!(has_context(1));
        assert!(!has_context(0), "going back to device 0 made a context there");
    });
}

#[test]
fn waiting_for_the_current_device_makes_its_context() {
    in_child("waiting_for_the_current_device_makes_its_context", &[SIM], || {
        assert_eq!(sconce_device_synchronize(1), SCONCE_OK);
        assert!(!has_context(0) && !has_context(1), "waiting for another device made a context");
        assert_eq!(sconce_device_synchronize(-1), SCONCE_OK);
        assert!(has_context(0) && !has_context(1));
        assert_eq!(sconce_device_set_current(1), SCONCE_OK);
        assert_eq!(sconce_device_synchronize(1), SCONCE_OK);
        assert_eq!(current_device(), Ok(1));
    });
}

#[test]
fn a_forked_child_of_an_initialised_process_is_refused() {
    in_child("a_forked_child_of_an_initialised_process_is_refused", &[SIM], || {
        let mut event = std::ptr::null_mut();
        // SAFETY: a good place for the result.
        assert_eq!(unsafe { sconce_event_create(0, &raw mut event) }, SCONCE_OK);
        let mut stream = sconce_stream { id: 0, device: 0, reserved: 0 };
        // SAFETY: a good place for the result.
        assert_eq!(unsafe { sconce_stream_get_from_pool(0, 0, &raw mut stream) }, SCONCE_OK);
        assert_eq!(sconce_stream_sleep(stream, 1_000_000), SCONCE_OK);
        let code = forked(libc::_exit, || {
            let refused = [
                current_device().err(),
                Some(sconce_device_synchronize(0)),
                Some(sconce_event_record(event, stream)),
                Some(sconce_stream_synchronize(stream)),
                Some(sconce_blas_clear_workspaces()),
                Some(sconce_convolution_clear_plans()),
                Some(sconce_fft_cache_clear(0)),
                Some(sconce_init()),
                Some(init_with(&options(sconce_backend::SCONCE_BACKEND_SIM, 2))),
            ];
            let all = refused.iter().all(|status| *status == Some(SCONCE_ERROR_FORKED));
            let quiet =
                !sconce_is_available() && !sconce_is_initialized() && sconce_device_count() == 0;
            let told = last_message().contains("spawn");
            i32::from(!all) | i32::from(!quiet) << 1 | i32::from(!told) << 2
        });
        assert_eq!(code, 0);
        // The parent goes on as before.
        assert_eq!(sconce_stream_synchronize(stream), SCONCE_OK);
        assert_eq!(sconce_event_destroy(event), SCONCE_OK);
    });
}

#[test]
fn a_child_forked_before_the_first_use_is_free_to_start() {
    in_child("a_child_forked_before_the_first_use_is_free_to_start", &[SIM], || {
        assert_eq!(forked(libc::_exit, || i32::from(current_device() != Ok(0))), 0);
        assert_eq!(current_device(), Ok(0));
    });
}

#[test]
fn a_seed_needs_no_file_descriptor() {
    in_child("a_seed_needs_no_file_descriptor", &[SIM], || {
        assert_eq!(sconce_init(), SCONCE_OK);
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: a good struct; the process is this test's own.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const none) }, 0);
        let mut seed = 0;
        // SAFETY: a good place.
        let status = unsafe { sconce_random_seed(&raw mut seed) };
        assert_eq!(status, SCONCE_OK, "{}", last_message());
        assert_ne!(seed, 0);
    });
}

#[test]
fn tf32_switches_start_as_the_environment_says() {
    in_child(
        "tf32_switches_start_as_the_environment_says",
        &[("TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "0")],
        || {
            assert!(!sconce_context_get_allow_tf32_cublas());
            assert_eq!(sconce_context_get_allow_tf32_cublas_setting(), 0);
            assert!(sconce_context_get_allow_tf32_cudnn());
            sconce_context_set_allow_tf32_cublas(true.into());
            assert!(sconce_context_get_allow_tf32_cublas());
            assert_eq!(
                sconce_context_get_float32_matmul_precision(),
                SCONCE_FLOAT32_MATMUL_PRECISION_HIGH
            );
            assert_eq!(
                sconce_context_set_float32_matmul_precision(3),
                SCONCE_ERROR_INVALID_ARGUMENT
            );
        },
    );
}

#[test]
fn nvidia_forbids_tf32_whatever_is_set() {
    in_child("nvidia_forbids_tf32_whatever_is_set", &[("NVIDIA_TF32_OVERRIDE", "0")], || {
        sconce_context_set_allow_tf32_cublas(true.into());
        assert!(!sconce_context_get_allow_tf32_cublas());
        assert!(!sconce_context_get_allow_tf32_cudnn());
    });
}

#[test]
fn launch_blocking_makes_every_launch_wait() {
    in_child(
        "launch_blocking_makes_every_launch_wait",
        &[SIM, ("CUDA_LAUNCH_BLOCKING", "1")],
        || {
            let mut stream = sconce_stream { id: 0, device: 0, reserved: 0 };
            // SAFETY: a good place for the result.
            assert_eq!(unsafe { sconce_stream_get_from_pool(0, 0, &raw mut stream) }, SCONCE_OK);
            assert_eq!(sconce_stream_sleep(stream, 30_000_000), SCONCE_OK);
            let mut idle = false;
            // SAFETY: a good place for the result.
            assert_eq!(unsafe { sconce_stream_query(stream, &raw mut idle) }, SCONCE_OK);
            assert!(idle);
        },
    );
}

#[test]
fn without_launch_blocking_a_launch_returns_at_once() {
    in_child("without_launch_blocking_a_launch_returns_at_once", &[SIM], || {
        let mut stream = sconce_stream { id: 0, device: 0, reserved: 0 };
        // SAFETY: a good place for the result.
        assert_eq!(unsafe { sconce_stream_get_from_pool(0, 0, &raw mut stream) }, SCONCE_OK);
        assert_eq!(sconce_stream_sleep(stream, 500_000_000), SCONCE_OK);
        let mut idle = true;
        // SAFETY: a good place for the result.
        assert_eq!(unsafe { sconce_stream_query(stream, &raw mut idle) }, SCONCE_OK);
        assert!(!idle);
    });
}
