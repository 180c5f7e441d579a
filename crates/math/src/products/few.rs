//! Products in which one factor has few rows or columns. The kernels of the crate `matrixmultiply` copy both factors
//! before they multiply; where the other factor is large and each of its elements is used few times, that copy takes
//! up to ten times as long as the products. Here the large factor is read once, where it lies.
//!
//! The few lines are rows here: a product with few columns is transposed. Each element of the result is added up in an
//! order that depends on the length of the sum alone.

use super::Real;
use super::matrices::Matrices;

/// The most lines of the smaller factor, and the most if the large factor's lie across the sums.
const MOST: usize = 4;
const MOST_ACROSS: usize = 3;

/// Numbers that are calculated with at a time: a vector of 32 bytes, or two.
const LANES: usize = 8;

/// Rows of the large factor that are read side by side.
const DEPTH: usize = 4;

/// One product: few rows, or the transpose of one with few columns. All elements are valid for reads, and those of the
/// result for writes, as [`FewRows::new`] demands; so the methods are safe.
pub(super) struct FewRows<T> {
    /// Rows, columns, and the length of a sum.
    sizes: [usize; 3],
    alpha: T,
    /// The first element, and the steps from row to row and along a sum.
    rows: (*const T, [isize; 2]),
    /// The first element, and the steps along a sum and from column to column.
    wide: (*const T, [isize; 2]),
    beta: T,
    /// The first element, and the steps from row to row and from column to column.
    result: (*mut T, [isize; 2]),
}

/// Whether [`FewRows`] multiplies matrices of these sizes and steps, and whether they are transposed for it. This does
/// not depend on where a block of a matrix begins or ends.
pub(super) fn orientation([m, n, k]: [usize; 3], a: [isize; 2], b: [isize; 2]) -> Option<bool> {
    if m.min(n) > MOST || m.max(n) < 2 * LANES || k == 0 || !has_instructions() {
        return None;
    }
    let is_transposed = n < m;
    let wide = if is_transposed { [a[1], a[0]] } else { b };
    let is_across = wide[0] != 1 && wide[1] == 1 && m.min(n) <= MOST_ACROSS;
    (wide[0] == 1 || is_across).then_some(is_transposed)
}

/// Whether the processor adds products of vectors in one instruction.
fn has_instructions() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    cfg!(target_arch = "aarch64")
}

impl<T: Real> FewRows<T> {
    /// A block of a batch's matrix, which is transposed if [`orientation`] says so of the whole matrix.
    ///
    /// # Safety
    /// As long as the result is used, all elements of the block are valid for reads, and those of `c` for writes:
    /// nobody else uses them, and no two are the same. [`orientation`] was found for the matrix.
    pub(super) unsafe fn new(
        [m, n, k]: [usize; 3],
        is_transposed: bool,
        (alpha, beta): (T, T),
        a: Matrices<*const T>,
        b: Matrices<*const T>,
        c: Matrices<*mut T>,
    ) -> FewRows<T> {
        let ([_, a_row, a_along], [_, b_along, b_column]) = (a.steps, b.steps);
        let [_, c_row, c_column] = c.steps;
        if is_transposed {
            let sizes = [n, m, k];
            let (rows, wide) = ((b.first, [b_column, b_along]), (a.first, [a_along, a_row]));
            return FewRows {
                sizes,
                alpha,
                rows,
                wide,
                beta,
                result: (c.first, [c_column, c_row]),
            };
        }
        let (rows, wide) = ((a.first, [a_row, a_along]), (b.first, [b_along, b_column]));
        FewRows { sizes: [m, n, k], alpha, rows, wide, beta, result: (c.first, [c_row, c_column]) }
    }

