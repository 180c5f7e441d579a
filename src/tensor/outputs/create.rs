//! Tensors of other sizes, and numbers in a sequence in tensors of the caller's.

use sconce_base::element::Dtype;
use sconce_base::error::Result;
use sconce_tensors::tensor::promotion::DEFAULT_FLOAT;
use sconce_tensors::tensor::{Place, Tensor, TensorOptions, create, transfer};

use super::super::handle::{assign_result, defined, sconce_tensor, written_to};
use super::super::scalar::sconce_scalar;
use crate::handle::OpaqueHandle;
use crate::{guard, sconce_generator, sconce_status};

/// Type and place of numbers for `into`: its own, or those of a new tensor if it is undefined.
fn options_for(into: &Tensor, dtype: Dtype) -> Result<TensorOptions> {
    if into.is_defined() {
        return Ok(TensorOptions::of(into));
    }
    Ok(TensorOptions { dtype, place: Place::resolve(-1)?, pinned: false })
}

/// Changes the sizes of a tensor, and makes it contiguous. Elements keep their places in memory,
/// and additional elements are not set. Does nothing if the tensor has the given sizes.
///
/// - `tensor`: keeps its memory if that is large enough; else it gets new memory, which begins with
///   the old elements.
/// - `sizes`: elements along each dimension, at least 0.
/// - `rank`: number of dimensions.
/// - Errors: INVALID_ARGUMENT: a size is negative, or the memory belongs to another owner and is
///   too small. OUT_OF_MEMORY: for new memory.
/// - Ownership: if the memory is replaced, views keep the old memory.
/// - Ordering: a copy to new memory is queued on the current stream of the tensor's device.
/// - torch: `torch.Tensor.resize_`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_resize(
    tensor: *mut sconce_tensor,
    sizes: *const i64,
    rank: usize,
) -> sconce_status {
    guard(|| {
        let sizes = entries!(sizes, rank);
        let before = defined(tensor, "tensor")?;
        let result = transfer::resize(&before, sizes)?;
        assign_result(tensor, "tensor", &before, result)
    })
}

/// Writes evenly spaced numbers to a tensor of the caller, in its type. Otherwise as
/// `sconce_tensor_arange`.
///
/// - `into`: receives the numbers. It keeps its shape if it has the right number of elements;
///   otherwise it becomes a vector, as in `sconce_tensor_reduce_out`.
/// - Errors: as `sconce_tensor_arange`, and as `sconce_tensor_reduce_out`.
/// - Ownership: as `sconce_tensor_reduce_out`.
/// - Ordering: as `sconce_tensor_full`.
/// - torch: `torch.arange(…, out=into)`; `at::arange_out`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_arange_out(
    start: *const sconce_scalar,
    end: *const sconce_scalar,
    step: *const sconce_scalar,
    into: *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let [start, end, step] = [scalar!(start), scalar!(end), scalar!(step)];
        written_to(into, |into| {
            let options = options_for(into, create::arange_dtype([start, end, step]))?;
            create::arange(start, end, step, options, Some(into))
        })
    })
}

/// Writes numbers at equal distances to a tensor of the caller, in its type. Otherwise as
/// `sconce_tensor_linspace`.
///
/// - `into`: receives the numbers, as in `sconce_tensor_arange_out`.
/// - Errors: as `sconce_tensor_linspace`, and as `sconce_tensor_reduce_out`.
/// - Ownership: as `sconce_tensor_reduce_out`.
/// - Ordering: as `sconce_tensor_full`.
/// - torch: `torch.linspace(…, out=into)`; `at::linspace_out`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_linspace_out(
    start: *const sconce_scalar,
    end: *const sconce_scalar,
    steps: i64,
    into: *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let (start, end) = (scalar!(start), scalar!(end));
        written_to(into, |into| {
            create::linspace(start, end, steps, options_for(into, DEFAULT_FLOAT)?, Some(into))
        })
    })
}

/// Writes ones on the main diagonal, and zeros elsewhere, to a tensor of the caller, in its type.
/// Otherwise as `sconce_tensor_eye`.
///
/// - `into`: receives the matrix, as in `sconce_tensor_reduce_out`.
/// - Errors: as `sconce_tensor_eye`, and as `sconce_tensor_reduce_out`.
/// - Ownership: as `sconce_tensor_reduce_out`.
/// - Ordering: as `sconce_tensor_full`.
/// - torch: `torch.eye(…, out=into)`; `at::eye_out`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_eye_out(
    rows: i64,
    columns: i64,
    into: *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        written_to(into, |into| {
            create::eye(rows, columns, options_for(into, DEFAULT_FLOAT)?, Some(into))
        })
    })
}

/// Writes the numbers 0 to `n - 1` in a random order to a tensor of the caller, in its type, with
/// torch's bits. Otherwise as `sconce_tensor_randperm`.
///
/// - `into`: receives the numbers, as in `sconce_tensor_arange_out`.
/// - Errors: as `sconce_tensor_randperm`, and as `sconce_tensor_reduce_out`.
/// - Ownership: as `sconce_tensor_reduce_out`.
/// - Ordering: as `sconce_tensor_randperm`.
/// - torch: `torch.randperm(…, out=into)`; `at::randperm_out`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_tensor_randperm_out(
    n: i64,
    generator: *mut sconce_generator,
    into: *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let generator = sconce_generator::optional(generator);
        written_to(into, |into| {
            create::randperm(n, options_for(into, Dtype::I64)?, generator, Some(into))
        })
    })
}
