//! New tensors.

use sconce::*;

use crate::api::{Handle, Outcome, options, returned};

/// A tensor with the given elements in row-major order.
pub(crate) fn from_bytes(bytes: &[u8], sizes: &[i64], dtype: i32, device: i32) -> Outcome<Handle> {
    let options = options(dtype, device);
    // SAFETY: the call is passed the slices' length.
    returned(|out| unsafe {
        sconce_tensor_from_values(
            bytes.as_ptr().cast(),
            bytes.len(),
            sizes.as_ptr(),
            sizes.len(),
            &raw const options,
            out,
        )
    })
}

pub(crate) fn from_i32(values: &[i32], sizes: &[i64], device: i32) -> Handle {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    from_bytes(&bytes, sizes, SCONCE_DTYPE_I32, device).unwrap()
}

pub(crate) fn from_f32(values: &[f32], sizes: &[i64], device: i32) -> Handle {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    from_bytes(&bytes, sizes, SCONCE_DTYPE_F32, device).unwrap()
}

pub(crate) fn empty(sizes: &[i64], options: &sconce_tensor_options) -> Outcome<Handle> {
    // SAFETY: the call is passed the slice's length.
    returned(|out| unsafe { sconce_tensor_empty(sizes.as_ptr(), sizes.len(), options, out) })
}

pub(crate) fn full(
    sizes: &[i64],
    value: sconce_scalar,
    options: &sconce_tensor_options,
) -> Outcome<Handle> {
    // SAFETY: the call is passed the slice's length.
    returned(|out| unsafe {
        sconce_tensor_full(sizes.as_ptr(), sizes.len(), &raw const value, options, out)
    })
}

pub(crate) fn empty_strided(
    sizes: &[i64],
    strides: &[i64],
    options: &sconce_tensor_options,
) -> Outcome<Handle> {
    assert_eq!(sizes.len(), strides.len());
    let (sizes, strides, rank) = (sizes.as_ptr(), strides.as_ptr(), sizes.len());
    // SAFETY: the call is passed the slices' length.
    returned(|out| unsafe { sconce_tensor_empty_strided(sizes, strides, rank, options, out) })
}

pub(crate) fn empty_like(tensor: &Handle, options: &sconce_tensor_options) -> Outcome<Handle> {
    // SAFETY: options and a writable place.
    returned(|out| unsafe { sconce_tensor_empty_like(tensor.raw(), options, out) })
}

pub(crate) fn full_like(
    tensor: &Handle,
    value: sconce_scalar,
    options: &sconce_tensor_options,
) -> Outcome<Handle> {
    // SAFETY: a number, options and a writable place.
    returned(|out| unsafe { sconce_tensor_full_like(tensor.raw(), &raw const value, options, out) })
}

pub(crate) fn arange(
    bounds: [sconce_scalar; 3],
    options: &sconce_tensor_options,
) -> Outcome<Handle> {
    let [start, end, step] = &bounds;
    // SAFETY: numbers, options and a writable place.
    returned(|out| unsafe { sconce_tensor_arange(start, end, step, options, out) })
}

pub(crate) fn linspace(
    bounds: [sconce_scalar; 2],
    steps: i64,
    options: &sconce_tensor_options,
) -> Outcome<Handle> {
    let [start, end] = &bounds;
    // SAFETY: numbers, options and a writable place.
    returned(|out| unsafe { sconce_tensor_linspace(start, end, steps, options, out) })
}

pub(crate) fn eye(rows: i64, columns: i64, options: &sconce_tensor_options) -> Outcome<Handle> {
    // SAFETY: options and a writable place.
    returned(|out| unsafe { sconce_tensor_eye(rows, columns, options, out) })
}
