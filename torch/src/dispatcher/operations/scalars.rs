//! Operations with numbers of the type `Scalar`.

use crate::abi::tensors::sizes_of;
use crate::dispatcher::arguments::Arguments;
use crate::dispatcher::results::{Function, Results, changed, one};
use crate::error::{Error, Result};
use crate::operations::elementwise::divided;
use crate::sconce::operations::{self, Operand};
use crate::sconce::{Tensor, api, operations::choose};

/// Operations of a tensor and a number.
macro_rules! with_numbers {
    ($($name:literal = $operation:ident;)*) => {
        &[$(
            (
                concat!($name, "(Tensor self, Scalar other) -> Tensor"),
                |arguments| with_number(arguments, api::$operation),
            ),
        )*]
    };
}

/// Of a tensor and a number.
pub const WITH_NUMBERS: &[(&str, Function)] = with_numbers! {
    "mul.Scalar" = SCONCE_BINARY_MUL;
    "div.Scalar" = SCONCE_BINARY_DIV;
    "floor_divide.Scalar" = SCONCE_BINARY_FLOOR_DIVIDE;
    "remainder.Scalar" = SCONCE_BINARY_REMAINDER;
    "eq.Scalar" = SCONCE_BINARY_EQ;
    "ne.Scalar" = SCONCE_BINARY_NE;
    "ge.Scalar" = SCONCE_BINARY_GE;
    "gt.Scalar" = SCONCE_BINARY_GT;
    "le.Scalar" = SCONCE_BINARY_LE;
    "lt.Scalar" = SCONCE_BINARY_LT;
    "bitwise_and.Scalar" = SCONCE_BINARY_BITWISE_AND;
    "bitwise_or.Scalar" = SCONCE_BINARY_BITWISE_OR;
    "bitwise_xor.Scalar" = SCONCE_BINARY_BITWISE_XOR;
};

/// The others.
pub const OTHERS: &[(&str, Function)] = &[
    ("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", |arguments| {
        of_tensors(arguments, api::SCONCE_BINARY_ADD)
    }),
    ("sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", |arguments| {
        of_tensors(arguments, api::SCONCE_BINARY_SUB)
    }),
    ("add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", |arguments| {
        scaled(arguments, api::SCONCE_BINARY_ADD)
    }),
    ("sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", |arguments| {
        scaled(arguments, api::SCONCE_BINARY_SUB)
    }),
    ("pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", |arguments| {
        let (base, exponent) = (arguments.tensor(0)?, arguments.tensor(1)?);
        let (base, exponent) = (Operand::Handle(base), Operand::Handle(exponent));
        one(operations::combine(api::SCONCE_BINARY_POW, base, exponent, 1.0))
    }),
    ("pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", |arguments| {
        with_number(arguments, api::SCONCE_BINARY_POW)
    }),
    ("pow.Scalar(Scalar self, Tensor exponent) -> Tensor", |arguments| {
        let (base, exponent) = (arguments.operand(0)?, Operand::Handle(arguments.tensor(1)?));
        one(operations::combine(api::SCONCE_BINARY_POW, base, exponent, 1.0))
    }),
    ("div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor", |arguments| {
        divided_by(arguments, Operand::Handle(arguments.tensor(1)?))
    }),
    ("div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor", |arguments| {
        divided_by(arguments, arguments.operand(1)?)
    }),
    ("clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", clamp),
    ("fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)", |arguments| {
        operations::fill(arguments.tensor(0)?, &arguments.scalar(1)?)?;
        changed(arguments)
    }),
    ("full(SymInt[] size, Scalar fill_value, *, OPTIONS) -> Tensor", |arguments| {
        let options = arguments.options(2, crate::dispatcher::arguments::NEW)?;
        one(operations::full(&arguments.ints(0)?, &arguments.scalar(1)?, &options))
    }),
    ("masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor", |arguments| {
        one(filled(arguments))
    }),
    (
        "masked_fill_.Scalar(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!)",
        |arguments| {
            let (filled, tensor) = (filled(arguments)?, arguments.tensor(0)?);
            if sizes_of(filled.handle())? != sizes_of(tensor)? {
                return Err(Error::invalid_argument(
                    "the mask has sizes that the tensor would have to be repeated to",
                ));
            }
            operations::copy(&Tensor::retained(tensor)?, filled.handle())?;
            changed(arguments)
        },
    ),
];

fn with_number(arguments: &Arguments, operation: i32) -> Results {
    let (first, second) = (Operand::Handle(arguments.tensor(0)?), arguments.operand(1)?);
    one(operations::combine(operation, first, second, 1.0))
}

fn of_tensors(arguments: &Arguments, operation: i32) -> Results {
    let (first, second) = (arguments.tensor(0)?, arguments.tensor(1)?);
    let (first, second) = (Operand::Handle(first), Operand::Handle(second));
    one(operations::combine(operation, first, second, arguments.real_number(2)?))
}

fn scaled(arguments: &Arguments, operation: i32) -> Results {
    let (first, second) = (Operand::Handle(arguments.tensor(0)?), arguments.operand(1)?);
    one(operations::combine(operation, first, second, arguments.real_number(2)?))
}

/// `div(self, other, rounding_mode)`
fn divided_by(arguments: &Arguments, other: Operand<'_>) -> Results {
    let mode = if arguments.is_none(2)? { None } else { Some(arguments.text(2)?) };
    one(divided(arguments.tensor(0)?, other, mode.as_deref()))
}

/// `clamp(self, min, max)`: a NaN stays; of limits in the wrong order the upper one counts.
fn clamp(arguments: &mut Arguments) -> Results {
    if arguments.is_none(1)? && arguments.is_none(2)? {
        return Err(Error::invalid_argument(
            "clamp: At least one of 'min' and 'max' must be given",
        ));
    }
    let mut clamped = arguments.take(0)?;
    for (at, operation) in [(1, api::SCONCE_BINARY_MAXIMUM), (2, api::SCONCE_BINARY_MINIMUM)] {
        if !arguments.is_none(at)? {
            clamped = operations::binary(operation, &clamped, arguments.operand(at)?)?;
        }
    }
    one(Ok(clamped))
}

/// The tensor with a number where the mask holds, in the tensor's type.
fn filled(arguments: &Arguments) -> Result<Tensor> {
    let [tensor, mask] = [arguments.tensor(0)?, arguments.tensor(1)?];
    let dtype = crate::abi::tensors::dtype_of_tensor(tensor)?;
    if crate::abi::tensors::dtype_of_tensor(mask)? != api::SCONCE_DTYPE_BOOL {
        return Err(Error::invalid_argument("the mask must be a tensor of bool"));
    }
    let mask = Tensor::retained(mask)?;
    let chosen = choose(&mask, arguments.operand(2)?, Operand::Handle(tensor))?;
    operations::to_dtype(chosen.handle(), dtype)
}
