//! The custom operators that a model calls: `aoti_torch_proxy_executor_call_function`.
//!
//! A run passes the model a pointer to its operators, and the model passes it back with the number of a call. The calls
//! change nothing here, so threads may make them at once.

#![allow(unsafe_code, reason = "a function that compiled models call")]

use std::ffi::c_int;

use crate::abi::live;
use crate::dispatcher::by_value;
use crate::error::{self, Error, Result};
use crate::package::nodes::{Input, Node, Output};
use crate::package::packaged::NamedOperators;
use crate::registry::schema::{Default, Schema, Type, full_name};
use crate::registry::table::Place;
use crate::registry::value::Value;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, check};

/// The function that a model calls its operators through.
pub const CALL: &str = "aoti_torch_proxy_executor_call_function";

/// The custom operators of a model.
#[derive(Debug)]
pub struct Operators {
    /// The calls, by number.
    nodes: Vec<Node>,
    /// Sconce's device of the model.
    device: i32,
}

/// What a model passes, taken one after the other.
struct Passed<'a, T> {
    rest: &'a [T],
    what: &'static str,
}

impl<T: Copy> Passed<'_, T> {
    fn one(&mut self) -> Result<T> {
        let (first, rest) = self.rest.split_first().ok_or_else(|| {
            Error::invalid_argument(format!("the model passes too few {}", self.what))
        })?;
        self.rest = rest;
        Ok(*first)
    }

    fn end(&self) -> Result<()> {
        match self.rest.len() {
            0 => Ok(()),
            more => Err(Error::invalid_argument(format!(
                "the model passes {more} more {} than the operator takes",
                self.what
            ))),
        }
    }
}

/// Takes the whole numbers that the model passes for arguments which its file leaves out because they have their
/// defaults. PyTorch 2.11 compiles such models and cannot run them: `addmm` of complex numbers with its two factors.
fn unnamed(
    schema: &Schema,
    values: &mut [Option<Value>],
    ints: &mut Passed<'_, i64>,
) -> Result<()> {
    let left_out: Vec<usize> = (0..values.len())
        .filter(|&at| {
            let argument = &schema.arguments[at];
            let is_number = matches!(argument.kind, Type::Int | Type::Scalar);
            let is_whole = matches!(argument.default, Some(Default::Int(_)));
            values[at].is_none() && is_number && is_whole
        })
        .collect();
    if left_out.len() != ints.rest.len() {
        return Ok(());
    }
    for at in left_out {
        values[at] = Some(Value::Int(ints.one()?));
    }
    Ok(())
}

impl Operators {
    /// The operators of a model, all of which must be there. `undefined` has the functions that the model's library
    /// needs, and `named` the calls if the package names them.
    pub fn new(named: NamedOperators, undefined: &[String], device: i32) -> Result<Box<Operators>> {
        let calls = undefined.iter().any(|name| name == CALL);
        let nodes = match named {
            Ok(nodes) => nodes,
            Err(damaged) if calls => return Err(damaged),
            Err(_) => None,
        };
        if nodes.is_none() && calls {
            return Err(Error::not_supported(
                "the model calls custom operators, and the file that names them is missing: the .json beside the \
                 model's .so, which the package has. Load the package, or put that file beside the library",
            ));
        }
        let operators = Operators { nodes: nodes.unwrap_or_default(), device };
        operators.check()?;
        Ok(Box::new(operators))
    }

    /// The names of the operators, each once.
    pub fn names(&self) -> Vec<String> {
        names(&self.nodes)
    }

    /// Fails if an operator is not registered for the model's device.
    fn check(&self) -> Result<()> {
        let place = if self.device >= 0 { Place::Cuda } else { Place::Cpu };
        let missing = missing(&self.nodes, place);
        let lines = |of_pytorch: bool| {
            let some = missing.iter().filter(|one| one.is_of_pytorch == of_pytorch);
            some.map(|one| one.line.as_str()).collect::<Vec<_>>().join(", ")
        };
        let (operations, custom) = (lines(true), lines(false));
        let mut why = Vec::new();
        if !operations.is_empty() {
            why.push(format!(
                "the model calls operations of PyTorch by name that libsconce_torch does not offer: {operations}. Export \
                 the model with a decomposition table (run_decompositions), so that the compiler generates kernels for \
                 them"
            ));
        }
        if !custom.is_empty() {
            why.push(format!(
                "the model calls custom operators that no kernel library has registered for its device: {custom}. Load \
                 the libraries that implement them with sconce_torch_load before the model (sconce-run: --library), or \
                 let the operators be decomposed where the model is exported"
            ));
        }
        if why.is_empty() { Ok(()) } else { Err(Error::not_supported(why.join(". Also, "))) }
    }

