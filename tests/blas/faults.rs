//! Every call of the driver and of cuBLAS that a product makes, failed at every point: the failure is
//! told, `c` is as it was or as it is to be, the next product is right, and no memory is lost.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::ffi::CString;
use testkit::fork::forked_result;
use testkit::simulated;

use sconce::sconce_status::*;
use sconce::*;
use testkit::libraries::products::{
    Block, expected, extent, handle, multiply, plain, sizes, synchronize, try_handle,
};
use testkit::numbers::Random;
use testkit::places::{self, allocated, inject, own_stream};

/// What a product may ask of the driver and of cuBLAS, and numbers that these give.
const CALLS: [(&str, [i32; 2]); 12] = [
    ("device_properties", [999, 2]),
    ("exchange_capture_mode", [999, 2]),
    ("stream_is_capturing", [999, 2]),
    ("memory_alloc", [999, 2]),
    ("module_load", [999, 2]),
    ("kernel_find", [999, 2]),
    ("kernel_launch", [999, 2]),
    ("blas_create", [1, -1]),
    ("blas_set_stream", [13, 14]),
    ("blas_set_workspace", [7, 14]),
    ("blas_set_math_mode", [13, 14]),
    ("blas_gemm", [13, 15]),
];

/// A product that needs every way there is: none of the three is packed in rows or columns.
fn product() -> sconce_matmul_desc {
    let mut desc = plain(2, 3, 4, 5);
    (desc.alpha, desc.beta) = (2.0, 1.0);
    (desc.a_strides, desc.b_strides, desc.c_strides) = ([40, 13, 2], [60, 14, 3], [36, 12, 3]);
    desc
}

/// Fails the `nth` of a call amid a product; an `Err` of "struck" if there was one to fail.
fn strike(call: &str, nth: u64, code: i32) -> Result<(), String> {
    simulated::runtime();
    let desc = product();
    let mut random = Random(3);
    let [a, b, c] = {
        let [sa, sb, sc] = sizes(&desc);
        let counts =
            [extent(sa, desc.a_strides), extent(sb, desc.b_strides), extent(sc, desc.c_strides)];
        counts.map(|count| (0..count).map(|_| random.below(9) as f64).collect::<Vec<f64>>())
    };
    let wanted = expected(&desc, &a, &b, &c);
    let [on_a, on_b, on_c] = [&a, &b, &c].map(|numbers| Block::of(SCONCE_DTYPE_F32, numbers));
    let own = allocated(0);
    own_stream(0);
    inject(call, nth, code);
    let outcome = multiply(&desc, on_a.0, on_b.0, on_c.0);
    let struck = outcome.is_err();
    assert_eq!(sconce_sim_clear_faults(), SCONCE_OK);
    synchronize(0);
    let found = on_c.read(SCONCE_DTYPE_F32, c.len());
    if let Err((status, message)) = outcome {
        let fits = match (call, code) {
            (_, -1) => status == SCONCE_ERROR_LIBRARY_NOT_FOUND,
            ("blas_set_workspace", 7) => status == SCONCE_ERROR_INVALID_ARGUMENT,
            (_, 15) => status == SCONCE_ERROR_NOT_SUPPORTED,
            (_, 2) => status == SCONCE_ERROR_OUT_OF_MEMORY || message.contains("(2"),
            _ => status == SCONCE_ERROR_DRIVER,
        };
        assert!(fits, "{call} {nth} {code}: {status:?} {message}");
        assert!(found == c || found == wanted, "{call} {nth} {code}: {found:?}");
    } else {
        assert_eq!(found, wanted);
    }
    // The allocator may have done without a call that failed.
    on_c.write(&c.iter().flat_map(|number| (*number as f32).to_le_bytes()).collect::<Vec<_>>());
    handle();
    multiply(&desc, on_a.0, on_b.0, on_c.0).unwrap();
    synchronize(0);
    assert_eq!(on_c.read(SCONCE_DTYPE_F32, c.len()), wanted, "{call} {nth} {code}");
    assert_eq!(sconce_blas_clear_workspaces(), SCONCE_OK);
    assert_eq!(allocated(0), own, "{call} {nth} {code}");
    drop((on_a, on_b, on_c));
    assert_eq!(allocated(0), 0);
    if struck { Err("struck".to_owned()) } else { Ok(()) }
}

