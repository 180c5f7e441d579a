//! Products of dense matrices, by the kernels of the crate `matrixmultiply`.
//!
//! The crate takes pointers; here they are made from slices whose lengths are checked.
#![allow(unsafe_code, reason = "passes slices as pointers, and shows them as bytes")]

/// The slices of a call do not have the lengths that its sizes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WrongLengths;

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
/// those of [`GemmKernel`].
pub(crate) unsafe trait Real: Copy + Default + 'static {
    /// The kernel of the type.
    const KERNEL: GemmKernel<Self>;
}

// SAFETY: any 32 bits are an `f32`, which has no padding; the kernel is the crate's.
unsafe impl Real for f32 {
    const KERNEL: GemmKernel<f32> = matrixmultiply::sgemm;
}

// SAFETY: any 64 bits are an `f64`, which has no padding; the kernel is the crate's.
unsafe impl Real for f64 {
    const KERNEL: GemmKernel<f64> = matrixmultiply::dgemm;
}

/// A dense matrix, column by column, or its transpose.
#[derive(Clone, Copy)]
pub(crate) struct Factor<'a, T> {
    pub(crate) values: &'a [T],
    pub(crate) transposed: bool,
}

/// `c = alpha * a * b + beta * c`, where `a` is `m` by `k` and `b` is `k` by `n`, both as they are
/// after transposing. With a `beta` of 0 nothing is read of `c`. Slices of other lengths are refused.
pub(crate) fn multiply<T: Real>(
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
    let strides = |transposed: bool, rows: usize, columns: usize| match transposed {
        false => (1, rows as isize),
        true => (columns as isize, 1),
    };
    let (a_row, a_column) = strides(a.transposed, m, k);
    let (b_row, b_column) = strides(b.transposed, k, n);
    let (a, b, c_column) = (a.values.as_ptr(), b.values.as_ptr(), m as isize);
    let c = c.as_mut_ptr();
    // SAFETY: an element of `a` is at most at `(m - 1) * a_row + (k - 1) * a_column`, which is
    // `m * k - 1`, the last index of the slice by the check above, for both ways to store it; `b` and `c`
    // likewise. `c` is borrowed exclusively, so it is neither `a` nor `b`; its columns are `m` elements
    // apart and have `m` elements, so no two elements are the same.
    unsafe {
        (T::KERNEL)(m, k, n, alpha, a, a_row, a_column, b, b_row, b_column, beta, c, 1, c_column);
    }
    Ok(())
}

/// The bytes of numbers.
pub(crate) fn bytes_of<T: Real>(values: &[T]) -> &[u8] {
    let bytes = size_of_val(values);
    // SAFETY: the bytes are those of the slice, and are borrowed as long as it is. All of them are
    // initialised, since a `Real` has no padding.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), bytes) }
}

/// The bytes of numbers, to be written.
pub(crate) fn bytes_of_mut<T: Real>(values: &mut [T]) -> &mut [u8] {
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
    fn bytes_lead_back_to_numbers() {
        let mut numbers = [0.0_f64; 3];
        bytes_of_mut(&mut numbers).copy_from_slice(bytes_of(&[1.5_f64, -2.0, 3.0]));
        assert_eq!(numbers, [1.5, -2.0, 3.0]);
    }
}