    /// Makes the call of a number with what the model passes.
    fn call(&self, index: usize, ints: &[i64], tensors: &[TensorHandle]) -> Result<()> {
        let node = self.nodes.get(index).ok_or_else(|| {
            Error::invalid_argument(format!(
                "the model calls its operator {index}; its package names {}",
                self.nodes.len()
            ))
        })?;
        let mut ints = Passed { rest: ints, what: "whole numbers" };
        let mut tensors = Passed { rest: tensors, what: "tensors" };
        let made = self.values(node, &mut ints, &mut tensors).and_then(|values| {
            ints.end()?;
            let results = by_value::call(&node.name, &node.overload, values)?;
            assign(node, results, &mut tensors)?;
            tensors.end()
        });
        made.map_err(|error| error.within(&format!("the operator {}", name_of(node))))
    }

    /// The arguments, in the order of the operator's schema.
    fn values(
        &self,
        node: &Node,
        ints: &mut Passed<'_, i64>,
        tensors: &mut Passed<'_, TensorHandle>,
    ) -> Result<Vec<Value>> {
        by_value::with_schema(&node.name, &node.overload, |schema| {
            let mut values: Vec<Option<Value>> = Vec::new();
            values.resize_with(schema.arguments.len(), || None);
            for (at, (name, input)) in node.inputs.iter().enumerate() {
                let named = schema.arguments.iter().position(|argument| argument.name == *name);
                let value = self.value(input, ints, tensors)?;
                let place = values.get_mut(named.unwrap_or(at)).ok_or_else(|| {
                    Error::invalid_argument(format!("{schema} has no argument {name}"))
                })?;
                *place = Some(value);
            }
            unnamed(schema, &mut values, ints)?;
            let each = values.into_iter().zip(&schema.arguments);
            each.map(|(value, argument)| match (value, &argument.default) {
                (Some(value), _) => Ok(value),
                (None, Some(default)) => Value::from_default(default, &argument.kind),
                (None, None) => Err(Error::invalid_argument(format!(
                    "the model does not pass the argument {} of {schema}",
                    argument.name
                ))),
            })
            .collect()
        })
    }

    fn value(
        &self,
        input: &Input,
        ints: &mut Passed<'_, i64>,
        tensors: &mut Passed<'_, TensorHandle>,
    ) -> Result<Value> {
        let mut tensor = || tensors.one().and_then(Tensor::retained).map(Value::Tensor);
        let mut int = || ints.one().map(Value::Int);
        Ok(match input {
            Input::None => Value::None,
            Input::Tensor => tensor()?,
            Input::Tensors(count) => {
                Value::List((0..*count).map(|_| tensor()).collect::<Result<_>>()?)
            }
            Input::OptionalTensors(are) => {
                let one = |is: &bool| if *is { tensor() } else { Ok(Value::None) };
                Value::List(are.iter().map(one).collect::<Result<_>>()?)
            }
            Input::Int => int()?,
            Input::Ints(count) => Value::List((0..*count).map(|_| int()).collect::<Result<_>>()?),
            Input::Bool(value) => Value::Bool(*value),
            Input::Bools(values) => Value::List(values.iter().map(|it| Value::Bool(*it)).collect()),
            Input::Float(value) => Value::Float(*value),
            Input::Complex(real, imaginary) => Value::Complex(*real, *imaginary),
            Input::Floats(values) => {
                Value::List(values.iter().map(|it| Value::Float(*it)).collect())
            }
            Input::Text(text) => Value::Str(text.as_bytes().to_vec()),
            Input::Texts(texts) => {
                Value::List(texts.iter().map(|it| Value::Str(it.as_bytes().to_vec())).collect())
            }
            Input::Code(number) => Value::Code(*number),
            Input::Device { is_cpu: true } => Value::Device(0, -1),
            Input::Device { is_cpu: false } => Value::Device(1, self.device),
        })
    }
}

