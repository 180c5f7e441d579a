//! New tensors.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use super::arguments::{Arguments, NEW};
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor};
use crate::error::{Error, Result};
use crate::registry::value::Value;
use crate::sconce::values::integer;
use crate::sconce::{Tensor, api, operations};

type Results = Result<Vec<Value>>;

fn one(tensor: Tensor) -> Vec<Value> {
    vec![Value::Tensor(tensor)]
}

fn zeros_of(sizes: &[i64], options: &api::sconce_tensor_options) -> Result<Tensor> {
    // SAFETY: there are as many sizes; the number is valid; the place is valid for a write.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_full(sizes.as_ptr(), sizes.len(), &integer(0), options, made)
    })
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
pub fn new_empty(arguments: &mut Arguments) -> Results {
    operations::empty(&arguments.ints(1)?, &like(arguments, 2)?).map(one)
}

/// `new_zeros(self, size, …)`
pub fn new_zeros(arguments: &mut Arguments) -> Results {
    zeros_of(&arguments.ints(1)?, &like(arguments, 2)?).map(one)
}

/// `empty(size, …, memory_format)`
pub fn empty(arguments: &mut Arguments) -> Results {
    let mut options = arguments.options(1, NEW)?;
    options.memory_format = arguments.memory_format(5, api::SCONCE_MEMORY_FORMAT_CONTIGUOUS)?;
    operations::empty(&arguments.ints(0)?, &options).map(one)
}

/// `zeros(size, …)`
pub fn zeros(arguments: &mut Arguments) -> Results {
    zeros_of(&arguments.ints(0)?, &arguments.options(1, NEW)?).map(one)
}

/// `empty_strided(size, stride, …)`
pub fn empty_strided(arguments: &mut Arguments) -> Results {
    let (sizes, strides) = (arguments.ints(0)?, arguments.ints(1)?);
    if sizes.len() != strides.len() {
        return Err(Error::invalid_argument(format!(
            "{} sizes and {} strides are given; there must be as many",
            sizes.len(),
            strides.len()
        )));
    }
    let options = arguments.options(2, NEW)?;
    // SAFETY: there are as many sizes and strides; the place is valid for a write.
    let tensor = Tensor::made(|made| unsafe {
        let (sizes, strides, rank) = (sizes.as_ptr(), strides.as_ptr(), sizes.len());
        api::sconce_tensor_empty_strided(sizes, strides, rank, &options, made)
    })?;
    Ok(one(tensor))
}

/// The options of `empty_like`, `zeros_like`, `ones_like`.
fn alike(arguments: &Arguments) -> Result<api::sconce_tensor_options> {
    let mut options = like(arguments, 1)?;
    options.memory_format = arguments.memory_format(5, api::SCONCE_MEMORY_FORMAT_PRESERVE)?;
    Ok(options)
}

/// `empty_like(self, …, memory_format)`
pub fn empty_like(arguments: &mut Arguments) -> Results {
    let (tensor, options) = (arguments.tensor(0)?, alike(arguments)?);
    // SAFETY: the place is valid for a write.
    let made =
        Tensor::made(|made| unsafe { api::sconce_tensor_empty_like(tensor, &options, made) });
    made.map(one)
}

fn full_like(arguments: &Arguments, value: i64) -> Results {
    let (tensor, options, value) = (arguments.tensor(0)?, alike(arguments)?, integer(value));
    // SAFETY: the number is valid; the place is valid for a write.
    let made = Tensor::made(|made| unsafe {
        api::sconce_tensor_full_like(tensor, &value, &options, made)
    });
    made.map(one)
}

/// `zeros_like(self, …, memory_format)`
pub fn zeros_like(arguments: &mut Arguments) -> Results {
    full_like(arguments, 0)
}

/// `ones_like(self, …, memory_format)`
pub fn ones_like(arguments: &mut Arguments) -> Results {
    full_like(arguments, 1)
}
