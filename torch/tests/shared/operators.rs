//! Kernel libraries and their operators, for the tests that call them.

use std::ffi::{CStr, CString, c_char};
use std::path::Path;
use std::ptr::null;

use super::message;

#[link(name = "sconce_torch")]
unsafe extern "C" {
    pub(crate) fn sconce_torch_load(path: *const c_char, library: *mut usize) -> i32;
    pub(crate) safe fn sconce_torch_unload(library: usize) -> i32;
    fn sconce_op_find(name: *const c_char, overload: *const c_char, op: *mut usize) -> i32;
    pub(crate) fn sconce_op_call(
        op: usize,
        arguments: *const Value,
        n: usize,
        results: *mut Value,
        capacity: usize,
        count: *mut usize,
    ) -> i32;
}

/// `sconce_value`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value {
    pub(crate) kind: i32,
    pub(crate) reserved: i32,
    pub(crate) integer: i64,
    pub(crate) real: f64,
    pub(crate) tensor: usize,
    pub(crate) text: *const c_char,
    pub(crate) items: *const Value,
    pub(crate) count: usize,
    pub(crate) generator: usize,
}

pub(crate) const NOTHING: Value = Value {
    kind: 0,
    reserved: 0,
    integer: 0,
    real: 0.0,
    tensor: 0,
    text: null(),
    items: null(),
    count: 0,
    generator: 0,
};

/// Opens a kernel library.
pub(crate) fn load(path: &Path) -> Result<usize, String> {
    let path = CString::new(path.to_str().unwrap()).unwrap();
    let mut library = 0;
    // SAFETY: the path ends with NUL; the place is valid for a write.
    match unsafe { sconce_torch_load(path.as_ptr(), &mut library) } {
        0 => Ok(library),
        _ => Err(message()),
    }
}

/// Unloads a kernel library.
pub(crate) fn unload(library: usize) {
    assert_eq!(sconce_torch_unload(library), 0, "{}", message());
}

/// Finds an operator.
pub(crate) fn find(name: &CStr) -> Result<usize, String> {
    let mut op = 0;
    // SAFETY: the name ends with NUL; the place is valid for a write.
    match unsafe { sconce_op_find(name.as_ptr(), null(), &mut op) } {
        0 => Ok(op),
        _ => Err(message()),
    }
}
