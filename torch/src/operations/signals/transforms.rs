//! Fourier transforms, over those of libsconce.so.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of, strides_of};
use crate::error::{Error, Result};
use crate::operations::layout::dimension;
use crate::operations::tensors::name_of;
use crate::operations::views::{complex_of, real_of};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, operations};

/// Dimensions that libsconce.so transforms at once.
const AT_ONCE: usize = 3;

/// What a transform does beside its dimensions: PyTorch's normalisations have Sconce's numbers, and their factors
/// multiply.
#[derive(Clone, Copy)]
struct How {
    kind: i32,
    normalization: i64,
    is_forward: bool,
    /// The size of the last dimension of a real result; -1 otherwise.
    length: i64,
}

/// Dimensions in the order of a tensor's strides, largest first.
fn by_stride(tensor: &Tensor, dims: &[i64]) -> Result<Vec<i64>> {
    let strides = strides_of(tensor.handle())?;
    let mut dims = dims.to_vec();
    dims.sort_by_key(|&dim| std::cmp::Reverse(strides[dim as usize]));
    Ok(dims)
}

/// Transforms dimensions. The result is contiguous in an order of its own, as PyTorch's: the other dimensions by stride,
/// then the transformed ones as they are named.
fn transform(tensor: &Tensor, dims: &[i64], how: How) -> Result<Tensor> {
    let rank = sizes_of(tensor.handle())?.len() as i64;
    let others: Vec<i64> = (0..rank).filter(|dim| !dims.contains(dim)).collect();
    let mut order = by_stride(tensor, &others)?;
    order.extend(dims);
    let mut result = operations::permute(tensor.handle(), &order)?;
    let places: Vec<i64> = (others.len() as i64..rank).collect();
    let mut kind = how.kind;
    for some in places.rchunks(AT_ONCE) {
        result = once(&result, some, How { kind, ..how })?;
        kind = api::SCONCE_FFT_C2C;
    }
    let result = operations::contiguous(result.handle())?;
    let mut back = vec![0; order.len()];
    for (place, &dim) in order.iter().enumerate() {
        back[dim as usize] = place as i64;
    }
    operations::permute(result.handle(), &back)
}

/// Transforms dimensions of complex numbers: on a device at most [`AT_ONCE`] at a time, as the strides of PyTorch's
/// results show.
fn in_parts(tensor: &Tensor, dims: &[i64], how: How) -> Result<Tensor> {
    let is_on_cpu = device_of_tensor(tensor.handle())? == api::SCONCE_DEVICE_CPU;
    let most = if is_on_cpu { dims.len() } else { AT_ONCE };
    let (mut result, mut left) = (Tensor::retained(tensor.handle())?, dims.to_vec());
    while !left.is_empty() {
        left = by_stride(&result, &left)?;
        let some = left.split_off(left.len().saturating_sub(most));
        result = transform(&result, &some, how)?;
    }
    Ok(result)
}

fn once(tensor: &Tensor, dims: &[i64], how: How) -> Result<Tensor> {
    let direction = if how.is_forward { api::SCONCE_FFT_FORWARD } else { api::SCONCE_FFT_INVERSE };
    // SAFETY: there are as many dimensions; the place is valid for a write.
    Tensor::made(|made| unsafe {
        let (dims, count, norm) = (dims.as_ptr(), dims.len(), how.normalization as i32);
        let tensor = tensor.handle();
        api::sconce_tensor_fft(tensor, how.kind, direction, norm, dims, count, how.length, made)
    })
}

/// Dimensions counted from the begin, each named once.
fn places(tensor: TensorHandle, dims: &[i64]) -> Result<Vec<i64>> {
    let rank = sizes_of(tensor)?.len();
    let mut found = Vec::new();
    for &dim in dims {
        let place = dimension(dim, rank)? as i64;
        if rank == 0 || found.contains(&place) {
            return Err(Error::invalid_argument(format!(
                "dim is {dims:?}, but must name each dimension at most once"
            )));
        }
        found.push(place);
    }
    Ok(found)
}

fn check_normalization(normalization: i64) -> Result<()> {
    if (0..=2).contains(&normalization) {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "normalization is {normalization}; it is 0 (none), 1 (by the root of n) or 2 (by n)"
    )))
}

