//! Products of dense matrices, by the kernels of the crate `matrixmultiply`.
//!
//! The crate takes pointers; here they are made from slices whose lengths are checked. It calculates on the calling
//! thread; `shared` divides a product among several (docs/design/parallel.md). Products with few rows or columns are
//! calculated here (`few`).
#![allow(unsafe_code, reason = "passes slices as pointers, and shows them as bytes")]

mod few;
mod matrices;
mod shared;

use std::ops::{Add, Mul};

pub use matrices::Matrices;
pub use shared::Batch;

/// The slices of a call do not have the lengths that its sizes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongLengths;

/// The crate's kernel for a type: sizes, then each matrix with its strides of rows and of columns. Each
/// pointer must be valid for the elements that its sizes and strides reach, and no two elements of the
/// result may be the same.
type GemmKernel<T> = unsafe fn(
    usize,
    usize,
    usize,
    T,
    *const T,
    isize,
    isize,
    *const T,
    isize,
    isize,
    T,
    *mut T,
    isize,
    isize,
);

/// A type in which products are calculated.
///
/// # Safety
/// Any bits are a value of the type, and none of them is padding. The kernel has no requirements except
/// those of `GemmKernel`.
pub unsafe trait Real:
    Copy
    + Default
    + PartialEq
    + Send
    + Sync
    + From<f32>
    + Add<Output = Self>
    + Mul<Output = Self>
    + 'static
{
    /// The kernel of the type.
    const KERNEL: GemmKernel<Self>;

    /// `self * factor + summand`, rounded once: slow on processors without an instruction for it.
    fn mul_add(self, factor: Self, summand: Self) -> Self;
}

// SAFETY: any 32 bits are an `f32`, which has no padding; the kernel is the crate's.
unsafe impl Real for f32 {
    const KERNEL: GemmKernel<f32> = matrixmultiply::sgemm;

    #[inline(always)]
    fn mul_add(self, factor: f32, summand: f32) -> f32 {
        self.mul_add(factor, summand)
    }
}

// SAFETY: any 64 bits are an `f64`, which has no padding; the kernel is the crate's.
unsafe impl Real for f64 {
    const KERNEL: GemmKernel<f64> = matrixmultiply::dgemm;

    #[inline(always)]
    fn mul_add(self, factor: f64, summand: f64) -> f64 {
        self.mul_add(factor, summand)
    }
}

/// A dense matrix, column by column, or its transpose.
#[derive(Clone, Copy)]
pub struct Factor<'a, T> {
    pub values: &'a [T],
    pub transposed: bool,
}

/// `c = alpha * a * b + beta * c`, where `a` is `m` by `k` and `b` is `k` by `n`, both as they are
/// after transposing. With a `beta` of 0 nothing is read of `c`. Slices of other lengths are refused.
pub fn multiply<T: Real>(
    [m, n, k]: [usize; 3],
    alpha: T,
    a: Factor<'_, T>,
    b: Factor<'_, T>,
    beta: T,
    c: &mut [T],
) -> Result<(), WrongLengths> {
    let fits = |length: usize, rows: usize, columns: usize| {
        rows.checked_mul(columns) == Some(length) && length <= isize::MAX as usize
    };
    if !fits(a.values.len(), m, k) || !fits(b.values.len(), k, n) || !fits(c.len(), m, n) {
        return Err(WrongLengths);
    }
    // SAFETY: an element of `a` is at most at `(m - 1) * row + (k - 1) * column`, which is `m * k - 1`, the last index
    // of the slice by the check above, for both ways to store it; `b` and `c` likewise. `c` is borrowed exclusively, so
    // it is neither `a` nor `b`; its columns are `m` elements apart and have `m` elements, so no two elements are the
    // same.
    unsafe { batch_of([m, n, k], alpha, a, b, beta, c).multiply_here() };
    Ok(())
}

/// [`multiply`] for complex numbers: an element is two numbers of the slices, the real part first.
pub fn multiply_complex<T: Real>(
    [m, n, k]: [usize; 3],
    alpha: T,
    a: Factor<'_, T>,
    b: Factor<'_, T>,
    beta: T,
    c: &mut [T],
) -> Result<(), WrongLengths> {
    let fits = |length: usize, rows: usize, columns: usize| {
        let numbers = rows.checked_mul(columns).and_then(|elements| elements.checked_mul(2));
        numbers == Some(length) && length <= isize::MAX as usize
    };
    if !fits(a.values.len(), m, k) || !fits(b.values.len(), k, n) || !fits(c.len(), m, n) {
        return Err(WrongLengths);
    }
    for product in batch_of([m, n, k], alpha, a, b, beta, c).of_parts() {
        // SAFETY: the slices have as many elements of two numbers as the sizes say; `c` is borrowed exclusively.
        unsafe { product.multiply_here() };
    }
    Ok(())
}

