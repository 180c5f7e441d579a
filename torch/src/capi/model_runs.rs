//! Runs of compiled models in C, also as graphs.

#![allow(unsafe_code, reason = "functions of C over pointers of the caller")]

use super::model::{model_of, sconce_model};
use crate::abi::arguments::{self, GivenTensors, name_tensor};
use crate::abi::errors::not_null;
use crate::error::{Error, Result, guard};
use crate::model::check;
use crate::model::results::copy_outputs;
use crate::sconce::Tensor;
use crate::sconce::api::{sconce_status, sconce_tensor};
use crate::sconce::tensor::TensorHandle;

/// Handles of an array of the caller. The names are those of the array and of the number of its entries.
///
/// # Safety
/// The array has `count` entries.
pub(super) unsafe fn handles<'a, T>(
    array: *const T,
    count: usize,
    [name, name_of_count]: [&str; 2],
) -> Result<&'a [T]> {
    if count > 1 << 20 {
        return Err(Error::invalid_argument(format!(
            "{name_of_count} is {count}; {name} has at most 1048576 entries"
        )));
    }
    // SAFETY: the array has `count` entries, which this function demands; the number is below the bound of all arrays.
    unsafe { arguments::array(array, count, name) }
}

const INPUTS: [&str; 2] = ["inputs", "input_count"];
const OUTPUTS: [&str; 2] = ["outputs", "output_count"];

/// A failure with the input that is no tensor, if it is about one.
fn name_input(error: Error, inputs: &[TensorHandle]) -> Error {
    name_tensor(error, || {
        let inputs = inputs.iter().copied().enumerate();
        GivenTensors::default().and_list("inputs", inputs.collect())
    })
}

/// Writes tensors to an array of the caller.
///
/// # Safety
/// The array has as many entries as there are tensors.
unsafe fn return_tensors(place: *mut *mut sconce_tensor, tensors: Vec<Tensor>) {
    for (at, tensor) in tensors.into_iter().enumerate() {
        // SAFETY: the array has as many entries as there are tensors, which this function demands.
        unsafe { place.wrapping_add(at).write(tensor.into_handle()) };
    }
}

/// Runs a model on the current stream of its device.
///
/// - `inputs`: the model's inputs, in its order.
/// - `input_count`, `output_count`: the numbers of inputs and outputs; must be those of the model.
/// - `out_outputs`: receives the outputs, in the model's order. Where the program that was compiled returned None,
///   the output is an undefined tensor (`sconce_tensor_is_defined`).
/// - Errors: INVALID_ARGUMENT: an input has another type, device, shape or order of elements than the model was
///   compiled for, its sizes do not fit to those of other inputs, or the model failed; the message states what was
///   expected. INVALID_STATE: a constant has no value. What an input must be is in the model's source, which packages
///   contain and which may lie beside a bare library. Without it inputs are not checked, and the model reads what it was
///   compiled for, whatever it is passed; `sconce_model_describe` states that.
/// - Ownership: inputs stay the caller's. The caller releases each output with `sconce_tensor_release`. Each output has
///   a handle of its own, also one that the program returned twice, and one that is an input. It may share its memory
///   with other outputs, with inputs, and with constants that the caller passed.
/// - Ordering: queued on the current stream of the model's device; done at once on the CPU.
/// - Threads: any number of threads may run one model at the same time, also one that reads values of tensors. The first
///   run after the model was loaded or its constants were changed blocks other runs until it is queued, and so does the
///   first run with each set of shapes of a CUDA model, which loads kernels.
/// - torch: `AOTICompiledModel.__call__`, `AOTIModelPackageLoader::run`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_model_run(
    model: *mut sconce_model,
    inputs: *const *mut sconce_tensor,
    input_count: usize,
    out_outputs: *mut *mut sconce_tensor,
    output_count: usize,
) -> sconce_status {
    guard(|| {
        let model = model_of(model)?;
        // SAFETY: C passed an array of `input_count` handles.
        let inputs = unsafe { handles(inputs, input_count, INPUTS) }?;
        check::count("output", output_count, model.description.outputs.len())?;
        if output_count != 0 {
            not_null(out_outputs, "out_outputs")?;
        }
        let outputs = model.run(inputs).map_err(|error| name_input(error, inputs))?;
        // SAFETY: C passed an array of `output_count` entries, which was found to be the number of outputs.
        unsafe { return_tensors(out_outputs, outputs) };
        Ok(())
    })
}

