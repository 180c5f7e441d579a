//! Values of operators, and the words that the ABI passes them as.

#![allow(unsafe_code, reason = "reads and writes words that own memory")]

use super::schema::{Argument, Type};
use crate::abi::objects::lists::{List, Text};
use crate::abi::objects::scalars::Scalar;
use crate::error::{Error, Result};
use crate::foreign::words;
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

/// Turns a value into what a word of its type takes: integers are also real numbers, and one value fills a list whose
/// schema names a count.
fn fits(value: &Value, kind: &Type) -> bool {
    match (kind, value) {
        (Type::Optional(_), Value::None)
        | (Type::Generator, Value::Generator(_))
        | (Type::Tensor, Value::Tensor(_))
        | (Type::Int, Value::Int(_) | Value::Bool(_))
        | (Type::Float, Value::Float(_) | Value::Int(_))
        | (Type::Bool, Value::Bool(_))
        | (Type::Scalar, Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Complex(..))
        | (Type::Str, Value::Str(_))
        | (Type::ScalarType | Type::Layout | Type::MemoryFormat, Value::Code(_))
        | (Type::Device, Value::Device(..)) => true,
        (Type::Optional(inner), value) => fits(value, inner),
        (Type::List(inner, count), Value::List(values)) => {
            count.is_none_or(|count| values.len() == count || values.len() == 1 || count == 1)
                && values.iter().all(|value| fits(value, inner))
        }
        (Type::List(inner, Some(_)), value) => fits(value, inner),
        _ => false,
    }
}

/// Checks that a value is of an argument's type.
pub fn check_type(value: &Value, argument: &Argument) -> Result<()> {
    if fits(value, &argument.kind) {
        return Ok(());
    }
    let what = match (&argument.kind, value) {
        (Type::Other(_), _) => {
            return Err(Error::not_supported(format!(
                "the argument {} has the type {}, whose values are not passed through the ABI; leave it at its default",
                argument.name, argument.kind
            )));
        }
        (_, value) => value.described(),
    };
    Err(Error::invalid_argument(format!(
        "the argument {} is {what}; its type is {}",
        argument.name, argument.kind
    )))
}

/// The word of a value that fits its type; the word owns what the value did.
pub fn to_word(value: Value, kind: &Type) -> Result<u64> {
    Ok(match (kind, value) {
        (Type::Optional(_), Value::None) => 0,
        (Type::Optional(_), Value::Generator(generator)) if generator.is_default() => 0,
        (Type::Optional(inner), value) => words::new(to_word(value, inner)?)? as u64,
        (Type::List(inner, count), value) => {
            let values = match value {
                Value::List(values) => values,
                value => vec![value],
            };
            let mut list = Vec::with_capacity(values.len());
            for value in values {
                list.push(to_word(value, inner)?);
            }
            if let (Some(count), &[one]) = (*count, list.as_slice())
                && !matches!(**inner, Type::Tensor)
            {
                list = vec![one; count.max(1)];
            }
            Box::into_raw(Box::new(list)) as u64
        }
        (_, Value::Tensor(tensor)) => tensor.into_handle() as u64,
        (Type::Scalar, Value::Int(value)) => Scalar::Int(value).boxed() as u64,
        (Type::Scalar, Value::Float(value)) => Scalar::Float(value).boxed() as u64,
        (Type::Scalar, Value::Bool(value)) => Scalar::Bool(value).boxed() as u64,
        (Type::Scalar, Value::Complex(real, imaginary)) => {
            Scalar::Complex(real, imaginary).boxed() as u64
        }
        (Type::Float, Value::Int(value)) => (value as f64).to_bits(),
        (_, Value::Int(value)) => value.cast_unsigned(),
        (_, Value::Float(value)) => value.to_bits(),
        (_, Value::Bool(value)) => u64::from(value),
        (_, Value::Code(code)) => u64::from(code.cast_unsigned()),
        (_, Value::Device(device, index)) => {
            u64::from(device.cast_unsigned()) << 32 | u64::from(index.cast_unsigned())
        }
        (_, Value::Generator(generator)) if generator.is_default() => {
            return Err(Error::invalid_argument(
                "there is no generator, and the operator's schema says that there must be one; pass one, such as that \
                 of sconce_generator_get_default",
            ));
        }
        (_, Value::Generator(generator)) => generator.handle() as u64,
        (_, Value::Str(text)) => Text::boxed(&text) as u64,
        (kind, value) => {
            return Err(Error::internal(format!("{} is no {kind}", value.described())));
        }
    })
}

