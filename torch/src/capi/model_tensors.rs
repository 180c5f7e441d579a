//! Inputs and outputs of compiled models in C.

#![allow(non_camel_case_types, reason = "the names of the C API")]
#![allow(unsafe_code, reason = "functions of C over pointers of the caller")]

use std::ffi::c_char;

use super::model::{model_of, return_text, sconce_model};
use crate::abi::arguments::{CText, Out};
use crate::abi::constants::SCALAR_TYPES;
use crate::abi::structs::{OutStruct, has_struct_size};
use crate::error::{Error, Result, guard};
use crate::model::description::{Slot, find};
use crate::sconce::api::sconce_status;

/// Dimensions whose sizes are in the structs.
const DIMS: usize = 8;

/// The properties that an input of a model must have. Begin with `SCONCE_MODEL_INPUT_INIT`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sconce_model_input {
    /// `sizeof(sconce_model_input)`, set by the caller.
    pub struct_size: u32,
    /// `SCONCE_DTYPE_…`, or -1 if that is not known.
    pub dtype: i32,
    /// The number of dimensions, or -1 if that is not known.
    pub rank: i32,
    /// 0.
    pub reserved: i32,
    /// The smallest size of each of the first eight dimensions; `sconce_model_get_input_size`
    /// returns those of all.
    pub least: [i64; 8],
    /// The largest size of each of the first eight dimensions; equal to the smallest one for a
    /// fixed size.
    pub most: [i64; 8],
}

/// The properties of an output of a model. Begin with `SCONCE_MODEL_OUTPUT_INIT`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sconce_model_output {
    /// `sizeof(sconce_model_output)`, set by the caller.
    pub struct_size: u32,
    /// `SCONCE_DTYPE_…`, or -1 if that is not known.
    pub dtype: i32,
    /// The number of dimensions, or -1 if that is not known.
    pub rank: i32,
    /// 0.
    pub reserved: i32,
    /// The smallest size of each of the first eight dimensions; `sconce_model_get_output_size`
    /// returns those of all.
    pub least: [i64; 8],
    /// The largest size of each of the first eight dimensions; equal to the smallest one for a
    /// fixed size.
    pub most: [i64; 8],
}

has_struct_size!(sconce_model_input: dtype, rank, reserved, least, most);
has_struct_size!(sconce_model_output: dtype, rank, reserved, least, most);

/// One of the inputs or outputs.
fn slot<'a>(slots: &'a [Slot], what: &str, index: usize) -> Result<&'a Slot> {
    slots.get(index).ok_or_else(|| {
        Error::invalid_argument(format!(
            "index is {index}; the model has {} {what}s, which are counted from 0",
            slots.len()
        ))
    })
}

/// `SCONCE_DTYPE_…` of an input or output, or -1.
fn dtype(slot: &Slot) -> i32 {
    let dtype = slot.wanted.dtype.as_deref();
    SCALAR_TYPES.iter().find(|known| Some(known.name) == dtype).map_or(-1, |known| known.dtype)
}

/// The number of dimensions, or -1, and the sizes of the first ones.
fn sizes(slot: &Slot) -> (i32, [i64; DIMS], [i64; DIMS]) {
    let (mut least, mut most) = ([0; DIMS], [0; DIMS]);
    for (at, dimension) in slot.wanted.dimensions.iter().flatten().take(DIMS).enumerate() {
        (least[at], most[at]) = dimension.extent.range();
    }
    (slot.wanted.dimensions.as_ref().map_or(-1, |all| all.len() as i32), least, most)
}

/// The sizes of one dimension.
fn size(slot: &Slot, what: &str, dim: usize) -> Result<(i64, i64)> {
    let Some(dimensions) = &slot.wanted.dimensions else {
        return Err(Error::invalid_argument(format!(
            "the sizes of the {what} {} are not known: the package does not say them",
            slot.name
        )));
    };
    dimensions.get(dim).map(|dimension| dimension.extent.range()).ok_or_else(|| {
        Error::invalid_argument(format!(
            "dim is {dim}; the {what} {} has {} dimensions, which are counted from 0",
            slot.name,
            dimensions.len()
        ))
    })
}

/// Writes what an input or an output is, and its name, to places of the caller.
macro_rules! return_slot {
    ($slot:expr, $place:ident, $out_name:ident) => {{
        let slot: &Slot = $slot;
        let (mut described, place) = $place.described(stringify!($place))?;
        described.dtype = dtype(slot);
        (described.rank, described.least, described.most) = sizes(slot);
        if !$out_name.is_none() {
            return_text($out_name, stringify!($out_name), &slot.name)?;
        }
        place.write(stringify!($place), described)
    }};
}

