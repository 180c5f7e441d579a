//! Products of few rows with weights of 8 bits on the CPU, without converted weights in memory: each row of weights is
//! converted once for all rows. For many rows the product of converted weights is faster.

#![allow(unsafe_code, reason = "reads and writes tensors of the CPU")]

use crate::abi::tensors::{
    data_of, device_of_tensor, dtype_of_tensor, is_contiguous, numel_of, sizes_of,
};
use crate::error::{Result, ensure};
use crate::operations::element::elements;
use crate::operations::tensors::empty;
use crate::sconce::operations::{contiguous, to_dtype};
use crate::sconce::parallel::{GRAIN, OnThreads, for_range};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// As many rows as share the converted weights.
pub const MOST_ROWS: i64 = 8;
/// Sums of a row, which are added at its end.
const LANES: usize = 64;

/// What the parts of a product share.
struct ByteProduct<'a> {
    rows: &'a [f32],
    weights: &'a [i8],
    scales: &'a [f32],
    /// Rows, the inner size, columns.
    sizes: [usize; 3],
    into: *mut f32,
}

impl ByteProduct<'_> {
    /// Writes some columns of the result.
    fn columns(&self, begin: usize, end: usize) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has these instructions.
            unsafe { self.wide_columns(begin, end) };
            return;
        }
        self.each_column(begin, end);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn wide_columns(&self, begin: usize, end: usize) {
        self.each_column(begin, end);
    }

    #[inline(always)]
    fn each_column(&self, begin: usize, end: usize) {
        let [rows, inner, columns] = self.sizes;
        let mut converted = vec![0.0; inner];
        for column in begin..end {
            let bytes = &self.weights[column * inner..][..inner];
            for (number, byte) in converted.iter_mut().zip(bytes) {
                *number = f32::from(*byte);
            }
            for row in 0..rows {
                let line = &self.rows[row * inner..][..inner];
                let sum = dot(line, &converted) * self.scales[column];
                // SAFETY: the result has this element.
                unsafe { self.into.wrapping_add(row * columns + column).write(sum) };
            }
        }
    }
}

/// The product of few rows with the rows of weights, times the scale of each, in float32. The weights are contiguous.
pub fn product(input: TensorHandle, weights: TensorHandle, scales: TensorHandle) -> Result<Tensor> {
    let single = api::SCONCE_DTYPE_F32;
    let (rows, columns) = (sizes_of(input)?[0], sizes_of(weights)?[0]);
    let inner = sizes_of(input)?[1];
    for tensor in [input, weights, scales] {
        ensure!(device_of_tensor(tensor)? == api::SCONCE_DEVICE_CPU);
    }
    ensure!(dtype_of_tensor(weights)? == api::SCONCE_DTYPE_I8);
    ensure!(is_contiguous(weights, api::SCONCE_MEMORY_FORMAT_CONTIGUOUS)?);
    ensure!(sizes_of(weights)? == [columns, inner] && numel_of(scales)? == columns);
    let result = empty(&[rows, columns], single, api::SCONCE_DEVICE_CPU)?;
    let lines = contiguous(to_dtype(input, single)?.handle())?;
    let factors = contiguous(to_dtype(scales, single)?.handle())?;
    let operands = ByteProduct {
        // SAFETY: the tensor was made contiguous, in float32, and lives until the product is done.
        rows: unsafe { elements::<f32>(lines.handle()) }?,
        // SAFETY: the weights are a contiguous matrix of I8, as was checked, which the caller keeps.
        weights: unsafe { elements::<i8>(weights) }?,
        // SAFETY: the tensor was made contiguous, in float32, and lives until the product is done.
        scales: unsafe { elements::<f32>(factors.handle()) }?,
        sizes: [rows, inner, columns].map(|size| size as usize),
        into: data_of(result.handle())?.cast(),
    };
    // SAFETY: each thread writes the columns of its part alone.
    let shared = unsafe { OnThreads::new(operands) };
    let work = (rows * inner).max(1);
    for_range(0, columns, (GRAIN / work).max(1), &|begin, end| {
        shared.get().columns(begin as usize, end as usize);
        Ok(())
    })?;
    Ok(result)
}

/// The sum of products.
#[inline(always)]
fn dot(first: &[f32], second: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let (wide, rest) = (first.chunks_exact(LANES), second.chunks_exact(LANES));
    let last: f32 = wide.remainder().iter().zip(rest.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in wide.zip(rest) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    sums.iter().sum::<f32>() + last
}