/// The names of operators, each once.
pub fn names(nodes: &[Node]) -> Vec<String> {
    let mut names: Vec<String> = nodes.iter().map(name_of).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// An operator that is not there.
#[derive(Debug, PartialEq, Eq)]
pub struct MissingOperator {
    /// Its name, and what else is known.
    pub line: String,
    /// Whether it is an operation of PyTorch itself, which no kernel library registers.
    pub is_of_pytorch: bool,
}

/// Namespaces of PyTorch's own operations.
const OF_PYTORCH: [&str; 10] = [
    "aten",
    "prims",
    "prim",
    "quantized",
    "_quantized",
    "onednn",
    "mkldnn",
    "inductor",
    "rngprims",
    "c10d",
];

/// Whether an operator is an operation of PyTorch itself.
fn is_of_pytorch(name: &str) -> bool {
    name.split_once("::").is_some_and(|(namespace, _)| OF_PYTORCH.contains(&namespace))
}

/// A line of a description about an operator that a model calls by name.
pub fn named_line(name: &str) -> String {
    let what = if is_of_pytorch(name) { "operation by name" } else { "custom operator" };
    format!("{what}: {name}")
}

/// The operators that are not there for a device, each once.
pub fn missing(nodes: &[Node], place: Place) -> Vec<MissingOperator> {
    let mut missing: Vec<MissingOperator> = Vec::new();
    for node in nodes {
        let Err(error) = by_value::check(&node.name, &node.overload, place) else { continue };
        // An operator that is there may have kernels for other devices, or other overloads.
        let is_known = error.status == api::SCONCE_ERROR_NOT_SUPPORTED;
        let why = if is_known { format!(" ({})", error.message) } else { String::new() };
        let line = name_of(node) + &why;
        let one = MissingOperator { line, is_of_pytorch: is_of_pytorch(&node.name) };
        if !missing.contains(&one) {
            missing.push(one);
        }
    }
    missing
}

fn name_of(node: &Node) -> String {
    full_name(&node.name, &node.overload)
}

/// Gives the handles of the model the tensors that an operator returned.
fn assign(node: &Node, results: Vec<Value>, tensors: &mut Passed<'_, TensorHandle>) -> Result<()> {
    let mut one = |value: Option<Value>| {
        let handle = tensors.one()?;
        match value {
            Some(Value::Tensor(tensor)) => {
                check(api::sconce_tensor_assign(handle, tensor.handle()))?;
                live::made(handle);
                Ok(())
            }
            other => Err(Error::invalid_argument(format!(
                "it returned {other:?} where the model expects a tensor"
            ))),
        }
    };
    let mut results = results.into_iter();
    for output in &node.outputs {
        let result = results.next();
        match (output, result) {
            (Output::None, _) => {}
            (Output::Tensor, result) => one(result)?,
            (Output::Tensors(count), Some(Value::List(values))) if values.len() == *count => {
                values.into_iter().try_for_each(|value| one(Some(value)))?;
            }
            (Output::Tensors(count), result) => {
                let returned = match result {
                    Some(Value::List(values)) => format!("{} tensors", values.len()),
                    other => format!("{other:?}"),
                };
                return Err(Error::invalid_argument(format!(
                    "it returned {returned} where the model expects {count} tensors"
                )));
            }
        }
    }
    Ok(())
}

/// Makes a call for a model: 0, or the status of the failure, whose text is the thread's newest then. `calls.cc` throws
/// it in the model.
///
/// # Safety
/// `operators` is what the run passed to the model, and the arrays have as many entries as their counts say.
#[unsafe(no_mangle)]
unsafe extern "C" fn sconce_torch_call_operator(
    operators: *const Operators,
    index: c_int,
    int_count: c_int,
    ints: *const i64,
    tensor_count: c_int,
    tensors: *const TensorHandle,
) -> c_int {
    error::guard(|| {
        // SAFETY: the model passes on what its run got: the address of a value that lives as long as the run, or NULL.
        let operators = unsafe { operators.as_ref() }.ok_or_else(|| {
            Error::invalid_argument("the model calls a custom operator where none can be called")
        })?;
        // SAFETY: generated code passes an array and its length.
        let ints = unsafe { entries(ints, int_count) };
        // SAFETY: generated code passes an array of handles and its length.
        let tensors = unsafe { entries(tensors, tensor_count) };
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        operators.call(index, ints, tensors)
    })
}

/// # Safety
/// The array has so many entries.
unsafe fn entries<'a, T>(array: *const T, count: c_int) -> &'a [T] {
    match usize::try_from(count) {
        // SAFETY: the array is not NULL, and the callers of this function pass its length.
        Ok(count) if count > 0 && !array.is_null() => unsafe {
            std::slice::from_raw_parts(array, count)
        },
        _ => &[],
    }
}

/// Calls a custom operator for a compiled model; a failure is a C++ exception in the model, which does not look at the
/// result. No frame of Rust is left: the function jumps to `calls.cc`.
///
/// # Safety
/// The executor is what the run passed to the model, and the arrays have as many entries as their counts say.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_proxy_executor_call_function(
    proxy_executor: *const Operators,
    extern_node_index: c_int,
    num_ints: c_int,
    flatten_int_args: *const i64,
    num_tensors: c_int,
    flatten_tensor_args: *const TensorHandle,
) -> i32 {
    unsafe extern "C" {
        fn sconce_torch_throw_from_operator();
    }
    #[cfg(target_arch = "x86_64")]
    std::arch::naked_asm!("jmp {call}", call = sym sconce_torch_throw_from_operator);
    #[cfg(target_arch = "aarch64")]
    std::arch::naked_asm!("b {call}", call = sym sconce_torch_throw_from_operator);
}
