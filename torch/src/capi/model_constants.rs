//! Constants of compiled models in C.

#![allow(non_camel_case_types, reason = "the names of the C API")]
#![allow(unsafe_code, reason = "functions of C over pointers of the caller")]

use std::ffi::c_char;

use super::model::{model_of, return_text, sconce_model};
use super::model_runs::handles;
use crate::abi::arguments::{CText, Out};
use crate::abi::bits::CBool;
use crate::abi::constants::dtype_of;
use crate::abi::structs::{OutStruct, has_struct_size};
use crate::error::{Error, guard};
use crate::sconce::api::{sconce_status, sconce_tensor};

/// A constant of a model. Begin with `SCONCE_MODEL_CONSTANT_INIT`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sconce_model_constant {
    /// `sizeof(sconce_model_constant)`, set by the caller.
    pub struct_size: u32,
    /// `SCONCE_DTYPE_…`, or -1 for a type that the library does not have.
    pub dtype: i32,
    /// Bytes of the elements.
    pub bytes: u64,
    /// Whether the model computes it from other constants.
    pub folded: CBool,
    /// 0.
    pub reserved: [u8; 7],
}

has_struct_size!(sconce_model_constant: dtype, bytes, folded, reserved);

/// Returns the number of a model's constants, and the sum of their bytes.
///
/// - `out_count`, `out_bytes`: receive the numbers.
/// - torch: `AOTICompiledModel.get_constant_fqns`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_model_get_constants(
    model: *mut sconce_model,
    out_count: Out<'_, usize>,
    out_bytes: Out<'_, u64>,
) -> sconce_status {
    guard(|| {
        let model = model_of(model)?;
        out_bytes.check("out_bytes")?;
        out_count.write("out_count", model.description.constants.len())?;
        out_bytes.write("out_bytes", model.description.constant_bytes)
    })
}

/// Returns a constant of a model.
///
/// - `index`: the index of the constant.
/// - `out_constant`: receives type and bytes.
/// - `out_name`: receives its name in the program that was compiled, such as `layers.0.weight`; may be NULL.
/// - Ownership: the caller frees the name with `sconce_torch_string_free`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_model_get_constant(
    model: *mut sconce_model,
    index: usize,
    out_constant: OutStruct<'_, sconce_model_constant>,
    out_name: Out<'_, *mut c_char>,
) -> sconce_status {
    guard(|| {
        let model = model_of(model)?;
        let constants = &model.description.constants;
        let constant = constants.get(index).ok_or_else(|| {
            Error::invalid_argument(format!(
                "index is {index}; the model has {} constants, which are counted from 0",
                constants.len()
            ))
        })?;
        let (mut described, place) = out_constant.described("out_constant")?;
        described.dtype = dtype_of(constant.dtype).unwrap_or(-1);
        described.bytes = constant.bytes as u64;
        described.folded = constant.folded.into();
        if !out_name.is_none() {
            return_text(out_name, "out_name", &constant.original)?;
        }
        place.write("out_constant", described)
    })
}

/// Replaces constants of a model. Graphs of the model are discarded, because they read the constants with
/// which they were captured.
///
/// - `names`: the names of the constants, as `sconce_model_get_constant` returns them.
/// - `tensors`: the new values, of the constants' types and sizes, on any device. If the package does not state the
///   sizes of a constant, its bytes are compared instead.
/// - `count`: the number of names and tensors.
/// - `inactive`: whether to replace constants of the inactive set, which `sconce_model_swap_constants` makes
///   the active one. Buffers of that set that were never set are copied from the active set; parameters are
///   not, so set all of them.
/// - Errors: INVALID_ARGUMENT: the model has no such constant or computes it itself, it is passed twice, or the
///   tensor does not fit. INVALID_STATE: a buffer that is not passed has no value in either set.
/// - Ownership: tensors stay the caller's. A tensor that lies on the model's device with the strides that the model
///   was compiled for is kept alive and used without a copy: later changes of its values change the model. Other
///   tensors are copied.
/// - Ordering: waits for the model's device.
/// - Threads: waits for runs under way.
/// - torch: `AOTICompiledModel.load_constants(user_managed=True)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_model_update_constants(
    model: *mut sconce_model,
    names: *const CText<'_>,
    tensors: *const *mut sconce_tensor,
    count: usize,
    inactive: CBool,
) -> sconce_status {
    guard(|| {
        let model = model_of(model)?;
        // SAFETY: C passed an array of `count` texts.
        let names = unsafe { handles(names, count, ["names", "count"]) }?;
        // SAFETY: C passed an array of `count` handles.
        let tensors = unsafe { handles(tensors, count, ["tensors", "count"]) }?;
        let mut constants = Vec::with_capacity(count);
        for (at, (name, tensor)) in names.iter().zip(tensors).enumerate() {
            let name = name.get().ok_or_else(|| {
                Error::invalid_argument(format!(
                    "names[{at}] is NULL; sconce_model_get_constant returns the names"
                ))
            })?;
            constants.push((name.to_string_lossy().into_owned(), *tensor));
        }
        model.update_constants(&constants, inactive.is_true())
    })
}

/// Makes the inactive set of constants the active one, and the active one the inactive one. Otherwise as
/// `sconce_model_update_constants`.
///
/// - Errors: INVALID_STATE: a constant of the inactive set has no value; the message names one.
/// - torch: `AOTIModelContainerRunner::swap_constant_buffer`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_model_swap_constants(model: *mut sconce_model) -> sconce_status {
    guard(|| model_of(model)?.swap_constants())
}

/// Takes all values from the inactive set of constants and frees their memory, unless the caller or outputs of runs
/// use it, too. The set must be filled again before it is made the active one.
///
/// - Ordering: waits for the model's device.
/// - Threads: waits for runs under way.
/// - torch: `AOTIModelContainerRunner::free_inactive_constant_buffer`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_model_free_inactive_constants(model: *mut sconce_model) -> sconce_status {
    guard(|| model_of(model)?.free_inactive_constants())
}
