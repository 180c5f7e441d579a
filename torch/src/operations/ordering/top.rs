//! The first elements of long lines on a device, without sorting the lines.
//!
//! The order of elements is that of libsconce.so's sort, by unsigned keys. A pass over the lines counts the digits of
//! keys; the counts say which digit the last of the first elements has. After a pass for each digit that key is known,
//! and the elements that are not behind it are collected in the order of the line. Only these are sorted.

#![allow(unsafe_code, reason = "launches kernels")]

use super::{Sorted, sort};
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::Result;
use crate::kernels::{Grid, images, launch};
use crate::operations::indexed::gather;
use crate::operations::layout::Layout;
use crate::operations::tensors::{bytes_of, empty, filled};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, operations};

// These are in `torch/kernels/top.cu` too.
const THREADS: u32 = 256;
const CHUNK: i64 = 4096;
const DIGIT_BITS: u32 = 11;
const BINS: i64 = 1 << DIGIT_BITS;
/// Words of a line's search.
const SEARCH: i64 = 2;

/// Lines that one block of libsconce.so's sort takes are sorted whole, and so are the first elements.
const MOST_OF_A_BLOCK: i64 = 384 * 12;
/// The most lines: the blocks of a grid along y. Their bins take 8 KB each.
const MOST_LINES: i64 = 8192;

/// The order of a type's elements: bytes of an element, and what makes keys of its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct KeyOrder {
    bytes: u32,
    /// What is exclusive-ored to the bits of an integer, and to the ascending key of a float.
    mask: u64,
    /// The bits of a float's infinity; 0 for integers.
    infinity: u64,
}

impl KeyOrder {
    /// None of types that are sorted whole.
    fn of(dtype: i32, largest_first: bool) -> Result<Option<KeyOrder>> {
        let bytes = bytes_of(dtype)? as u32;
        let (infinity, is_signed) = match dtype {
            api::SCONCE_DTYPE_F16 => (0x7c00, false),
            api::SCONCE_DTYPE_BF16 => (0x7f80, false),
            api::SCONCE_DTYPE_F32 => (u64::from(f32::INFINITY.to_bits()), false),
            api::SCONCE_DTYPE_F64 => (f64::INFINITY.to_bits(), false),
            api::SCONCE_DTYPE_I16 | api::SCONCE_DTYPE_I32 | api::SCONCE_DTYPE_I64 => (0, true),
            _ => return Ok(None),
        };
        let sign = if is_signed { 1 << (8 * bytes - 1) } else { 0 };
        let turned = if largest_first { u64::MAX >> (64 - 8 * bytes) } else { 0 };
        Ok(Some(KeyOrder { bytes, mask: sign ^ turned, infinity }))
    }
}

/// Whether that takes less time than a sort of the lines.
fn is_worth_it(lines: i64, length: i64, k: i64) -> bool {
    let has_long_lines = length > MOST_OF_A_BLOCK && (1..=MOST_LINES).contains(&lines);
    has_long_lines && (1..=MOST_OF_A_BLOCK).contains(&k) && k <= length / 4
}

/// `topk` of long lines of a device; none where the lines are to be sorted.
pub(super) fn top_of_long_lines(
    tensor: TensorHandle,
    k: i64,
    dim: i64,
    largest: bool,
) -> Result<Option<Sorted>> {
    let (device, dtype, sizes) =
        (device_of_tensor(tensor)?, dtype_of_tensor(tensor)?, sizes_of(tensor)?);
    let length = sizes[dim as usize];
    let lines = sizes.iter().product::<i64>() / length.max(1);
    if device == api::SCONCE_DEVICE_CPU || !is_worth_it(lines, length, k) {
        return Ok(None);
    }
    let Some(order) = KeyOrder::of(dtype, largest)? else { return Ok(None) };
    let turned = operations::transpose(tensor, dim, -1)?;
    let mut of_result = sizes_of(turned.handle())?;
    let flat = operations::reshape(turned.handle(), &[lines, length])?;
    let flat = operations::contiguous(flat.handle())?;
    let chosen = collected(&flat, k, order)?;
    // Equal elements keep the order of the line, in which they were collected.
    let sorted = sort(chosen.values.handle(), 1, largest)?;
    let indices = gather(chosen.indices.handle(), 1, sorted.indices.handle())?;
    of_result.pop();
    of_result.push(k);
    let shaped = |tensor: &Tensor| {
        let tensor = operations::reshape(tensor.handle(), &of_result)?;
        let turned = operations::transpose(tensor.handle(), dim, -1)?;
        operations::contiguous(turned.handle())
    };
    Ok(Some(Sorted { values: shaped(&sorted.values)?, indices: shaped(&indices)? }))
}

