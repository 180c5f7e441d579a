//! Operations on tensors, as the tests call them.

use std::ptr::{null, null_mut};

use sconce::*;

use crate::api::{Handle, Outcome, outcome, returned, written};

/// An operand of an operation.
#[derive(Clone, Copy)]
pub(crate) enum Operand<'a> {
    Tensor(&'a Handle),
    Number(sconce_scalar),
    Missing,
}

impl Operand<'_> {
    pub(crate) fn tensor(&self) -> *mut sconce_tensor {
        if let Operand::Tensor(tensor) = self { tensor.raw() } else { null_mut() }
    }

    pub(crate) fn number(&self) -> *const sconce_scalar {
        if let Operand::Number(number) = self { number } else { null() }
    }
}

pub(crate) fn unary(operation: i32, tensor: &Handle) -> Outcome<Handle> {
    // SAFETY: a writable place.
    returned(|out| unsafe { sconce_tensor_unary(operation, tensor.raw(), null_mut(), out) })
}

pub(crate) fn unary_into(operation: i32, tensor: &Handle, into: &Handle) -> Outcome<()> {
    // SAFETY: NULL or handles.
    outcome(unsafe { sconce_tensor_unary(operation, tensor.raw(), into.raw(), null_mut()) })
}

pub(crate) fn binary(operation: i32, first: Operand<'_>, second: Operand<'_>) -> Outcome<Handle> {
    // SAFETY: numbers or NULL, and a writable place.
    returned(|out| unsafe {
        sconce_tensor_binary(
            operation,
            first.tensor(),
            first.number(),
            second.tensor(),
            second.number(),
            null(),
            null_mut(),
            out,
        )
    })
}

pub(crate) fn binary_into(
    operation: i32,
    first: &Handle,
    second: Operand<'_>,
    into: &Handle,
) -> Outcome<()> {
    // SAFETY: numbers or NULL.
    outcome(unsafe {
        sconce_tensor_binary(
            operation,
            first.raw(),
            null(),
            second.tensor(),
            second.number(),
            null(),
            into.raw(),
            null_mut(),
        )
    })
}

pub(crate) fn clamp(tensor: &Handle, least: Operand<'_>, most: Operand<'_>) -> Outcome<Handle> {
    // SAFETY: numbers or NULL, and a writable place.
    returned(|out| unsafe {
        let (low, high) = (least.number(), most.number());
        sconce_tensor_clamp(tensor.raw(), least.tensor(), low, most.tensor(), high, out)
    })
}

pub(crate) fn choose(condition: &Handle, yes: Operand<'_>, no: Operand<'_>) -> Outcome<Handle> {
    // SAFETY: numbers or NULL, and a writable place.
    returned(|out| unsafe {
        let (if_true, if_false) = (yes.number(), no.number());
        sconce_tensor_where(condition.raw(), yes.tensor(), if_true, no.tensor(), if_false, out)
    })
}

/// Without `dim`, all dimensions go.
pub(crate) fn reduce(
    operation: i32,
    tensor: &Handle,
    dim: Option<i64>,
    keep: bool,
) -> Outcome<Handle> {
    let dims: &[i64] = dim.as_slice();
    let first = if dims.is_empty() { null() } else { dims.as_ptr() };
    // SAFETY: the call is passed the slice's length.
    returned(|out| unsafe {
        let (keep, dtype) = (keep.into(), SCONCE_DTYPE_DEFAULT);
        sconce_tensor_reduce(operation, tensor.raw(), first, dims.len(), keep, dtype, out)
    })
}

pub(crate) fn along(operation: i32, tensor: &Handle, dim: i64) -> Outcome<Handle> {
    // SAFETY: a writable place.
    returned(|out| unsafe {
        sconce_tensor_along(operation, tensor.raw(), dim, SCONCE_DTYPE_DEFAULT, out)
    })
}

pub(crate) fn cat(tensors: &[&Handle], dim: i64) -> Outcome<Handle> {
    let handles: Vec<_> = tensors.iter().map(|tensor| tensor.raw()).collect();
    // SAFETY: the call is passed the slice's length.
    returned(|out| unsafe { sconce_tensor_cat(handles.as_ptr(), handles.len(), dim, out) })
}

pub(crate) fn stack(tensors: &[&Handle], dim: i64) -> Outcome<Handle> {
    let handles: Vec<_> = tensors.iter().map(|tensor| tensor.raw()).collect();
    // SAFETY: the call is passed the slice's length.
    returned(|out| unsafe { sconce_tensor_stack(handles.as_ptr(), handles.len(), dim, out) })
}

pub(crate) fn nonzero(tensor: &Handle) -> Outcome<Handle> {
    // SAFETY: a writable place.
    returned(|out| unsafe { sconce_tensor_nonzero(tensor.raw(), out) })
}

pub(crate) fn index_select(tensor: &Handle, dim: i64, index: &Handle) -> Outcome<Handle> {
    // SAFETY: a writable place.
    returned(|out| unsafe { sconce_tensor_index_select(tensor.raw(), dim, index.raw(), out) })
}

/// The sorted elements, and where each was.
pub(crate) fn sort(tensor: &Handle, dim: i64, descending: bool) -> Outcome<[Handle; 2]> {
    let mut indices = null_mut();
    // SAFETY: writable places.
    let values = returned(|out| unsafe {
        sconce_tensor_sort(tensor.raw(), dim, descending.into(), out, &raw mut indices)
    })?;
    Ok([
        values,
        returned(|out| {
            // SAFETY: a writable place.
            unsafe { out.write(indices) };
            sconce_status::SCONCE_OK
        })?,
    ])
}

pub(crate) fn matmul(first: &Handle, second: &Handle) -> Outcome<Handle> {
    // SAFETY: a writable place.
    returned(|out| unsafe { sconce_tensor_matmul(first.raw(), second.raw(), out) })
}

pub(crate) fn bmm(first: &Handle, second: &Handle) -> Outcome<Handle> {
    // SAFETY: a writable place.
    returned(|out| unsafe { sconce_tensor_bmm(first.raw(), second.raw(), out) })
}

pub(crate) fn addmm(tensor: &Handle, first: &Handle, second: &Handle) -> Outcome<Handle> {
    // SAFETY: a writable place.
    returned(|out| unsafe {
        sconce_tensor_addmm(tensor.raw(), first.raw(), second.raw(), 1.0, 1.0, out)
    })
}

pub(crate) fn equal(first: &Handle, second: &Handle) -> Outcome<bool> {
    // SAFETY: a writable place.
    written(false, |out| unsafe { sconce_tensor_equal(first.raw(), second.raw(), out) })
}
