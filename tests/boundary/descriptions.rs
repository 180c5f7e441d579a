//! The structs that describe calls, as bytes: good ones, and ones with other numbers in them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "writes structs as bytes")]

use std::ptr::null;

use sconce::*;
use testkit::libraries::{convolutions, fft, products};
use testkit::simulated::launch_desc;
use testkit::structs;

/// A struct as bytes, with room for a later version's.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub(crate) struct Bytes(pub(crate) [u8; 8192]);

impl Bytes {
    pub(crate) fn of<T: Copy>(value: T) -> Bytes {
        let mut bytes = Bytes([0; 8192]);
        // SAFETY: room for the struct.
        unsafe { std::ptr::from_mut(&mut bytes).cast::<T>().write(value) };
        bytes
    }

    pub(crate) fn with_size(mut self, bytes: usize) -> Bytes {
        self.0[..4].copy_from_slice(&(bytes as u32).to_ne_bytes());
        self
    }

    pub(crate) fn zeroed(bytes: usize) -> Bytes {
        Bytes([0; 8192]).with_size(bytes)
    }
}

/// A description that the call carries out.
pub(crate) fn good(name: &str) -> Bytes {
    match name {
        "sconce_options" => Bytes::of(sconce_options {
            struct_size: size_of::<sconce_options>() as u32,
            backend: sconce_backend::SCONCE_BACKEND_SIM as i32,
            sim_devices: 1,
            sim_sms: 0,
            sim_memory_bytes: 0,
        }),
        "sconce_matmul_desc" => Bytes::of(products::plain(1, 8, 8, 8)),
        "sconce_convolution_desc" => {
            Bytes::of(convolutions::desc(SCONCE_CONVOLUTION_FORWARD, SCONCE_DTYPE_F32))
        }
        "sconce_fft_desc" => Bytes::of(fft::desc(SCONCE_FFT_C2R, SCONCE_DTYPE_F32, &[8], 1)),
        "sconce_strided_copy" => Bytes::of(sconce_strided_copy {
            struct_size: size_of::<sconce_strided_copy>() as u32,
            rank: 2,
            element_bytes: 4,
            sizes: [3, 5, 0, 0, 0, 0, 0, 0],
            dst_strides: [1, 3, 0, 0, 0, 0, 0, 0],
            src_strides: [5, 1, 0, 0, 0, 0, 0, 0],
        }),
        "sconce_launch_desc" => Bytes::of(launch_desc(1, 1)),
        "sconce_sleep_desc" => Bytes::of(sconce_sleep_desc {
            struct_size: size_of::<sconce_sleep_desc>() as u32,
            mode: sconce_sleep_mode::SCONCE_SLEEP_HOST_PINNED as i32,
            path: null(),
        }),
        other => panic!("this test does not know {other}; teach it"),
    }
}

/// Copies of a description in which one element of one field is another number. `numbers` returns those for a type.
pub(crate) fn fields_with(
    name: &str,
    good: Bytes,
    numbers: impl Fn(&str) -> Vec<u64>,
) -> Vec<Bytes> {
    let structs = structs::structs(&testkit::header::text());
    let mut all = Vec::new();
    for field in structs[name].fields.iter().filter(|field| field.name != "struct_size") {
        let width = match field.kind.as_str() {
            "int64_t" | "uint64_t" | "size_t" => 8,
            _ => 4,
        };
        for number in numbers(&field.kind) {
            for at in (field.offset..field.offset + field.bytes).step_by(width) {
                let mut other = good;
                other.0[at..at + width].copy_from_slice(&number.to_ne_bytes()[..width]);
                all.push(other);
            }
        }
    }
    all
}
