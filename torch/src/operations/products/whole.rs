//! Products of matrices of 8-bit integers in memory of the CPU. A column of the second matrix is widened to 16 bits once
//! for all rows of the first.

#![allow(unsafe_code, reason = "reads and writes tensors of the CPU")]

use crate::abi::tensors::{data_of, device_of_tensor, dtype_of_tensor, is_contiguous, sizes_of};
use crate::error::{Result, ensure};
use crate::operations::element::elements;
use crate::sconce::operations::{contiguous, transpose};
use crate::sconce::parallel::{GRAIN, OnThreads, for_range};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// Rows whose sums are in registers at the same time.
const ROWS: usize = 4;
/// Numbers of 16 bits in a register.
#[cfg(target_arch = "x86_64")]
const STEP: usize = 16;

/// The product of `first` (int8 or uint8) and `second` (int8), written to a contiguous matrix of int32.
pub fn product(first: TensorHandle, second: TensorHandle, out: TensorHandle) -> Result<()> {
    let [rows, inner, columns] = [sizes_of(first)?[0], sizes_of(first)?[1], sizes_of(second)?[1]];
    for tensor in [first, second, out] {
        ensure!(device_of_tensor(tensor)? == api::SCONCE_DEVICE_CPU);
    }
    ensure!(
        dtype_of_tensor(second)? == api::SCONCE_DTYPE_I8 && sizes_of(second)? == [inner, columns]
    );
    ensure!(dtype_of_tensor(out)? == api::SCONCE_DTYPE_I32 && sizes_of(out)? == [rows, columns]);
    ensure!(is_contiguous(out, api::SCONCE_MEMORY_FORMAT_CONTIGUOUS)?);
    let lines = widened(&contiguous(first)?)?;
    // Columns one after another; weights usually are stored like that.
    let turned = contiguous(transpose(second, 0, 1)?.handle())?;
    let into = data_of(out)?.cast::<i32>();
    // SAFETY: the tensor was made contiguous, its type was checked, and nobody writes it.
    let from = unsafe { elements::<i8>(turned.handle()) }?;
    let sizes = [rows, inner, columns].map(|size| size as usize);
    // SAFETY: each thread writes the columns of its part alone.
    let shared = unsafe { OnThreads::new(IntegerProduct { lines: &lines, from, into, sizes }) };
    let work = (rows * inner).max(1);
    for_range(0, columns, (GRAIN / work).max(1), &|begin, end| {
        shared.get().columns(begin as usize, end as usize);
        Ok(())
    })
}

/// What the parts of a product share.
struct IntegerProduct<'a> {
    /// The rows of the first matrix.
    lines: &'a [i16],
    /// The columns of the second matrix.
    from: &'a [i8],
    into: *mut i32,
    /// Rows, the inner size, columns.
    sizes: [usize; 3],
}

impl IntegerProduct<'_> {
    /// Writes some columns of the result.
    fn columns(&self, begin: usize, end: usize) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has these instructions.
            unsafe { self.wide_columns(begin, end) };
            return;
        }
        self.each_column(begin, end, |lines, inner, column, sums| {
            for (sum, row) in sums.iter_mut().zip(0..) {
                *sum = dot(&lines[row * inner..][..inner], column);
            }
        });
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn wide_columns(&self, begin: usize, end: usize) {
        self.each_column(begin, end, |lines, inner, column, sums| match sums.len() {
            ROWS => wide_dots::<ROWS>(lines, inner, column, sums),
            _ => {
                for (at, sum) in sums.chunks_exact_mut(1).enumerate() {
                    wide_dots::<1>(&lines[at * inner..], inner, column, sum);
                }
            }
        });
    }

    /// Calls `dots` with some rows, their length, a column and where the sums of products go.
    #[inline(always)]
    fn each_column(
        &self,
        begin: usize,
        end: usize,
        dots: impl Fn(&[i16], usize, &[i16], &mut [i32]),
    ) {
        let [rows, inner, columns] = self.sizes;
        let mut column = vec![0_i16; inner];
        for at in begin..end {
            let bytes = &self.from[at * inner..][..inner];
            for (number, byte) in column.iter_mut().zip(bytes) {
                *number = i16::from(*byte);
            }
            for row in (0..rows).step_by(ROWS) {
                let mut sums = [0; ROWS];
                let sums = &mut sums[..ROWS.min(rows - row)];
                dots(&self.lines[row * inner..], inner, &column, sums);
                for (place, sum) in sums.iter().enumerate() {
                    // SAFETY: the result has this element.
                    unsafe { self.into.wrapping_add((row + place) * columns + at).write(*sum) };
                }
            }
        }
    }
}

/// The sum of products.
fn dot(first: &[i16], second: &[i16]) -> i32 {
    let products = first.iter().zip(second).map(|(a, b)| i32::from(*a) * i32::from(*b));
    products.fold(0, i32::wrapping_add)
}

/// The sums of products of some rows and a column.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn wide_dots<const COUNT: usize>(lines: &[i16], inner: usize, column: &[i16], sums: &mut [i32]) {
    use std::arch::x86_64::{
        _mm256_add_epi32, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_setzero_si256,
        _mm256_storeu_si256,
    };
    let mut totals = [_mm256_setzero_si256(); COUNT];
    let rows: [&[i16]; COUNT] = std::array::from_fn(|row| &lines[row * inner..][..inner]);
    let column = &column[..inner];
    let whole = inner / STEP * STEP;
    for at in (0..whole).step_by(STEP) {
        // SAFETY: the column has that many numbers from here on.
        let numbers = unsafe { _mm256_loadu_si256(column.as_ptr().wrapping_add(at).cast()) };
        for (total, row) in totals.iter_mut().zip(rows) {
            // SAFETY: so has the row.
            let others = unsafe { _mm256_loadu_si256(row.as_ptr().wrapping_add(at).cast()) };
            *total = _mm256_add_epi32(*total, _mm256_madd_epi16(numbers, others));
        }
    }
    for ((sum, total), row) in sums.iter_mut().zip(totals).zip(rows) {
        let mut parts = [0; STEP / 2];
        // SAFETY: the array has eight sums.
        unsafe { _mm256_storeu_si256(parts.as_mut_ptr().cast(), total) };
        let rest = dot(&row[whole..], &column[whole..]);
        *sum = parts.iter().fold(rest, |sum: i32, part| sum.wrapping_add(*part));
    }
}

/// The elements of a contiguous tensor of int8 or uint8.
fn widened(tensor: &Tensor) -> Result<Vec<i16>> {
    let count = sizes_of(tensor.handle())?.iter().product::<i64>() as usize;
    let data = data_of(tensor.handle())?.cast::<u8>();
    let dtype = dtype_of_tensor(tensor.handle())?;
    let is_unsigned = dtype == api::SCONCE_DTYPE_U8;
    ensure!(is_unsigned || dtype == api::SCONCE_DTYPE_I8);
    let number = |at: usize| {
        // SAFETY: the tensor has this element.
        let byte = unsafe { data.wrapping_add(at).read() };
        if is_unsigned { i16::from(byte) } else { i16::from(byte.cast_signed()) }
    };
    Ok((0..count).map(number).collect())
}
