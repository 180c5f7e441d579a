//! Calls of operations by name, from kernels.

#![allow(unsafe_code, reason = "functions of C over a stack of words")]

use super::arguments::Arguments;
use super::table::{Operation, operation, overloads};
use crate::abi::arguments::CText;
use crate::abi::errors::not_null;
use crate::error::{Error, Result, shim};
use crate::registry::call::call_words;
use crate::registry::schema::full_name;
use crate::registry::table;
use crate::registry::value::for_arguments;
use crate::registry::word::{self, values_of, words_of};

/// # Safety
/// The stack has the words of the operation's arguments, and as many words as arguments or results.
unsafe fn run(operation: &Operation, stack: *mut u64) -> Result<()> {
    let schema = &operation.schema;
    let length = schema.arguments.len().max(schema.results.len());
    // SAFETY: kernels allocate a stack for the arguments or the results, of which there may be more.
    let stack = unsafe { std::slice::from_raw_parts_mut(stack, length) };
    // SAFETY: the stack of a call begins with the words of its arguments. From here on the values own what they did.
    let values = unsafe { values_of(stack, &schema.arguments) }?;
    let arguments = Arguments(for_arguments(values, &schema.arguments)?);
    let results = operation.run(arguments)?;
    word::write(words_of(results, &schema.results)?, stack);
    Ok(())
}

fn unknown(name: &str, overload: &str) -> Error {
    let known = overloads(name);
    let hint = if known.is_empty() {
        String::new()
    } else {
        format!("; the overloads that it offers are {known:?}")
    };
    Error::not_supported(format!(
        "the operator {}, which a kernel calls, is not offered by libsconce_torch{hint}",
        full_name(name, overload)
    ))
}

/// Calls an operation by name: one of `aten`, or one that a kernel library registered. Arguments and results are words
/// of a stack; what the arguments own goes to the call, also if it fails.
///
/// # Safety
/// The stack has the words of the operation's arguments, and as many words as arguments or results.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_call_dispatcher(
    op_name: CText<'_>,
    overload_name: CText<'_>,
    stack: *mut u64,
    _extension_build_version: u64,
) -> i32 {
    shim(|| {
        op_name.required("opName")?;
        not_null(stack, "stack")?;
        let [name, overload] = [op_name, overload_name].map(CText::text);
        if let Some(operation) = operation(&name, &overload) {
            // SAFETY: C passed a stack for this operation, with the words of its arguments.
            return unsafe { run(operation, stack) }.map_err(|error| error.within(&name));
        }
        if table::read()?.schema(&name, &overload).is_err() {
            return Err(unknown(&name, &overload));
        }
        // SAFETY: C passed a stack for this operator, with the words of its arguments.
        unsafe { call_words(&name, &overload, stack) }
    })
}

/// As [`torch_call_dispatcher`], of libraries that name no version.
///
/// # Safety
/// As for [`torch_call_dispatcher`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_call_dispatcher(
    op_name: CText<'_>,
    overload_name: CText<'_>,
    stack: *mut u64,
) -> i32 {
    // SAFETY: the arguments are those that C passes to the function with a version.
    unsafe { torch_call_dispatcher(op_name, overload_name, stack, 0) }
}
