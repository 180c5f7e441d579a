//! Values of operators.

use super::schema::{Argument, Type};
use crate::error::{Error, Result};
use crate::sconce::Tensor;
use crate::sconce::generator::Generator;
use crate::sconce::tensor::TensorHandle;

/// A value, which owns what it holds.
#[derive(Debug)]
pub enum Value {
    /// Of an optional type.
    None,
    /// A tensor, owned once.
    Tensor(Tensor),
    /// Of `int`.
    Int(i64),
    /// Of `float`.
    Float(f64),
    /// Of `Scalar`: the real and the imaginary part of a complex number. Other numbers are those above and below.
    Complex(f64, f64),
    /// Of `bool`.
    Bool(bool),
    /// Of `ScalarType`, `Layout` or `MemoryFormat`: c10's number.
    Code(i32),
    /// c10's kind and index.
    Device(i32, i32),
    /// Of `Generator`, which is not owned.
    Generator(Generator),
    /// Of `str`.
    Str(Vec<u8>),
    /// Of any list.
    List(Vec<Value>),
}

impl Value {
    /// The first tensor in it.
    pub fn first_tensor(&self) -> Option<TensorHandle> {
        match self {
            Value::Tensor(tensor) => Some(tensor.handle()),
            Value::List(values) => values.iter().find_map(Value::first_tensor),
            _ => None,
        }
    }

    /// All tensors in it.
    pub fn tensors_into(&self, into: &mut Vec<TensorHandle>) {
        match self {
            Value::Tensor(tensor) => into.push(tensor.handle()),
            Value::List(values) => values.iter().for_each(|value| value.tensors_into(into)),
            _ => {}
        }
    }

    /// A second value of the same, if it is a number or `None`: these own nothing.
    fn again(&self) -> Option<Value> {
        Some(match *self {
            Value::None => Value::None,
            Value::Int(value) => Value::Int(value),
            Value::Float(value) => Value::Float(value),
            Value::Bool(value) => Value::Bool(value),
            Value::Complex(real, imaginary) => Value::Complex(real, imaginary),
            _ => return None,
        })
    }

    fn described(&self) -> &'static str {
        match self {
            Value::None => "None",
            Value::Tensor(_) => "a tensor",
            Value::Int(_) => "an integer",
            Value::Float(_) => "a real number",
            Value::Complex(..) => "a complex number",
            Value::Bool(_) => "a truth value",
            Value::Code(_) => "a number of a type, layout or memory format",
            Value::Device(..) => "a device",
            Value::Generator(_) => "a generator",
            Value::Str(_) => "a text",
            Value::List(_) => "a list",
        }
    }
}

/// Whether lists that name a count are filled with one value of the type. That is so for numbers, as in PyTorch.
fn is_number(kind: &Type) -> bool {
    matches!(kind.required(), Type::Int | Type::Float | Type::Bool | Type::Scalar)
}

/// Whether a list of so many values may be given for a list type that names a count. PyTorch's operators take an empty
/// list for a default, one number for all, and more than one where the count is 1.
fn counts_fit(given: usize, count: Option<usize>, inner: &Type) -> bool {
    match count {
        None | Some(1) => true,
        Some(count) => given == count || given <= 1 && is_number(inner),
    }
}

/// The value as one of a type: integers are also real numbers, and one number fills a list whose type names a count.
/// `None` if the value is none of the type.
fn fitted(value: Value, kind: &Type) -> Option<Value> {
    Some(match (kind, value) {
        (Type::Optional(_), Value::None) => Value::None,
        (Type::Optional(inner), value) => fitted(value, inner)?,
        (Type::Int, Value::Bool(value)) => Value::Int(value.into()),
        (Type::Float, Value::Int(value)) => Value::Float(value as f64),
        (Type::List(inner, count), Value::List(mut values)) => {
            if !counts_fit(values.len(), *count, inner) {
                return None;
            }
            if let (Some(count), [one]) = (*count, values.as_slice())
                && is_number(inner)
            {
                let filled = (0..count.max(1)).map(|_| one.again()).collect::<Option<_>>();
                values = filled.unwrap_or(values);
            }
            let values = values.into_iter().map(|value| fitted(value, inner));
            Value::List(values.collect::<Option<_>>()?)
        }
        (Type::List(_, Some(_)), value) => fitted(Value::List(vec![value]), kind)?,
        (kind, value) => {
            let fits = match kind {
                Type::Tensor => matches!(value, Value::Tensor(_)),
                Type::Int => matches!(value, Value::Int(_)),
                Type::Float => matches!(value, Value::Float(_)),
                Type::Bool => matches!(value, Value::Bool(_)),
                Type::Scalar => matches!(
                    value,
                    Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Complex(..)
                ),
                Type::Str => matches!(value, Value::Str(_)),
                Type::ScalarType | Type::Layout | Type::MemoryFormat => {
                    matches!(value, Value::Code(_))
                }
                Type::Device => matches!(value, Value::Device(..)),
                Type::Generator => matches!(value, Value::Generator(_)),
                Type::Optional(_) | Type::List(..) | Type::Other(_) => false,
            };
            return fits.then_some(value);
        }
    })
}

