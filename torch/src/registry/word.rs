//! Words of the ABI with what they own.

#![allow(unsafe_code, reason = "reads and writes words that own memory")]

use std::mem::ManuallyDrop;

use super::schema::{Argument, Type};
use super::value::Value;
use crate::abi::objects::lists::{List, Text};
use crate::abi::objects::scalars::Scalar;
use crate::error::{Error, Result};
use crate::foreign::words;
use crate::sconce::Tensor;
use crate::sconce::generator::Generator;
use crate::sconce::tensor::TensorHandle;

/// A word that owns what its bits stand for: a tensor, a text, a list, a number as an object, the place of an optional
/// value. It has one owner, so it is neither copied nor cloned. What it owns is freed with it, unless the word is turned
/// into a value or its bits are passed on.
#[derive(Debug)]
#[must_use = "what the word owns is freed with it"]
pub struct Word<'a> {
    bits: u64,
    kind: &'a Type,
}

impl<'a> Word<'a> {
    /// The word of a value that fits a type.
    pub fn of(value: Value, kind: &'a Type) -> Result<Word<'a>> {
        Ok(Word { bits: bits_of(value, kind)?, kind })
    }

    /// The word that bits of a caller are.
    ///
    /// # Safety
    /// The bits are a word of the type, and nothing else owns what they stand for.
    pub unsafe fn from_bits(bits: u64, kind: &'a Type) -> Word<'a> {
        Word { bits, kind }
    }

    /// The bits, whose receiver owns what they stand for.
    pub fn into_bits(self) -> u64 {
        ManuallyDrop::new(self).bits
    }

    /// The value of the word.
    pub fn into_value(self) -> Result<Value> {
        let word = ManuallyDrop::new(self);
        // SAFETY: the bits are a word of the type, and their one owner gives them up here.
        unsafe { value_of(word.bits, word.kind) }
    }
}

impl Drop for Word<'_> {
    fn drop(&mut self) {
        // SAFETY: the bits are a word of the type, and their one owner goes.
        drop(unsafe { value_of(self.bits, self.kind) });
    }
}

/// The bits of a value that fits a type. They own what the value did.
fn bits_of(value: Value, kind: &Type) -> Result<u64> {
    Ok(match (kind, value) {
        (Type::Optional(_), Value::None) => 0,
        (Type::Optional(_), Value::Generator(generator)) if generator.is_default() => 0,
        (Type::Optional(inner), value) => {
            let word = Word::of(value, inner)?;
            let place = words::new(word.bits)?;
            word.into_bits();
            place as u64
        }
        (Type::List(inner, _), Value::List(values)) => {
            let words = values.into_iter().map(|value| Word::of(value, inner));
            let words = words.collect::<Result<Vec<Word<'_>>>>()?;
            let list: List = words.into_iter().map(Word::into_bits).collect();
            address_of(list)
        }
        (Type::Tensor, Value::Tensor(tensor)) => tensor.into_handle() as u64,
        (Type::Scalar, Value::Int(value)) => address_of(Scalar::Int(value)),
        (Type::Scalar, Value::Float(value)) => address_of(Scalar::Float(value)),
        (Type::Scalar, Value::Bool(value)) => address_of(Scalar::Bool(value)),
        (Type::Scalar, Value::Complex(real, imaginary)) => {
            address_of(Scalar::Complex(real, imaginary))
        }
        (Type::Int, Value::Int(value)) => value.cast_unsigned(),
        (Type::Float, Value::Float(value)) => value.to_bits(),
        (Type::Bool, Value::Bool(value)) => u64::from(value),
        (Type::ScalarType | Type::Layout | Type::MemoryFormat, Value::Code(code)) => {
            u64::from(code.cast_unsigned())
        }
        (Type::Device, Value::Device(device, index)) => {
            u64::from(device.cast_unsigned()) << 32 | u64::from(index.cast_unsigned())
        }
        (Type::Generator, Value::Generator(generator)) if generator.is_default() => {
            return Err(Error::invalid_argument(
                "there is no generator, and the operator's schema says that there must be one; pass one, such as that \
                 of sconce_generator_get_default",
            ));
        }
        (Type::Generator, Value::Generator(generator)) => generator.handle() as u64,
        (Type::Str, Value::Str(text)) => Box::into_raw(Text::new(&text)) as u64,
        (kind, value) => return Err(Error::internal(format!("{value:?} is no {kind}"))),
    })
}

/// The address of a new object, as a word that owns it.
fn address_of<T>(object: T) -> u64 {
    Box::into_raw(Box::new(object)) as u64
}

/// An object that a word is the address of.
///
/// # Safety
/// The word is 0 or the address of a boxed `T` that nothing else owns.
unsafe fn boxed<T>(bits: u64, what: &str) -> Result<Box<T>> {
    let place = bits as *mut T;
    if place.is_null() {
        return Err(Error::invalid_argument(format!("{what} is NULL")));
    }
    // SAFETY: the word is the address of a `T` that `address_of` or the ABI's functions boxed, and the word was its owner.
    Ok(unsafe { Box::from_raw(place) })
}

/// The value of a word, which owns what the word did.
///
/// # Safety
/// The bits are a word of the type, and nothing uses them afterwards.
unsafe fn value_of(bits: u64, kind: &Type) -> Result<Value> {
    Ok(match kind {
        Type::Optional(_) if bits == 0 => Value::None,
        Type::Optional(inner) => {
            let place = bits as *mut u64;
            // SAFETY: a word of an optional type that is not 0 is the address of one.
            let of_inner = unsafe { place.read() };
            // SAFETY: it is C++'s memory of one word, and not used again.
            unsafe { words::delete(place) };
            // SAFETY: what was read is a word of the inner type, and the place that owned it is gone.
            match unsafe { Word::from_bits(of_inner, inner) }.into_value()? {
                Value::Generator(generator) if generator.is_default() => Value::None,
                value => value,
            }
        }
        Type::Tensor => Value::Tensor(Tensor::from_handle(bits as TensorHandle)),
        Type::Int => Value::Int(bits.cast_signed()),
        Type::Float => Value::Float(f64::from_bits(bits)),
        Type::Bool => Value::Bool(bits & 0xff != 0),
        Type::Scalar => {
            // SAFETY: a word of this type is 0 or the address of a boxed number.
            match *unsafe { boxed::<Scalar>(bits, "a scalar") }? {
                Scalar::Int(value) => Value::Int(value),
                Scalar::Float(value) => Value::Float(value),
                Scalar::Bool(value) => Value::Bool(value),
                Scalar::Complex(real, imaginary) => Value::Complex(real, imaginary),
            }
        }
        Type::ScalarType | Type::Layout | Type::MemoryFormat => {
            Value::Code((bits as u32).cast_signed())
        }
        Type::Device => {
            Value::Device(((bits >> 32) as u32).cast_signed(), (bits as u32).cast_signed())
        }
        Type::Str => {
            // SAFETY: a word of this type is 0 or the address of a boxed text.
            let text = unsafe { boxed::<Text>(bits, "a text") }?;
            Value::Str(text.bytes().to_vec())
        }
        Type::List(inner, _) => {
            // SAFETY: a word of this type is 0 or the address of a boxed list.
            let list = unsafe { boxed::<List>(bits, "a list") }?;
            // SAFETY: the list's entries are words of the inner type, which the list owned.
            let words: Vec<_> =
                list.iter().map(|&bits| unsafe { Word::from_bits(bits, inner) }).collect();
            Value::List(words.into_iter().map(Word::into_value).collect::<Result<_>>()?)
        }
        Type::Generator => Value::Generator(Generator::of(bits as *mut _)),
        Type::Other(_) => {
            return Err(Error::not_supported(format!(
                "values of the type {kind} are not passed through the ABI"
            )));
        }
    })
}

/// The words of values, which are those of arguments or results in their order.
pub fn words_of(values: Vec<Value>, of: &[Argument]) -> Result<Vec<Word<'_>>> {
    if values.len() != of.len() {
        return Err(Error::internal(format!("{} values for {} words", values.len(), of.len())));
    }
    values.into_iter().zip(of).map(|(value, one)| Word::of(value, &one.kind)).collect()
}

