//! Products of matrices, convolutions and Fourier transforms.

use sconce_tensors::tensor::operations::{self, FilterSteps, TensorFft};

use super::handle::{defined, sconce_tensor};
use crate::fft::{direction_of, kind_of, normalization_of};
use crate::sconce_status;

/// Multiplies vectors, matrices or batches of matrices, as torch does. Small products are added up
/// in the order of the inner dimension and without TF32; large ones are computed as by
/// `sconce_matmul`.
///
/// - `first`, `second`: the factors, of the same type: F16, BF16, F32, F64, C64 or C128.
/// - `out_tensor`: receives the new tensor.
/// - Errors: INVALID_ARGUMENT: the shapes do not fit, or the types differ. NOT_SUPPORTED: another
///   type. CROSS_DEVICE: the tensors are on different devices. Otherwise as `sconce_matmul`.
/// - Ownership: as `sconce_tensor_unary`.
/// - Ordering: as `sconce_tensor_unary`.
/// - torch: `torch.matmul`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_matmul(
    first: *mut sconce_tensor,
    second: *mut sconce_tensor,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let (first, second) = (defined(first, "first")?, defined(second, "second")?);
        operations::matmul(&first, &second, None)?
    })
}

/// Multiplies two batches of matrices. Otherwise as `sconce_tensor_matmul`.
///
/// - `first`, `second`: tensors of three dimensions.
/// - `out_tensor`: receives the new tensor.
/// - torch: `torch.bmm`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_bmm(
    first: *mut sconce_tensor,
    second: *mut sconce_tensor,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let (first, second) = (defined(first, "first")?, defined(second, "second")?);
        operations::bmm(&first, &second, None)?
    })
}

/// Returns `beta * tensor + alpha * (first @ second)`. Otherwise as `sconce_tensor_matmul`.
///
/// - `tensor`: broadcast to the product's shape; if `beta` is 0, it is not read.
/// - `first`, `second`: matrices.
/// - `out_tensor`: receives the new tensor.
/// - torch: `torch.addmm`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_addmm(
    tensor: *mut sconce_tensor,
    first: *mut sconce_tensor,
    second: *mut sconce_tensor,
    beta: f64,
    alpha: f64,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let input = defined(tensor, "tensor")?;
        let (first, second) = (defined(first, "first")?, defined(second, "second")?);
        operations::addmm(&input, &first, &second, beta, alpha, None)?
    })
}

/// Convolves images with a filter, and adds a bias.
///
/// - `tensor`: batch, channels, and one to three spatial dimensions; of F16, BF16, F32 or F64.
/// - `filter`: output channels, input channels of a group, spatial dimensions.
/// - `bias`: a number for each output channel; NULL for none.
/// - `stride`, `padding`, `dilation`: an entry for each spatial dimension.
/// - `spatial`: number of spatial dimensions.
/// - `groups`: number of groups into which the channels are divided.
/// - `out_tensor`: receives the new tensor.
/// - Errors: INVALID_ARGUMENT: the shapes do not fit. CROSS_DEVICE: the tensors are on several devices.
///   NOT_SUPPORTED: the type. OUT_OF_MEMORY: on the CPU for the unfolded input. Otherwise as
///   `sconce_convolution`.
/// - Ownership: as `sconce_tensor_unary`.
/// - Ordering: as `sconce_tensor_unary`.
/// - torch: `torch.nn.functional.conv1d`, `conv2d`, `conv3d`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_convolution(
    tensor: *mut sconce_tensor,
    filter: *mut sconce_tensor,
    bias: *mut sconce_tensor,
    stride: *const i64,
    padding: *const i64,
    dilation: *const i64,
    spatial: usize,
    groups: i64,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let (input, filter) = (defined(tensor, "tensor")?, defined(filter, "filter")?);
        let bias = if bias.is_null() { None } else { Some(defined(bias, "bias")?) };
        let steps = FilterSteps {
            stride: entries!(stride, spatial),
            padding: entries!(padding, spatial),
            dilation: entries!(dilation, spatial),
            groups,
        };
        operations::convolution(&input, &filter, bias.as_ref(), &steps)?
    })
}

/// Computes Fourier transforms over one to three dimensions of a tensor.
///
/// - `kind`: `SCONCE_FFT_C2C`, `_R2C` or `_C2R`. Real elements are converted to complex ones for
///   C2C and C2R.
/// - `direction`: `SCONCE_FFT_FORWARD` or `_INVERSE`.
/// - `normalization`: `SCONCE_FFT_NORM_…`; torch's default is NONE forward and BY_N inverse.
/// - `dims`: the dimensions. R2C returns only the first half of the last one.
/// - `count`: number of dimensions, 1 to 3.
/// - `length`: for C2R, the size of the result along the last dimension; -1 for 2 * (n - 1), where
///   n is the tensor's size.
/// - `out_tensor`: receives the new tensor.
/// - Errors: INVALID_ARGUMENT: a dimension is named twice, is empty, or `length` does not fit.
///   NOT_SUPPORTED: the type, which on the CPU includes F16. Otherwise as `sconce_fft`.
/// - Ownership: as `sconce_tensor_unary`.
/// - Ordering: as `sconce_tensor_unary`.
/// - torch: `torch.fft.fft`, `rfft`, `irfft` and their forms of two and n dimensions.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_fft(
    tensor: *mut sconce_tensor,
    kind: i32,
    direction: i32,
    normalization: i32,
    dims: *const i64,
    count: usize,
    length: i64,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let asked = TensorFft {
            kind: kind_of(kind)?,
            direction: direction_of(direction)?,
            normalization: normalization_of(normalization)?,
            dims: entries!(dims, count),
            length: (length != -1).then_some(length),
        };
        operations::fourier(&defined(tensor, "tensor")?, &asked, None)?
    })
}