/// Returns the properties that an input of a model must have.
///
/// - `index`: the index of the input.
/// - `out_input`: receives type and sizes, as far as the package describes them.
/// - `out_name`: receives the name of the input; may be NULL.
/// - Ownership: the caller frees the name with `sconce_torch_string_free`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_model_get_input(
    model: *mut sconce_model,
    index: usize,
    out_input: OutStruct<'_, sconce_model_input>,
    out_name: Out<'_, *mut c_char>,
) -> sconce_status {
    guard(|| {
        let model = model_of(model)?;
        let found = slot(&model.description.inputs, "input", index)?;
        return_slot!(found, out_input, out_name)
    })
}

/// Returns the properties of an output of a model.
///
/// - `index`: the index of the output.
/// - `out_output`: receives type and sizes, as far as the package describes them.
/// - `out_name`: receives the name of the output; may be NULL.
/// - Ownership: the caller frees the name with `sconce_torch_string_free`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_model_get_output(
    model: *mut sconce_model,
    index: usize,
    out_output: OutStruct<'_, sconce_model_output>,
    out_name: Out<'_, *mut c_char>,
) -> sconce_status {
    guard(|| {
        let model = model_of(model)?;
        let found = slot(&model.description.outputs, "output", index)?;
        return_slot!(found, out_output, out_name)
    })
}

/// Returns the sizes that an input may have along a dimension, also beyond the eighth dimension.
///
/// - `index`: the index of the input.
/// - `dim`: the dimension.
/// - `out_least`, `out_most`: receive the smallest and the largest size; they are equal for a fixed
///   size. 2 as the smallest is an assumption of the compiler; runs accept 1 and 0, too.
/// - Errors: INVALID_ARGUMENT: there is no such input or dimension, or the package does not state
///   its sizes.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_model_get_input_size(
    model: *mut sconce_model,
    index: usize,
    dim: usize,
    out_least: Out<'_, i64>,
    out_most: Out<'_, i64>,
) -> sconce_status {
    guard(|| {
        let model = model_of(model)?;
        let (least, most) = size(slot(&model.description.inputs, "input", index)?, "input", dim)?;
        out_most.check("out_most")?;
        out_least.write("out_least", least)?;
        out_most.write("out_most", most)
    })
}

/// Returns the sizes that an output may have along a dimension. Otherwise as
/// `sconce_model_get_input_size`.
///
/// - `index`: the index of the output.
/// - `dim`: the dimension.
/// - `out_least`, `out_most`: receive the smallest and the largest size; they are equal for a fixed
///   size.
/// - Errors: INVALID_ARGUMENT: there is no such output or dimension, or the package does not state
///   its sizes.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_model_get_output_size(
    model: *mut sconce_model,
    index: usize,
    dim: usize,
    out_least: Out<'_, i64>,
    out_most: Out<'_, i64>,
) -> sconce_status {
    guard(|| {
        let model = model_of(model)?;
        let output = slot(&model.description.outputs, "output", index)?;
        let (least, most) = size(output, "output", dim)?;
        out_most.check("out_most")?;
        out_least.write("out_least", least)?;
        out_most.write("out_most", most)
    })
}

/// Finds an input by name.
///
/// - `name`: the name, as `sconce_model_get_input` returns it.
/// - `out_index`: receives the index of the input.
/// - Errors: INVALID_ARGUMENT: there is no such input; the message lists all names.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_model_find_input(
    model: *mut sconce_model,
    name: CText<'_>,
    out_index: Out<'_, usize>,
) -> sconce_status {
    guard(|| {
        let model = model_of(model)?;
        let name = name.required("name")?.to_string_lossy();
        let index = find(&model.description.inputs, "input", &name)?;
        out_index.write("out_index", index)
    })
}

/// Finds an output by name.
///
/// - `name`: the name, as `sconce_model_get_output` returns it.
/// - `out_index`: receives the index of the output.
/// - Errors: INVALID_ARGUMENT: there is no such output; the message lists all names.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_model_find_output(
    model: *mut sconce_model,
    name: CText<'_>,
    out_index: Out<'_, usize>,
) -> sconce_status {
    guard(|| {
        let model = model_of(model)?;
        let name = name.required("name")?.to_string_lossy();
        let index = find(&model.description.outputs, "output", &name)?;
        out_index.write("out_index", index)
    })
}
