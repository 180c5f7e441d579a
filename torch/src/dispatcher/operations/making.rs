//! New tensors.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor};
use crate::dispatcher::arguments::{Arguments, NEW};
use crate::dispatcher::results::{Function, Results, made, one};
use crate::error::{Error, Result};
use crate::sconce::values::integer;
use crate::sconce::{api, operations};

/// What this file offers.
pub const OPERATIONS: &[(&str, Function)] = &[
    ("new_empty(Tensor self, SymInt[] size, *, OPTIONS) -> Tensor", new_empty),
    ("new_zeros(Tensor self, SymInt[] size, *, OPTIONS) -> Tensor", new_zeros),
    (
        "empty.memory_format(SymInt[] size, *, OPTIONS, MemoryFormat? memory_format=None) -> Tensor",
        empty,
    ),
    ("zeros(SymInt[] size, *, OPTIONS) -> Tensor", zeros),
    ("empty_strided(SymInt[] size, SymInt[] stride, *, OPTIONS) -> Tensor", empty_strided),
    ("empty_like(Tensor self, *, OPTIONS, MemoryFormat? memory_format=None) -> Tensor", empty_like),
    ("zeros_like(Tensor self, *, OPTIONS, MemoryFormat? memory_format=None) -> Tensor", zeros_like),
    ("ones_like(Tensor self, *, OPTIONS, MemoryFormat? memory_format=None) -> Tensor", ones_like),
    ("ones(SymInt[] size, *, OPTIONS) -> Tensor", ones),
    ("new_ones(Tensor self, SymInt[] size, *, OPTIONS) -> Tensor", new_ones),
];

fn full(sizes: &[i64], value: i64, options: &api::sconce_tensor_options) -> Results {
    one(operations::full(sizes, &integer(value), options))
}

/// Options of a tensor like another: its type and device unless others are named.
fn like(arguments: &Arguments, at: usize) -> Result<api::sconce_tensor_options> {
    let tensor = arguments.tensor(0)?;
    let mut options = arguments.options(at, device_of_tensor(tensor)?)?;
    if options.dtype == api::SCONCE_DTYPE_DEFAULT {
        options.dtype = dtype_of_tensor(tensor)?;
    }
    Ok(options)
}

/// `new_empty(self, size, …)`
fn new_empty(arguments: &mut Arguments) -> Results {
    one(operations::empty(&arguments.ints(1)?, &like(arguments, 2)?))
}

/// `new_zeros(self, size, …)`
fn new_zeros(arguments: &mut Arguments) -> Results {
    full(&arguments.ints(1)?, 0, &like(arguments, 2)?)
}

/// `empty(size, …, memory_format)`
fn empty(arguments: &mut Arguments) -> Results {
    let mut options = arguments.options(1, NEW)?;
    options.memory_format = arguments.memory_format(5, api::SCONCE_MEMORY_FORMAT_CONTIGUOUS)?;
    one(operations::empty(&arguments.ints(0)?, &options))
}

/// `zeros(size, …)`
fn zeros(arguments: &mut Arguments) -> Results {
    full(&arguments.ints(0)?, 0, &arguments.options(1, NEW)?)
}

/// `empty_strided(size, stride, …)`
fn empty_strided(arguments: &mut Arguments) -> Results {
    let (sizes, strides) = (arguments.ints(0)?, arguments.ints(1)?);
    if sizes.len() != strides.len() {
        return Err(Error::invalid_argument(format!(
            "{} sizes and {} strides are given; there must be as many",
            sizes.len(),
            strides.len()
        )));
    }
    let options = arguments.options(2, NEW)?;
    one(operations::empty_strided(&sizes, &strides, &options))
}

/// The options of `empty_like`, `zeros_like`, `ones_like`.
fn options_like(arguments: &Arguments) -> Result<api::sconce_tensor_options> {
    let mut options = like(arguments, 1)?;
    options.memory_format = arguments.memory_format(5, api::SCONCE_MEMORY_FORMAT_PRESERVE)?;
    Ok(options)
}

/// `empty_like(self, …, memory_format)`
fn empty_like(arguments: &mut Arguments) -> Results {
    let (tensor, options) = (arguments.tensor(0)?, options_like(arguments)?);
    one(operations::empty_like_with(tensor, &options))
}

fn full_like(arguments: &Arguments, value: i64) -> Results {
    let (tensor, options, value) = (arguments.tensor(0)?, options_like(arguments)?, integer(value));
    // SAFETY: the number is valid; the place is valid for a write.
    made(|made| unsafe { api::sconce_tensor_full_like(tensor, &value, &options, made) })
}

/// `zeros_like(self, …, memory_format)`
fn zeros_like(arguments: &mut Arguments) -> Results {
    full_like(arguments, 0)
}

/// `ones_like(self, …, memory_format)`
fn ones_like(arguments: &mut Arguments) -> Results {
    full_like(arguments, 1)
}

/// `ones(size, …)`
fn ones(arguments: &mut Arguments) -> Results {
    full(&arguments.ints(0)?, 1, &arguments.options(1, NEW)?)
}

/// `new_ones(self, size, …)`
fn new_ones(arguments: &mut Arguments) -> Results {
    full(&arguments.ints(1)?, 1, &like(arguments, 2)?)
}
