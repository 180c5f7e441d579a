//! Batches of products, whose results several threads divide among them.
//!
//! A thread calculates whole matrices, or a block of one. Blocks begin at multiples of [`STEP`], as the kernel's own
//! tiles do, so that an element's products are added up in the same order and rounded in the same places whatever
//! block it is in.

use super::Real;
use super::few::{self, FewRows};
use super::matrices::Matrices;
use crate::parallel;

/// `c = alpha * a * b + beta * c` for each matrix of a batch.
pub struct Batch<T> {
    /// Matrices; rows of `c`; columns of `c`; columns of `a`, which are rows of `b`.
    pub sizes: [usize; 4],
    pub alpha: T,
    pub a: Matrices<*const T>,
    pub b: Matrices<*const T>,
    pub beta: T,
    pub c: Matrices<*mut T>,
}

// SAFETY: the pointers are those of memory that the caller of `multiply` lends to all threads that calculate.
unsafe impl<T: Real> Sync for Batch<T> {}

/// Rows and columns of a block are multiples of this, unless the matrix ends. The kernel's tiles have 4, 8 or 16.
const STEP: usize = 16;

/// The least work of a part, in multiplications: some 15 µs.
const LEAST: usize = 1 << 19;

/// The work of a part where there is much: enough parts that no thread waits long for another.
const USUAL: usize = 1 << 22;

/// The parts of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Division {
    /// Matrices of a part, of which each is one block unless this is 1.
    matrices: usize,
    /// Blocks of a matrix from top to bottom, and from left to right.
    blocks: [usize; 2],
    /// Rows and columns of a block.
    block: [usize; 2],
}

impl Division {
    fn whole([batch, m, n, _]: [usize; 4]) -> Division {
        Division { matrices: batch.max(1), blocks: [1, 1], block: [m, n] }
    }

    fn of(sizes: [usize; 4], threads: usize) -> Division {
        let [batch, m, n, k] = sizes;
        // A block's factors are packed before they are multiplied, which takes as long as four multiplications each.
        let packed = m.saturating_add(n).saturating_mul(4);
        let work =
            m.saturating_mul(n).saturating_add(packed).saturating_mul(k).saturating_mul(batch);
        if threads <= 1 || m == 0 || n == 0 || work < 2 * LEAST {
            return Division::whole(sizes);
        }
        let parts = (work / LEAST).min(threads).max((work / USUAL).min(4 * threads));
        if batch >= parts {
            return Division { matrices: batch.div_ceil(parts), ..Division::whole(sizes) };
        }
        let wanted = parts.div_ceil(batch);
        let lengths = |size: usize, blocks: usize| size.div_ceil(blocks).next_multiple_of(STEP);
        let mut block = [lengths(m, 1), lengths(n, 1)];
        let count = |block: [usize; 2]| [m.div_ceil(block[0]), n.div_ceil(block[1])];
        while count(block).iter().product::<usize>() < wanted {
            // The longer side, so that little is packed more than once.
            let side = usize::from(block[1] >= block[0]);
            if block[side] <= STEP {
                break;
            }
            let size = [m, n][side];
            block[side] = lengths(size, size.div_ceil(block[side]) + 1).min(block[side] - STEP);
        }
        Division { matrices: 1, blocks: count(block), block }
    }

    fn parts(&self, batch: usize) -> usize {
        batch.div_ceil(self.matrices) * self.blocks[0] * self.blocks[1]
    }
}

impl<T: Real> Batch<T> {
    /// Calculates all matrices, on several threads if that is worth it.
    ///
    /// # Safety
    /// All elements of the matrices are valid for reads, and those of `c` for writes: nobody else uses them, and no two
    /// are the same.
    pub unsafe fn multiply(&self) {
        // SAFETY: passed on for all matrices: this function demands of its caller what the division demands.
        unsafe { self.multiply_divided(Division::of(self.sizes, parallel::available())) };
    }

    /// Calculates all matrices on the calling thread.
    ///
    /// # Safety
    /// As of [`Batch::multiply`].
    pub(crate) unsafe fn multiply_here(&self) {
        let [batch, m, n, _] = self.sizes;
        for matrix in 0..batch {
            // SAFETY: a block that is the whole matrix, whose elements this function demands to be valid.
            unsafe { self.multiply_block(matrix, [0, 0], [m, n]) };
        }
    }

