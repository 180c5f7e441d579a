//! Each operation with a new result, and with outputs.

use std::ptr::null_mut;

use sconce::*;

use super::calls::{self, undefined};
use crate::api::{Handle, Outcome, integer, options, outcome, real, returned};
use crate::create;
use crate::every::operations::Tensors;
use crate::operations::{self, Operand};

/// Which types an output may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Types {
    /// All that the result's type can be cast to.
    Castable,
    /// Any: the operation calculates in it.
    Own,
    /// That of the result.
    Exact,
}

use Types::{Castable, Exact, Own};

/// An operation. `write` takes as many outputs as `new` returns.
pub(super) struct Form {
    pub(super) name: &'static str,
    pub(super) types: Types,
    pub(super) new: fn(&Tensors) -> Outcome<Vec<Handle>>,
    pub(super) write: fn(&Tensors, &[Handle]) -> Outcome<()>,
}

fn one(result: Outcome<Handle>) -> Outcome<Vec<Handle>> {
    result.map(|tensor| vec![tensor])
}

fn tensor(handle: &Handle) -> Operand<'_> {
    Operand::Tensor(handle)
}

const ASKED: i32 = SCONCE_DTYPE_DEFAULT;
const TWO: fn() -> Operand<'static> = || Operand::Number(real(2.0));

/// The same generator state for both.
fn seeded() {
    outcome(sconce_random_manual_seed_everywhere(7)).unwrap();
}

fn randperm(tensors: &Tensors) -> Outcome<Vec<Handle>> {
    seeded();
    let asked = options(SCONCE_DTYPE_I64, tensors.device);
    // SAFETY: options and a writable place.
    one(returned(|out| unsafe { sconce_tensor_randperm(40, null_mut(), &raw const asked, out) }))
}

/// What a transform gives as a new tensor is what it writes to the undefined one; `transforms` compares it with a
/// naive one.
fn transformed(tensor: &Handle, kind: i32, dims: &[i64]) -> Outcome<Handle> {
    let into = undefined();
    calls::fft(tensor, kind, dims, &into).map(|()| into)
}

fn count(dtype: i32, t: &Tensors) -> Outcome<Vec<Handle>> {
    one(create::arange([integer(2), integer(38), integer(3)], &options(dtype, t.device)))
}

