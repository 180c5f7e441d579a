//! Tensors joined, sorted, selected by index, compared.

use sconce_tensors::tensor::{Tensor, handle, operations};

use super::handle::{defined, defined_in, made_in_place, returned, sconce_tensor};
use crate::{CBool, guard, sconce_status};

/// Joins tensors along an existing dimension. The result has the tensors' common type.
///
/// - `tensors`: at least one; tensors of shape [0] are skipped.
/// - `count`: number of tensors.
/// - `out_tensor`: receives the new tensor.
/// - Errors: INVALID_ARGUMENT: the shapes differ in another dimension. CROSS_DEVICE: the tensors are on several
///   devices. OUT_OF_MEMORY: for the result.
/// - Ownership: as `sconce_tensor_unary`.
/// - Ordering: as `sconce_tensor_unary`.
/// - torch: `torch.cat`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_cat(
    tensors: *const *mut sconce_tensor,
    count: usize,
    dim: i64,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_handle!(out_tensor, {
        let tensors = tensors!(tensors, count);
        made_in_place(|result| operations::cat_in_place(&tensors, dim, result))
    })
}

/// Joins tensors of one shape along a new dimension. Otherwise as `sconce_tensor_cat`.
///
/// - `out_tensor`: receives the new tensor.
/// - torch: `torch.stack`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_stack(
    tensors: *const *mut sconce_tensor,
    count: usize,
    dim: i64,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let tensors = tensors!(tensors, count);
        operations::stack(&tensors, dim, None)?
    })
}

/// Returns the elements at the given indices of a dimension.
///
/// - `index`: a vector of I32 or I64 on the same device.
/// - `out_tensor`: receives the new tensor.
/// - Errors: INVALID_ARGUMENT: `index` is not such a vector, or on the CPU an index is out of
///   range. CROSS_DEVICE: the tensors are on different devices. On a device, an index out of range
///   makes the device fail, as in torch.
/// - Ownership: as `sconce_tensor_unary`.
/// - Ordering: as `sconce_tensor_unary`.
/// - torch: `torch.index_select`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_index_select(
    tensor: *mut sconce_tensor,
    dim: i64,
    index: *mut sconce_tensor,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let (mut selected, mut indices) = (Tensor::default(), Tensor::default());
        let input = defined_in(&mut selected, tensor, "tensor")?;
        let index = defined_in(&mut indices, index, "index")?;
        operations::index_select(input, dim, index, None)?
    })
}

/// Returns the indices of all elements that are not 0: an I64 tensor with a row for each of them, in
/// row-major order, and a column for each dimension.
///
/// - `out_tensor`: receives the new tensor.
/// - Errors: INVALID_STATE: the current stream of the tensor's device is being captured. OUT_OF_MEMORY: for the result
///   or for work memory.
/// - Ownership: as `sconce_tensor_unary`.
/// - Ordering: waits for the current stream of the tensor's device, since the size of the result depends on the
///   elements.
/// - torch: `torch.nonzero`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_nonzero(
    tensor: *mut sconce_tensor,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, { operations::nonzero(&defined(tensor, "tensor")?)? })
}

/// Sorts along a dimension. Equal elements keep their order; NaN counts as the largest.
///
/// - `descending`: whether the largest element comes first.
/// - `out_values`: receives the sorted elements.
/// - `out_indices`: receives the original index of each element along the dimension, as I64.
/// - Errors: NOT_SUPPORTED: the type is complex. OUT_OF_MEMORY: for the results or for work memory.
/// - Ownership: the caller releases both with `sconce_tensor_release`.
/// - Ordering: as `sconce_tensor_unary`.
/// - torch: `torch.sort(stable=True)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_sort(
    tensor: *mut sconce_tensor,
    dim: i64,
    descending: CBool,
    out_values: *mut *mut sconce_tensor,
    out_indices: *mut *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let (out_values, out_indices) = (out!(out_values), out!(out_indices));
        let input = defined(tensor, "tensor")?;
        let [values, indices] = operations::sort(&input, dim, descending.is_true(), [None, None])?;
        let values = handle::insert(values)?;
        let indices = match returned(indices) {
            Ok(indices) => indices,
            Err(error) => {
                handle::release(values, "values")?;
                return Err(error);
            }
        };
        use crate::handle::OpaqueHandle;
        out_values.write(sconce_tensor::from_key(values));
        out_indices.write(indices);
        Ok(())
    })
}

/// Returns whether two tensors have the same shape and equal elements.
///
/// - `first`, `second`: the tensors.
/// - `out_equal`: receives whether they do.
/// - Errors: CROSS_DEVICE: the tensors are on several devices.
/// - Ordering: as `sconce_tensor_to_values`.
/// - torch: `torch.equal`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_equal(
    first: *mut sconce_tensor,
    second: *mut sconce_tensor,
    out_equal: *mut bool,
) -> sconce_status {
    guard(|| {
        let out_equal = out!(out_equal);
        let (first, second) = (defined(first, "first")?, defined(second, "second")?);
        out_equal.write(operations::equal(&first, &second)?);
        Ok(())
    })
}

/// Returns whether every element of `first` is equal to that of `second`, or differs from it by at most
/// `atol + rtol * |second|`.
///
/// - `first`, `second`: the tensors.
/// - `rtol`, `atol`: the relative and the absolute tolerance, at least 0.
/// - `equal_nan`: whether NaN counts as equal to NaN.
/// - `out_close`: receives whether they are close.
/// - Errors: INVALID_ARGUMENT: the types differ, the shapes do not fit, or a tolerance is negative. CROSS_DEVICE:
///   the tensors are on several devices.
/// - Ordering: as `sconce_tensor_to_values`.
/// - torch: `torch.allclose`, whose tolerances are 1e-5 and 1e-8 unless named.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_allclose(
    first: *mut sconce_tensor,
    second: *mut sconce_tensor,
    rtol: f64,
    atol: f64,
    equal_nan: CBool,
    out_close: *mut bool,
) -> sconce_status {
    guard(|| {
        let out_close = out!(out_close);
        let (first, second) = (defined(first, "first")?, defined(second, "second")?);
        let close = operations::allclose(&first, &second, rtol, atol, equal_nan.is_true())?;
        out_close.write(close);
        Ok(())
    })
}
