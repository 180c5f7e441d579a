//! What is refused, in words that name the argument; and that nothing is queued then.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::libraries::fft::{self, desc, rows, run};
use testkit::places::{Kind, Place, alone, calls, inject};

/// Changes that spoil a description, and what the refusal says.
type Spoilt = (fn(&mut sconce_fft_desc), sconce_status, &'static str);

const BYTES: usize = 1 << 16;
/// Memory comes in multiples of this.
const PAGE: usize = 4096;

fn spoilt() -> Vec<Spoilt> {
    let bad = SCONCE_ERROR_INVALID_ARGUMENT;
    vec![
        (|d| d.struct_size = 4, bad, "desc.struct_size is 4"),
        (|d| d.kind = 3, bad, "desc.kind is 3"),
        (|d| d.kind = -1, bad, "desc.kind is -1"),
        (|d| d.direction = 2, bad, "desc.direction is 2"),
        (|d| d.normalization = 3, bad, "desc.normalization is 3"),
        (|d| d.dtype = SCONCE_DTYPE_BF16, SCONCE_ERROR_NOT_SUPPORTED, "desc.dtype"),
        (|d| d.dtype = SCONCE_DTYPE_I32, SCONCE_ERROR_NOT_SUPPORTED, "desc.dtype"),
        (|d| d.rank = 0, bad, "desc.rank is 0"),
        (|d| d.rank = 4, bad, "desc.rank is 4"),
        (|d| d.rank = -1, bad, "desc.rank is -1"),
        (|d| d.sizes[0] = 0, bad, "desc.sizes[0] is 0; it must be at least 1"),
        (|d| d.sizes[1] = -3, bad, "desc.sizes[1] is -3"),
        (|d| (d.sizes[0], d.batch) = (0, 0), bad, "desc.sizes[0] is 0"),
        (|d| d.batch = -1, bad, "desc.batch is -1"),
        (|d| (d.kind, d.direction) = (1, 1), bad, "R2C is forward only"),
        (|d| (d.kind, d.direction) = (2, 0), bad, "C2R is inverse only"),
        // Too large for addresses, in each of the ways.
        (|d| d.sizes = [i64::MAX; 3], bad, "desc.in_strides"),
        (|d| d.sizes[1] = i64::MAX, bad, "desc.in_strides"),
        (|d| d.batch = i64::MAX, bad, "desc.in_strides"),
        (|d| d.in_batch_stride = i64::MAX, bad, "desc.in_strides"),
        (|d| d.in_strides = [i64::MIN, 1, 1], bad, "desc.in_strides"),
        (|d| d.in_strides = [i64::MAX / 24, i64::MAX / 56, 1], bad, "desc.in_strides"),
        (|d| d.out_strides = [8, i64::MAX, 1], bad, "desc.out_strides"),
        // Elements of the output over each other.
        (|d| d.out_strides = [8, 2, 0], bad, "desc.out_batch_stride is 0"),
        (|d| (d.out_strides, d.out_batch_stride) = ([0, 1, 0], 8), bad, "desc.out_strides[0] is 0"),
        (
            |d| (d.out_strides, d.out_batch_stride) = ([7, 1, 0], 64),
            bad,
            "desc.out_strides[0] is 7",
        ),
        (
            |d| (d.out_strides, d.out_batch_stride) = ([1, -3, 0], 64),
            bad,
            "desc.out_strides[1] is -3",
        ),
        (
            |d| (d.out_strides, d.out_batch_stride) = ([8, 1, 0], -31),
            bad,
            "desc.out_batch_stride is -31",
        ),
        // The memory is not so large.
        (|d| d.sizes[0] = 1 << 20, bad, "input 0x"),
        (|d| (d.out_strides, d.out_batch_stride) = ([8, 1, 0], 1 << 20), bad, "output 0x"),
        (|d| (d.in_strides, d.in_batch_stride) = ([8, 1, 0], -32), bad, "input 0x"),
        (|d| (d.in_strides, d.in_batch_stride) = ([8, 1, 0], -(1 << 58)), bad, "below address 0"),
    ]
}

#[test]
fn each_refusal_names_what_is_wrong_and_queues_nothing() {
    let _alone = alone();
    let [input, output] = [0, 1].map(|_| Place::new(Kind::Device(0), BYTES));
    let good = desc(SCONCE_FFT_C2C, SCONCE_DTYPE_F32, &[4, 8], 2);
    assert_eq!(run(&good, input.start(), output.start()), SCONCE_OK);
    let (size, executed) = (fft::stats(0).size, calls("fft_execute"));
    for (at, (spoil, status, words)) in spoilt().into_iter().enumerate() {
        let mut desc = good;
        spoil(&mut desc);
        let found = run(&desc, input.start(), output.start());
        let message = last_message();
        assert_eq!(found, status, "{at}: {words}: {message}");
        assert!(message.contains(words), "{at}: {words}: {message}");
    }
    assert_eq!(run(&good, input.start(), output.start()), SCONCE_OK);
    assert_eq!(calls("fft_execute"), executed + 1);
    assert_eq!(fft::stats(0).size, size);
}

#[test]
fn addresses_must_be_memory_of_one_device_aligned_and_long_enough() {
    let _alone = alone();
    let [input, output] = [0, 1].map(|_| Place::new(Kind::Device(0), PAGE));
    let (there, ordinary, pinned) = (
        Place::new(Kind::Device(1), PAGE),
        Place::new(Kind::Ordinary, PAGE),
        Place::new(Kind::Pinned, PAGE),
    );
    let good = rows(PAGE as i64 / 8, 1);
    let null = std::ptr::null_mut();
    for (from, to, status, words) in [
        (null, output.start(), SCONCE_ERROR_INVALID_ARGUMENT, "input is NULL"),
        (input.start(), null, SCONCE_ERROR_INVALID_ARGUMENT, "output is NULL"),
        (ordinary.start(), output.start(), SCONCE_ERROR_INVALID_ARGUMENT, "input 0x"),
        (input.start(), pinned.start(), SCONCE_ERROR_INVALID_ARGUMENT, "output 0x"),
        (input.at(4), output.start(), SCONCE_ERROR_INVALID_ARGUMENT, "input 0x"),
        (input.start(), output.at(4), SCONCE_ERROR_INVALID_ARGUMENT, "aligned"),
        (input.start(), output.at(8), SCONCE_ERROR_INVALID_ARGUMENT, "output 0x"),
        (input.start(), there.start(), SCONCE_ERROR_CROSS_DEVICE, "input is memory of device 0"),
    ] {
        assert_eq!(run(&good, from, to), status, "{words}: {}", last_message());
        assert!(last_message().contains(words), "{words}: {}", last_message());
    }
    // SAFETY: a NULL descriptor is allowed.
    let status = unsafe { sconce_fft(std::ptr::null(), input.start(), output.start()) };
    assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT);
    assert!(last_message().contains("desc"), "{}", last_message());
    assert_eq!(run(&good, input.start(), output.start()), SCONCE_OK);
}

