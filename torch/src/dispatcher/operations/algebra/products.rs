//! Products of matrices.

use crate::dispatcher::arguments::Arguments;
use crate::dispatcher::results::{Function, Results, one};
use crate::operations::products::{added, experts};
use crate::sconce::operations;

/// What this file offers.
pub const OPERATIONS: &[(&str, Function)] = &[
    ("matmul(Tensor self, Tensor other) -> Tensor", matmul),
    ("mm(Tensor self, Tensor mat2) -> Tensor", mm),
    ("mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)", mm_out),
    ("bmm(Tensor self, Tensor mat2) -> Tensor", bmm),
    (
        "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
        |arguments| {
            let factors = [arguments.tensor(1)?, arguments.tensor(2)?];
            let numbers = [arguments.scalar(3)?, arguments.scalar(4)?];
            one(added::addmm(arguments.tensor(0)?, factors, numbers))
        },
    ),
    (
        "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
        |arguments| {
            let numbers = [arguments.scalar(3)?, arguments.scalar(4)?];
            let (first, second) = (arguments.take(1)?, arguments.take(2)?);
            one(added::baddbmm(arguments.tensor(0)?, [&first, &second], numbers))
        },
    ),
    (
        "transformers::grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor",
        |arguments| {
            let [input, weight] = [arguments.tensor(0)?, arguments.tensor(1)?];
            one(experts::grouped_mm_fallback(input, weight, arguments.tensor(2)?))
        },
    ),
];

/// `matmul(self, other)`
fn matmul(arguments: &mut Arguments) -> Results {
    one(operations::matmul(arguments.tensor(0)?, arguments.tensor(1)?))
}

/// `mm(self, mat2)`
fn mm(arguments: &mut Arguments) -> Results {
    one(operations::mm(arguments.tensor(0)?, arguments.tensor(1)?))
}

/// `mm.out(self, mat2, out)`
fn mm_out(arguments: &mut Arguments) -> Results {
    operations::mm_out(arguments.tensor(0)?, arguments.tensor(1)?, arguments.tensor(2)?)?;
    one(arguments.take(2))
}

/// `bmm(self, mat2)`
fn bmm(arguments: &mut Arguments) -> Results {
    let (first, second) = (arguments.take(0)?, arguments.take(1)?);
    one(operations::bmm(&first, &second))
}
