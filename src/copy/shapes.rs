//! Copies and fills of rows, and copies of elements with strides. See `docs/design/copy.md`.

use std::ffi::c_void;

use sconce_base::error::{Error, Result};
use sconce_compute::copy::{self, Axis, MOST_AXES, Rows};
use sconce_driver::RawAddress;

use crate::{CBool, guard, sconce_status, sconce_stream};

/// The largest number of axes of a strided copy.
pub const SCONCE_COPY_MOST_AXES: usize = 8;

const _: () = assert!(SCONCE_COPY_MOST_AXES == MOST_AXES);

/// The shape of a strided copy: axes from the outermost to the innermost, strides in elements.
/// Begin with `SCONCE_STRIDED_COPY_INIT`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_strided_copy {
    /// `sizeof(sconce_strided_copy)`, set by the caller.
    pub struct_size: u32,
    /// Number of axes; 0 copies one element.
    pub rank: i32,
    /// Bytes of an element, at least 1.
    pub element_bytes: usize,
    /// Elements along each axis; entries past `rank` are not read.
    pub sizes: [i64; SCONCE_COPY_MOST_AXES],
    /// Distances of elements in the destination; negative ones lead backwards from `dst`. Elements
    /// must not overlap.
    pub dst_strides: [i64; SCONCE_COPY_MOST_AXES],
    /// Distances of elements in the source; 0 repeats an element.
    pub src_strides: [i64; SCONCE_COPY_MOST_AXES],
}

grows!(
    sconce_strided_copy, "SCONCE_STRIDED_COPY_INIT", first version: 208 bytes,
    rank, element_bytes, sizes, dst_strides, src_strides,
);

impl sconce_strided_copy {
    /// The axes, if all that can be seen from the numbers alone is right.
    fn axes(&self) -> Result<Vec<Axis>> {
        let rank = usize::try_from(self.rank).ok().filter(|rank| *rank <= MOST_AXES);
        let rank = rank.ok_or_else(|| {
            let rank = self.rank;
            Error::invalid_argument(format!("shape.rank is {rank}; it must be 0 to {MOST_AXES}"))
        })?;
        (0..rank)
            .map(|i| {
                let size = u64::try_from(self.sizes[i]).map_err(|_| {
                    let size = self.sizes[i];
                    Error::invalid_argument(format!("shape.sizes[{i}] is {size}, below 0"))
                })?;
                let (dst_stride, src_stride) = (self.dst_strides[i], self.src_strides[i]);
                Ok(Axis { size, dst_stride, src_stride })
            })
            .collect()
    }
}

/// Copies rows of bytes between any two places. Otherwise as `sconce_copy`.
///
/// - `dst`, `src`: addresses of the first rows; they may be NULL if there is nothing to copy.
/// - `dst_pitch_bytes`, `src_pitch_bytes`: bytes from the beginning of a row to that of the next,
///   at least `width_bytes`.
/// - `width_bytes`: bytes of a row.
/// - `height`: number of rows.
/// - `non_blocking`: as in `sconce_copy`.
/// - Errors: INVALID_ARGUMENT: a pitch is less than a row. OUT_OF_MEMORY: for temporaries, between
///   devices without peer access. Otherwise as `sconce_copy`.
/// - Safety: as `sconce_copy`.
/// - torch: `torch.Tensor.copy_` of a slice of columns, `cudaMemcpy2DAsync`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_copy_2d(
    dst: *mut c_void,
    dst_pitch_bytes: usize,
    src: *const c_void,
    src_pitch_bytes: usize,
    width_bytes: usize,
    height: usize,
    non_blocking: CBool,
) -> sconce_status {
    guard(|| {
        // SAFETY: if `dst` is an address of the host, its rows stay valid until the copy is done: the
        // function's comment in the header demands it of both sides.
        let dst = unsafe { rows_of(dst as usize, dst_pitch_bytes, width_bytes, height) };
        // SAFETY: if `src` is an address of the host, its rows stay valid until the copy is done: the
        // function's comment in the header demands it of both sides.
        let src = unsafe { rows_of(src as usize, src_pitch_bytes, width_bytes, height) };
        copy::copy_2d(dst, src, width_bytes, height, non_blocking.is_true())
    })
}

