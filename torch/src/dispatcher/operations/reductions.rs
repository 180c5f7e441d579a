//! Reductions of dimensions, sorting, and comparisons of whole tensors.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use crate::abi::tensors::{dtype_of_tensor, numel_of, sizes_of};
use crate::dispatcher::arguments::Arguments;
use crate::dispatcher::results::{Function, Results, one, two};
use crate::error::{Error, Result};
use crate::operations::indexed::gather;
use crate::operations::ordering;
use crate::operations::tensors::is_floating;
use crate::operations::variance::{Variance, variance};
use crate::registry::value::Value;
use crate::sconce::operations::{self, Operand};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, check};

/// What this file offers.
pub const OPERATIONS: &[(&str, Function)] = &[
    ("sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", |arguments| {
        all_dims(arguments, api::SCONCE_REDUCE_SUM, arguments.dtype(1)?)
    }),
    (
        "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        |arguments| some_dims(arguments, api::SCONCE_REDUCE_SUM, arguments.dtype(3)?),
    ),
    (
        "sum.IntList_out(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) -> \
         Tensor(a!)",
        sum_out,
    ),
    ("mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", |arguments| {
        all_dims(arguments, api::SCONCE_REDUCE_MEAN, arguments.dtype(1)?)
    }),
    (
        "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        |arguments| some_dims(arguments, api::SCONCE_REDUCE_MEAN, arguments.dtype(3)?),
    ),
    ("prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", |arguments| {
        all_dims(arguments, api::SCONCE_REDUCE_PROD, arguments.dtype(1)?)
    }),
    ("amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", |arguments| {
        some_dims(arguments, api::SCONCE_REDUCE_AMAX, api::SCONCE_DTYPE_DEFAULT)
    }),
    ("amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", |arguments| {
        some_dims(arguments, api::SCONCE_REDUCE_AMIN, api::SCONCE_DTYPE_DEFAULT)
    }),
    ("max(Tensor self) -> Tensor", |arguments| {
        all_dims(arguments, api::SCONCE_REDUCE_AMAX, api::SCONCE_DTYPE_DEFAULT)
    }),
    ("min(Tensor self) -> Tensor", |arguments| {
        all_dims(arguments, api::SCONCE_REDUCE_AMIN, api::SCONCE_DTYPE_DEFAULT)
    }),
    (
        "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        |arguments| with_index(arguments, api::SCONCE_REDUCE_ARGMAX),
    ),
    (
        "min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        |arguments| with_index(arguments, api::SCONCE_REDUCE_ARGMIN),
    ),
    ("argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", |arguments| {
        index_of(arguments, api::SCONCE_REDUCE_ARGMAX)
    }),
    ("argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", |arguments| {
        index_of(arguments, api::SCONCE_REDUCE_ARGMIN)
    }),
    ("all(Tensor self) -> Tensor", |arguments| {
        all_dims(arguments, api::SCONCE_REDUCE_ALL, api::SCONCE_DTYPE_DEFAULT)
    }),
    ("any(Tensor self) -> Tensor", |arguments| {
        all_dims(arguments, api::SCONCE_REDUCE_ANY, api::SCONCE_DTYPE_DEFAULT)
    }),
    ("all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", |arguments| {
        one_dim(arguments, api::SCONCE_REDUCE_ALL)
    }),
    ("any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", |arguments| {
        one_dim(arguments, api::SCONCE_REDUCE_ANY)
    }),
    (
        "var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
        |arguments| one(corrected(arguments).map(|found| found.variance)),
    ),
    (
        "var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor",
        |arguments| {
            let dims = arguments.optional_ints(1)?.unwrap_or_default();
            let correction = f64::from(u8::from(arguments.flag(2)?));
            let found = variance(arguments.tensor(0)?, &dims, correction, arguments.flag(3)?);
            one(found.map(|found| found.variance))
        },
    ),
    (
        "var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> \
         (Tensor, Tensor)",
        |arguments| {
            let found = corrected(arguments)?;
            two(found.variance, found.mean)
        },
    ),
    ("median(Tensor self) -> Tensor", median),
    (
        "median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        median_dim,
    ),
    (
        "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
        sort,
    ),
    (
        "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
        sort_stable,
    ),
    ("argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor", argsort),
    ("equal(Tensor self, Tensor other) -> bool", equal),
];

