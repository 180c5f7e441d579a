//! Elements along dimensions: at indices, the largest, running extremes, places in sorted lines; values that differ.

use crate::abi::copies::cloned;
use crate::abi::tensors::rank_of;
use crate::dispatcher::arguments::Arguments;
use crate::dispatcher::results::{Function, Results, changed, one, two};
use crate::error::{Error, Result};
use crate::operations::histograms::counting::histc;
use crate::operations::indexed::{gather, scatter, scatter_reduce};
use crate::operations::ordering::{self, Sorted};
use crate::operations::running;
use crate::operations::search::{Search, search_sorted};
use crate::operations::unique::{self, Unique, UniqueOutputs};
use crate::registry::value::Value;
use crate::sconce::{api, operations};

/// What this file offers.
pub const OPERATIONS: &[(&str, Function)] = &[
    (
        "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
        |arguments| one(gather(arguments.tensor(0)?, arguments.int(1)?, arguments.tensor(2)?)),
    ),
    ("scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", |arguments| {
        let made = cloned(arguments.tensor(0)?)?;
        let (out, dim, index) = (made.handle(), arguments.int(1)?, arguments.tensor(2)?);
        scatter(out, out, dim, index, arguments.tensor(3)?)?;
        one(Ok(made))
    }),
    ("scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", |arguments| {
        combined(arguments, "sum", true)
    }),
    (
        "scatter_.src(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)",
        |arguments| {
            let (out, dim, index) = (arguments.tensor(0)?, arguments.int(1)?, arguments.tensor(2)?);
            scatter(out, out, dim, index, arguments.tensor(3)?)?;
            changed(arguments)
        },
    ),
    (
        "scatter_add_(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)",
        |arguments| combined_in_place(arguments, "sum", true),
    ),
    (
        "scatter_reduce_.two(Tensor(a!) self, int dim, Tensor index, Tensor src, str reduce, *, bool \
         include_self=True) -> Tensor(a!)",
        |arguments| {
            let (name, include_self) = (arguments.text(4)?, arguments.flag(5)?);
            combined_in_place(arguments, &name, include_self)
        },
    ),
    (
        "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> \
         Tensor",
        |arguments| {
            let (name, include_self) = (arguments.text(4)?, arguments.flag(5)?);
            combined(arguments, &name, include_self)
        },
    ),
    (
        "topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)",
        |arguments| {
            let (tensor, k, dim) = (arguments.tensor(0)?, arguments.int(1)?, arguments.int(2)?);
            both(ordering::topk(tensor, k, dim, arguments.flag(3)?, arguments.flag(4)?))
        },
    ),
    (
        "kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
        |arguments| {
            let (tensor, k, dim) = (arguments.tensor(0)?, arguments.int(1)?, arguments.int(2)?);
            both(ordering::kthvalue(tensor, k, dim, arguments.flag(3)?))
        },
    ),
    (
        "mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
        |arguments| {
            both(ordering::mode(arguments.tensor(0)?, arguments.int(1)?, arguments.flag(2)?))
        },
    ),
    ("nanmedian(Tensor self) -> Tensor", |arguments| {
        one(ordering::nanmedian(arguments.tensor(0)?))
    }),
    (
        "nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        |arguments| {
            both(ordering::nanmedian_along(
                arguments.tensor(0)?,
                arguments.int(1)?,
                arguments.flag(2)?,
            ))
        },
    ),
    ("cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)", |arguments| {
        both(running::extremes(arguments.tensor(0)?, arguments.int(1)?, true))
    }),
    ("cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)", |arguments| {
        both(running::extremes(arguments.tensor(0)?, arguments.int(1)?, false))
    }),
    ("logcumsumexp(Tensor self, int dim) -> Tensor", log_sums),
    ("_logcumsumexp(Tensor self, int dim) -> Tensor", log_sums),
    ("cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", |arguments| {
        let (tensor, dim) = (arguments.tensor(0)?, arguments.int(1)?);
        one(operations::along(api::SCONCE_LINE_CUMPROD, tensor, dim, arguments.dtype(2)?))
    }),
    (
        "searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? \
         side=None, Tensor? sorter=None) -> Tensor",
        |arguments| {
            let side = if arguments.is_none(4)? { None } else { Some(arguments.text(4)?) };
            let search = Search::new(arguments.flag(3)?, side.as_deref(), arguments.flag(2)?)?;
            let (lines, values) = (arguments.tensor(0)?, arguments.tensor(1)?);
            one(search_sorted(lines, values, arguments.optional_tensor(5)?, search))
        },
    ),
    (
        "bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
        |arguments| {
            let (values, lines) = (arguments.tensor(0)?, arguments.tensor(1)?);
            if rank_of(lines)? != 1 {
                return Err(Error::invalid_argument("boundaries tensor must be 1 dimension"));
            }
            let search = Search { right: arguments.flag(3)?, narrow: arguments.flag(2)? };
            one(search_sorted(lines, values, None, search))
        },
    ),
    ("histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor", |arguments| {
        let (min, max) = (arguments.real_number(2)?, arguments.real_number(3)?);
        one(histc(arguments.tensor(0)?, arguments.int(1)?, min, max))
    }),
    ("bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor", |arguments| {
        let (tensor, weights) = (arguments.tensor(0)?, arguments.optional_tensor(1)?);
        one(unique::bincount(tensor, weights, arguments.int(2)?))
    }),
    ("_aminmax(Tensor self) -> (Tensor, Tensor)", |arguments| {
        let of = |operation| {
            let any = api::SCONCE_DTYPE_DEFAULT;
            operations::reduce(operation, arguments.tensor(0)?, &[], false, any)
        };
        two(of(api::SCONCE_REDUCE_AMIN)?, of(api::SCONCE_REDUCE_AMAX)?)
    }),
    ("_aminmax.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)", |arguments| {
        let of = |operation| {
            let (dim, keep) = (arguments.int(1)?, arguments.flag(2)?);
            let any = api::SCONCE_DTYPE_DEFAULT;
            operations::reduce(operation, arguments.tensor(0)?, &[dim], keep, any)
        };
        two(of(api::SCONCE_REDUCE_AMIN)?, of(api::SCONCE_REDUCE_AMAX)?)
    }),
    (
        "_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor)",
        |arguments| {
            let wanted = UniqueOutputs { inverse: arguments.flag(2)?, counts: false };
            let found = unique::unique(arguments.tensor(0)?, wanted)?;
            two(found.values, found.inverse)
        },
    ),
    (
        "_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, \
         Tensor, Tensor)",
        |arguments| unique_of(unique::unique(arguments.tensor(0)?, wanted(arguments, 2)?)),
    ),
    (
        "unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> \
         (Tensor, Tensor, Tensor)",
        |arguments| {
            let (tensor, wanted) = (arguments.tensor(0)?, wanted(arguments, 1)?);
            unique_of(match arguments.optional_int(3)? {
                None => unique::unique_consecutive(tensor, wanted),
                // Of dimensions PyTorch returns all.
                Some(dim) => unique::unique_dim(tensor, dim, false, ALL),
            })
        },
    ),
    (
        "unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> \
         (Tensor, Tensor, Tensor)",
        |arguments| {
            unique_of(unique::unique_dim(arguments.tensor(0)?, arguments.int(1)?, true, ALL))
        },
    ),
    (
        "unique_dim_consecutive(Tensor self, int dim, bool return_inverse=False, bool return_counts=False) -> (Tensor, \
         Tensor, Tensor)",
        |arguments| {
            unique_of(unique::unique_dim(arguments.tensor(0)?, arguments.int(1)?, false, ALL))
        },
    ),
];

