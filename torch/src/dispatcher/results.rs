//! What operations are as functions, and what they return.

use crate::error::Result;
use crate::registry::value::Value;
use crate::sconce::Tensor;
use crate::sconce::tensor::TensorHandle;

use super::arguments::Arguments;

/// The results of an operation, in the order of its schema.
pub type Results = Result<Vec<Value>>;

/// Carries an operation out.
pub type Function = fn(&mut Arguments) -> Results;

/// One tensor.
pub fn one(tensor: Result<Tensor>) -> Results {
    tensor.map(|tensor| vec![Value::Tensor(tensor)])
}

/// Two tensors.
pub fn two(first: Tensor, second: Tensor) -> Results {
    Ok(vec![Value::Tensor(first), Value::Tensor(second)])
}

/// The tensor that a function of libsconce.so makes.
pub fn made(make: impl FnOnce(&mut TensorHandle) -> i32) -> Results {
    one(Tensor::made(make))
}

/// The first argument itself, which the call has changed.
pub fn changed(arguments: &mut Arguments) -> Results {
    one(arguments.take(0))
}