/// The product of matrices that are stored column by column, or transposed.
fn batch_of<T: Real>(
    [m, n, k]: [usize; 3],
    alpha: T,
    a: Factor<'_, T>,
    b: Factor<'_, T>,
    beta: T,
    c: &mut [T],
) -> Batch<T> {
    let steps = |transposed: bool, rows: usize, columns: usize| match transposed {
        false => [0, 1, rows as isize],
        true => [0, columns as isize, 1],
    };
    Batch {
        sizes: [1, m, n, k],
        alpha,
        a: Matrices { first: a.values.as_ptr(), steps: steps(a.transposed, m, k) },
        b: Matrices { first: b.values.as_ptr(), steps: steps(b.transposed, k, n) },
        beta,
        c: Matrices { first: c.as_mut_ptr(), steps: steps(false, m, n) },
    }
}

/// A matrix whose rows and columns are anywhere in a slice.
#[derive(Clone, Copy)]
pub(crate) struct MatrixInSlice<S> {
    pub(crate) values: S,
    /// Elements from one row to the next, and from one column to the next.
    pub(crate) steps: [usize; 2],
}

impl<S> MatrixInSlice<S> {
    /// Whether the elements of so many rows and columns are within `length`, and steps fit the kernel.
    fn fits(&self, length: usize, [rows, columns]: [usize; 2]) -> bool {
        let [row, column] = self.steps;
        let last = |count: usize, step: usize| count.saturating_sub(1).checked_mul(step);
        let reached = last(rows, row).zip(last(columns, column));
        let reached = reached.and_then(|(row, column)| row.checked_add(column));
        let is_empty = rows == 0 || columns == 0;
        let is_inside = is_empty || reached.is_some_and(|reached| reached < length);
        is_inside && self.steps.iter().all(|step| isize::try_from(*step).is_ok())
    }

    /// Whether no two elements are the same: rows are apart by more than a row's elements reach, or columns by more
    /// than a column's.
    fn is_injective(&self, [rows, columns]: [usize; 2]) -> bool {
        let [row, column] = self.steps;
        let apart = |outer: usize, inner: usize, count: usize| {
            inner > 0 && inner.checked_mul(count).is_some_and(|reach| outer >= reach)
        };
        rows <= 1 && (columns <= 1 || column > 0)
            || columns <= 1 && row > 0
            || apart(row, column, columns)
            || apart(column, row, rows)
    }
}

/// `c = a * b`, where `a` is `m` by `k` and `b` is `k` by `n`. Nothing is read of `c`. Slices that are too short, and a
/// result whose elements are not apart, are refused. Several threads share the work if there is enough.
pub(crate) fn multiply_within<T: Real>(
    [m, n, k]: [usize; 3],
    a: MatrixInSlice<&[T]>,
    b: MatrixInSlice<&[T]>,
    c: MatrixInSlice<&mut [T]>,
) -> Result<(), WrongLengths> {
    let fits = a.fits(a.values.len(), [m, k])
        && b.fits(b.values.len(), [k, n])
        && c.fits(c.values.len(), [m, n]);
    if !fits || !c.is_injective([m, n]) {
        return Err(WrongLengths);
    }
    let at = |steps: [usize; 2]| [0, steps[0] as isize, steps[1] as isize];
    let product = Batch {
        sizes: [1, m, n, k],
        alpha: T::from(1.0),
        a: Matrices { first: a.values.as_ptr(), steps: at(a.steps) },
        b: Matrices { first: b.values.as_ptr(), steps: at(b.steps) },
        beta: T::default(),
        c: Matrices { first: c.values.as_mut_ptr(), steps: at(c.steps) },
    };
    // SAFETY: by the checks above every element of the three matrices is within its slice, and no two of the result
    // are the same. The result's slice is borrowed exclusively, so it is neither of the others.
    unsafe { product.multiply() };
    Ok(())
}

/// The bytes of numbers.
pub fn bytes_of<T: Real>(values: &[T]) -> &[u8] {
    let bytes = size_of_val(values);
    // SAFETY: the bytes are those of the slice, and are borrowed as long as it is. All of them are
    // initialised, since a `Real` has no padding.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), bytes) }
}