/// `var_mean.correction(self, dim, correction, keepdim)`
fn corrected(arguments: &Arguments) -> Result<Variance> {
    let dims = arguments.optional_ints(1)?.unwrap_or_default();
    let correction = arguments.optional_real(2)?.unwrap_or(1.0);
    variance(arguments.tensor(0)?, &dims, correction, arguments.flag(3)?)
}

/// `(self)`
fn all_dims(arguments: &Arguments, operation: i32, dtype: i32) -> Results {
    one(operations::reduce(operation, arguments.tensor(0)?, &[], false, dtype))
}

/// `(self, dim, keepdim)` with a list.
fn some_dims(arguments: &Arguments, operation: i32, dtype: i32) -> Results {
    let dims = arguments.optional_ints(1)?.unwrap_or_default();
    one(operations::reduce(operation, arguments.tensor(0)?, &dims, arguments.flag(2)?, dtype))
}

/// `(self, dim, keepdim)` with one dimension.
fn one_dim(arguments: &Arguments, operation: i32) -> Results {
    let (tensor, dim, keep) = (arguments.tensor(0)?, arguments.int(1)?, arguments.flag(2)?);
    one(operations::reduce(operation, tensor, &[dim], keep, api::SCONCE_DTYPE_DEFAULT))
}

/// `sum.IntList_out(self, dim, keepdim, dtype, out)`
fn sum_out(arguments: &mut Arguments) -> Results {
    let dims = arguments.optional_ints(1)?.unwrap_or_default();
    let pointer = if dims.is_empty() { std::ptr::null() } else { dims.as_ptr() };
    let (tensor, keep, out) = (arguments.tensor(0)?, arguments.flag(2)?, arguments.tensor(4)?);
    // The type of `out` counts where none is named.
    let dtype = match arguments.dtype(3)? {
        api::SCONCE_DTYPE_DEFAULT => dtype_of_tensor(out)?,
        dtype => dtype,
    };
    let operation = api::SCONCE_REDUCE_SUM;
    // SAFETY: there are as many dimensions.
    check(unsafe {
        api::sconce_tensor_reduce_out(operation, tensor, pointer, dims.len(), keep, dtype, out)
    })?;
    one(arguments.take(4))
}

/// `max.dim(self, dim, keepdim)`: the element at the index, which of -0 and 0 need not be the one that a reduction to
/// the largest returns.
fn with_index(arguments: &Arguments, index: i32) -> Results {
    let (tensor, dim, keep) = (arguments.tensor(0)?, arguments.int(1)?, arguments.flag(2)?);
    let found = ordering::extreme(tensor, dim, keep, index)?;
    two(found.values, found.indices)
}

/// `argmax(self, dim, keepdim)`
fn index_of(arguments: &Arguments, operation: i32) -> Results {
    let (tensor, keep) = (arguments.tensor(0)?, arguments.flag(2)?);
    let dims: Vec<i64> = arguments.optional_int(1)?.into_iter().collect();
    one(operations::reduce(operation, tensor, &dims, keep, api::SCONCE_DTYPE_DEFAULT))
}

fn sorted(tensor: TensorHandle, dim: i64, descending: bool) -> Result<(Tensor, Tensor)> {
    let sorted = ordering::sort(tensor, dim, descending)?;
    Ok((sorted.values, sorted.indices))
}

fn sort(arguments: &mut Arguments) -> Results {
    let (dim, descending) = (arguments.int(1)?, arguments.flag(2)?);
    let sorted = ordering::sort_any(arguments.tensor(0)?, dim, descending)?;
    two(sorted.values, sorted.indices)
}

fn sort_stable(arguments: &mut Arguments) -> Results {
    let (dim, descending) = (arguments.int(2)?, arguments.flag(3)?);
    let is_stable = arguments.flag(1)?;
    let sort = if is_stable { ordering::sort } else { ordering::sort_any };
    let sorted = sort(arguments.tensor(0)?, dim, descending)?;
    two(sorted.values, sorted.indices)
}