    /// The real products, one after the other, that make a product of complex numbers. An element of this batch is two
    /// numbers, the real part first, and its steps count elements. The real parts of a matrix, and the imaginary ones,
    /// are each a matrix with twice the steps.
    pub(crate) fn of_parts(&self) -> [Batch<T>; 4] {
        const IMAGINARY: isize = 1;
        fn part<P>(first: P, steps: [isize; 3]) -> Matrices<P> {
            Matrices { first, steps: steps.map(|step| step.wrapping_mul(2)) }
        }
        let (one, minus_alpha) = (T::from(1.0), T::from(-1.0) * self.alpha);
        // A part of the result; a factor, and the parts of `a` and `b`; what is kept of that part.
        let products = [
            (0, self.alpha, [0, 0], self.beta),
            (0, minus_alpha, [IMAGINARY, IMAGINARY], one),
            (IMAGINARY, self.alpha, [0, IMAGINARY], self.beta),
            (IMAGINARY, self.alpha, [IMAGINARY, 0], one),
        ];
        products.map(|(of_c, alpha, [of_a, of_b], beta)| Batch {
            sizes: self.sizes,
            alpha,
            a: part(self.a.first.wrapping_offset(of_a), self.a.steps),
            b: part(self.b.first.wrapping_offset(of_b), self.b.steps),
            beta,
            c: part(self.c.first.wrapping_offset(of_c), self.c.steps),
        })
    }

    /// Calculates all matrices of complex numbers, as [`Batch::multiply`] does those of real ones.
    ///
    /// # Safety
    /// As of [`Batch::multiply`], for elements of two numbers.
    pub unsafe fn multiply_complex(&self) {
        for product in self.of_parts() {
            // SAFETY: each part of an element is a number that lies within it, so it is as valid as this function
            // demands the elements to be, and no other thread uses it while the four products run one after the other.
            unsafe { product.multiply() };
        }
    }

    /// # Safety
    /// As of [`Batch::multiply`].
    unsafe fn multiply_divided(&self, division: Division) {
        let [batch, m, n, _] = self.sizes;
        let [down, across] = division.blocks;
        parallel::for_each(division.parts(batch), &|part| {
            let (group, block) = (part / (down * across), part % (down * across));
            let first = group * division.matrices;
            let row = block / across * division.block[0];
            let column = block % across * division.block[1];
            let rows = division.block[0].min(m - row);
            let columns = division.block[1].min(n - column);
            for matrix in first..batch.min(first + division.matrices) {
                // SAFETY: the block ends at the matrix's last row and column at the latest, and no two parts have an
                // element of `c` in common; the elements are valid by what this function demands.
                unsafe { self.multiply_block(matrix, [row, column], [rows, columns]) };
            }
        });
    }

