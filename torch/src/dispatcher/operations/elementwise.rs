//! Operations on elements: each element of a result depends on one of each operand.

use crate::abi::tensors::{dtype_of_tensor, sizes_of};
use crate::dispatcher::arguments::Arguments;
use crate::dispatcher::results::{Function, Results, changed, made, one};
use crate::error::{Error, Result};
use crate::operations::transcendental::{Transcendental, transcendental};
use crate::sconce::operations::{self, Operand};
use crate::sconce::{Tensor, api};

/// Operations on pairs of elements.
macro_rules! binaries {
    ($($name:literal = $operation:ident;)*) => {
        &[$(
            (
                concat!($name, "(Tensor self, Tensor other) -> Tensor"),
                |arguments| binary(arguments, api::$operation),
            ),
        )*]
    };
}

/// Operations on single elements.
macro_rules! unaries {
    ($($name:literal = $operation:ident;)*) => {
        &[$(
            (
                concat!($name, "(Tensor self) -> Tensor"),
                |arguments| unary(arguments, api::$operation),
            ),
        )*]
    };
}

/// Functions of single elements that libsconce.so does not have.
macro_rules! transcendental {
    ($($name:literal = $function:ident;)*) => {
        &[$(
            (
                concat!($name, "(Tensor self) -> Tensor"),
                |arguments| one(transcendental(Transcendental::$function, arguments.tensor(0)?)),
            ),
        )*]
    };
}

/// Operations on single elements that replace them.
macro_rules! in_place {
    ($($name:literal = $operation:ident;)*) => {
        &[$(
            (
                concat!($name, "(Tensor(a!) self) -> Tensor(a!)"),
                |arguments| unary_in_place(arguments, api::$operation),
            ),
        )*]
    };
}

/// Pairs of elements.
pub const BINARIES: &[(&str, Function)] = binaries! {
    "mul.Tensor" = SCONCE_BINARY_MUL;
    "div.Tensor" = SCONCE_BINARY_DIV;
    "floor_divide" = SCONCE_BINARY_FLOOR_DIVIDE;
    "remainder.Tensor" = SCONCE_BINARY_REMAINDER;
    "maximum" = SCONCE_BINARY_MAXIMUM;
    "minimum" = SCONCE_BINARY_MINIMUM;
    "eq.Tensor" = SCONCE_BINARY_EQ;
    "ne.Tensor" = SCONCE_BINARY_NE;
    "ge.Tensor" = SCONCE_BINARY_GE;
    "gt.Tensor" = SCONCE_BINARY_GT;
    "le.Tensor" = SCONCE_BINARY_LE;
    "lt.Tensor" = SCONCE_BINARY_LT;
    "bitwise_and.Tensor" = SCONCE_BINARY_BITWISE_AND;
    "bitwise_or.Tensor" = SCONCE_BINARY_BITWISE_OR;
    "bitwise_xor.Tensor" = SCONCE_BINARY_BITWISE_XOR;
    "logical_and" = SCONCE_BINARY_LOGICAL_AND;
    "logical_or" = SCONCE_BINARY_LOGICAL_OR;
    "logical_xor" = SCONCE_BINARY_LOGICAL_XOR;
};

/// Single elements.
pub const UNARIES: &[(&str, Function)] = unaries! {
    "abs" = SCONCE_UNARY_ABS;
    "neg" = SCONCE_UNARY_NEG;
    "exp" = SCONCE_UNARY_EXP;
    "log" = SCONCE_UNARY_LOG;
    "sqrt" = SCONCE_UNARY_SQRT;
    "rsqrt" = SCONCE_UNARY_RSQRT;
    "reciprocal" = SCONCE_UNARY_RECIPROCAL;
    "sin" = SCONCE_UNARY_SIN;
    "cos" = SCONCE_UNARY_COS;
    "tanh" = SCONCE_UNARY_TANH;
    "sigmoid" = SCONCE_UNARY_SIGMOID;
    "relu" = SCONCE_UNARY_RELU;
    "silu" = SCONCE_UNARY_SILU;
    "erf" = SCONCE_UNARY_ERF;
    "floor" = SCONCE_UNARY_FLOOR;
    "ceil" = SCONCE_UNARY_CEIL;
    "round" = SCONCE_UNARY_ROUND;
    "trunc" = SCONCE_UNARY_TRUNC;
    "sign" = SCONCE_UNARY_SIGN;
    "isnan" = SCONCE_UNARY_IS_NAN;
    "isfinite" = SCONCE_UNARY_IS_FINITE;
    "bitwise_not" = SCONCE_UNARY_BITWISE_NOT;
    "logical_not" = SCONCE_UNARY_LOGICAL_NOT;
};