/// Returns inputs as a model takes them: on its device, and in the order of elements that it was compiled for, such as
/// transposed or with channels last. An input that is so already is returned itself, with a handle of its own; others are
/// copied. Types are not converted.
///
/// - `inputs`: the model's inputs, in its order.
/// - `input_count`: the number of inputs; must be that of the model.
/// - `out_inputs`: receives as many tensors.
/// - Ownership: inputs stay the caller's. The caller releases each result with `sconce_tensor_release`.
/// - Ordering: copies are queued on the current stream of the model's device; done at once on the CPU.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_model_arrange_inputs(
    model: *mut sconce_model,
    inputs: *const *mut sconce_tensor,
    input_count: usize,
    out_inputs: *mut *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let model = model_of(model)?;
        // SAFETY: C passed an array of `input_count` handles.
        let inputs = unsafe { handles(inputs, input_count, INPUTS) }?;
        if input_count != 0 {
            not_null(out_inputs, "out_inputs")?;
        }
        let arranged = model.arranged(inputs).map_err(|error| name_input(error, inputs))?;
        // SAFETY: C passed an array of `input_count` entries, and each input has become one tensor.
        unsafe { return_tensors(out_inputs, arranged) };
        Ok(())
    })
}

/// Runs a model and copies its outputs to tensors of the caller. Otherwise as `sconce_model_run`.
///
/// - `outputs`: receive the results, converted to the types of these tensors. They must have the sizes that the
///   model returns; if one has others, none is written. They may be inputs. Where the model returns an undefined
///   tensor, the entry is not used and may be NULL.
/// - Ownership: all tensors stay the caller's.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_model_run_into(
    model: *mut sconce_model,
    inputs: *const *mut sconce_tensor,
    input_count: usize,
    outputs: *const *mut sconce_tensor,
    output_count: usize,
) -> sconce_status {
    guard(|| {
        let model = model_of(model)?;
        // SAFETY: C passed an array of `input_count` handles.
        let inputs = unsafe { handles(inputs, input_count, INPUTS) }?;
        // SAFETY: C passed an array of `output_count` handles.
        let outputs = unsafe { handles(outputs, output_count, OUTPUTS) }?;
        check::count("output", output_count, model.description.outputs.len())?;
        let results = model.run(inputs).map_err(|error| name_input(error, inputs))?;
        let results: Vec<_> = results.iter().map(Tensor::handle).collect();
        let places: Vec<_> = outputs.iter().copied().map(Some).collect();
        copy_outputs(&model.description.outputs, &results, &places)
    })
}

/// Runs a model as a CUDA graph. The first run with each set of types and shapes of the inputs captures the graph;
/// later ones copy the inputs to the graph's own and launch it. Each run draws the random numbers that an ordinary run
/// would draw at that point, the first one too. Otherwise as `sconce_model_run`.
///
/// - `outputs`: an entry that is NULL receives a tensor of the graph, which the next run with the same shapes
///   overwrites. An entry that is not NULL is a tensor to which the output is copied, unless the output is undefined. It
///   must have the output's sizes; if one has others, the graph is not launched.
/// - Errors: NOT_SUPPORTED: the model runs on the CPU. INVALID_ARGUMENT: the model does something that a graph
///   cannot contain, such as reading a value on the host.
/// - Ownership: the caller releases each output that was NULL with `sconce_tensor_release`.
/// - Ordering: queued on the current stream of the model's device. Runs of one graph on several streams are executed
///   in the order of the calls.
/// - torch: a model in a `torch.cuda.CUDAGraph`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_model_run_graph(
    model: *mut sconce_model,
    inputs: *const *mut sconce_tensor,
    input_count: usize,
    outputs: *mut *mut sconce_tensor,
    output_count: usize,
) -> sconce_status {
    guard(|| {
        let model = model_of(model)?;
        // SAFETY: C passed an array of `input_count` handles.
        let inputs = unsafe { handles(inputs, input_count, INPUTS) }?;
        // SAFETY: C passed an array of `output_count` handles.
        let given = unsafe { handles(outputs.cast_const(), output_count, OUTPUTS) }?;
        check::count("output", output_count, model.description.outputs.len())?;
        let into: Vec<_> =
            given.iter().map(|handle| (!handle.is_null()).then_some(*handle)).collect();
        let results = model.run_graph(inputs, &into).map_err(|error| name_input(error, inputs))?;
        for (at, (result, into)) in results.into_iter().zip(into).enumerate() {
            if into.is_none() {
                // SAFETY: C passed an array of `output_count` entries, and `at` counts them.
                unsafe { outputs.wrapping_add(at).write(result.into_handle()) };
            }
        }
        Ok(())
    })
}

/// Sets how many graphs a model keeps; 8 by default. Beyond that, the least recently launched graphs are discarded.
///
/// - `limit`: at least 1.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_model_set_graph_limit(
    model: *mut sconce_model,
    limit: usize,
) -> sconce_status {
    guard(|| {
        if limit == 0 {
            return Err(Error::invalid_argument(
                "limit is 0; a model that runs as a graph keeps at least one",
            ));
        }
        model_of(model)?.set_graph_limit(limit)
    })
}