/// The values of the words at the begin of a stack. If one of them cannot be read, what the others own is freed.
///
/// # Safety
/// There is a word of the type of each argument, and nothing uses them afterwards.
pub unsafe fn values_of(stack: &[u64], of: &[Argument]) -> Result<Vec<Value>> {
    let words = stack.iter().zip(of);
    // SAFETY: this function demands a word of each argument's type, which becomes the one owner of what it stands for.
    let words: Vec<_> =
        words.map(|(&bits, of)| unsafe { Word::from_bits(bits, &of.kind) }).collect();
    words.into_iter().map(Word::into_value).collect()
}

/// Writes words to the begin of a stack, whose receiver owns what they stand for.
pub fn write(words: Vec<Word<'_>>, stack: &mut [u64]) {
    for (place, word) in stack.iter_mut().zip(words) {
        *place = word.into_bits();
    }
}

/// Calls `visit` with the tensors within a word, which goes on owning them, until it returns true.
///
/// # Safety
/// The bits are a word of the type.
unsafe fn visit_tensors(
    bits: u64,
    kind: &Type,
    visit: &mut dyn FnMut(TensorHandle) -> bool,
) -> bool {
    match kind {
        Type::Tensor => visit(bits as TensorHandle),
        Type::Optional(inner) if bits != 0 => {
            // SAFETY: a word of an optional type that is not 0 is the address of one.
            let of_inner = unsafe { (bits as *const u64).read() };
            // SAFETY: what was read is a word of the inner type.
            unsafe { visit_tensors(of_inner, inner, visit) }
        }
        Type::List(inner, _) if bits != 0 => {
            // SAFETY: a word of this type that is not 0 is the address of a boxed list.
            let list = unsafe { &*(bits as *const List) };
            // SAFETY: the list's entries are words of the inner type.
            list.iter().any(|&bits| unsafe { visit_tensors(bits, inner, visit) })
        }
        _ => false,
    }
}