#[test]
fn an_output_over_the_input_is_refused_unless_it_is_in_place() {
    let _alone = alone();
    let memory = Place::new(Kind::Device(0), BYTES);
    let complex = rows(8, 4);
    let turned = |strides: [i64; 3], batch: i64| {
        let mut desc = rows(8, 4);
        (desc.out_strides, desc.out_batch_stride) = (strides, batch);
        desc
    };
    let real = desc(SCONCE_FFT_R2C, SCONCE_DTYPE_F32, &[4, 8], 1);
    let back = desc(SCONCE_FFT_C2R, SCONCE_DTYPE_F32, &[4, 8], 1);
    for (desc, distance, words) in [
        (complex, 8, "memory of its own"),
        (complex, 8 * 31, "memory of its own"),
        (turned([4, 0, 0], 1), 0, "same strides"),
        (turned([1, 0, 0], 9), 0, "same strides"),
        (real, 0, "2 * (n / 2 + 1)"),
        (back, 0, "2 * (n / 2 + 1)"),
    ] {
        let status = run(&desc, memory.start(), memory.at(distance));
        assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT, "{words}");
        assert!(last_message().contains("output lies over input"), "{}", last_message());
        assert!(last_message().contains(words), "{words}: {}", last_message());
        assert_eq!(run(&desc, memory.at(distance), memory.start()), status);
    }
    // Side by side is apart.
    assert_eq!(run(&complex, memory.start(), memory.at(8 * 32)), SCONCE_OK, "{}", last_message());
    assert_eq!(run(&complex, memory.at(8 * 32), memory.start()), SCONCE_OK, "{}", last_message());
    // So are the columns of one matrix, each time they are used.
    let mut columns = desc(SCONCE_FFT_C2C, SCONCE_DTYPE_F32, &[8], 4);
    (columns.in_strides, columns.in_batch_stride) = ([9, 0, 0], 1);
    (columns.out_strides, columns.out_batch_stride) = ([9, 0, 0], 1);
    for _ in 0..2 {
        assert_eq!(
            run(&columns, memory.start(), memory.at(8 * 4)),
            SCONCE_OK,
            "{}",
            last_message()
        );
        assert_eq!(
            run(&columns, memory.at(8 * 4), memory.start()),
            SCONCE_OK,
            "{}",
            last_message()
        );
        let one_in_common = run(&columns, memory.start(), memory.at(8 * 3));
        assert_eq!(one_in_common, SCONCE_ERROR_INVALID_ARGUMENT);
        assert_eq!(run(&columns, memory.start(), memory.at(8 * 72)), SCONCE_OK);
    }
}

