//! Arguments and results of operators in C.

#![allow(non_camel_case_types, reason = "the names of the C API")]
#![allow(unsafe_code, reason = "reads and writes values of the caller")]

use std::ffi::{CString, c_char};

use crate::abi::arguments::array;
use crate::abi::constants::{DEVICE_TYPE_CPU, DEVICE_TYPE_CUDA, dtype_of, scalar_type_of};
use crate::abi::errors::{not_null, text_of};
use crate::error::{Error, Result};
use crate::registry::value::Value;
use crate::sconce::Tensor;
use crate::sconce::api::{self, sconce_generator, sconce_tensor};
use crate::sconce::generator::Generator;

/// No value, for an optional argument.
pub const SCONCE_OP_VALUE_NONE: i32 = 0;
/// A tensor, in `tensor`.
pub const SCONCE_OP_VALUE_TENSOR: i32 = 1;
/// An integer, in `integer`.
pub const SCONCE_OP_VALUE_INTEGER: i32 = 2;
/// A real number, in `real`.
pub const SCONCE_OP_VALUE_REAL: i32 = 3;
/// A truth value, in `integer`: 0 or 1.
pub const SCONCE_OP_VALUE_BOOL: i32 = 4;
/// A text, in `text`.
pub const SCONCE_OP_VALUE_TEXT: i32 = 5;
/// A list, in `items` and `count`.
pub const SCONCE_OP_VALUE_LIST: i32 = 6;
/// A data type, in `integer`: `SCONCE_DTYPE_…`.
pub const SCONCE_OP_VALUE_DTYPE: i32 = 7;
/// A device, in `integer`: an index or `SCONCE_DEVICE_CPU`.
pub const SCONCE_OP_VALUE_DEVICE: i32 = 8;
/// A generator of random numbers, in `generator`. NULL stands for an optional argument that is left out.
pub const SCONCE_OP_VALUE_GENERATOR: i32 = 9;

/// An argument or a result of an operator. Begin with `SCONCE_OP_VALUE_INIT`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sconce_op_value {
    /// `SCONCE_OP_VALUE_…`: the kind of value, which determines the field that holds it.
    pub kind: i32,
    /// 0.
    pub reserved: i32,
    /// The value of an integer, a truth value, a data type or a device.
    pub integer: i64,
    /// The value of a real number.
    pub real: f64,
    /// The tensor.
    pub tensor: *mut sconce_tensor,
    /// The text, NUL-terminated.
    pub text: *const c_char,
    /// The entries of a list.
    pub items: *const sconce_op_value,
    /// Number of `items`.
    pub count: usize,
    /// The generator, for `SCONCE_OP_VALUE_GENERATOR`.
    pub generator: *mut sconce_generator,
}

/// `SCONCE_OP_VALUE_INIT`.
pub(super) const NOTHING: sconce_op_value = sconce_op_value {
    kind: SCONCE_OP_VALUE_NONE,
    reserved: 0,
    integer: 0,
    real: 0.0,
    tensor: std::ptr::null_mut(),
    text: std::ptr::null(),
    items: std::ptr::null(),
    count: 0,
    generator: std::ptr::null_mut(),
};

/// Lists may contain lists, as deep as a schema's type.
const DEPTH: usize = 8;

/// An argument, in lists of a depth.
///
/// # Safety
/// Texts end with NUL, and `items` has `count` values.
pub(super) unsafe fn value_of(value: &sconce_op_value, depth: usize) -> Result<Value> {
    Ok(match value.kind {
        SCONCE_OP_VALUE_NONE => Value::None,
        // libsconce.so calls its argument as the field is called.
        SCONCE_OP_VALUE_TENSOR => Value::Tensor(Tensor::retained(value.tensor)?),
        SCONCE_OP_VALUE_INTEGER => Value::Int(value.integer),
        SCONCE_OP_VALUE_REAL => Value::Float(value.real),
        SCONCE_OP_VALUE_BOOL => Value::Bool(value.integer != 0),
        SCONCE_OP_VALUE_DTYPE => {
            let dtype = i32::try_from(value.integer).map_err(|_| {
                Error::invalid_argument(format!(
                    "integer is {}, which is no data type; use SCONCE_DTYPE_…",
                    value.integer
                ))
            })?;
            Value::Code(scalar_type_of(dtype).map_err(|_| {
                Error::invalid_argument(format!(
                    "integer is {dtype}, which is no data type; use SCONCE_DTYPE_…"
                ))
            })?)
        }
        SCONCE_OP_VALUE_DEVICE => match i32::try_from(value.integer) {
            Ok(api::SCONCE_DEVICE_CPU) => Value::Device(DEVICE_TYPE_CPU, -1),
            Ok(index) if index >= -1 => Value::Device(DEVICE_TYPE_CUDA, index),
            _ => {
                return Err(Error::invalid_argument(format!(
                    "integer is {}, which is no device; use an index, -1 or SCONCE_DEVICE_CPU",
                    value.integer
                )));
            }
        },
        SCONCE_OP_VALUE_GENERATOR => {
            let generator = Generator::of(value.generator);
            if !generator.is_default() {
                generator.device()?;
            }
            Value::Generator(generator)
        }
        SCONCE_OP_VALUE_TEXT => {
            not_null(value.text, "text")?;
            // SAFETY: the text is not NULL, so C passed one that ends with NUL.
            Value::Str(unsafe { text_of(value.text) }.into_bytes())
        }
        SCONCE_OP_VALUE_LIST => {
            if depth == DEPTH {
                return Err(Error::invalid_argument(format!(
                    "items: a list is deeper than {DEPTH} lists"
                )));
            }
            // SAFETY: C passed a list of `count` items.
            let items = unsafe { array(value.items, value.count, "items") }?;
            let values = items.iter().enumerate().map(|(at, item)| {
                // SAFETY: the items of a list are values that C passed as the list itself.
                let value = unsafe { value_of(item, depth + 1) };
                value.map_err(|error| error.of_field(&format!("items[{at}]")))
            });
            Value::List(values.collect::<Result<_>>()?)
        }
        kind => {
            return Err(Error::invalid_argument(format!(
                "kind is {kind}, which is no kind of value; use SCONCE_OP_VALUE_…"
            )));
        }
    })
}