/// Functions of single elements.
pub const TRANSCENDENTAL: &[(&str, Function)] = transcendental! {
    "acos" = Acos;
    "acosh" = Acosh;
    "asin" = Asin;
    "asinh" = Asinh;
    "atan" = Atan;
    "atanh" = Atanh;
    "cosh" = Cosh;
    "expm1" = Expm1;
    "log10" = Log10;
    "log1p" = Log1p;
    "log2" = Log2;
    "sinh" = Sinh;
    "tan" = Tan;
};

/// Single elements, replaced.
pub const IN_PLACE: &[(&str, Function)] = in_place! {
    "abs_" = SCONCE_UNARY_ABS;
    "neg_" = SCONCE_UNARY_NEG;
    "exp_" = SCONCE_UNARY_EXP;
    "log_" = SCONCE_UNARY_LOG;
    "sqrt_" = SCONCE_UNARY_SQRT;
    "rsqrt_" = SCONCE_UNARY_RSQRT;
    "relu_" = SCONCE_UNARY_RELU;
    "sigmoid_" = SCONCE_UNARY_SIGMOID;
    "tanh_" = SCONCE_UNARY_TANH;
};

/// The others.
pub const OTHERS: &[(&str, Function)] = &[
    ("bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor", shift_left),
    ("bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor", shift_right),
    ("where.self(Tensor condition, Tensor self, Tensor other) -> Tensor", choose),
    ("masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor", masked_fill),
    ("masked_fill_.Tensor(Tensor(a!) self, Tensor mask, Tensor value) -> Tensor(a!)", masked_fill_),
    ("cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", cumsum),
    ("softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", softmax),
    ("log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", log_softmax),
];

fn binary(arguments: &Arguments, operation: i32) -> Results {
    let (first, second, into) = (arguments.tensor(0)?, arguments.tensor(1)?, std::ptr::null_mut());
    made(|made| api::sconce_tensor_binary(operation, first, None, second, None, None, into, made))
}

fn unary(arguments: &Arguments, operation: i32) -> Results {
    let tensor = arguments.tensor(0)?;
    made(|made| api::sconce_tensor_unary(operation, tensor, std::ptr::null_mut(), made))
}

fn unary_in_place(arguments: &mut Arguments, operation: i32) -> Results {
    let tensor = arguments.tensor(0)?;
    let mut same = std::ptr::null_mut();
    crate::sconce::check(api::sconce_tensor_unary(operation, tensor, tensor, &mut same))?;
    drop(Tensor::from_handle(same));
    changed(arguments)
}

/// The bits of an element of an integer type, and whether it has a sign.
fn bits_of(dtype: i32) -> Result<(i64, bool)> {
    Ok(match dtype {
        api::SCONCE_DTYPE_U8 => (8, false),
        api::SCONCE_DTYPE_I8 => (8, true),
        api::SCONCE_DTYPE_I16 => (16, true),
        api::SCONCE_DTYPE_I32 => (32, true),
        api::SCONCE_DTYPE_I64 => (64, true),
        _ => {
            return Err(Error::not_supported(
                "bits are shifted in tensors of uint8, int8, int16, int32 and int64 only",
            ));
        }
    })
}

/// `condition ? number : tensor`
fn number_where(condition: &Tensor, number: i64, tensor: &Tensor) -> Result<Tensor> {
    operations::choose(condition, Operand::Whole(number), Operand::Tensor(tensor))
}

/// Both operands of a shift in the type of the result, its bits, and whether it has a sign.
struct Shift {
    value: Tensor,
    by: Tensor,
    bits: i64,
    signed: bool,
}

impl Shift {
    fn of(arguments: &Arguments) -> Result<Shift> {
        let (first, second) = (arguments.tensor(0)?, arguments.tensor(1)?);
        bits_of(dtype_of_tensor(first)?)?;
        bits_of(dtype_of_tensor(second)?)?;
        // The type of any operation on both.
        let (one, other) = (Operand::Handle(first), Operand::Handle(second));
        let both = operations::combine(api::SCONCE_BINARY_BITWISE_OR, one, other, 1.0)?;
        let dtype = dtype_of_tensor(both.handle())?;
        let (bits, signed) = bits_of(dtype)?;
        let (value, by) =
            (operations::to_dtype(first, dtype)?, operations::to_dtype(second, dtype)?);
        Ok(Shift { value, by, bits, signed })
    }

