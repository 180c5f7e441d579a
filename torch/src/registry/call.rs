//! Calls of registered operators.

#![allow(unsafe_code, reason = "calls boxed kernels")]

use super::resolved::{FoundOnce, Resolved};
use super::schema::Schema;
use super::table::{self, Found, Place};
use super::uses::DeclaredCall;
use super::value::{Value, for_arguments};
use super::word::{self, first_tensor_of, values_of, words_of};
use crate::abi::tensors::{device_of_tensor, is_defined};
use crate::error::{Error, Result};
use crate::foreign::call_boxed;
use crate::sconce::api;
use crate::sconce::tensor::TensorHandle;

fn place_of(tensor: Option<TensorHandle>) -> Result<Place> {
    Ok(match tensor {
        Some(tensor) if is_defined(tensor)? => match device_of_tensor(tensor)? {
            api::SCONCE_DEVICE_CPU => Place::Cpu,
            _ => Place::Cuda,
        },
        _ => Place::Nowhere,
    })
}

/// Adds defaults to arguments and checks the types of all.
pub fn complete(schema: &Schema, mut values: Vec<Value>) -> Result<Vec<Value>> {
    let wanted = &schema.arguments;
    if values.len() > wanted.len() {
        return Err(Error::invalid_argument(format!(
            "{} arguments are given to {schema}, which takes {}",
            values.len(),
            wanted.len()
        )));
    }
    for argument in &wanted[values.len()..] {
        let default = argument.default.as_ref().ok_or_else(|| {
            Error::invalid_argument(format!(
                "the argument {} of {schema} is missing: {} of {} are given",
                argument.name,
                values.len(),
                wanted.len()
            ))
        })?;
        let value = Value::from_default(default, &argument.kind);
        values.push(value.map_err(|error| error.within(&schema.name))?);
    }
    for_arguments(values, wanted).map_err(|error| error.within(&schema.name))
}

/// Calls an operator with values: its defaults fill those that are left out.
pub fn call(operator: &Resolved, kept: &FoundOnce, values: Vec<Value>) -> Result<Vec<Value>> {
    let schema = kept.schema();
    let values = complete(schema, values)?;
    let place = place_of(values.iter().find_map(Value::first_tensor))?;
    let found = operator.kernel(kept, place)?;
    let words = words_of(values, &schema.arguments)?;
    let mut stack = vec![0; schema.arguments.len().max(schema.results.len())];
    word::write(words, &mut stack);
    run(&found, &mut stack)?;
    // SAFETY: the kernel has written a word of each result, which the stack's holder owns.
    unsafe { values_of(&stack, &schema.results) }
}

/// Calls an operator with the words of another kernel.
///
/// # Safety
/// The stack has the words of the operator's arguments, and as many words as arguments or results.
pub unsafe fn call_words(name: &str, overload: &str, stack: *mut u64) -> Result<()> {
    let schema = table::read()?.schema(name, overload)?;
    let length = schema.arguments.len().max(schema.results.len());
    // SAFETY: kernels allocate a stack for the arguments or the results, of which there may be more.
    let stack = unsafe { std::slice::from_raw_parts_mut(stack, length) };
    let first = stack.iter().zip(&schema.arguments);
    // SAFETY: the stack of a call begins with a word of each argument's type.
    let first = first.map(|(&word, argument)| unsafe { first_tensor_of(word, &argument.kind) });
    let place = place_of(first.flatten().next());
    match place.and_then(|place| table::read()?.kernel(name, overload, place)) {
        Ok(found) => run(&found, stack),
        Err(error) => {
            // The callee owns the arguments, also if it fails.
            // SAFETY: the stack still has the words of the arguments, and the caller gave them up.
            drop(unsafe { values_of(stack, &schema.arguments) });
            Err(error)
        }
    }
}

fn run(found: &Found, stack: &mut [u64]) -> Result<()> {
    let (arguments, results) = (found.schema.arguments.len(), found.schema.results.len());
    // SAFETY: the stack has the words of the schema's arguments.
    let call = unsafe { DeclaredCall::with_words(&found.schema, stack) };
    // SAFETY: the kernel was registered for this schema, whose words the stack has.
    let called = unsafe { call_boxed(found.function, stack, arguments, results) };
    called.map_err(|error| error.within(&found.schema.name))?;
    // SAFETY: the kernel has written a word of each result.
    unsafe { call.end_with_words(stack) };
    Ok(())
}