/// Copies elements with strides between any two places. Otherwise as `sconce_copy`.
///
/// - `shape`: sizes and strides; begin with `SCONCE_STRIDED_COPY_INIT`.
/// - `dst`, `src`: addresses of the elements whose indices are all 0.
/// - `non_blocking`: as in `sconce_copy`.
/// - Errors: INVALID_ARGUMENT: a field of `shape` is out of its bounds, or axes of the destination
///   overlap or interleave (sorted by stride, each stride must be at least what the axes before it
///   span). OUT_OF_MEMORY: for a temporary. INVALID_STATE: as `sconce_copy`; during a capture copy
///   packed pinned memory. Otherwise as `sconce_copy`.
/// - Ordering: as `sconce_copy`, except that the call returns when the copy is done if the host's
///   side is not packed. Page-locked memory that is not packed is read after the earlier work of the stream.
/// - Safety: as `sconce_copy`.
/// - torch: `torch.Tensor.copy_` of strided tensors; strides in elements.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_copy_strided(
    shape: *const sconce_strided_copy,
    dst: *mut c_void,
    src: *const c_void,
    non_blocking: CBool,
) -> sconce_status {
    guard(|| {
        let shape = described!(shape);
        // SAFETY: elements of the host at `dst` and `src` stay valid until the copy is done: the function's
        // comment in the header demands it of both sides.
        unsafe { copy_strided(&shape, dst, src, non_blocking) }
    })
}

/// Sets rows of bytes of device or host memory. Otherwise as `sconce_memory_set`.
///
/// - `ptr`: address of the first row; it may be NULL if there is nothing to set.
/// - `pitch_bytes`: bytes from the beginning of a row to that of the next, at least `width_bytes`.
/// - `value`: the new value of each byte.
/// - `width_bytes`: bytes of a row.
/// - `height`: number of rows.
/// - Errors: INVALID_ARGUMENT: the pitch is less than a row. Otherwise as `sconce_memory_set`.
/// - Safety: as `sconce_memory_set`.
/// - torch: `torch.Tensor.fill_` of a slice of columns, `cudaMemset2DAsync`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_set_2d(
    ptr: *mut c_void,
    pitch_bytes: usize,
    value: u8,
    width_bytes: usize,
    height: usize,
) -> sconce_status {
    guard(|| {
        // SAFETY: if `ptr` is an address of the host, its rows may be written: the function's comment in the
        // header demands it.
        let rows = unsafe { rows_of(ptr as usize, pitch_bytes, width_bytes, height) };
        copy::set_2d(rows, value, width_bytes, height)
    })
}

/// Copies rows of bytes on a stream, as `sconce_copy_on` does. Otherwise as `sconce_copy_2d`.
///
/// - `stream`: the stream on which the copy is queued.
/// - Safety: as `sconce_copy`.
/// - torch: `cudaMemcpy2DAsync` with a stream.
#[must_use]
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "those of sconce_copy_2d and the stream")]
pub unsafe extern "C" fn sconce_copy_2d_on(
    dst: *mut c_void,
    dst_pitch_bytes: usize,
    src: *const c_void,
    src_pitch_bytes: usize,
    width_bytes: usize,
    height: usize,
    non_blocking: CBool,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| {
        // SAFETY: if `dst` is an address of the host, its rows stay valid until the copy is done: the
        // function's comment in the header demands it of both sides.
        let dst = unsafe { rows_of(dst as usize, dst_pitch_bytes, width_bytes, height) };
        // SAFETY: if `src` is an address of the host, its rows stay valid until the copy is done: the
        // function's comment in the header demands it of both sides.
        let src = unsafe { rows_of(src as usize, src_pitch_bytes, width_bytes, height) };
        stream.run(|| copy::copy_2d(dst, src, width_bytes, height, non_blocking.is_true()))
    })
}

