//! Kernel libraries and their operators in C.

#![allow(non_camel_case_types, reason = "the names of the C API")]
#![allow(unsafe_code, reason = "functions of C over pointers of the caller")]

use std::collections::HashMap;
use std::ffi::c_char;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use super::model::{path_of, return_text};
use super::operator_values::{NOTHING, free, results_of, sconce_op_value, value_of};
use crate::abi::arguments::{CText, Out, array};
use crate::abi::errors::not_null;
use crate::dispatcher::arguments::Arguments;
use crate::dispatcher::table::{Operation, operation, overloads};
use crate::error::{Error, Result, guard};
use crate::handle_kind::HandleKind;
use crate::loading::kernels;
use crate::registry::parser::{parse, split_name};
use crate::registry::resolved::{FoundOnce, Resolved};
use crate::registry::schema::Schema;
use crate::registry::value::Value;
use crate::registry::{call, table};
use crate::sconce::api::sconce_status;

/// A kernel library. Opaque.
pub struct sconce_kernel_library {
    _private: [u8; 0],
}

/// An operator. Opaque. Handles of operators need not be released.
pub struct sconce_op {
    _private: [u8; 0],
}

/// What a handle stands for.
enum Operator {
    /// An operator of a kernel library or of the program.
    Registered(Resolved),
    /// An operation of `aten` that this library offers.
    Offered(&'static Operation),
}

impl Operator {
    /// The operator as it is now; an error if its library was unloaded.
    fn kept(&self) -> Result<Kept<'_>> {
        Ok(match self {
            Operator::Registered(resolved) => Kept::Registered(resolved, resolved.kept()?),
            Operator::Offered(operation) => Kept::Offered(operation),
        })
    }
}

/// An operator during a call.
enum Kept<'a> {
    Registered(&'a Resolved, Arc<FoundOnce>),
    Offered(&'a Operation),
}

impl Kept<'_> {
    fn schema(&self) -> &Schema {
        match self {
            Kept::Registered(_, found) => found.schema(),
            Kept::Offered(operation) => &operation.schema,
        }
    }

    fn call(&self, values: Vec<Value>) -> Result<Vec<Value>> {
        match self {
            Kept::Registered(resolved, found) => call::call(resolved, found, values),
            Kept::Offered(operation) => {
                let schema = &operation.schema;
                let arguments = Arguments(call::complete(schema, values)?);
                operation.run(arguments).map_err(|error| error.within(&schema.name))
            }
        }
    }
}

/// Operators with handles. They are few, and stay.
#[derive(Default)]
struct Names {
    operators: Vec<Arc<Operator>>,
    /// By name and overload. An operation of `aten` and an operator that a library registers under its name differ.
    numbers: HashMap<(String, String, bool), usize>,
}

static NAMES: LazyLock<RwLock<Names>> = LazyLock::new(RwLock::default);

fn handle_of(name: &str, overload: &str, offered: Option<&'static Operation>) -> *mut sconce_op {
    let mut names = NAMES.write().unwrap_or_else(PoisonError::into_inner);
    let next = names.operators.len();
    let key = (name.to_owned(), overload.to_owned(), offered.is_some());
    let number = *names.numbers.entry(key).or_insert(next);
    if number == next {
        names.operators.push(Arc::new(match offered {
            Some(operation) => Operator::Offered(operation),
            None => Operator::Registered(Resolved::new(name, overload)),
        }));
    }
    std::ptr::without_provenance_mut(HandleKind::Operator.numbered(number as u64) as usize)
}

fn operator_of(op: *mut sconce_op) -> Result<Arc<Operator>> {
    let names = NAMES.read().unwrap_or_else(PoisonError::into_inner);
    let (kind, handle) = (HandleKind::Operator, op as u64);
    let found = kind.number(handle).and_then(|number| names.operators.get(number as usize));
    found.cloned().ok_or_else(|| {
        let otherwise = "is no operator; use a handle of sconce_op_find";
        Error::invalid_handle(kind.refusal(handle, "op", otherwise))
    })
}