    /// Calculates the product.
    pub(super) fn multiply(&self) {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,fma")]
            fn with_avx2<T: Real>(product: &FewRows<T>) {
                product.calculate();
            }
            // SAFETY: the processor has the instructions, without which `orientation` finds nothing.
            unsafe { with_avx2(self) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        self.calculate();
    }

    #[inline(always)]
    fn calculate(&self) {
        let [m, _, k] = self.sizes;
        let (first, [row, along]) = self.rows;
        let mut packed = Vec::new();
        if along != 1 {
            packed.reserve_exact(m * k);
            for index in 0..m * k {
                let place = row * (index / k) as isize + along * (index % k) as isize;
                // SAFETY: `index` divides into a row below `m` and a place below `k`, which is an element of the
                // factor.
                packed.push(unsafe { *first.wrapping_offset(place) });
            }
        }
        let of_row = |index: usize| -> &[T] {
            if along != 1 {
                return &packed[index * k..][..k];
            }
            // SAFETY: `index` is below `m`, and the `k` elements of a row are side by side, since `along` is 1; nobody
            // writes them.
            unsafe { std::slice::from_raw_parts(first.wrapping_offset(row * index as isize), k) }
        };
        let rows: [&[T]; MOST] = std::array::from_fn(|index| of_row(index.min(m - 1)));
        let rows = &rows[..m];
        if self.wide.1[0] == 1 {
            self.by_columns(rows);
        } else {
            self.by_rows(rows);
        }
    }

    /// The product if each column of the large factor is contiguous.
    #[inline(always)]
    fn by_columns(&self, rows: &[&[T]]) {
        let [_, n, k] = self.sizes;
        let (first, [_, step]) = self.wide;
        // SAFETY: the column is one of the factor's `n`, and its `k` elements are side by side: `calculate` found the
        // step along a sum to be 1; nobody writes them.
        let column = |at: usize| unsafe {
            std::slice::from_raw_parts(first.wrapping_offset(step * at.min(n - 1) as isize), k)
        };
        // Each tile has 8 or 12 sums, so that none waits for the one before.
        match *rows {
            [row] => {
                for start in (0..n).step_by(8) {
                    let sums = tile::<T, 1, 8>([row], std::array::from_fn(|at| column(start + at)));
                    self.store_tile(start, sums);
                }
            }
            [row, second] => {
                for start in (0..n).step_by(6) {
                    let columns = std::array::from_fn(|at| column(start + at));
                    let sums = tile::<T, 2, 6>([row, second], columns);
                    self.store_tile(start, sums);
                }
            }
            _ => {
                let rows = std::array::from_fn(|at| rows[at.min(rows.len() - 1)]);
                for start in (0..n).step_by(3) {
                    let sums = tile::<T, 4, 3>(rows, std::array::from_fn(|at| column(start + at)));
                    self.store_tile(start, sums);
                }
            }
        }
    }

    /// Stores a tile, without the rows and columns that are repeated in it behind the last ones.
    #[inline(always)]
    fn store_tile<const R: usize, const C: usize>(&self, start: usize, sums: [[T; C]; R]) {
        let [m, n, _] = self.sizes;
        for (row, sums) in sums.into_iter().enumerate().take(m) {
            for (at, sum) in sums.into_iter().enumerate().take(n - start) {
                self.store(row, start + at, sum);
            }
        }
    }

    /// The product if each row of the large factor is contiguous.
    #[inline(always)]
    fn by_rows(&self, rows: &[&[T]]) {
        let [m, n, k] = self.sizes;
        let (first, [step, _]) = self.wide;
        // SAFETY: `at` is below `k`, and the `n` elements of a row are side by side: `orientation` found no step other
        // than 1 from column to column where the one along a sum is another; nobody writes them.
        let wide = |at: usize| unsafe {
            std::slice::from_raw_parts(first.wrapping_offset(step * at as isize), n)
        };
        let mut sums = vec![T::default(); m * n];
        for depth in (0..k).step_by(DEPTH) {
            if k - depth < DEPTH {
                for at in depth..k {
                    for (row, sums) in rows.iter().zip(sums.chunks_exact_mut(n)) {
                        add_rows([row[at]], [wide(at)], sums);
                    }
                }
                break;
            }
            let of_wide: [&[T]; DEPTH] = std::array::from_fn(|at| wide(depth + at));
            for (row, sums) in rows.iter().zip(sums.chunks_exact_mut(n)) {
                add_rows(std::array::from_fn(|at| row[depth + at]), of_wide, sums);
            }
        }
        for (index, sum) in sums.into_iter().enumerate() {
            self.store(index / n, index % n, sum);
        }
    }

    #[inline(always)]
    fn store(&self, row: usize, column: usize, sum: T) {
        debug_assert!(row < self.sizes[0] && column < self.sizes[1], "an element of the result");
        let (first, [down, across]) = self.result;
        let place = first.wrapping_offset(down * row as isize + across * column as isize);
        let mut value = self.alpha * sum;
        if self.beta != T::default() {
            // SAFETY: the element is one of the result, and this thread alone uses it.
            let before = unsafe { *place };
            value = self.beta.mul_add(before, value);
        }
        // SAFETY: the element is one of the result, and this thread alone uses it.
        unsafe { *place = value };
    }
}

/// The sums of products of some rows with some columns.
#[inline(always)]
fn tile<T: Real, const R: usize, const C: usize>(
    rows: [&[T]; R],
    columns: [&[T]; C],
) -> [[T; C]; R] {
    let rows = rows.map(|row| row.as_chunks::<LANES>());
    let columns = columns.map(|column| column.as_chunks::<LANES>());
    let count = rows[0].0.len();
    let (of_rows, of_columns) =
        (rows.map(|row| &row.0[..count]), columns.map(|column| &column.0[..count]));
    let mut sums = [[[T::default(); LANES]; C]; R];
    for at in 0..count {
        for column in 0..C {
            let factors = of_columns[column][at];
            for row in 0..R {
                let values = of_rows[row][at];
                for lane in 0..LANES {
                    let sum = &mut sums[row][column][lane];
                    *sum = values[lane].mul_add(factors[lane], *sum);
                }
            }
        }
    }
    std::array::from_fn(|row| {
        std::array::from_fn(|column| {
            let [a, b, c, d, e, f, g, h] = sums[row][column];
            let sum = ((a + e) + (c + g)) + ((b + f) + (d + h));
            let rest = rows[row].1.iter().zip(columns[column].1);
            rest.fold(sum, |sum, (value, factor)| value.mul_add(*factor, sum))
        })
    })
}

/// Adds rows times their factors, one row after the other, to a row of sums.
#[inline(always)]
fn add_rows<T: Real, const D: usize>(factors: [T; D], rows: [&[T]; D], sums: &mut [T]) {
    let rows = rows.map(|row| &row[..sums.len()]);
    for (at, sum) in sums.iter_mut().enumerate() {
        for depth in 0..D {
            *sum = factors[depth].mul_add(rows[depth][at], *sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix<P>(first: P, steps: [usize; 2]) -> Matrices<P> {
        Matrices { first, steps: [0, steps[0] as isize, steps[1] as isize] }
    }

    /// Small integers, whose sums are exact.
    fn check<T: Real + PartialEq + std::fmt::Debug>() {
        let number = |index: usize, seed: usize| ((index * 7 + seed) * 13 % 17) as f32 - 8.0;
        let sizes = [(1, 100, 37), (2, 16, 8), (3, 40, 5), (4, 17, 19), (50, 3, 33), (16, 1, 2)];
        for (m, n, k) in sizes {
            for (a_steps, b_steps) in
                [([k, 1], [1, k]), ([k, 1], [n, 1]), ([1, m], [1, k]), ([1, m], [n, 1])]
            {
                for (alpha, beta) in [(1.0, 0.0), (-2.0, 0.5)] {
                    let values = |count, seed| -> Vec<T> {
                        (0..count).map(|index| T::from(number(index, seed))).collect()
                    };
                    let (a, b, before) = (values(m * k, 1), values(k * n, 2), values(m * n, 3));
                    let mut c = before.clone();
                    let [of_a, of_b] = [a_steps, b_steps].map(|steps| steps.map(|at| at as isize));
                    let is_transposed = orientation([m, n, k], of_a, of_b);
                    let wide = if n < m { [a_steps[1], a_steps[0]] } else { b_steps };
                    let is_taken =
                        has_instructions() && (wide[0] == 1 || wide[1] == 1 && m.min(n) < 4);
                    let expected = is_taken.then_some(n < m);
                    assert_eq!(is_transposed, expected, "{m} {n} {k} {a_steps:?} {b_steps:?}");
                    let Some(is_transposed) = is_transposed else { continue };
                    let factors = (T::from(alpha), T::from(beta));
                    let (first, second) =
                        (matrix(a.as_ptr(), a_steps), matrix(b.as_ptr(), b_steps));
                    let result = matrix(c.as_mut_ptr(), [n, 1]);
                    // SAFETY: the vectors have so many elements, and live until the product is calculated.
                    let product = unsafe {
                        FewRows::new([m, n, k], is_transposed, factors, first, second, result)
                    };
                    product.multiply();
                    for (index, found) in c.into_iter().enumerate() {
                        let (row, column) = (index / n, index % n);
                        let sum: f32 = (0..k)
                            .map(|at| {
                                number(row * a_steps[0] + at * a_steps[1], 1)
                                    * number(at * b_steps[0] + column * b_steps[1], 2)
                            })
                            .sum();
                        let expected = alpha * sum + beta * number(index, 3);
                        assert_eq!(found, T::from(expected), "{m} {n} {k}, {index}");
                    }
                }
            }
        }
    }

    #[test]
    fn products_agree_with_loops() {
        check::<f32>();
        check::<f64>();
    }

    #[test]
    fn others_are_left_to_the_crate() {
        for (sizes, b) in
            [([5, 5, 5], [1, 5]), ([4, 15, 9], [1, 9]), ([2, 40, 0], [1, 0]), ([2, 40, 9], [2, 18])]
        {
            assert_eq!(orientation(sizes, [sizes[2] as isize, 1], b), None, "{sizes:?}");
        }
    }
}