/// The value as one of an argument's type, or an error that names the argument.
pub fn for_argument(value: Value, argument: &Argument) -> Result<Value> {
    let described = value.described();
    if let Some(value) = fitted(value, &argument.kind) {
        return Ok(value);
    }
    let Argument { name, kind, .. } = argument;
    if matches!(kind, Type::Other(_)) {
        return Err(Error::not_supported(format!(
            "the argument {name} has the type {kind}, whose values are not passed through the ABI; leave it at its \
             default"
        )));
    }
    Err(Error::invalid_argument(format!("the argument {name} is {described}; its type is {kind}")))
}

/// The values as those of a schema's arguments.
pub fn for_arguments(values: Vec<Value>, arguments: &[Argument]) -> Result<Vec<Value>> {
    values.into_iter().zip(arguments).map(|(value, of)| for_argument(value, of)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::word::Word;
    use super::*;

    fn there_and_back(value: Value, kind: &Type) -> Value {
        Word::of(fitted(value, kind).unwrap(), kind).unwrap().into_value().unwrap()
    }

    #[test]
    fn values_survive_their_words() {
        let list = Type::List(Box::new(Type::Optional(Box::new(Type::Float))), None);
        let value = Value::List(vec![Value::None, Value::Float(-0.5), Value::Int(3)]);
        let text = format!("{:?}", there_and_back(value, &list));
        assert_eq!(text, "List([None, Float(-0.5), Float(3.0)])");
        let device = there_and_back(Value::Device(1, -1), &Type::Device);
        assert_eq!(format!("{device:?}"), "Device(1, -1)");
        let code = there_and_back(Value::Code(-7), &Type::ScalarType);
        assert_eq!(format!("{code:?}"), "Code(-7)");
        for scalar in
            [Value::Int(-3), Value::Float(0.5), Value::Bool(true), Value::Complex(1.0, -2.0)]
        {
            let text = format!("{scalar:?}");
            assert_eq!(format!("{:?}", there_and_back(scalar, &Type::Scalar)), text);
        }
        let (some, optional) =
            (Generator::of(0x70 as *mut _), Type::Optional(Box::new(Type::Generator)));
        for (kind, given, expected) in [
            (&Type::Generator, Value::Generator(some), Value::Generator(some)),
            (&optional, Value::Generator(some), Value::Generator(some)),
            (&optional, Value::Generator(Generator::DEFAULT), Value::None),
            (&optional, Value::None, Value::None),
        ] {
            assert_eq!(format!("{:?}", there_and_back(given, kind)), format!("{expected:?}"));
        }
        assert!(Word::of(Value::Generator(Generator::DEFAULT), &Type::Generator).is_err());
        let text = there_and_back(Value::Str(b"a\0b".to_vec()), &Type::Str);
        assert_eq!(format!("{text:?}"), "Str([97, 0, 98])");
        let sizes = Type::List(Box::new(Type::Int), Some(2));
        assert_eq!(
            format!("{:?}", there_and_back(Value::Int(-4), &sizes)),
            "List([Int(-4), Int(-4)])"
        );
        for (value, kind) in [
            (Value::List(vec![Value::Int(1), Value::Int(2), Value::Int(3)]), &sizes),
            (Value::Float(1.0), &Type::Int),
            (Value::None, &Type::Tensor),
        ] {
            assert!(fitted(value, kind).is_none());
        }
    }
}
