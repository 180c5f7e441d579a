//! What a call with a stream works on and writes to.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;

use sconce::*;

use crate::api::{CPU, Handle, options, outcome};
use crate::create;
use crate::every::operations::Tensors;

const fn number(kind: i32, integer: i64, real: f64) -> sconce_scalar {
    sconce_scalar { kind, reserved: 0, integer, real, imaginary: 0.0 }
}

pub(super) static TWO: sconce_scalar = number(SCONCE_SCALAR_INTEGER, 2, 0.0);
pub(super) static THREE: sconce_scalar = number(SCONCE_SCALAR_INTEGER, 3, 0.0);
pub(super) static NINE: sconce_scalar = number(SCONCE_SCALAR_INTEGER, 9, 0.0);
pub(super) static HALF: sconce_scalar = number(SCONCE_SCALAR_REAL, 0, 0.5);

pub(super) static FLOATS: [f32; 4] = [1.5, -2.0, 0.25, 8.0];

/// The operands, the places for results, and what the results go to.
pub(super) struct Room {
    pub(super) tensors: Tensors,
    /// A matrix in memory of its own, which calls change.
    pub(super) own: Handle,
    /// A tensor of one element.
    pub(super) single: Handle,
    /// Tensors without elements, of F32, I64 and C64.
    pub(super) into: [Handle; 3],
    pub(super) asked: sconce_tensor_options,
    pub(super) as_f16: sconce_tensor_options,
    pub(super) pair: [*mut sconce_tensor; 2],
    pub(super) out: [*mut sconce_tensor; 2],
    pub(super) values: [u8; 64],
    pub(super) scalar: sconce_scalar,
    pub(super) truth: bool,
    pub(super) text: *mut c_char,
}

impl Room {
    /// Tensors of a device, where all work is done. New tensors are of `asked`, which may be -1 for the current device.
    pub(super) fn new(device: i32, asked: i32) -> Box<Room> {
        let tensors = Tensors::new(device, device);
        let own = tensors.matrix.clone_as(SCONCE_MEMORY_FORMAT_CONTIGUOUS).unwrap();
        let single = tensors.matrix.select(0, 2).unwrap().narrow(0, 1, 1).unwrap();
        let into = [SCONCE_DTYPE_F32, SCONCE_DTYPE_I64, SCONCE_DTYPE_C64]
            .map(|dtype| create::empty(&[0], &options(dtype, device)).unwrap());
        let pair = [tensors.turned.raw(), tensors.second.raw()];
        let room = Room {
            tensors,
            own,
            single,
            into,
            asked: options(SCONCE_DTYPE_DEFAULT, asked),
            as_f16: options(SCONCE_DTYPE_F16, -1),
            pair,
            out: [null_mut(); 2],
            values: [0xa5; 64],
            scalar: sconce_scalar::default(),
            truth: false,
            text: null_mut(),
        };
        if device != CPU {
            outcome(sconce_device_synchronize(device)).unwrap();
        }
        Box::new(room)
    }

    pub(super) fn out(&mut self, index: usize) -> *mut *mut sconce_tensor {
        &raw mut self.out[index]
    }

    pub(super) fn target(&self, index: usize) -> *mut sconce_tensor {
        self.into[index].raw()
    }

    pub(super) fn values(&mut self) -> *mut c_void {
        self.values.as_mut_ptr().cast()
    }

    /// Everything that a call may have written: sizes, strides, and elements if these are `known`. The device has no
    /// work left.
    pub(super) fn results(&self, known: bool) -> Vec<String> {
        let mut results = Vec::new();
        let mut describe = |tensor: &Handle| {
            let (sizes, strides, dtype) = (tensor.sizes(), tensor.strides(), tensor.dtype());
            let elements = if known { tensor.bytes().unwrap() } else { Vec::new() };
            results.push(format!("{sizes:?} {strides:?} {dtype} {elements:?}"));
        };
        for tensor in self.out.iter().filter(|tensor| !tensor.is_null()) {
            outcome(sconce_tensor_retain(*tensor)).unwrap();
            describe(&Handle::of(*tensor));
        }
        self.into.iter().chain([&self.own]).for_each(&mut describe);
        let text = if self.text.is_null() {
            String::new()
        } else {
            // SAFETY: the text that a call wrote.
            unsafe { CStr::from_ptr(self.text) }.to_string_lossy().replace("cuda:1", "cuda:0")
        };
        results.push(format!("{:?} {:?} {} {text}", self.values, self.scalar, self.truth));
        results
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        for tensor in self.out {
            // SAFETY: NULL, or a handle that a call returned.
            assert!(outcome(sconce_tensor_release(tensor)).is_ok() || std::thread::panicking());
        }
        // SAFETY: NULL, or the text that a call returned.
        unsafe { sconce_string_free(self.text) };
    }
}