#[test]
fn whatever_fails_the_next_product_is_right() {
    let environment = [("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off"), ("RUST_BACKTRACE", "0")];
    testkit::in_child("whatever_fails_the_next_product_is_right", &environment, || {
        for (call, codes) in CALLS {
            let mut strikes = 0;
            for (code, nth) in codes.into_iter().flat_map(|code| (1..=6).map(move |n| (code, n))) {
                match forked_result(|| strike(call, nth, code)) {
                    Ok(()) => {}
                    Err(message) if message == "struck" => strikes += 1,
                    Err(message) => panic!("{call} {nth} {code}: {message}"),
                }
            }
            assert!(strikes > 0, "no product asks for {call}");
        }
    });
}

#[test]
fn a_handle_that_was_half_set_is_set_anew() {
    testkit::in_child(
        "a_handle_that_was_half_set_is_set_anew",
        &[("SCONCE_BACKEND", "sim")],
        || {
            let setters = ["blas_set_stream", "blas_set_workspace", "blas_set_math_mode"];
            let before = handle();
            for (at, failing) in setters.into_iter().enumerate() {
                for tf32 in [false, true] {
                    let stream = own_stream(0);
                    sconce_context_set_allow_tf32_cublas((!tf32).into());
                    handle();
                    sconce_context_set_allow_tf32_cublas(tf32.into());
                    own_stream(0);
                    inject(failing, 1, 13);
                    let (status, message) = try_handle().unwrap_err();
                    assert_eq!(status, SCONCE_ERROR_DRIVER);
                    assert!(message.contains("CUBLAS_STATUS_EXECUTION_FAILED"), "{message}");
                    // What it was set to before is not what it is set to now.
                    assert_eq!(sconce_stream_set_current(stream), SCONCE_OK);
                    sconce_context_set_allow_tf32_cublas((!tf32).into());
                    assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
                    assert_eq!(handle(), before);
                    assert_eq!(setters.map(places::calls), [1, 1, 1], "after setter {at}");
                }
            }
            // Idle workspaces of the other streams go. That of the handle stays while the handle has it.
            let held = allocated(0).min(32 << 20);
            inject("blas_set_workspace", 1, 14);
            assert_eq!(sconce_blas_clear_workspaces(), SCONCE_ERROR_DRIVER);
            assert_eq!(allocated(0), held);
            assert_eq!(sconce_blas_clear_workspaces(), SCONCE_OK);
            assert_eq!(allocated(0), 0);
            assert_eq!(handle(), before);
        },
    );
}

#[test]
fn after_a_product_that_was_refused_nothing_is_taken_to_be_set() {
    let test = "after_a_product_that_was_refused_nothing_is_taken_to_be_set";
    testkit::in_child(test, &[("SCONCE_BACKEND", "sim")], || {
        let blocks = [[1.0], [2.0], [7.0]].map(|number| Block::of(SCONCE_DTYPE_F32, &number));
        let product = || multiply(&plain(1, 1, 1, 1), blocks[0].0, blocks[1].0, blocks[2].0);
        product().unwrap();
        inject("blas_gemm", 1, 15);
        assert!(product().is_err());
        assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
        // The library changes the handle for a product, and may have failed to change it back.
        product().unwrap();
        let setters = ["blas_set_stream", "blas_set_workspace", "blas_set_math_mode"];
        assert_eq!(setters.map(places::calls), [1, 1, 1]);
    });
}

#[test]
fn a_product_that_fails_when_it_runs_fails_its_device() {
    let test = "a_product_that_fails_when_it_runs_fails_its_device";
    testkit::in_child(test, &[("SCONCE_BACKEND", "sim")], || {
        let blocks = [[1.0], [2.0], [7.0]].map(|number| Block::of(SCONCE_DTYPE_F32, &number));
        let product = || multiply(&plain(1, 1, 1, 1), blocks[0].0, blocks[1].0, blocks[2].0);
        let name = CString::new("blas_gemm").unwrap();
        // SAFETY: a NUL-terminated name.
        assert_eq!(unsafe { sconce_sim_inject_async_fault(name.as_ptr(), 1, 700) }, SCONCE_OK);
        product().unwrap();
        assert_eq!(sconce_device_synchronize(0), SCONCE_ERROR_DRIVER);
        assert_eq!(product().unwrap_err().0, SCONCE_ERROR_DRIVER);
        assert_eq!(sconce_sim_clear_device_error(0), SCONCE_OK);
        product().unwrap();
        synchronize(0);
        assert_eq!(blocks[2].read(SCONCE_DTYPE_F32, 1), [2.0]);
    });
}