#[test]
fn what_cufft_refuses_is_not_supported_and_takes_no_place() {
    let _alone = alone();
    assert_eq!(sconce_fft_cache_clear(0), SCONCE_OK);
    let memory = Place::new(Kind::Device(0), BYTES);
    let half = desc(SCONCE_FFT_C2C, SCONCE_DTYPE_F16, &[12], 1);
    for _ in 0..2 {
        assert_eq!(run(&half, memory.start(), memory.start()), SCONCE_ERROR_NOT_SUPPORTED);
        for words in ["desc.sizes[0] is 12; F16 takes powers of two", "CUFFT_NOT_SUPPORTED (16)"] {
            assert!(last_message().contains(words), "{}", last_message());
        }
        assert_eq!(sconce_last_error_backend_code(), 16);
    }
    assert_eq!(fft::stats(0).size, 0);
    assert_eq!(calls("fft_plan"), 2);
    let good = rows(8, 1);
    inject("fft_plan", 1, 16);
    assert_eq!(run(&good, memory.start(), memory.start()), SCONCE_ERROR_NOT_SUPPORTED);
    let words = "cuFFT does not take desc.sizes [8] with desc.batch 1: ";
    assert!(last_message().contains(words), "{}", last_message());
    inject("fft_plan", 1, -1);
    assert_eq!(run(&good, memory.start(), memory.start()), SCONCE_ERROR_LIBRARY_NOT_FOUND);
    assert!(last_message().contains("cuFFT"), "{}", last_message());
    assert_eq!(run(&good, memory.start(), memory.start()), SCONCE_OK);
    assert_eq!(fft::stats(0).size, 1);
}

#[test]
fn limits_are_refused_by_name() {
    let _alone = alone();
    assert_eq!(sconce_fft_cache_set_max_size(0, i64::MIN), SCONCE_ERROR_INVALID_ARGUMENT);
    assert!(last_message().contains(&format!("max_size is {}", i64::MIN)), "{}", last_message());
    assert!(last_message().contains("non-negative"), "{}", last_message());
    assert_eq!(sconce_fft_cache_set_max_bytes(0, -5), SCONCE_ERROR_INVALID_ARGUMENT);
    assert!(last_message().contains("max_bytes is -5"), "{}", last_message());
    for device in [-2, 64, i32::MAX] {
        let mut size = 0_usize;
        let mut bytes = 0_u64;
        // SAFETY: a good place.
        let got = unsafe { sconce_fft_cache_get_size(device, &raw mut size) };
        // SAFETY: a writable number, to which nothing is written.
        let got_max = unsafe { sconce_fft_cache_get_max_size(device, &raw mut size) };
        // SAFETY: a writable number, to which nothing is written.
        let got_bytes = unsafe { sconce_fft_cache_get_max_bytes(device, &raw mut bytes) };
        assert_eq!([got, got_max, got_bytes], [SCONCE_ERROR_INVALID_DEVICE; 3]);
        assert_eq!(sconce_fft_cache_set_max_size(device, 1), SCONCE_ERROR_INVALID_DEVICE);
        assert_eq!(sconce_fft_cache_set_max_bytes(device, 1), SCONCE_ERROR_INVALID_DEVICE);
        assert_eq!(sconce_fft_cache_clear(device), SCONCE_ERROR_INVALID_DEVICE);
        assert_eq!(sconce_fft_cache_reset_stats(device), SCONCE_ERROR_INVALID_DEVICE);
    }
    // More than torch's default, and all there can be.
    for most in [5000, i64::MAX] {
        assert_eq!(sconce_fft_cache_set_max_size(0, most), SCONCE_OK, "{}", last_message());
        assert_eq!(fft::stats(0).max_size, most as u64);
    }
    assert_eq!(sconce_fft_cache_set_max_size(0, 4096), SCONCE_OK);
}