const ALL: UniqueOutputs = UniqueOutputs { inverse: true, counts: true };

/// Whether places and counts are wanted, which two arguments say.
fn wanted(arguments: &Arguments, at: usize) -> Result<UniqueOutputs> {
    Ok(UniqueOutputs { inverse: arguments.flag(at)?, counts: arguments.flag(at + 1)? })
}

fn unique_of(found: Result<Unique>) -> Results {
    let found = found?;
    Ok([found.values, found.inverse, found.counts].into_iter().map(Value::Tensor).collect())
}

/// Values and indices.
fn both(found: Result<Sorted>) -> Results {
    found.and_then(|found| two(found.values, found.indices))
}

/// A copy of the first argument with elements of the fourth one combined at indices.
fn combined(arguments: &Arguments, name: &str, include_self: bool) -> Results {
    let made = cloned(arguments.tensor(0)?)?;
    let (out, dim) = (made.handle(), arguments.int(1)?);
    let operands = [arguments.tensor(2)?, arguments.tensor(3)?];
    scatter_reduce(out, out, operands, dim, name, include_self)?;
    one(Ok(made))
}

/// Combines elements of the fourth argument with the first one at indices.
fn combined_in_place(arguments: &mut Arguments, name: &str, include_self: bool) -> Results {
    let (out, dim) = (arguments.tensor(0)?, arguments.int(1)?);
    let operands = [arguments.tensor(2)?, arguments.tensor(3)?];
    scatter_reduce(out, out, operands, dim, name, include_self)?;
    changed(arguments)
}

/// `logcumsumexp(self, dim)`
fn log_sums(arguments: &mut Arguments) -> Results {
    one(running::log_sums(arguments.tensor(0)?, arguments.int(1)?))
}