/// Opens a kernel library that was built against PyTorch's stable ABI, and registers its operators.
///
/// - `path`: a shared library, such as `torchvision/_C_stable.so` of the package torchvision.
/// - `out_library`: receives the library. A file that is open already is not opened again.
/// - Errors: NOT_SUPPORTED: functions of PyTorch are missing, and the message names all of them; or the system's
///   loader refuses the file. IO: there is no such file, or it is not a shared library. INVALID_ARGUMENT: the
///   library registers invalid schemas, or an operator that is defined already. INVALID_STATE: PyTorch is in the
///   process. LIBRARY_NOT_FOUND: `SCONCE_LIBCUDART` names a CUDA runtime that cannot be opened. A library that is
///   refused registers nothing.
/// - Ownership: the caller closes the library with `sconce_torch_unload`.
/// - Threads: any, at the same time.
/// - torch: `torch.ops.load_library`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_torch_load(
    path: CText<'_>,
    out_library: Out<'_, *mut sconce_kernel_library>,
) -> sconce_status {
    guard(|| {
        let path = path_of(path)?;
        out_library.check("out_library")?;
        let handle = kernels::load(path)?;
        out_library.write("out_library", handle as *mut sconce_kernel_library)
    })
}

/// Closes a handle of a kernel library. With the last handle of a file, the operators are unregistered, running
/// calls finish, and the file is closed.
///
/// - Errors: INVALID_HANDLE: `library` is not a handle, or was unloaded before.
/// - Ownership: the handle is invalid afterwards. Before the last handle of a file is closed, the work that its
///   kernels queued on streams must be done, because the code of device kernels is unloaded with the file.
/// - Threads: any.
/// - torch: none, because PyTorch does not close libraries.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_torch_unload(library: *mut sconce_kernel_library) -> sconce_status {
    guard(|| kernels::unload(library as usize))
}

/// Declares the schema of an operator, for kernel libraries that leave schemas to Python code (torchao). It may be
/// declared before or after the library is loaded, and stays until the process ends.
///
/// - `schema`: the schema with its namespace, as Python passes it to `torch.library.define`, such as
///   `torchao::to_sparse_semi_structured_cutlass_sm9x_f8(Tensor weight) -> (Tensor, Tensor)`.
/// - Errors: INVALID_ARGUMENT: the text is not a schema, or has no namespace; or the operator has another schema.
///   NOT_SUPPORTED: it is only a name.
/// - Threads: any.
/// - torch: `torch.library.define`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_op_define(schema: CText<'_>) -> sconce_status {
    guard(|| {
        let text = schema.required("schema")?.to_string_lossy();
        let declared = parse(&text)
            .and_then(|(name, overload, schema)| table::write()?.declare(&name, &overload, schema));
        declared.map_err(|error| error.within("schema"))
    })
}

/// Finds an operator that a kernel library registered, or else an operation of `aten` that this library offers, such
/// as `aten::gather`. Kernel libraries call the same operations.
///
/// - `name`: the name with its namespace, such as `torchvision::nms`; an overload may follow after a point.
/// - `overload`: NULL or empty for the default overload.
/// - `out_op`: receives the operator. It needs no release, and becomes valid again when its library is loaded again.
/// - Errors: INVALID_ARGUMENT: there is no such operator; the message lists the overloads of the name.
/// - Threads: any.
/// - torch: `torch.ops.torchvision.nms`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_op_find(
    name: CText<'_>,
    overload: CText<'_>,
    out_op: Out<'_, *mut sconce_op>,
) -> sconce_status {
    guard(|| {
        let (name, given) = (name.required("name")?.to_string_lossy(), overload.text());
        let (name, mut overload) = split_name(&name);
        if !given.is_empty() {
            overload = &given;
        }
        let registered = table::read()?.schema(name, overload);
        let offered = match registered {
            Ok(_) => None,
            Err(unknown) => {
                let not_offered = || match overloads(name) {
                    known if known.is_empty() => unknown,
                    known => Error::invalid_argument(format!(
                        "{name} is offered with the overloads {known:?} only"
                    )),
                };
                let found = operation(name, overload).ok_or_else(not_offered);
                Some(found.map_err(|error| error.within("name"))?)
            }
        };
        out_op.write("out_op", handle_of(name, overload, offered))
    })
}

/// Returns the schema of an operator, in PyTorch's notation.
///
/// - `out_schema`: receives the text.
/// - Errors: INVALID_ARGUMENT: the library of the operator was unloaded.
/// - Ownership: the caller frees the text with `sconce_torch_string_free`.
/// - torch: `torch.ops.torchvision.nms.default._schema`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_op_schema(
    op: *mut sconce_op,
    out_schema: Out<'_, *mut c_char>,
) -> sconce_status {
    guard(|| {
        let operator = operator_of(op)?;
        return_text(out_schema, "out_schema", &operator.kept()?.schema().to_string())
    })
}