/// The first `k` elements of each line in the order of the line, and where they were.
fn collected(flat: &Tensor, k: i64, order: KeyOrder) -> Result<Sorted> {
    let from = Layout::of(flat.handle())?;
    let (device, [lines, length]) = (from.device, [from.sizes[0], from.sizes[1]]);
    let chunks = (length + CHUNK - 1) / CHUNK;
    let whole = api::SCONCE_DTYPE_I64;
    let searches = empty(&[lines, SEARCH], whole, device)?;
    let bins = filled(&[lines, BINS], api::SCONCE_DTYPE_I32, device, 0.0)?;
    let counts = empty(&[lines, chunks], whole, device)?;
    let values = empty(&[lines, k], from.dtype, device)?;
    let places = empty(&[lines, k], whole, device)?;
    let address = |tensor: &Tensor| Ok(Layout::of(tensor.handle())?.data);
    let (search, bin, count) = (address(&searches)?, address(&bins)?, address(&counts)?);
    let (value, place) = (address(&values)?, address(&places)?);
    let threads = [THREADS, 1, 1];
    let of_chunks = Grid { blocks: [chunks as u32, lines as u32, 1], threads, shared_bytes: 0 };
    let of_lines = Grid { blocks: [lines as u32, 1, 1], threads, shared_bytes: 0 };
    let name = |kernel: &str| format!("sconce_torch_top_{kernel}_{}", order.bytes);
    let image = &images::TOP;
    let KeyOrder { bytes, mask, infinity } = order;
    let bits = 8 * bytes;
    for pass in 0..bits.div_ceil(DIGIT_BITS) {
        let width = DIGIT_BITS.min(bits - pass * DIGIT_BITS);
        // SAFETY: the kernel has these parameters; there are `lines` lines of `length` elements of this size, and a
        // search and a row of bins for each.
        unsafe {
            launch(
                device,
                image,
                &name("count"),
                of_chunks,
                &[&from.data, &search, &bin, &length, &pass, &mask, &infinity],
            )
        }?;
        // SAFETY: the kernel has these parameters; there is a search and a row of bins for each line.
        unsafe {
            launch(
                device,
                image,
                "sconce_torch_top_digit",
                of_lines,
                &[&search, &bin, &k, &pass, &width],
            )
        }?;
    }
    // SAFETY: the kernel has these parameters; there are `lines` lines of `length` elements of this size, a search for
    // each, and a count for each chunk of each line.
    unsafe {
        launch(
            device,
            image,
            &name("chosen"),
            of_chunks,
            &[&from.data, &search, &count, &length, &mask, &infinity],
        )
    }?;
    // SAFETY: the kernel has these parameters; there is a count for each of `chunks` chunks of each line.
    unsafe { launch(device, image, "sconce_torch_top_scan", of_lines, &[&count, &chunks]) }?;
    // SAFETY: the kernel has these parameters; the results have `k` elements and places for each line, of which so many
    // are chosen.
    unsafe {
        launch(
            device,
            image,
            &name("collect"),
            of_chunks,
            &[&from.data, &search, &count, &value, &place, &length, &k, &mask, &infinity],
        )
    }?;
    Ok(Sorted { values, indices: places })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn keys_of_the_first_elements_are_the_smallest() {
        let of = |dtype, largest| KeyOrder::of(dtype, largest).unwrap();
        assert_eq!(
            of(api::SCONCE_DTYPE_I32, false),
            Some(KeyOrder { bytes: 4, mask: 0x8000_0000, infinity: 0 })
        );
        assert_eq!(
            of(api::SCONCE_DTYPE_I16, true),
            Some(KeyOrder { bytes: 2, mask: 0x7fff, infinity: 0 })
        );
        assert_eq!(
            of(api::SCONCE_DTYPE_F64, true),
            Some(KeyOrder { bytes: 8, mask: u64::MAX, infinity: 0x7ff0_0000_0000_0000 })
        );
        assert_eq!(of(api::SCONCE_DTYPE_U8, true), None);
        assert_eq!(of(api::SCONCE_DTYPE_C64, true), None);
    }

    #[test]
    fn short_lines_and_many_elements_are_sorted() {
        assert!(is_worth_it(64, 128_256, 50));
        assert!(is_worth_it(1, 5000, 1250));
        for (lines, length, k) in
            [(0, 5000, 1), (1, 4608, 1), (1, 5000, 1251), (1, 5000, 0), (8193, 5000, 1)]
        {
            assert!(!is_worth_it(lines, length, k), "{lines} {length} {k}");
        }
    }
}
