//! Strided copies and copies of rows through the C API.

use std::ffi::c_void;

use sconce::*;

/// An axis: size, and strides in elements, the destination's first.
pub type Axis = (i64, i64, i64);

pub fn strided(
    axes: &[Axis],
    element: usize,
    dst: *mut c_void,
    src: *mut c_void,
    non_blocking: bool,
) -> sconce_status {
    let mut shape = sconce_strided_copy {
        struct_size: size_of::<sconce_strided_copy>() as u32,
        rank: axes.len() as i32,
        element_bytes: element,
        sizes: [-1; SCONCE_COPY_MOST_AXES],
        dst_strides: [0; SCONCE_COPY_MOST_AXES],
        src_strides: [0; SCONCE_COPY_MOST_AXES],
    };
    for (i, axis) in axes.iter().enumerate() {
        (shape.sizes[i], shape.dst_strides[i], shape.src_strides[i]) = *axis;
    }
    // SAFETY: the shape is whole, and the tests keep host memory alive until the copy is done.
    unsafe { sconce_copy_strided(&raw const shape, dst, src, non_blocking.into()) }
}

/// Rows of both sides, each with its pitch.
pub fn rows(
    (dst, dst_pitch): (*mut c_void, usize),
    (src, src_pitch): (*mut c_void, usize),
    width: usize,
    height: usize,
    non_blocking: bool,
) -> sconce_status {
    // SAFETY: the tests keep host memory alive until the copy is done.
    unsafe { sconce_copy_2d(dst, dst_pitch, src, src_pitch, width, height, non_blocking.into()) }
}

pub fn set_rows(
    (ptr, pitch): (*mut c_void, usize),
    value: u8,
    width: usize,
    height: usize,
) -> sconce_status {
    // SAFETY: host memory of the tests is valid.
    unsafe { sconce_memory_set_2d(ptr, pitch, value, width, height) }
}