/// Copies elements with strides on a stream, as `sconce_copy_on` does. Otherwise as
/// `sconce_copy_strided`.
///
/// - `stream`: the stream on which the copy is queued.
/// - Safety: as `sconce_copy`.
/// - torch: `torch.Tensor.copy_` of strided tensors inside `torch.cuda.stream()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_copy_strided_on(
    shape: *const sconce_strided_copy,
    dst: *mut c_void,
    src: *const c_void,
    non_blocking: CBool,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| {
        let shape = described!(shape);
        // SAFETY: elements of the host at `dst` and `src` stay valid until the copy is done: the function's
        // comment in the header demands it of both sides.
        stream.run(|| unsafe { copy_strided(&shape, dst, src, non_blocking) })
    })
}

/// Sets rows of bytes on a stream, as `sconce_memory_set_on` does. Otherwise as
/// `sconce_memory_set_2d`.
///
/// - `stream`: the stream on which the fill is queued.
/// - Safety: as `sconce_memory_set`.
/// - torch: `cudaMemset2DAsync` with a stream.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_set_2d_on(
    ptr: *mut c_void,
    pitch_bytes: usize,
    value: u8,
    width_bytes: usize,
    height: usize,
    stream: sconce_stream,
) -> sconce_status {
    guard(|| {
        // SAFETY: if `ptr` is an address of the host, its rows may be written: the function's comment in the
        // header demands it.
        let rows = unsafe { rows_of(ptr as usize, pitch_bytes, width_bytes, height) };
        stream.run(|| copy::set_2d(rows, value, width_bytes, height))
    })
}

/// Copies on the current streams.
///
/// # Safety
/// If the elements are host memory, they are valid until the copy is done.
unsafe fn copy_strided(
    shape: &sconce_strided_copy,
    dst: *mut c_void,
    src: *const c_void,
    non_blocking: CBool,
) -> Result<()> {
    let (axes, element) = (shape.axes()?, shape.element_bytes);
    // SAFETY: elements of the host at `dst` are valid until the copy is done, as this function demands,
    // and `axes` are those of the copy.
    let dst = unsafe { reaching(dst as usize, &axes, |axis| axis.dst_stride, element) };
    // SAFETY: elements of the host at `src` are valid until the copy is done, as this function demands,
    // and `axes` are those of the copy.
    let src = unsafe { reaching(src as usize, &axes, |axis| axis.src_stride, element) };
    copy::copy_strided(dst, src, element, &axes, non_blocking.is_true())
}

/// The bytes from the first row's first to the last row's last.
fn rows_span(pitch: usize, width: usize, height: usize) -> usize {
    height.saturating_sub(1).saturating_mul(pitch).saturating_add(width)
}

/// Rows from an address on.
///
/// # Safety
/// If the rows are host memory, they are valid until the copy is done.
unsafe fn rows_of(address: usize, pitch: usize, width: usize, height: usize) -> Rows {
    let bytes = rows_span(pitch, width, height);
    // SAFETY: the range ends with the last row's last byte, so it holds the rows alone (and what is
    // between them), which are valid until the copy is done.
    Rows { address: unsafe { RawAddress::from_caller_within(address, 0, bytes) }, pitch }
}

/// The address of the element whose indices are all 0, with the bytes before and after it that the
/// other elements reach.
///
/// # Safety
/// If the elements are host memory, they are valid until the copy is done.
unsafe fn reaching(
    address: usize,
    axes: &[Axis],
    stride: impl Fn(&Axis) -> i64,
    element: usize,
) -> RawAddress {
    let (mut below, mut above) = (0_usize, element);
    for axis in axes {
        let steps = usize::try_from(axis.size.saturating_sub(1)).unwrap_or(usize::MAX);
        let bytes = usize::try_from(stride(axis).unsigned_abs()).unwrap_or(usize::MAX);
        let reach = steps.saturating_mul(bytes).saturating_mul(element);
        let side = if stride(axis) < 0 { &mut below } else { &mut above };
        *side = side.saturating_add(reach);
    }
    // SAFETY: `below` and `above` were found from the same axes as the elements, so the range holds those
    // elements alone, and they are valid until the copy is done.
    unsafe { RawAddress::from_caller_within(address, below, above) }
}
