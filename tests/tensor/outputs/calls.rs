//! The functions that write results to tensors of the caller's choice, as the tests call them.

use std::ptr::null_mut;

use sconce::*;

use crate::api::{Handle, Outcome, outcome, returned};
use crate::operations::Operand;

/// The undefined tensor.
pub(crate) fn undefined() -> Handle {
    // SAFETY: a writable place.
    returned(|out| unsafe { sconce_tensor_undefined(out) }).unwrap()
}

pub(crate) fn resize(tensor: &Handle, sizes: &[i64]) -> Outcome<()> {
    // SAFETY: the slice has so many numbers.
    outcome(unsafe { sconce_tensor_resize(tensor.raw(), sizes.as_ptr(), sizes.len()) })
}

pub(crate) fn clamp(
    tensor: &Handle,
    least: Operand<'_>,
    most: Operand<'_>,
    into: &Handle,
) -> Outcome<()> {
    // SAFETY: numbers or NULL.
    outcome(unsafe {
        let (low, high) = (least.number(), most.number());
        let (least, most) = (least.tensor(), most.tensor());
        sconce_tensor_clamp_out(tensor.raw(), least, low, most, high, into.raw())
    })
}

pub(crate) fn choose(
    condition: &Handle,
    yes: Operand<'_>,
    no: Operand<'_>,
    into: &Handle,
) -> Outcome<()> {
    // SAFETY: numbers or NULL.
    outcome(unsafe {
        let (if_true, if_false) = (yes.number(), no.number());
        let (yes, no) = (yes.tensor(), no.tensor());
        sconce_tensor_where_out(condition.raw(), yes, if_true, no, if_false, into.raw())
    })
}

pub(crate) fn reduce(
    operation: i32,
    tensor: &Handle,
    dims: &[i64],
    keep: bool,
    dtype: i32,
    into: &Handle,
) -> Outcome<()> {
    let (dims, count) = (dims.as_ptr(), dims.len());
    // SAFETY: the slice has so many numbers.
    outcome(unsafe {
        sconce_tensor_reduce_out(
            operation,
            tensor.raw(),
            dims,
            count,
            keep.into(),
            dtype,
            into.raw(),
        )
    })
}

pub(crate) fn along(
    operation: i32,
    tensor: &Handle,
    dim: i64,
    dtype: i32,
    into: &Handle,
) -> Outcome<()> {
    // SAFETY: plain values.
    outcome(unsafe { sconce_tensor_along_out(operation, tensor.raw(), dim, dtype, into.raw()) })
}

pub(crate) fn cat(tensors: &[&Handle], dim: i64, into: &Handle) -> Outcome<()> {
    let handles: Vec<_> = tensors.iter().map(|tensor| tensor.raw()).collect();
    // SAFETY: the slice has so many handles.
    outcome(unsafe { sconce_tensor_cat_out(handles.as_ptr(), handles.len(), dim, into.raw()) })
}

pub(crate) fn stack(tensors: &[&Handle], dim: i64, into: &Handle) -> Outcome<()> {
    let handles: Vec<_> = tensors.iter().map(|tensor| tensor.raw()).collect();
    // SAFETY: the slice has so many handles.
    outcome(unsafe { sconce_tensor_stack_out(handles.as_ptr(), handles.len(), dim, into.raw()) })
}

pub(crate) fn index_select(
    tensor: &Handle,
    dim: i64,
    index: &Handle,
    into: &Handle,
) -> Outcome<()> {
    // SAFETY: plain values.
    outcome(unsafe { sconce_tensor_index_select_out(tensor.raw(), dim, index.raw(), into.raw()) })
}

pub(crate) fn sort(tensor: &Handle, dim: i64, descending: bool, into: [&Handle; 2]) -> Outcome<()> {
    let [values, indices] = into.map(Handle::raw);
    outcome(sconce_tensor_sort_out(tensor.raw(), dim, descending.into(), values, indices))
}

pub(crate) fn matmul(first: &Handle, second: &Handle, into: &Handle) -> Outcome<()> {
    outcome(sconce_tensor_matmul_out(first.raw(), second.raw(), into.raw()))
}

pub(crate) fn bmm(first: &Handle, second: &Handle, into: &Handle) -> Outcome<()> {
    outcome(sconce_tensor_bmm_out(first.raw(), second.raw(), into.raw()))
}

pub(crate) fn addmm(
    tensor: &Handle,
    first: &Handle,
    second: &Handle,
    into: &Handle,
) -> Outcome<()> {
    let (tensor, first, second) = (tensor.raw(), first.raw(), second.raw());
    outcome(sconce_tensor_addmm_out(tensor, first, second, 1.0, 1.0, into.raw()))
}

/// A transform without a normalization.
pub(crate) fn fft(tensor: &Handle, kind: i32, dims: &[i64], into: &Handle) -> Outcome<()> {
    let direction = if kind == SCONCE_FFT_C2R { SCONCE_FFT_INVERSE } else { SCONCE_FFT_FORWARD };
    let (norm, count) = (SCONCE_FFT_NORM_NONE, dims.len());
    // SAFETY: the slice has so many numbers.
    outcome(unsafe {
        let dims = dims.as_ptr();
        sconce_tensor_fft_out(tensor.raw(), kind, direction, norm, dims, count, -1, into.raw())
    })
}

pub(crate) fn arange(bounds: [sconce_scalar; 3], into: &Handle) -> Outcome<()> {
    let [start, end, step] = &bounds;
    // SAFETY: numbers.
    outcome(unsafe { sconce_tensor_arange_out(start, end, step, into.raw()) })
}

pub(crate) fn linspace(bounds: [sconce_scalar; 2], steps: i64, into: &Handle) -> Outcome<()> {
    let [start, end] = &bounds;
    // SAFETY: numbers.
    outcome(unsafe { sconce_tensor_linspace_out(start, end, steps, into.raw()) })
}

pub(crate) fn eye(rows: i64, columns: i64, into: &Handle) -> Outcome<()> {
    outcome(sconce_tensor_eye_out(rows, columns, into.raw()))
}

pub(crate) fn randperm(n: i64, into: &Handle) -> Outcome<()> {
    outcome(sconce_tensor_randperm_out(n, null_mut(), into.raw()))
}
