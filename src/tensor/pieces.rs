//! Several views at once, which cover a dimension.

use sconce_base::error::Result;
use sconce_tensors::tensor::{Tensor, handle, views};

use super::handle::{look, sconce_tensor};
use crate::arguments::{Out, OutEntries};
use crate::handle::OpaqueHandle;
use crate::{guard, sconce_status};

/// Writes the handles of the pieces to the caller's array, and their number.
fn write_pieces(
    pieces: Vec<Tensor>,
    out_tensors: OutEntries<*mut sconce_tensor>,
    out_count: Out<usize>,
) -> Result<()> {
    let count = pieces.len();
    out_tensors.check(count)?;
    let mut handles = Vec::with_capacity(count);
    for piece in pieces {
        match handle::insert(piece) {
            Ok(key) => handles.push(key),
            Err(error) => {
                for key in handles {
                    handle::release(key, "tensor")?;
                }
                return Err(error);
            }
        }
    }
    let handles: Vec<*mut sconce_tensor> =
        handles.into_iter().map(sconce_tensor::from_key).collect();
    out_tensors.write(&handles)?;
    out_count.write(count);
    Ok(())
}

/// Splits a dimension into at most `chunks` pieces of equal size; the last piece may be smaller.
///
/// - `chunks`: at least 1.
/// - `out_tensors`: receives the views.
/// - `capacity`: entries that `out_tensors` can hold.
/// - `out_count`: receives the number of views.
/// - Errors: INVALID_ARGUMENT: `chunks` is less than 1, or `capacity` is less than the number of pieces.
/// - Ownership: the caller releases each view with `sconce_tensor_release`; it keeps the memory alive.
/// - torch: `torch.chunk`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_chunk(
    tensor: *mut sconce_tensor,
    chunks: i64,
    dim: i64,
    out_tensors: *mut *mut sconce_tensor,
    capacity: usize,
    out_count: *mut usize,
) -> sconce_status {
    guard(|| {
        let out_count = out!(out_count);
        let pieces = look(tensor, "tensor", |tensor| views::chunk(tensor, chunks, dim, capacity))?;
        write_pieces(pieces, out_entries_up_to!(out_tensors, capacity), out_count)
    })
}

/// Splits a dimension into pieces of `size` indices; the last piece may be smaller. Otherwise as
/// `sconce_tensor_chunk`.
///
/// - `out_tensors`: receives the views.
/// - `out_count`: receives the number of views.
/// - torch: `torch.split`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_split(
    tensor: *mut sconce_tensor,
    size: i64,
    dim: i64,
    out_tensors: *mut *mut sconce_tensor,
    capacity: usize,
    out_count: *mut usize,
) -> sconce_status {
    guard(|| {
        let out_count = out!(out_count);
        let pieces = look(tensor, "tensor", |tensor| views::split(tensor, size, dim, capacity))?;
        write_pieces(pieces, out_entries_up_to!(out_tensors, capacity), out_count)
    })
}

/// Splits a dimension into pieces of the given sizes, whose sum is the size of the dimension.
/// Otherwise as `sconce_tensor_chunk`.
///
/// - `sizes`: indices of each piece.
/// - `count`: number of sizes.
/// - `out_tensors`: receives the views.
/// - `out_count`: receives the number of views.
/// - torch: `torch.split`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_split_with_sizes(
    tensor: *mut sconce_tensor,
    sizes: *const i64,
    count: usize,
    dim: i64,
    out_tensors: *mut *mut sconce_tensor,
    capacity: usize,
    out_count: *mut usize,
) -> sconce_status {
    guard(|| {
        let out_count = out!(out_count);
        let sizes = entries!(sizes, count);
        let pieces =
            look(tensor, "tensor", |tensor| views::split_with_sizes(tensor, sizes, dim, capacity))?;
        write_pieces(pieces, out_entries_up_to!(out_tensors, capacity), out_count)
    })
}

/// Returns a view for each index of a dimension, without that dimension. Otherwise as `sconce_tensor_chunk`.
///
/// - `out_tensors`: receives the views.
/// - `out_count`: receives the number of views.
/// - torch: `torch.unbind`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_unbind(
    tensor: *mut sconce_tensor,
    dim: i64,
    out_tensors: *mut *mut sconce_tensor,
    capacity: usize,
    out_count: *mut usize,
) -> sconce_status {
    guard(|| {
        let out_count = out!(out_count);
        let pieces = look(tensor, "tensor", |tensor| views::unbind(tensor, dim, capacity))?;
        write_pieces(pieces, out_entries_up_to!(out_tensors, capacity), out_count)
    })
}