fn check_complex(tensor: TensorHandle) -> Result<()> {
    let dtype = dtype_of_tensor(tensor)?;
    if real_of(dtype).is_some() {
        return Ok(());
    }
    Err(Error::invalid_argument(format!("self must be complex, but is of {}", name_of(dtype))))
}

/// The last of the dimensions that are named, which alone is halved, and those before it.
fn last_and_others(named: &[i64]) -> Result<(i64, &[i64])> {
    match named.split_last() {
        Some((last, others)) => Ok((*last, others)),
        None => Err(Error::invalid_argument("dim is empty; name the dimensions to transform")),
    }
}

/// `_fft_c2c(self, dim, normalization, forward)`
pub fn complex(tensor: TensorHandle, dims: &[i64], norm: i64, is_forward: bool) -> Result<Tensor> {
    check_normalization(norm)?;
    check_complex(tensor)?;
    if dims.is_empty() {
        return operations::contiguous_copy(tensor);
    }
    let how = How { kind: api::SCONCE_FFT_C2C, normalization: norm, is_forward, length: -1 };
    in_parts(&Tensor::retained(tensor)?, &places(tensor, dims)?, how)
}

/// `_fft_r2c(self, dim, normalization, onesided)`: half of the last one of the dimensions if it is one-sided.
pub fn real(tensor: TensorHandle, dims: &[i64], norm: i64, is_onesided: bool) -> Result<Tensor> {
    check_normalization(norm)?;
    let dtype = dtype_of_tensor(tensor)?;
    if complex_of(dtype).is_none() {
        return Err(Error::invalid_argument(format!(
            "self must be of float16, float32 or float64, but is of {}",
            name_of(dtype)
        )));
    }
    let named = places(tensor, dims)?;
    let (last, others) = last_and_others(&named)?;
    let input = Tensor::retained(tensor)?;
    let complex =
        How { kind: api::SCONCE_FFT_C2C, normalization: norm, is_forward: true, length: -1 };
    let is_on_cpu = device_of_tensor(tensor)? == api::SCONCE_DEVICE_CPU;
    let is_at_once = is_on_cpu || (named.len() <= AT_ONCE && !named.starts_with(&[0, 1]));
    // On a device PyTorch keeps the order in which they are named when it transforms all at once.
    let mut order = match is_at_once && !is_on_cpu {
        true => others.to_vec(),
        false => by_stride(&input, others)?,
    };
    order.push(last);
    if !is_onesided {
        if is_at_once {
            return transform(&input, &order, complex);
        }
        let whole = in_parts(&transform(&input, &[last], complex)?, others, complex)?;
        // What is transformed in parts is half of a result, which PyTorch copies to a new tensor, unless it is all of it.
        let is_copied = sizes_of(tensor)?[last as usize] > 2;
        return if is_copied { operations::contiguous(whole.handle()) } else { Ok(whole) };
    }
    let halved = How { kind: api::SCONCE_FFT_R2C, ..complex };
    if is_at_once {
        return transform(&input, &order, halved);
    }
    in_parts(&transform(&input, &[last], halved)?, others, complex)
}

/// `_fft_c2r(self, dim, normalization, last_dim_size)`: the real numbers whose halved transform this is.
pub fn to_real(tensor: TensorHandle, dims: &[i64], norm: i64, length: i64) -> Result<Tensor> {
    check_normalization(norm)?;
    check_complex(tensor)?;
    let named = places(tensor, dims)?;
    let (last, others) = last_and_others(&named)?;
    let whole = sizes_of(tensor)?[last as usize];
    if length < 1 || whole < length / 2 + 1 {
        return Err(Error::invalid_argument(format!(
            "last_dim_size is {length}, which must be 1 or more and needs half as many elements and one; the last \
             dimension has {whole}"
        )));
    }
    let back =
        How { kind: api::SCONCE_FFT_C2C, normalization: norm, is_forward: false, length: -1 };
    let mut input = Tensor::retained(tensor)?;
    if !others.is_empty() {
        input = in_parts(&input, others, back)?;
    }
    // Elements behind the half are not read.
    let half = operations::narrow(input.handle(), last, 0, length / 2 + 1)?;
    transform(&half, &[last], How { kind: api::SCONCE_FFT_C2R, length, ..back })
}
