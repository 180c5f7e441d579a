//! Some core operations, for kernel libraries and for what models call by name.

use crate::abi::copies::cloned;
use crate::abi::tensors::{dtype_of_tensor, sizes_of};
use crate::dispatcher::arguments::{Arguments, NEW};
use crate::dispatcher::results::{Function, Results, changed, one};
use crate::error::{Error, Result};
use crate::operations::indexed::scatter_value;
use crate::sconce::{api, operations};

/// What this file offers.
pub const OPERATIONS: &[(&str, Function)] = &[
    ("_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", |arguments| {
        along(arguments, api::SCONCE_LINE_SOFTMAX)
    }),
    ("_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", |arguments| {
        along(arguments, api::SCONCE_LINE_LOG_SOFTMAX)
    }),
    ("any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", |arguments| {
        reduced(arguments, api::SCONCE_REDUCE_ANY, api::SCONCE_DTYPE_DEFAULT)
    }),
    (
        "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        |arguments| {
            let (dim, dtype) = (arguments.int(1)?, arguments.dtype(3)?);
            let (tensor, keep) = (arguments.tensor(0)?, arguments.flag(2)?);
            one(operations::reduce(api::SCONCE_REDUCE_PROD, tensor, &[dim], keep, dtype))
        },
    ),
    ("scalar_tensor(Scalar s, *, OPTIONS) -> Tensor", |arguments| {
        let mut options = arguments.options(1, NEW)?;
        if options.dtype == api::SCONCE_DTYPE_DEFAULT {
            // Without a type it is that of real numbers, whatever the number is.
            options.dtype = api::SCONCE_DTYPE_F32;
        }
        one(operations::full(&[], &arguments.scalar(0)?, &options))
    }),
    ("scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", |arguments| {
        let made = cloned(arguments.tensor(0)?)?;
        let (out, dim, index) = (made.handle(), arguments.int(1)?, arguments.tensor(2)?);
        scatter_value(out, out, dim, index, arguments.real_number(3)?)?;
        one(Ok(made))
    }),
    (
        "scatter_.value(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)",
        |arguments| {
            let (out, dim, index) = (arguments.tensor(0)?, arguments.int(1)?, arguments.tensor(2)?);
            scatter_value(out, out, dim, index, arguments.real_number(3)?)?;
            changed(arguments)
        },
    ),
    ("_is_all_true(Tensor self) -> Tensor", |arguments| truth(arguments, api::SCONCE_REDUCE_ALL)),
    ("_is_any_true(Tensor self) -> Tensor", |arguments| truth(arguments, api::SCONCE_REDUCE_ANY)),
];

/// `(self, dim, half_to_float)`
fn along(arguments: &Arguments, operation: i32) -> Results {
    let dtype = match arguments.flag(2)? {
        true => api::SCONCE_DTYPE_F32,
        false => api::SCONCE_DTYPE_DEFAULT,
    };
    one(operations::along(operation, arguments.tensor(0)?, arguments.int(1)?, dtype))
}

/// `(self, dim, keepdim)` with a list, which may be left out.
fn reduced(arguments: &Arguments, operation: i32, dtype: i32) -> Results {
    let (tensor, keep) = (arguments.tensor(0)?, arguments.flag(2)?);
    let dims = match arguments.optional_ints(1)? {
        Some(dims) => dims,
        None => (0..sizes_of(tensor)?.len() as i64).collect(),
    };
    one(operations::reduce(operation, tensor, &dims, keep, dtype))
}

/// One truth value from those of a tensor.
fn truth(arguments: &Arguments, operation: i32) -> Results {
    let tensor = arguments.tensor(0)?;
    check_truth(dtype_of_tensor(tensor)?)?;
    one(operations::reduce(operation, tensor, &[], false, api::SCONCE_DTYPE_DEFAULT))
}

fn check_truth(dtype: i32) -> Result<()> {
    if dtype == api::SCONCE_DTYPE_BOOL {
        return Ok(());
    }
    Err(Error::invalid_argument("a tensor of bool is expected"))
}