fn argsort(arguments: &mut Arguments) -> Results {
    let (dim, descending) = (arguments.int(1)?, arguments.flag(2)?);
    one(ordering::sort_any(arguments.tensor(0)?, dim, descending).map(|sorted| sorted.indices))
}

/// The lower one of the two in the middle along a dimension, and where it was; a NaN if there is one.
fn median_along(tensor: TensorHandle, dim: i64) -> Result<(Tensor, Tensor)> {
    ordering::refuse_bool("median", tensor)?;
    let sizes = sizes_of(tensor)?;
    let place = if dim < 0 { dim + sizes.len() as i64 } else { dim };
    let length = match usize::try_from(place).ok().and_then(|place| sizes.get(place)) {
        Some(&length) => length,
        None if sizes.is_empty() && (dim == 0 || dim == -1) => 1,
        None => {
            return Err(Error::invalid_argument(format!(
                "dim is {dim}, but the tensor has {} dimensions",
                sizes.len()
            )));
        }
    };
    if length == 0 {
        return Err(Error::invalid_argument(format!("dim {dim} has no elements to find one of")));
    }
    let alone = match sizes.len() {
        0 => Some(operations::unsqueeze(tensor, 0)?),
        _ => None,
    };
    let tensor = alone.as_ref().map_or(tensor, Tensor::handle);
    let (values, indices) = sorted(tensor, dim, false)?;
    let at = |tensor: &Tensor, index: i64| operations::select(tensor.handle(), dim, index);
    let middle = (at(&values, (length - 1) / 2)?, at(&indices, (length - 1) / 2)?);
    if !is_floating(dtype_of_tensor(tensor)?) {
        return Ok(middle);
    }
    // NaN is sorted last; the first of the tensor counts.
    let last = at(&values, length - 1)?;
    let has_nan = operations::unary(api::SCONCE_UNARY_IS_NAN, &last)?;
    let nans = operations::unary(api::SCONCE_UNARY_IS_NAN, &Tensor::retained(tensor)?)?;
    let nans = operations::to_dtype(nans.handle(), api::SCONCE_DTYPE_U8)?;
    let operation = api::SCONCE_REDUCE_ARGMAX;
    let first =
        operations::reduce(operation, nans.handle(), &[dim], false, api::SCONCE_DTYPE_DEFAULT)?;
    let index = operations::choose(&has_nan, Operand::Tensor(&first), Operand::Tensor(&middle.1))?;
    // NaN have bits of their own: the value is the element at the index.
    let axis = if dim < 0 { dim + sizes.len().max(1) as i64 } else { dim };
    let places = operations::unsqueeze(index.handle(), axis)?;
    let value = gather(tensor, axis, places.handle())?;
    Ok((operations::squeeze(value.handle(), axis)?, index))
}

/// `median(self)`
fn median(arguments: &mut Arguments) -> Results {
    let tensor = arguments.tensor(0)?;
    if numel_of(tensor)? == 0 && is_floating(dtype_of_tensor(tensor)?) {
        // As torch: NaN.
        return one(operations::reduce(
            api::SCONCE_REDUCE_MEAN,
            tensor,
            &[],
            false,
            api::SCONCE_DTYPE_DEFAULT,
        ));
    }
    let flat = operations::reshape(tensor, &[-1])?;
    one(median_along(flat.handle(), 0).map(|(value, _)| value))
}

/// `median.dim(self, dim, keepdim)`
fn median_dim(arguments: &mut Arguments) -> Results {
    let (tensor, dim, keep) = (arguments.tensor(0)?, arguments.int(1)?, arguments.flag(2)?);
    let (values, indices) = median_along(tensor, dim)?;
    let rank = sizes_of(tensor)?.len() as i64;
    if !keep || rank == 0 {
        return two(values, indices);
    }
    let place = if dim < 0 { dim + rank } else { dim };
    let kept = |tensor: &Tensor| operations::unsqueeze(tensor.handle(), place);
    two(kept(&values)?, kept(&indices)?)
}

/// `equal(self, other)`
fn equal(arguments: &mut Arguments) -> Results {
    let mut equal = false;
    let (first, second) = (arguments.tensor(0)?, arguments.tensor(1)?);
    check(api::sconce_tensor_equal(first, second, &mut equal))?;
    Ok(vec![Value::Bool(equal)])
}
