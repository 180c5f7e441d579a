//! Views: tensors that share the memory of another.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use super::arguments::Arguments;
use crate::error::Result;
use crate::registry::value::Value;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

type Results = Result<Vec<Value>>;

/// The result of a function of libsconce.so that makes a tensor.
fn made(make: impl FnOnce(*mut TensorHandle) -> i32) -> Results {
    Tensor::made(make).map(|tensor| vec![Value::Tensor(tensor)])
}

/// Functions of libsconce.so that take a tensor and a list of integers.
macro_rules! by_list {
    ($($name:ident = $function:ident;)*) => {
        $(
            /// As the function of this name of torch: `(self, list)`.
            pub fn $name(arguments: &mut Arguments) -> Results {
                let (tensor, list) = (arguments.tensor(0)?, arguments.ints(1)?);
                // SAFETY: the list has as many entries; the place is valid for a write.
                made(|made| unsafe { api::$function(tensor, list.as_ptr(), list.len(), made) })
            }
        )*
    };
}

by_list! {
    view = sconce_tensor_view;
    reshape = sconce_tensor_reshape;
    permute = sconce_tensor_permute;
    expand = sconce_tensor_expand;
    squeeze_dims = sconce_tensor_squeeze;
}

/// Functions of libsconce.so that take a tensor and two integers.
macro_rules! by_two {
    ($($name:ident = $function:ident;)*) => {
        $(
            /// As the function of this name of torch: `(self, integer, integer)`.
            pub fn $name(arguments: &mut Arguments) -> Results {
                let (tensor, first, second) =
                    (arguments.tensor(0)?, arguments.int(1)?, arguments.int(2)?);
                // SAFETY: the place is valid for a write.
                made(|made| unsafe { api::$function(tensor, first, second, made) })
            }
        )*
    };
}

by_two! {
    transpose = sconce_tensor_transpose;
    select = sconce_tensor_select;
    flatten = sconce_tensor_flatten;
}

/// `squeeze(self)`
pub fn squeeze(arguments: &mut Arguments) -> Results {
    let tensor = arguments.tensor(0)?;
    // SAFETY: NULL stands for all dimensions; the place is valid for a write.
    made(|made| unsafe { api::sconce_tensor_squeeze(tensor, std::ptr::null(), 0, made) })
}

/// `squeeze.dim(self, dim)`
pub fn squeeze_dim(arguments: &mut Arguments) -> Results {
    let (tensor, dim) = (arguments.tensor(0)?, arguments.int(1)?);
    // SAFETY: there is one dimension; the place is valid for a write.
    made(|made| unsafe { api::sconce_tensor_squeeze(tensor, &dim, 1, made) })
}

/// `unsqueeze(self, dim)`
pub fn unsqueeze(arguments: &mut Arguments) -> Results {
    let (tensor, dim) = (arguments.tensor(0)?, arguments.int(1)?);
    // SAFETY: the place is valid for a write.
    made(|made| unsafe { api::sconce_tensor_unsqueeze(tensor, dim, made) })
}

/// `slice(self, dim, start, end, step)`
pub fn slice(arguments: &mut Arguments) -> Results {
    let (tensor, dim, step) = (arguments.tensor(0)?, arguments.int(1)?, arguments.int(4)?);
    let start = arguments.optional_int(2)?.unwrap_or(0);
    let end = arguments.optional_int(3)?.unwrap_or(i64::MAX);
    // SAFETY: the place is valid for a write.
    made(|made| unsafe { api::sconce_tensor_slice(tensor, dim, start, end, step, made) })
}

/// `narrow(self, dim, start, length)`
pub fn narrow(arguments: &mut Arguments) -> Results {
    let (tensor, dim) = (arguments.tensor(0)?, arguments.int(1)?);
    let (start, length) = (arguments.int(2)?, arguments.int(3)?);
    // SAFETY: the place is valid for a write.
    made(|made| unsafe { api::sconce_tensor_narrow(tensor, dim, start, length, made) })
}