    /// Where the shift is negative, or `bits` or more.
    fn outside(&self, bits: i64) -> Result<Tensor> {
        let (by, or) = (&self.by, api::SCONCE_BINARY_LOGICAL_OR);
        let negative = operations::binary(api::SCONCE_BINARY_LT, by, Operand::Whole(0))?;
        let far = operations::binary(api::SCONCE_BINARY_GE, by, Operand::Whole(bits))?;
        operations::binary(or, &negative, Operand::Tensor(&far))
    }

    /// 2 to the power of the shift, of which none is outside.
    fn power(&self, outside: &Tensor) -> Result<Tensor> {
        let by = number_where(outside, 0, &self.by)?;
        let two = operations::binary(api::SCONCE_BINARY_MUL, &by, Operand::Whole(0))?;
        let two = operations::binary(api::SCONCE_BINARY_ADD, &two, Operand::Whole(2))?;
        operations::binary(api::SCONCE_BINARY_POW, &two, Operand::Tensor(&by))
    }
}

/// As torch: a shift by a negative number, or by all bits or more, leaves none of them.
fn shift_left(arguments: &mut Arguments) -> Results {
    let shift = Shift::of(arguments)?;
    let outside = shift.outside(shift.bits)?;
    let power = shift.power(&outside)?;
    let moved = operations::binary(api::SCONCE_BINARY_MUL, &shift.value, Operand::Tensor(&power))?;
    one(number_where(&outside, 0, &moved))
}

/// As torch: the sign moves in from the left, and is all that is left of a shift that is negative or too far.
fn shift_right(arguments: &mut Arguments) -> Results {
    let shift = Shift::of(arguments)?;
    let outside = shift.outside(shift.bits - i64::from(shift.signed))?;
    let power = shift.power(&outside)?;
    let operation = api::SCONCE_BINARY_FLOOR_DIVIDE;
    let moved = operations::binary(operation, &shift.value, Operand::Tensor(&power))?;
    // -1 for negative numbers, else 0.
    let sign = operations::binary(api::SCONCE_BINARY_LT, &shift.value, Operand::Whole(0))?;
    let sign = operations::to_dtype(sign.handle(), dtype_of_tensor(moved.handle())?)?;
    let filled = Operand::Whole(if shift.signed { -1 } else { 0 });
    let sign = operations::binary(api::SCONCE_BINARY_MUL, &sign, filled)?;
    one(operations::choose(&outside, Operand::Tensor(&sign), Operand::Tensor(&moved)))
}

/// `where(condition, self, other)`
fn choose(arguments: &mut Arguments) -> Results {
    let [condition, yes, no] = [arguments.tensor(0)?, arguments.tensor(1)?, arguments.tensor(2)?];
    made(|made| api::sconce_tensor_where(condition, yes, None, no, None, made))
}

/// The tensor with `value`, a tensor of one element without dimensions, where the mask holds.
fn filled(arguments: &Arguments) -> Result<Tensor> {
    let [tensor, mask, value] = [arguments.tensor(0)?, arguments.tensor(1)?, arguments.tensor(2)?];
    if dtype_of_tensor(mask)? != api::SCONCE_DTYPE_BOOL {
        return Err(Error::invalid_argument("the mask must be a tensor of bool"));
    }
    let rank = sizes_of(value)?.len();
    if rank != 0 {
        return Err(Error::invalid_argument(format!(
            "the value must be a tensor without dimensions, but has {rank}"
        )));
    }
    let value = operations::to_dtype(value, dtype_of_tensor(tensor)?)?;
    Tensor::made(|made| api::sconce_tensor_where(mask, value.handle(), None, tensor, None, made))
}

fn masked_fill(arguments: &mut Arguments) -> Results {
    one(filled(arguments))
}

fn masked_fill_(arguments: &mut Arguments) -> Results {
    let filled = filled(arguments)?;
    let tensor = arguments.tensor(0)?;
    if sizes_of(filled.handle())? != sizes_of(tensor)? {
        return Err(Error::invalid_argument(
            "the mask has sizes that the tensor would have to be repeated to",
        ));
    }
    operations::copy(&Tensor::retained(tensor)?, filled.handle())?;
    changed(arguments)
}

fn along(operation: i32, arguments: &Arguments) -> Results {
    let (tensor, dim, dtype) = (arguments.tensor(0)?, arguments.int(1)?, arguments.dtype(2)?);
    one(operations::along(operation, tensor, dim, dtype))
}

fn cumsum(arguments: &mut Arguments) -> Results {
    along(api::SCONCE_LINE_CUMSUM, arguments)
}

fn softmax(arguments: &mut Arguments) -> Results {
    along(api::SCONCE_LINE_SOFTMAX, arguments)
}

fn log_softmax(arguments: &mut Arguments) -> Results {
    along(api::SCONCE_LINE_LOG_SOFTMAX, arguments)
}