#[rustfmt::skip]
pub(super) const ALL: &[Form] = &[
    Form { name: "neg", types: Castable,
        new: |t| one(operations::unary(SCONCE_UNARY_NEG, &t.matrix)),
        write: |t, to| operations::unary_into(SCONCE_UNARY_NEG, &t.matrix, &to[0]) },
    Form { name: "add", types: Castable,
        new: |t| one(operations::binary(SCONCE_BINARY_ADD, tensor(&t.matrix), tensor(&t.second))),
        write: |t, to| operations::binary_into(SCONCE_BINARY_ADD, &t.matrix, tensor(&t.second), &to[0]) },
    Form { name: "lt", types: Castable,
        new: |t| one(operations::binary(SCONCE_BINARY_LT, tensor(&t.matrix), TWO())),
        write: |t, to| operations::binary_into(SCONCE_BINARY_LT, &t.matrix, TWO(), &to[0]) },
    Form { name: "clamp", types: Castable,
        new: |t| one(operations::clamp(&t.matrix, tensor(&t.turned), TWO())),
        write: |t, to| calls::clamp(&t.matrix, tensor(&t.turned), TWO(), &to[0]) },
    Form { name: "where", types: Castable,
        new: |t| one(operations::choose(&t.condition, tensor(&t.matrix), TWO())),
        write: |t, to| calls::choose(&t.condition, tensor(&t.matrix), TWO(), &to[0]) },
    Form { name: "sum", types: Own,
        new: |t| one(operations::reduce(SCONCE_REDUCE_SUM, &t.matrix, Some(0), false)),
        write: |t, to| calls::reduce(SCONCE_REDUCE_SUM, &t.matrix, &[0], false, ASKED, &to[0]) },
    Form { name: "prod", types: Own,
        new: |t| one(operations::reduce(SCONCE_REDUCE_PROD, &t.batch, Some(1), true)),
        write: |t, to| calls::reduce(SCONCE_REDUCE_PROD, &t.batch, &[1], true, ASKED, &to[0]) },
    Form { name: "amax", types: Exact,
        new: |t| one(operations::reduce(SCONCE_REDUCE_AMAX, &t.matrix, None, false)),
        write: |t, to| calls::reduce(SCONCE_REDUCE_AMAX, &t.matrix, &[], false, ASKED, &to[0]) },
    Form { name: "argmax", types: Exact,
        new: |t| one(operations::reduce(SCONCE_REDUCE_ARGMAX, &t.matrix, Some(1), false)),
        write: |t, to| calls::reduce(SCONCE_REDUCE_ARGMAX, &t.matrix, &[1], false, ASKED, &to[0]) },
    Form { name: "all", types: Exact,
        new: |t| one(operations::reduce(SCONCE_REDUCE_ALL, &t.matrix, Some(1), false)),
        write: |t, to| calls::reduce(SCONCE_REDUCE_ALL, &t.matrix, &[1], false, ASKED, &to[0]) },
    Form { name: "softmax", types: Exact,
        new: |t| one(operations::along(SCONCE_LINE_SOFTMAX, &t.matrix, 0)),
        write: |t, to| calls::along(SCONCE_LINE_SOFTMAX, &t.matrix, 0, ASKED, &to[0]) },
    Form { name: "cumsum", types: Own,
        new: |t| one(operations::along(SCONCE_LINE_CUMSUM, &t.matrix, 1)),
        write: |t, to| calls::along(SCONCE_LINE_CUMSUM, &t.matrix, 1, ASKED, &to[0]) },
    Form { name: "cat", types: Castable,
        new: |t| one(operations::cat(&[&t.matrix, &t.second], 1)),
        write: |t, to| calls::cat(&[&t.matrix, &t.second], 1, &to[0]) },
    Form { name: "stack", types: Castable,
        new: |t| one(operations::stack(&[&t.matrix, &t.second], 1)),
        write: |t, to| calls::stack(&[&t.matrix, &t.second], 1, &to[0]) },
    Form { name: "index_select", types: Exact,
        new: |t| one(operations::index_select(&t.matrix, 1, &t.index)),
        write: |t, to| calls::index_select(&t.matrix, 1, &t.index, &to[0]) },
    Form { name: "sort", types: Exact,
        new: |t| operations::sort(&t.matrix, 0, true).map(Vec::from),
        write: |t, to| calls::sort(&t.matrix, 0, true, [&to[0], &to[1]]) },
    Form { name: "matmul", types: Exact,
        new: |t| one(operations::matmul(&t.matrix, &t.second)),
        write: |t, to| calls::matmul(&t.matrix, &t.second, &to[0]) },
    Form { name: "matmul of batches", types: Exact,
        new: |t| one(operations::matmul(&t.matrix, &t.other_batch)),
        write: |t, to| calls::matmul(&t.matrix, &t.other_batch, &to[0]) },
    Form { name: "matmul of a tall matrix", types: Exact,
        new: |t| one(operations::matmul(&t.batch, &t.matrix)),
        write: |t, to| calls::matmul(&t.batch, &t.matrix, &to[0]) },
    Form { name: "bmm", types: Exact,
        new: |t| one(operations::bmm(&t.batch, &t.other_batch)),
        write: |t, to| calls::bmm(&t.batch, &t.other_batch, &to[0]) },
    Form { name: "addmm", types: Exact,
        new: |t| one(operations::addmm(&t.matrix, &t.second, &t.second)),
        write: |t, to| calls::addmm(&t.matrix, &t.second, &t.second, &to[0]) },
    Form { name: "addmm to a factor", types: Exact,
        new: |t| one(operations::addmm(&t.second, &t.matrix, &t.second)),
        write: |t, to| calls::addmm(&t.second, &t.matrix, &t.second, &to[0]) },
    Form { name: "rfft", types: Castable,
        new: |t| one(transformed(&t.matrix, SCONCE_FFT_R2C, &[0])),
        write: |t, to| calls::fft(&t.matrix, SCONCE_FFT_R2C, &[0], &to[0]) },
    Form { name: "irfft", types: Castable,
        new: |t| one(transformed(&t.matrix, SCONCE_FFT_C2R, &[0, 1])),
        write: |t, to| calls::fft(&t.matrix, SCONCE_FFT_C2R, &[0, 1], &to[0]) },
    Form { name: "arange", types: Own,
        new: |t| count(SCONCE_DTYPE_I64, t),
        write: |_, to| calls::arange([integer(2), integer(38), integer(3)], &to[0]) },
    Form { name: "linspace", types: Own,
        new: |t| one(create::linspace([real(-1.0), real(2.0)], 7, &options(ASKED, t.device))),
        write: |_, to| calls::linspace([real(-1.0), real(2.0)], 7, &to[0]) },
    Form { name: "eye", types: Own,
        new: |t| one(create::eye(3, 5, &options(ASKED, t.device))),
        write: |_, to| calls::eye(3, 5, &to[0]) },
    Form { name: "randperm", types: Own,
        new: randperm,
        write: |_, to| { seeded(); calls::randperm(40, &to[0]) } },
];

impl Form {
    /// Whether it reads tensors.
    pub(super) fn reads(&self) -> bool {
        !["arange", "linspace", "eye", "randperm"].contains(&self.name)
    }

    /// Whether the matrix is among its operands.
    pub(super) fn reads_the_matrix(&self) -> bool {
        self.reads() && !["prod", "bmm"].contains(&self.name)
    }

    /// Whether it refuses an output that is an operand.
    pub(super) fn refuses_operands(&self) -> bool {
        ["cat", "stack", "index_select"].contains(&self.name)
    }
}
