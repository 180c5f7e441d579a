//! Products of matrices of 8-bit integers in memory of the CPU. A column of the second matrix is widened to 16 bits once
//! for all rows of the first.

#![allow(unsafe_code, reason = "reads and writes tensors of the CPU")]

use crate::abi::tensors::{data_of, dtype_of_tensor, sizes_of};
use crate::error::Result;
use crate::sconce::operations::{contiguous, transpose};
use crate::sconce::parallel::{GRAIN, OnThreads, for_range};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// The product of `first` (int8 or uint8) and `second` (int8), written to a contiguous matrix of int32.
pub fn product(first: TensorHandle, second: TensorHandle, out: TensorHandle) -> Result<()> {
    let [rows, inner, columns] = [sizes_of(first)?[0], sizes_of(first)?[1], sizes_of(second)?[1]];
    let lines = widened(&contiguous(first)?)?;
    // Columns one after another; weights usually are stored like that.
    let turned = contiguous(transpose(second, 0, 1)?.handle())?;
    let (from, into) = (data_of(turned.handle())?.cast::<i8>(), data_of(out)?.cast::<i32>());
    // SAFETY: each thread writes the columns of its part alone.
    let shared = unsafe { OnThreads::new((from, into)) };
    let (width, step) = (inner as usize, columns as usize);
    let work = (rows * inner).max(1);
    for_range(0, columns, (GRAIN / work).max(1), &|begin, end| {
        let (from, into) = *shared.get();
        let mut column = vec![0_i16; width];
        for at in begin as usize..end as usize {
            let bytes = from.wrapping_add(at * width);
            for (place, number) in column.iter_mut().enumerate() {
                // SAFETY: the matrix has this element.
                *number = i16::from(unsafe { bytes.wrapping_add(place).read() });
            }
            for row in 0..rows as usize {
                let sum = dot(&lines[row * width..][..width], &column);
                // SAFETY: the result has this element.
                unsafe { into.wrapping_add(row * step + at).write(sum) };
            }
        }
        Ok(())
    })
}

/// The elements of a contiguous tensor of int8 or uint8.
fn widened(tensor: &Tensor) -> Result<Vec<i16>> {
    let count = sizes_of(tensor.handle())?.iter().product::<i64>() as usize;
    let data = data_of(tensor.handle())?.cast::<u8>();
    let is_unsigned = dtype_of_tensor(tensor.handle())? == api::SCONCE_DTYPE_U8;
    let number = |at: usize| {
        // SAFETY: the tensor has this element.
        let byte = unsafe { data.wrapping_add(at).read() };
        if is_unsigned { i16::from(byte) } else { i16::from(byte.cast_signed()) }
    };
    Ok((0..count).map(number).collect())
}

/// The sum of products.
fn dot(first: &[i16], second: &[i16]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has these instructions.
        return unsafe { wide_dot(first, second) };
    }
    plain_dot(first, second)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn wide_dot(first: &[i16], second: &[i16]) -> i32 {
    plain_dot(first, second)
}

#[inline(always)]
fn plain_dot(first: &[i16], second: &[i16]) -> i32 {
    let products = first.iter().zip(second).map(|(a, b)| i32::from(*a) * i32::from(*b));
    products.fold(0, i32::wrapping_add)
}