/// The value of a word, which owns what the word did.
///
/// # Safety
/// The word is one of the type, and not used afterwards.
pub unsafe fn from_word(word: u64, kind: &Type) -> Result<Value> {
    Ok(match kind {
        Type::Optional(_) if word == 0 => Value::None,
        Type::Optional(inner) => {
            let place = word as *mut u64;
            // SAFETY: the caller's promise: a word of an optional type that is not 0 is the address of one.
            let inner_word = unsafe { place.read() };
            // SAFETY: as above; it is not used again.
            unsafe { words::delete(place) };
            // SAFETY: the caller's promise.
            match unsafe { from_word(inner_word, inner) }? {
                Value::Generator(generator) if generator.is_default() => Value::None,
                value => value,
            }
        }
        Type::Tensor => Value::Tensor(Tensor::from_handle(word as TensorHandle)),
        Type::Int => Value::Int(word.cast_signed()),
        Type::Float => Value::Float(f64::from_bits(word)),
        Type::Bool => Value::Bool(word & 0xff != 0),
        Type::Scalar => {
            let scalar = word as *mut Scalar;
            if scalar.is_null() {
                return Err(Error::invalid_argument("a scalar is NULL"));
            }
            // SAFETY: the caller's promise; it is not NULL.
            match *unsafe { Box::from_raw(scalar) } {
                Scalar::Int(value) => Value::Int(value),
                Scalar::Float(value) => Value::Float(value),
                Scalar::Bool(value) => Value::Bool(value),
                Scalar::Complex(real, imaginary) => Value::Complex(real, imaginary),
            }
        }
        Type::ScalarType | Type::Layout | Type::MemoryFormat => {
            Value::Code((word as u32).cast_signed())
        }
        Type::Device => {
            Value::Device(((word >> 32) as u32).cast_signed(), (word as u32).cast_signed())
        }
        Type::Str => {
            let text = word as *mut Text;
            if text.is_null() {
                return Err(Error::invalid_argument("a text is NULL"));
            }
            // SAFETY: the caller's promise; it is not NULL.
            let text = unsafe { Box::from_raw(text) };
            Value::Str(text.bytes().to_vec())
        }
        Type::List(inner, _) => {
            let list = word as *mut List;
            if list.is_null() {
                return Err(Error::invalid_argument("a list is NULL"));
            }
            // SAFETY: the caller's promise; it is not NULL.
            let list = unsafe { Box::from_raw(list) };
            let mut values = Vec::with_capacity(list.len());
            let mut failure = None;
            // All words are read, so that none is left owned by nobody.
            for &word in list.iter() {
                // SAFETY: the caller's promise holds for each word.
                match unsafe { from_word(word, inner) } {
                    Ok(value) => values.push(value),
                    Err(error) => failure = Some(error),
                }
            }
            match failure {
                Some(error) => return Err(error),
                None => Value::List(values),
            }
        }
        Type::Generator => Value::Generator(Generator::of(word as *mut _)),
        Type::Other(_) => {
            return Err(Error::not_supported(format!(
                "values of the type {kind} are not passed through the ABI"
            )));
        }
    })
}

/// The values of words. All words are read, whatever fails.
///
/// # Safety
/// There is a word of each argument's type, and none is used afterwards.
pub unsafe fn from_words(stack: &[u64], arguments: &[Argument]) -> Result<Vec<Value>> {
    let mut values = Vec::with_capacity(arguments.len());
    let mut failure = None;
    for (&word, argument) in stack.iter().zip(arguments) {
        // SAFETY: the caller's promise.
        match unsafe { from_word(word, &argument.kind) } {
            Ok(value) => values.push(value),
            Err(error) => failure = Some(error),
        }
    }
    failure.map_or(Ok(values), Err)
}

/// The first tensor within a word, which goes on owning it.
///
/// # Safety
/// The word is one of the type.
pub unsafe fn first_tensor_of(word: u64, kind: &Type) -> Option<TensorHandle> {
    match kind {
        Type::Tensor => Some(word as TensorHandle),
        Type::Optional(inner) if word != 0 => {
            // SAFETY: the caller's promise: the address of a word.
            let word = unsafe { (word as *const u64).read() };
            // SAFETY: as above.
            unsafe { first_tensor_of(word, inner) }
        }
        Type::List(inner, _) if word != 0 => {
            // SAFETY: the caller's promise: a live list.
            let list = unsafe { &*(word as *const List) };
            // SAFETY: the caller's promise holds for each word.
            list.iter().find_map(|&word| unsafe { first_tensor_of(word, inner) })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(value: Value, kind: &Type) -> Value {
        assert!(fits(&value, kind));
        let word = to_word(value, kind).unwrap();
        // SAFETY: the word is of that type, and used once.
        unsafe { from_word(word, kind) }.unwrap()
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
        assert!(to_word(Value::Generator(Generator::DEFAULT), &Type::Generator).is_err());
        let text = there_and_back(Value::Str(b"a\0b".to_vec()), &Type::Str);
        assert_eq!(format!("{text:?}"), "Str([97, 0, 98])");
        let sizes = Type::List(Box::new(Type::Int), Some(2));
        assert_eq!(
            format!("{:?}", there_and_back(Value::Int(-4), &sizes)),
            "List([Int(-4), Int(-4)])"
        );
        assert!(!fits(&Value::List(vec![Value::Int(1), Value::Int(2), Value::Int(3)]), &sizes));
        assert!(!fits(&Value::Float(1.0), &Type::Int) && !fits(&Value::None, &Type::Tensor));
    }

    #[test]
    fn tensors_are_owned_once_all_the_way() {
        let undefined = || {
            // SAFETY: the place is valid for a write.
            crate::sconce::operations::undefined().unwrap()
        };
        let (tensor, other) = (undefined(), undefined());
        let handles = [tensor.handle(), other.handle()];
        let kind = Type::List(Box::new(Type::Tensor), None);
        let word =
            to_word(Value::List(vec![Value::Tensor(tensor), Value::Tensor(other)]), &kind).unwrap();
        // SAFETY: the word is of that type.
        assert_eq!(unsafe { first_tensor_of(word, &kind) }, Some(handles[0]));
        // SAFETY: the word is of that type, and used once.
        drop(unsafe { from_word(word, &kind) }.unwrap());
        for handle in handles {
            // SAFETY: any number may be passed as a handle.
            let status = unsafe { crate::sconce::api::sconce_tensor_release(handle) };
            assert_ne!(status, 0, "it is alive");
        }
    }
}
