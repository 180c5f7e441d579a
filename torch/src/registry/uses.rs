//! What an operator reads and writes, as its schema says: declared to the sanitizer.

#![allow(unsafe_code, reason = "reads words of the ABI")]

use super::schema::{Argument, Schema};
use super::value::Value;
use super::word::tensors_of;
use crate::sconce::declared::{DeclaredOperation, UsedTensors};
use crate::sconce::tensor::TensorHandle;

/// How an operator uses the elements of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Usage {
    /// It looks at sizes and types, or returns a view.
    Nothing,
    Read,
    Written,
}

/// Whether an operator makes a tensor that has something of another one, but none of its elements.
fn makes_new(schema: &Schema) -> bool {
    let name = schema.name.rsplit("::").next().unwrap_or_default();
    schema.name.starts_with("aten::")
        && (name.starts_with("new_") || name.ends_with("_like") || name == "is_pinned")
}

fn usage(schema: &Schema, argument: &Argument) -> Usage {
    match &argument.alias {
        _ if argument.is_written() => Usage::Written,
        Some(_) => Usage::Nothing,
        None if makes_new(schema) => Usage::Nothing,
        None => Usage::Read,
    }
}

fn used(schema: &Schema, tensors: impl Fn(usize, &mut Vec<TensorHandle>)) -> UsedTensors {
    let mut used = UsedTensors::default();
    for (at, argument) in schema.arguments.iter().enumerate() {
        match usage(schema, argument) {
            Usage::Nothing => {}
            Usage::Read => tensors(at, &mut used.reads),
            Usage::Written => tensors(at, &mut used.writes),
        }
    }
    used
}

/// Tensors among the results that are new.
fn made(schema: &Schema, tensors: impl Fn(usize, &mut Vec<TensorHandle>)) -> Vec<TensorHandle> {
    let mut made = Vec::new();
    if !makes_new(schema) {
        let new = schema.results.iter().enumerate().filter(|(_, result)| result.alias.is_none());
        new.for_each(|(at, _)| tensors(at, &mut made));
    }
    made
}

/// A call of an operator that is declared to the sanitizer, while that is on.
pub struct DeclaredCall<'a> {
    schema: &'a Schema,
    operation: Option<DeclaredOperation>,
}

impl<'a> DeclaredCall<'a> {
    /// Begins a call with values.
    #[inline]
    pub fn with_values(schema: &'a Schema, values: &[Value]) -> DeclaredCall<'a> {
        let used = || Ok(used(schema, |at, into| values[at].tensors_into(into)));
        DeclaredCall { schema, operation: DeclaredOperation::begin(&schema.name, used) }
    }

    /// Begins a call with words.
    ///
    /// # Safety
    /// The stack begins with the words of the arguments.
    #[inline]
    pub unsafe fn with_words(schema: &'a Schema, stack: &[u64]) -> DeclaredCall<'a> {
        let used = || {
            Ok(used(schema, |at, into| {
                // SAFETY: the stack has a word of the type of each argument, as this function demands.
                unsafe { tensors_of(stack[at], &schema.arguments[at].kind, into) }
            }))
        };
        DeclaredCall { schema, operation: DeclaredOperation::begin(&schema.name, used) }
    }

    /// Ends a call that has returned values.
    #[inline]
    pub fn end_with_values(self, results: &[Value]) {
        if let Some(operation) = self.operation {
            operation.end_with(&made(self.schema, |at, into| results[at].tensors_into(into)));
        }
    }

    /// Ends a call that has returned words.
    ///
    /// # Safety
    /// The stack begins with the words of the results.
    #[inline]
    pub unsafe fn end_with_words(self, stack: &[u64]) {
        let DeclaredCall { schema, operation } = self;
        if let Some(operation) = operation {
            operation.end_with(&made(schema, |at, into| {
                // SAFETY: the stack has a word of the type of each result, as this function demands.
                unsafe { tensors_of(stack[at], &schema.results[at].kind, into) }
            }));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::registry::parser::parse;

    fn usages(text: &str) -> Vec<Usage> {
        let schema = parse(text).unwrap().2.unwrap();
        schema.arguments.iter().map(|argument| usage(&schema, argument)).collect()
    }

    #[test]
    fn annotations_tell_what_is_read_and_written() {
        use Usage::{Nothing, Read, Written};
        for (text, expected) in [
            ("f::f(Tensor x, Tensor(a!) y, Tensor[] z) -> Tensor", vec![Read, Written, Read]),
            ("f::f(Tensor(a! -> *) x, Tensor(b!)[] y) -> ()", vec![Written, Written]),
            ("aten::t(Tensor(a) self) -> Tensor(a)", vec![Nothing]),
            ("aten::split(Tensor(a -> *) self) -> Tensor(a)[]", vec![Nothing]),
            ("aten::zeros_like(Tensor self) -> Tensor", vec![Nothing]),
            ("aten::new_empty(Tensor self, int[] size) -> Tensor", vec![Nothing, Nothing]),
            ("f::new_like(Tensor self) -> Tensor", vec![Read]),
        ] {
            assert_eq!(usages(text), expected, "{text}");
        }
    }
}