    /// One block of one matrix.
    ///
    /// # Safety
    /// The block is within the matrix; else as of [`Batch::multiply`], for the elements of the block.
    unsafe fn multiply_block(
        &self,
        matrix: usize,
        [row, column]: [usize; 2],
        [rows, columns]: [usize; 2],
    ) {
        let at = |steps: [isize; 3], places: [usize; 3]| -> isize {
            steps.iter().zip(places).map(|(step, place)| step * place as isize).sum()
        };
        let (a, b, c) = (self.a, self.b, self.c);
        // No product reads anything without elements, whose pointers may be anywhere.
        let a_first = a.first.wrapping_offset(at(a.steps, [matrix, row, 0]));
        let b_first = b.first.wrapping_offset(at(b.steps, [matrix, 0, column]));
        let c_first = c.first.wrapping_offset(at(c.steps, [matrix, row, column]));
        let ([_, a_row, a_column], [_, b_row, b_column]) = (a.steps, b.steps);
        let ([_, c_row, c_column], [_, m, n, k]) = (c.steps, self.sizes);
        if let Some(is_transposed) =
            few::orientation([m, n, k], [a_row, a_column], [b_row, b_column])
        {
            let factors = (self.alpha, self.beta);
            let (a, b, c) = (
                Matrices { first: a_first, ..a },
                Matrices { first: b_first, ..b },
                Matrices { first: c_first, ..c },
            );
            // SAFETY: the block is within the matrix by what this function demands, so its elements are valid until it
            // returns, and those of `c` are this thread's.
            let product =
                unsafe { FewRows::new([rows, columns, k], is_transposed, factors, a, b, c) };
            product.multiply();
            return;
        }
        // SAFETY: the kernel reads and writes only elements of the block, which is within the matrix by what this
        // function demands; one thread calculates each block, so nobody else writes to it.
        unsafe {
            (T::KERNEL)(
                rows, k, columns, self.alpha, a_first, a_row, a_column, b_first, b_row, b_column,
                self.beta, c_first, c_row, c_column,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_every_element_once() {
        for threads in [2, 3, 8] {
            for (batch, m, n) in [1, 2, 5, 40]
                .into_iter()
                .flat_map(|batch| [(batch, 1, 7000), (batch, 700, 3), (batch, 130, 97)])
            {
                let division = Division::of([batch, m, n, 600], threads);
                assert!(division.parts(batch) > 1, "{division:?}");
                let [down, across] = division.blocks;
                assert!((down - 1) * division.block[0] < m && down * division.block[0] >= m);
                assert!((across - 1) * division.block[1] < n && across * division.block[1] >= n);
                assert!(division.matrices == 1 || division.blocks == [1, 1]);
                assert!(down == 1 || division.block[0].is_multiple_of(STEP));
                assert!(across == 1 || division.block[1].is_multiple_of(STEP));
            }
        }
    }

    #[test]
    fn little_work_is_one_part_and_much_is_several_for_each_thread() {
        assert_eq!(Division::of([1, 32, 32, 32], 8).parts(1), 1);
        assert_eq!(Division::of([1, 4000, 4000, 4000], 1).parts(1), 1);
        assert_eq!(Division::of([1, 96, 128, 128], 2).parts(1), 2);
        let much = Division::of([1, 4000, 4000, 4000], 2).parts(1);
        assert!((8..=10).contains(&much), "{much}");
        let batch = Division::of([384, 64, 64, 64], 8);
        assert_eq!(batch.blocks, [1, 1]);
        assert!((24..=32).contains(&batch.parts(384)), "{batch:?}");
        for sizes in [[0, 5, 5, 5], [5, 0, 500, 5000], [5, 5000, 500, 0], [1, 0, 0, 0]] {
            assert_eq!(Division::of(sizes, 4), Division::whole(sizes));
        }
    }

    #[test]
    fn complex_matrices_are_multiplied_by_their_parts() {
        // a = [1+2i, 3; 0, -1i], b = [2, 1i; 1-1i, 4]; the second factor is transposed.
        let a = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0, -1.0];
        let b_turned = [2.0_f32, 0.0, 1.0, -1.0, 0.0, 1.0, 4.0, 0.0];
        let product = [5.0, 1.0, 10.0, 1.0, -1.0, -1.0, 0.0, -4.0];
        for beta in [0.0, 10.0] {
            let mut c = [if beta == 0.0 { f32::NAN } else { 0.5 }; 8];
            let batch = Batch {
                sizes: [1, 2, 2, 2],
                alpha: -2.0,
                a: Matrices { first: a.as_ptr(), steps: [0, 2, 1] },
                b: Matrices { first: b_turned.as_ptr(), steps: [0, 1, 2] },
                beta,
                c: Matrices { first: c.as_mut_ptr(), steps: [0, 2, 1] },
            };
            // SAFETY: each slice has four elements of two numbers.
            unsafe { batch.multiply_complex() };
            assert_eq!(c, product.map(|part: f32| -2.0 * part + 0.5 * beta));
        }
    }

    /// Results of all divisions have the same bits, also where sums are divided and where `c` is read.
    #[test]
    fn bits_do_not_depend_on_the_division() {
        fn check<T: Real + PartialEq + std::fmt::Debug>() {
            for [m, n] in [[77, 91], [3, 2000]] {
                check_sizes::<T>([2, m, n, 530]);
            }
        }
        fn check_sizes<T: Real + PartialEq + std::fmt::Debug>([batch, m, n, k]: [usize; 4]) {
            let value = |index: usize| T::from((index * 7919 % 1009) as f32 / 257.0 - 1.9);
            let a: Vec<T> = (0..batch * m * k).map(value).collect();
            let b: Vec<T> = (0..batch * k * n).map(|index| value(index + 5)).collect();
            for (beta, c_steps) in [(0.0, [n, 1]), (0.7, [n, 1]), (0.7, [1, m])] {
                let product = |threads: usize| {
                    let mut c: Vec<T> = (0..batch * m * n).map(|index| value(index + 11)).collect();
                    let problem = Batch {
                        sizes: [batch, m, n, k],
                        alpha: T::from(1.3),
                        a: matrices(a.as_ptr(), [m * k, k, 1]),
                        b: matrices(b.as_ptr(), [k * n, 1, k]),
                        beta: T::from(beta),
                        c: matrices(c.as_mut_ptr(), [m * n, c_steps[0], c_steps[1]]),
                    };
                    let division = Division::of(problem.sizes, threads);
                    assert_eq!(division.parts(batch) > 1, threads > 1);
                    // SAFETY: the slices have so many elements.
                    unsafe { problem.multiply_divided(division) };
                    c
                };
                let alone = product(1);
                for threads in [2, 3, 7, 64] {
                    assert!(product(threads) == alone, "{threads} threads, beta {beta}");
                }
            }
        }
        fn matrices<P>(first: P, steps: [usize; 3]) -> Matrices<P> {
            Matrices { first, steps: steps.map(|step| step as isize) }
        }
        check::<f32>();
        check::<f64>();
    }
}
