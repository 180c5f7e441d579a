//! Random numbers, with the bits of torch's fills: those on CUDA for devices, those on the CPU for the CPU.

use sconce_base::collections::slab::Key;
use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_compute::pointwise::Scalar;
use sconce_compute::random::{self, FillRequest, SortedKeys, permute_equal_keys};
use sconce_runtime::context::runtime;
use sconce_runtime::stream;

use super::sequence::vector;
use crate::tensor::iteration::preserved_strides;
use crate::tensor::operations::{ElementOperation, TensorOperand, binary, not_implemented, sort};
use crate::tensor::overlap::refuse_unwritable;
use crate::tensor::transfer::{copy_into, from_integers, write_bytes};
use crate::tensor::{Place, Tensor, TensorOptions, views};

/// Fills a tensor, from a generator or from the default one of its device. Elements are drawn in the order
/// in which they lie in memory, as in torch.
pub fn fill_random(tensor: &Tensor, request: FillRequest, generator: Option<Key>) -> Result<()> {
    refuse_unwritable(tensor)?;
    let is_contiguous = tensor.is_contiguous();
    if tensor.is_dense() {
        return draw(tensor, is_contiguous, request, generator);
    }
    let packed =
        TensorOptions::of(tensor).empty_strided(tensor.sizes(), &preserved_strides(tensor))?;
    draw(&packed, is_contiguous, request, generator)?;
    copy_into(tensor, &packed, true)
}

/// Fills a dense tensor. `is_contiguous` says whether the tensor that the caller named is.
fn draw(
    tensor: &Tensor,
    is_contiguous: bool,
    request: FillRequest,
    generator: Option<Key>,
) -> Result<()> {
    let (n, dtype) = (tensor.numel() as usize, tensor.dtype());
    match tensor.place() {
        Place::Device(device) => {
            random::fill_on(device, tensor.address(), n, dtype, request, generator)
        }
        Place::Cpu => {
            let write = |at: usize, bytes: &[u8]| write_bytes(tensor, at, bytes);
            random::fill_pieces(dtype, n, is_contiguous, request, generator, write)
        }
    }
}

/// The numbers 0 to `n - 1` in a random order, with torch's bits, in a new tensor or in `into`.
pub fn randperm(
    n: i64,
    options: TensorOptions,
    generator: Option<Key>,
    into: Option<&Tensor>,
) -> Result<Tensor> {
    if n < 0 {
        return Err(Error::invalid_argument(format!("n must be non-negative, got {n}")));
    }
    refuse_type(n, options.dtype)?;
    let permuted = || match options.place {
        Place::Cpu => shuffled(n, options, generator),
        Place::Device(device) => sorted_keys(n, device, options, generator),
    };
    let Some(into) = into else { return permuted() };
    let output = vector(n, options, Some(into))?;
    let numbers = views::view(&permuted()?, output.tensor().sizes())?;
    copy_into(output.tensor(), &numbers, true)?;
    output.finish()
}

/// The numbers exchanged one after the other.
fn shuffled(n: i64, options: TensorOptions, generator: Option<Key>) -> Result<Tensor> {
    let result = options.empty(&[n])?;
    let numbers = random::permuted_numbers(n as usize, generator)?;
    copy_into(&result, &from_integers(&numbers)?, false)?;
    Ok(result)
}

/// The order of random keys, in which equal ones are shuffled.
fn sorted_keys(
    n: i64,
    device: DeviceIndex,
    options: TensorOptions,
    generator: Option<Key>,
) -> Result<Tensor> {
    if n > MOST_PERMUTED {
        return Err(Error::not_supported(format!(
            "n is {n}; at most {MOST_PERMUTED} numbers can be sorted"
        )));
    }
    let place = options.place;
    let keys = TensorOptions { dtype: key_type(n), place, pinned: false }.empty(&[n])?;
    if n == 0 {
        return options.empty(&[0]);
    }
    let whole = match keys.dtype() {
        Dtype::I32 => FillRequest::Integers(i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => FillRequest::Integers(i64::MIN, i64::MAX),
    };
    draw(&keys, true, whole, generator)?;
    let bits = key_bits(n);
    if bits < 8 * keys.element() as u32 {
        let mask = Scalar::Int((1_i64 << bits) - 1);
        let operands = [TensorOperand::Tensor(&keys), TensorOperand::Number(mask)];
        binary(ElementOperation::BitwiseAnd, operands, Scalar::Int(1), Some(&keys))?;
    }
    let [keys, order] = sort(&keys, 0, false, [None, None])?;
    let runtime = runtime()?;
    let sorted = SortedKeys {
        keys: DevicePtr(keys.address() as u64),
        values: DevicePtr(order.address() as u64),
        n: n as u64,
        is_wide: keys.dtype() == Dtype::I64,
    };
    permute_equal_keys(runtime, stream::current_on(runtime, device)?, sorted, generator)?;
    if options.dtype == Dtype::I64 {
        return Ok(order);
    }
    let converted = options.empty(&[n])?;
    copy_into(&converted, &order, true)?;
    Ok(converted)
}

/// The longest tensor that can be sorted.
const MOST_PERMUTED: i64 = i32::MAX as i64;

/// How many bits of the keys count, so that all differ with a probability of at least 0.9: torch's formula.
fn key_bits(n: i64) -> u32 {
    let n = n as f64;
    let threshold = 0.9_f64.ln() * 12.0;
    let bits = (n - (6.0 * n * n + 1.0) / threshold).log2().ceil();
    bits.min(64.0) as u32
}

fn key_type(n: i64) -> Dtype {
    if n == 0 || key_bits(n) <= 32 { Dtype::I32 } else { Dtype::I64 }
}

/// Refuses a type that cannot hold all numbers up to `n` exactly, as torch.
fn refuse_type(n: i64, dtype: Dtype) -> Result<()> {
    let most = match dtype {
        Dtype::U8 => 255,
        Dtype::I8 => 127,
        Dtype::I16 => 32767,
        Dtype::I32 => i64::from(i32::MAX),
        Dtype::I64 => i64::MAX,
        Dtype::F16 => 2049,
        Dtype::Bf16 => 257,
        Dtype::F32 => (1 << 24) + 1,
        Dtype::F64 => i64::MAX,
        other => return Err(not_implemented("randperm", other)),
    };
    if n <= most {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "n is too large for result tensor type {}: at most {most}",
        dtype.name()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_numbers_take_more_bits() {
        assert_eq!([1, 2, 1000, 1 << 14, 1 << 20].map(key_bits), [3, 5, 23, 31, 43]);
        assert_eq!(key_type(1 << 14), Dtype::I32);
        assert_eq!(key_type(1 << 20), Dtype::I64);
    }
}
