//! Operations with numbers beside loops that are written out.

use super::*;

/// A tensor's numbers after an operation with a number.
fn with(name: &str, overload: &str, tensor: &Dense, number: Value) -> Dense {
    let own = tensor.tensor(crate::sconce::api::SCONCE_DTYPE_F64);
    let values = match name {
        "pow" if overload == "Scalar" => vec![number, word(&own)],
        _ => vec![word(&own), number],
    };
    Dense::of(one(name, overload, values).handle())
}

#[test]
fn quotients_are_rounded_as_the_mode_says() {
    use crate::sconce::api::{SCONCE_DTYPE_BF16 as BF16, SCONCE_DTYPE_I32 as I32};
    counted(|| {
        let tensor = Dense { sizes: vec![5], values: vec![7.0, -7.0, 6.0, -6.0, 0.0] };
        let mode = |mode: &str| Value::Str(mode.as_bytes().into());
        for dtype in [I32, BF16] {
            let own = tensor.tensor(dtype);
            let by_two = |how| one("div", "Scalar_mode", vec![word(&own), Value::Int(2), how]);
            assert_eq!(Dense::of(by_two(mode("floor")).handle()).values, [3., -4., 3., -3., 0.]);
            assert_eq!(Dense::of(by_two(mode("trunc")).handle()).values, [3., -3., 3., -3., 0.]);
            assert_eq!(Dense::of(by_two(Value::None).handle()).values, [3.5, -3.5, 3., -3., 0.]);
            let twos = Dense { sizes: vec![1], values: vec![-2.0] }.tensor(dtype);
            let by = one("div", "Tensor_mode", vec![word(&own), word(&twos), mode("trunc")]);
            assert_eq!(Dense::of(by.handle()).values, [-3., 3., -3., 3., 0.]);
        }
        let own = tensor.tensor(I32);
        refused("div", "Scalar_mode", vec![word(&own), Value::Int(2), mode("up")], "found 'up'");
    });
}

#[test]
fn numbers_of_each_kind_are_operands() {
    counted(|| {
        let tensor = Dense { sizes: vec![2, 2], values: vec![1.0, -2.0, 3.5, 0.0] };
        let each = |of: fn(f64) -> f64| Dense {
            sizes: vec![2, 2],
            values: tensor.values.iter().map(|value| of(*value)).collect(),
        };
        let half = || Value::Float(0.5);
        assert_eq!(with("mul", "Scalar", &tensor, Value::Int(3)), each(|value| value * 3.0));
        assert_eq!(with("div", "Scalar", &tensor, half()), each(|value| value / 0.5));
        assert_eq!(with("add", "Scalar", &tensor, Value::Bool(true)), each(|value| value + 1.0));
        assert_eq!(with("sub", "Scalar", &tensor, half()), each(|value| value - 0.5));
        assert_eq!(
            with("pow", "Tensor_Scalar", &tensor, Value::Int(2)),
            each(|value| value * value)
        );
        assert_eq!(with("pow", "Scalar", &tensor, Value::Int(2)), each(f64::exp2));
        let positive = |value: f64| f64::from(u8::from(value > 0.0));
        assert_eq!(with("gt", "Scalar", &tensor, Value::Int(0)), each(positive));
        let own = tensor.tensor(crate::sconce::api::SCONCE_DTYPE_F64);
        let sum = one("add", "Tensor", vec![word(&own), word(&own), Value::Float(-3.0)]);
        assert_eq!(Dense::of(sum.handle()), each(|value| value - 3.0 * value));
        let clamped = one("clamp", "", vec![word(&own), Value::Int(-1), Value::Float(2.5)]);
        assert_eq!(Dense::of(clamped.handle()), each(|value| value.clamp(-1.0, 2.5)));
        let below = one("clamp", "", vec![word(&own), Value::None, Value::Int(1)]);
        assert_eq!(Dense::of(below.handle()), each(|value| value.min(1.0)));
        let mask = one("gt", "Scalar", vec![word(&own), Value::Int(0)]);
        let filled = one("masked_fill", "Scalar", vec![word(&own), word(&mask), Value::Int(9)]);
        assert_eq!(Dense::of(filled.handle()), each(|value| if value > 0.0 { 9.0 } else { value }));
        one("masked_fill_", "Scalar", vec![word(&own), word(&mask), Value::Int(8)]);
        assert_eq!(Dense::of(own.handle()), each(|value| if value > 0.0 { 8.0 } else { value }));
        one("fill_", "Scalar", vec![word(&own), Value::Float(-1.5)]);
        assert_eq!(Dense::of(own.handle()), each(|_| -1.5));
    });
}

#[test]
fn types_follow_the_kind_of_the_number() {
    use crate::abi::tensors::dtype_of_tensor;
    use crate::sconce::api::{
        SCONCE_DTYPE_C64, SCONCE_DTYPE_F32, SCONCE_DTYPE_I32, SCONCE_DTYPE_I64,
    };
    counted(|| {
        let whole = Dense::build(&[2], |at| at[0] as f64).tensor(SCONCE_DTYPE_I32);
        for (number, dtype) in [
            (Value::Int(2), SCONCE_DTYPE_I32),
            (Value::Bool(true), SCONCE_DTYPE_I32),
            (Value::Float(0.5), SCONCE_DTYPE_F32),
            (Value::Complex(0.0, 1.0), SCONCE_DTYPE_C64),
        ] {
            let product = one("mul", "Scalar", vec![word(&whole), number]);
            assert_eq!(dtype_of_tensor(product.handle()).unwrap(), dtype);
        }
        let full = one("full", "", vec![ints(&[3]), Value::Int(7)]);
        assert_eq!(dtype_of_tensor(full.handle()).unwrap(), SCONCE_DTYPE_I64);
        assert_eq!(Dense::of(full.handle()).values, [7.0; 3]);
        refused("clamp", "", vec![word(&whole)], "must be given");
        let alpha = Value::Complex(1.0, 1.0);
        refused("add", "Tensor", vec![word(&whole), word(&whole), alpha], "a real one is expected");
    });
}