/// Returns the schemas of all operators that kernel libraries registered, one on each line, sorted by name.
///
/// - `out_schemas`: receives the text, which is empty if there are none.
/// - Ownership: the caller frees the text with `sconce_torch_string_free`.
/// - torch: `torch._C._dispatch_get_all_op_names`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_op_list(out_schemas: Out<'_, *mut c_char>) -> sconce_status {
    guard(|| {
        let list = table::read()?.list();
        let lines: Vec<String> = list.iter().map(ToString::to_string).collect();
        return_text(out_schemas, "out_schemas", &lines.join("\n"))
    })
}

/// Calls an operator. Runs the kernel for the device of the first tensor.
///
/// - `arguments`: the arguments in the order of the schema. Arguments at the end that have defaults may be left out.
///   Integers are accepted as real numbers.
/// - `argument_count`: number of arguments.
/// - `results`: receives the results.
/// - `result_capacity`: number of entries of `results`, at least as many as the schema has results.
/// - `out_count`: receives the number of results; may be NULL.
/// - Errors: INVALID_ARGUMENT: the number or a type of the arguments is wrong, and the message names the argument;
///   or the kernel threw, and the message contains its text. NOT_SUPPORTED: there is no kernel for the device, or
///   the kernel calls an operation that is not provided.
/// - Ownership: tensors and generators of arguments stay the caller's. The caller releases results with
///   `sconce_op_values_release`, or a tensor among them with `sconce_tensor_release`.
/// - Ordering: CUDA kernels run on the current stream of their tensors' device, and allocate memory from the caching
///   allocator for that stream. A call may be captured in a graph if its kernel does not wait for the device.
/// - Threads: any, at the same time.
/// - torch: `torch.ops.torchvision.nms(boxes, scores, 0.5)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_op_call(
    op: *mut sconce_op,
    arguments: *const sconce_op_value,
    argument_count: usize,
    results: *mut sconce_op_value,
    result_capacity: usize,
    out_count: Out<'_, usize>,
) -> sconce_status {
    guard(|| {
        let operator = operator_of(op)?;
        let kept = operator.kept()?;
        let (name, wanted) = (&kept.schema().name, kept.schema().results.len());
        if result_capacity < wanted {
            return Err(Error::invalid_argument(format!(
                "result_capacity is {result_capacity}; {name} has {wanted} results"
            )));
        }
        let taken = kept.schema().arguments.len();
        if argument_count > taken {
            return Err(Error::invalid_argument(format!(
                "argument_count is {argument_count}; {name} takes {taken} arguments at most: {}",
                kept.schema()
            )));
        }
        // SAFETY: C passed an array of `argument_count` values.
        let arguments = unsafe { array(arguments, argument_count, "arguments") }?;
        let values = arguments.iter().enumerate().map(|(at, argument)| {
            // SAFETY: C passed values whose texts end with NUL and whose lists have as many items as they say.
            let value = unsafe { value_of(argument, 0) };
            value.map_err(|error| error.of_field(&format!("arguments[{at}]")))
        });
        let values = values.collect::<Result<Vec<_>>>().map_err(|error| error.within(name))?;
        if wanted > 0 {
            not_null(results, "results")?;
        }
        if !out_count.is_none() {
            out_count.check("out_count")?;
        }
        let returned = results_of(kept.call(values)?)?;
        let count = returned.len();
        if count > result_capacity {
            return Err(Error::internal(format!("{name} has returned {count} results")));
        }
        for (at, value) in returned.into_iter().enumerate() {
            // SAFETY: C passed an array of `result_capacity` values, which are at least as many as there are results.
            let place = unsafe { results.add(at) };
            // SAFETY: the array is neither NULL nor misaligned, which was checked.
            unsafe { place.write(value.into_value()) };
        }
        if !out_count.is_none() {
            out_count.write("out_count", count)?;
        }
        Ok(())
    })
}

/// Releases results: tensors, texts and lists. They become `SCONCE_OP_VALUE_NONE`.
///
/// - `values`: results of `sconce_op_call`, not arguments that the caller made.
/// - `count`: number of values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_op_values_release(values: *mut sconce_op_value, count: usize) {
    let _ = guard(|| {
        if count == 0 {
            return Ok(());
        }
        not_null(values, "values")?;
        // SAFETY: the array is neither NULL nor misaligned, and C passed its number of values.
        for value in unsafe { std::slice::from_raw_parts_mut(values, count) } {
            // SAFETY: C passed results of a call, and each becomes no value here, so it is freed once.
            unsafe { free(value) };
            *value = NOTHING;
        }
        Ok(())
    });
}