/// The first tensor within a word, which goes on owning it.
///
/// # Safety
/// The bits are a word of the type.
pub unsafe fn first_tensor_of(bits: u64, kind: &Type) -> Option<TensorHandle> {
    let mut first = None;
    let mut visit = |tensor| {
        first = Some(tensor);
        true
    };
    // SAFETY: the bits are a word of the type, which this function demands.
    unsafe { visit_tensors(bits, kind, &mut visit) };
    first
}

/// Adds all tensors within a word, which goes on owning them.
///
/// # Safety
/// The bits are a word of the type.
pub unsafe fn tensors_of(bits: u64, kind: &Type, into: &mut Vec<TensorHandle>) {
    let mut visit = |tensor| {
        into.push(tensor);
        false
    };
    // SAFETY: the bits are a word of the type, which this function demands.
    unsafe { visit_tensors(bits, kind, &mut visit) };
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::registry::parser::parse;
    use crate::testing::live;

    fn tensor() -> Value {
        Value::Tensor(crate::sconce::operations::undefined().unwrap())
    }

    fn arguments(text: &str) -> Vec<Argument> {
        parse(&format!("f({text}) -> ()")).unwrap().2.unwrap().arguments
    }

    #[test]
    fn a_tensor_has_one_owner_from_value_to_word_and_back() {
        let before = live();
        for text in ["Tensor x", "Tensor? x", "Tensor[] x", "Tensor?[] x", "Tensor[]? x"] {
            let of = arguments(text);
            let value = || {
                if text.contains('[') { Value::List(vec![tensor(), tensor()]) } else { tensor() }
            };
            drop(words_of(vec![value()], &of).unwrap());
            assert_eq!(live(), before, "{text}: a word was dropped");
            let mut stack = [0];
            write(words_of(vec![value()], &of).unwrap(), &mut stack);
            assert_eq!(live(), before + 1 + usize::from(text.contains('[')));
            // SAFETY: the word is one of that type.
            assert!(unsafe { first_tensor_of(stack[0], &of[0].kind) }.is_some());
            // SAFETY: the word is one of that type, and used once.
            let values = unsafe { values_of(&stack, &of) }.unwrap();
            assert_eq!(values.len(), 1);
            drop(values);
            assert_eq!(live(), before, "{text}: a value was dropped");
        }
    }

    #[test]
    fn what_was_made_before_a_failure_goes() {
        let before = live();
        let none = Value::Generator(Generator::DEFAULT);
        // The second value has no word.
        let of = arguments("Tensor[] x, Generator g");
        assert!(words_of(vec![Value::List(vec![tensor(), tensor()]), none], &of).is_err());
        let of = arguments("Tensor[] x");
        let list = Value::List(vec![tensor(), Value::Int(1)]);
        assert!(words_of(vec![list], &of).is_err());
        // The second word has no value.
        let of = arguments("Tensor x, str s, Tensor? y");
        let mut stack = [0; 3];
        let text = Value::Str(b"text".to_vec());
        write(words_of(vec![tensor(), text, tensor()], &of).unwrap(), &mut stack);
        // SAFETY: this is the word of a text, and used once.
        drop(unsafe { Word::from_bits(stack[1], &of[1].kind) });
        stack[1] = 0;
        // SAFETY: NULL is read as a text that is not there; the others are words of their types.
        assert!(unsafe { values_of(&stack, &of) }.is_err());
        assert!(words_of(vec![tensor()], &of).is_err());
        assert_eq!(live(), before);
    }
}