/// A result that owns what it holds. It goes with that, unless it is passed on.
pub(super) struct OwnedResult(sconce_op_value);

impl OwnedResult {
    /// The result, whose receiver owns what it holds.
    pub(super) fn into_value(self) -> sconce_op_value {
        std::mem::ManuallyDrop::new(self).0
    }
}

impl Drop for OwnedResult {
    fn drop(&mut self) {
        // SAFETY: the value is one that `fields_of` made, and its one owner goes.
        unsafe { free(&self.0) };
    }
}

/// The results that a caller owns.
pub(super) fn results_of(values: Vec<Value>) -> Result<Vec<OwnedResult>> {
    values.into_iter().map(|value| fields_of(value).map(OwnedResult)).collect()
}

/// The fields of a result. They own what the value did.
fn fields_of(value: Value) -> Result<sconce_op_value> {
    let number = |kind, integer| sconce_op_value { kind, integer, ..NOTHING };
    Ok(match value {
        Value::None => NOTHING,
        Value::Tensor(tensor) => sconce_op_value {
            kind: SCONCE_OP_VALUE_TENSOR,
            tensor: tensor.into_handle(),
            ..NOTHING
        },
        Value::Int(value) => number(SCONCE_OP_VALUE_INTEGER, value),
        Value::Bool(value) => number(SCONCE_OP_VALUE_BOOL, value.into()),
        Value::Float(real) => sconce_op_value { kind: SCONCE_OP_VALUE_REAL, real, ..NOTHING },
        Value::Complex(real, imaginary) => {
            return Err(Error::not_supported(format!(
                "the operator returns the complex number {real}{imaginary:+}i, which has no kind of value; return a \
                 tensor"
            )));
        }
        Value::Code(code) => number(SCONCE_OP_VALUE_DTYPE, dtype_of(code)?.into()),
        Value::Device(DEVICE_TYPE_CPU, _) => {
            number(SCONCE_OP_VALUE_DEVICE, api::SCONCE_DEVICE_CPU.into())
        }
        Value::Device(_, index) => number(SCONCE_OP_VALUE_DEVICE, index.into()),
        Value::Generator(generator) => sconce_op_value {
            kind: SCONCE_OP_VALUE_GENERATOR,
            generator: generator.handle(),
            ..NOTHING
        },
        Value::Str(bytes) => {
            let text = String::from_utf8_lossy(&bytes).replace('\0', "\\0");
            let text = CString::new(text).unwrap_or_default().into_raw();
            sconce_op_value { kind: SCONCE_OP_VALUE_TEXT, text, ..NOTHING }
        }
        Value::List(values) => {
            let items = results_of(values)?.into_iter().map(OwnedResult::into_value);
            let items: Vec<_> = items.collect();
            let count = items.len();
            let items = Box::into_raw(items.into_boxed_slice()).cast::<sconce_op_value>();
            sconce_op_value { kind: SCONCE_OP_VALUE_LIST, items, count, ..NOTHING }
        }
    })
}

/// Releases a result.
///
/// # Safety
/// The value is a result, and not used afterwards.
pub(super) unsafe fn free(value: &sconce_op_value) {
    if !value.tensor.is_null() {
        drop(Tensor::from_handle(value.tensor));
    }
    if !value.text.is_null() {
        // SAFETY: `fields_of` made the text with `CString::into_raw`, and the value is not used afterwards.
        drop(unsafe { CString::from_raw(value.text.cast_mut()) });
    }
    if value.kind == SCONCE_OP_VALUE_LIST {
        let items = std::ptr::slice_from_raw_parts_mut(value.items.cast_mut(), value.count);
        // SAFETY: `fields_of` made the list of a boxed slice of this length, and the value is not used afterwards.
        let items = unsafe { Box::from_raw(items) };
        // SAFETY: the items are results that the list owned.
        items.iter().for_each(|item| unsafe { free(item) });
    }
}