/// The bytes of numbers, to be written.
pub fn bytes_of_mut<T: Real>(values: &mut [T]) -> &mut [u8] {
    let bytes = size_of_val(values);
    // SAFETY: the bytes are those of the slice, and are borrowed exclusively as long as it is. Whatever
    // is written to them are values, since any bits are a `Real`.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_of_each_transposition() {
        // a = [1 2 3; 4 5 6], b = [1 0; 2 1; 0 3].
        let (a, a_turned) = ([1.0, 4.0, 2.0, 5.0, 3.0, 6.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let (b, b_turned) = ([1.0, 2.0, 0.0, 0.0, 1.0, 3.0], [1.0, 0.0, 2.0, 1.0, 0.0, 3.0]);
        for (a, a_is_turned) in [(a, false), (a_turned, true)] {
            for (b, b_is_turned) in [(b, false), (b_turned, true)] {
                let mut c = [1.0, 2.0, 3.0, 4.0];
                let a = Factor { values: &a[..], transposed: a_is_turned };
                let b = Factor { values: &b[..], transposed: b_is_turned };
                multiply([2, 2, 3], 2.0, a, b, -1.0, &mut c).unwrap();
                assert_eq!(c, [9.0, 26.0, 19.0, 42.0]);
            }
        }
    }

    #[test]
    fn nothing_is_read_of_the_result_without_beta_and_lengths_are_checked() {
        let factor = |values| Factor { values, transposed: false };
        let mut c = [f32::NAN; 4];
        multiply([2, 2, 1], 1.0, factor(&[1.0, 2.0]), factor(&[3.0, 4.0]), 0.0, &mut c).unwrap();
        assert_eq!(c, [3.0, 6.0, 4.0, 8.0]);
        let mut c = [f32::NAN; 4];
        multiply([2, 2, 0], 1.0, factor(&[]), factor(&[]), 0.0, &mut c).unwrap();
        assert_eq!(c, [0.0; 4]);
        for sizes in [[3, 2, 1], [2, 3, 1], [2, 2, 2], [usize::MAX, 2, 2], [0, 0, 0]] {
            let (a, b) = (factor(&[1.0, 2.0]), factor(&[3.0, 4.0]));
            assert_eq!(multiply(sizes, 1.0, a, b, 0.0, &mut c), Err(WrongLengths));
        }
    }

    #[test]
    fn matrices_are_anywhere_in_slices() {
        // Rows of a in every second place, b turned, and c with a gap behind each row.
        let (a, b) = ([1.0, 9.0, 2.0, 9.0, 3.0, 9.0, 4.0], [5.0_f64, 7.0, 6.0, 8.0]);
        let mut c = [f64::NAN, f64::NAN, -1.0, f64::NAN, f64::NAN];
        let (a, b) = (
            MatrixInSlice { values: &a[..], steps: [4, 2] },
            MatrixInSlice { values: &b[..], steps: [1, 2] },
        );
        multiply_within([2, 2, 2], a, b, MatrixInSlice { values: &mut c[..], steps: [3, 1] })
            .unwrap();
        assert_eq!(c, [19.0, 22.0, -1.0, 43.0, 50.0]);
    }

    #[test]
    fn matrices_beyond_their_slices_and_results_that_overlap_are_refused() {
        let values = [1.0_f32; 6];
        let whole = MatrixInSlice { values: &values[..], steps: [3, 1] };
        let one = MatrixInSlice { values: &values[..1], steps: [1, 1] };
        let refused = |sizes, a, b, steps| {
            let mut result = [f32::NAN; 6];
            let outcome =
                multiply_within(sizes, a, b, MatrixInSlice { values: &mut result[..], steps });
            assert!(result.iter().all(|value| value.is_nan()) || outcome.is_ok());
            outcome == Err(WrongLengths)
        };
        assert!(!refused([2, 2, 3], whole, whole.turned(), [2, 1]));
        assert!(refused([3, 2, 3], whole, whole.turned(), [2, 1]), "rows of a");
        assert!(refused([2, 3, 3], whole, whole.turned(), [3, 1]), "columns of b");
        assert!(refused([2, 2, 3], whole, whole.turned(), [5, 1]), "rows of c");
        assert!(
            refused([2, 2, 3], whole, whole.turned(), [1, 1]),
            "elements of c that are the same"
        );
        assert!(refused([2, 2, 3], whole, whole.turned(), [0, 1]), "rows of c that are the same");
        assert!(refused([2, 1, 1], whole, one, [0, 1]), "rows of one element that are the same");
        let far = MatrixInSlice { values: &values[..], steps: [usize::MAX, 1] };
        assert!(refused([1, 1, 1], far, one, [1, 1]), "steps beyond what an address can be");
        assert!(refused([3, 1, 1], far, one, [1, 1]), "steps whose sum overflows");
    }

    impl MatrixInSlice<&[f32]> {
        fn turned(self) -> Self {
            MatrixInSlice { values: self.values, steps: [self.steps[1], self.steps[0]] }
        }
    }

    #[test]
    fn bytes_lead_back_to_numbers() {
        let mut numbers = [0.0_f64; 3];
        bytes_of_mut(&mut numbers).copy_from_slice(bytes_of(&[1.5_f64, -2.0, 3.0]));
        assert_eq!(numbers, [1.5, -2.0, 3.0]);
    }
}
