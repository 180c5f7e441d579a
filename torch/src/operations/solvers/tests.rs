//! Solutions and factors beside what defines them: products that are written out.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::definite::{cholesky_ex, cholesky_inverse, cholesky_solve};
use super::field::{Complex, Field};
use super::lu::{inverse, lu_factor, unpack};
use super::reflections::{geqrf, householder_product, ormqr, qr};
use super::triangles::{solve_triangular, triangular_solve};
use crate::abi::tensors::{sizes_of, strides_of};
use crate::operations::views::{as_complex, as_real};
use crate::sconce::operations::to_dtype;
use crate::sconce::{Tensor, api};
use crate::testing::{Cases, Dense, live};

type Number = Complex<f64>;

const TYPES: [i32; 4] =
    [api::SCONCE_DTYPE_F32, api::SCONCE_DTYPE_F64, api::SCONCE_DTYPE_C64, api::SCONCE_DTYPE_C128];

fn is_complex(dtype: i32) -> bool {
    matches!(dtype, api::SCONCE_DTYPE_C64 | api::SCONCE_DTYPE_C128)
}

fn within(dtype: i32) -> f64 {
    if matches!(dtype, api::SCONCE_DTYPE_F32 | api::SCONCE_DTYPE_C64) { 2e-4 } else { 1e-11 }
}

/// A batch of matrices as numbers.
#[derive(Clone, Debug)]
struct Batch {
    sizes: [i64; 3],
    values: Vec<Number>,
}

impl Batch {
    fn build(sizes: [i64; 3], mut value: impl FnMut(i64, i64, i64) -> Number) -> Batch {
        let [count, rows, columns] = sizes;
        let mut values = Vec::new();
        for entry in 0..count {
            for i in 0..rows {
                for j in 0..columns {
                    values.push(value(entry, i, j));
                }
            }
        }
        Batch { sizes, values }
    }

    fn random(cases: &mut Cases, sizes: [i64; 3], dtype: i32) -> Batch {
        let mut part = || cases.int(-16, 16) as f64 / 8.0;
        Batch::build(sizes, |_, _, _| Number {
            re: part(),
            im: if is_complex(dtype) { part() } else { 0.0 },
        })
    }

    fn identity(sizes: [i64; 3]) -> Batch {
        Batch::build(sizes, |_, i, j| if i == j { Number::ONE } else { Number::ZERO })
    }

    fn at(&self, entry: i64, i: i64, j: i64) -> Number {
        let [_, rows, columns] = self.sizes;
        self.values[((entry * rows + i) * columns + j) as usize]
    }

    fn times(&self, other: &Batch) -> Batch {
        let ([count, rows, inner], columns) = (self.sizes, other.sizes[2]);
        assert_eq!(inner, other.sizes[1]);
        Batch::build([count, rows, columns], |entry, i, j| {
            (0..inner)
                .fold(Number::ZERO, |sum, k| sum + self.at(entry, i, k) * other.at(entry, k, j))
        })
    }

    fn transposed(&self) -> Batch {
        let [count, rows, columns] = self.sizes;
        Batch::build([count, columns, rows], |entry, i, j| self.at(entry, j, i))
    }

    fn adjoint(&self) -> Batch {
        let [count, rows, columns] = self.sizes;
        Batch::build([count, columns, rows], |entry, i, j| self.at(entry, j, i).conjugate())
    }

    /// With what is not in a triangle replaced: 0 outside, 1 on the diagonal if it counts as that.
    fn triangle(&self, is_upper: bool, is_unit: bool) -> Batch {
        Batch::build(self.sizes, |entry, i, j| match () {
            () if i == j && is_unit => Number::ONE,
            () if i == j || (i < j) == is_upper => self.at(entry, i, j),
            () => Number::ZERO,
        })
    }

    /// Triangles of it have no large inverse.
    fn dominated(cases: &mut Cases, sizes: [i64; 3], dtype: i32) -> Batch {
        let random = Batch::random(cases, sizes, dtype);
        Batch::build(sizes, |entry, i, j| {
            let value = random.at(entry, i, j);
            let scale = Number::of(0.5 / (sizes[2] as f64).sqrt(), 0.0);
            if i == j { Number::of(1.5 + value.re.abs(), 0.0) } else { value * scale }
        })
    }

    fn dense(&self) -> Dense {
        let [count, rows, columns] = self.sizes;
        let parts = |value: &Number| [value.re, value.im];
        Dense {
            sizes: vec![count, rows, columns, 2],
            values: self.values.iter().flat_map(parts).collect(),
        }
    }

    fn tensor(&self, cases: &mut Cases, dtype: i32) -> Tensor {
        if is_complex(dtype) {
            let real = super::matrices::real_type(dtype);
            return as_complex(self.dense().tensor(real).handle()).unwrap();
        }
        let values = self.values.iter().map(|value| value.re).collect();
        Dense { sizes: self.sizes.to_vec(), values }.either(cases, dtype)
    }

    fn of(tensor: &Tensor) -> Batch {
        let sizes = sizes_of(tensor.handle()).unwrap();
        let complex = to_dtype(tensor.handle(), api::SCONCE_DTYPE_C128).unwrap();
        let parts = Dense::of(as_real(complex.handle()).unwrap().handle()).values;
        let values = parts.chunks(2).map(|pair| Number { re: pair[0], im: pair[1] }).collect();
        Batch { sizes: sizes.try_into().unwrap(), values }
    }

    fn assert_near(&self, found: &Batch, dtype: i32, what: &str) {
        assert_eq!(self.sizes, found.sizes, "{what}");
        let most = self.values.iter().map(|value| value.size_of_parts()).fold(1.0, f64::max);
        for (at, (own, other)) in self.values.iter().zip(&found.values).enumerate() {
            let apart = (*own - *other).size_of_parts();
            assert!(apart <= within(dtype) * most, "{what}: {other:?} instead of {own:?} at {at}");
        }
    }
}

/// Mostly a panel and a part of one; sometimes nothing at all.
fn size(cases: &mut Cases) -> i64 {
    match cases.int(0, 9) {
        0 => 0,
        1..=5 => cases.int(1, 8),
        _ => cases.int(30, 70),
    }
}

fn run(seed: u64, rounds: usize, mut case: impl FnMut(&mut Cases, i32)) {
    let before = live();
    let mut cases = Cases::new(seed);
    for round in 0..rounds {
        case(&mut cases, TYPES[round % 4]);
    }
    assert_eq!(live(), before, "tensors are left");
}

#[test]
fn solutions_with_triangles_return_the_right_side() {
    run(1, 32, |cases, dtype| {
        let (count, rows, columns) = (cases.int(0, 3), size(cases), size(cases));
        let a = Batch::dominated(cases, [count, rows, rows], dtype);
        let b = Batch::random(cases, [count, rows, columns], dtype);
        let flags @ [is_upper, is_transposed, is_unit] = [(); 3].map(|()| cases.int(0, 1) == 1);
        let (left, right) = (a.tensor(cases, dtype), b.tensor(cases, dtype));
        let solved = triangular_solve(right.handle(), left.handle(), flags).unwrap();
        let triangle = a.triangle(is_upper, is_unit);
        let triangle = if is_transposed { triangle.transposed() } else { triangle };
        let solution = Batch::of(&solved.solution);
        b.assert_near(&triangle.times(&solution), dtype, "triangular_solve");
        a.assert_near(&Batch::of(&solved.coefficients), dtype, "the copy");
        assert_eq!(strides_of(solved.solution.handle()).unwrap()[1], 1);
        // The same matrix from the other side.
        let c = Batch::random(cases, [count, columns, rows], dtype);
        let wide = c.tensor(cases, dtype);
        let solution = solve_triangular(left.handle(), wide.handle(), [is_upper, false, is_unit]);
        let product = Batch::of(&solution.unwrap()).times(&a.triangle(is_upper, is_unit));
        c.assert_near(&product, dtype, "solve_triangular from the right");
    });
}

#[test]
fn factors_of_cholesky_return_the_matrix() {
    run(2, 24, |cases, dtype| {
        let (count, rows, columns) = (cases.int(0, 3), size(cases), size(cases));
        let l = Batch::dominated(cases, [count, rows, rows], dtype).triangle(false, false);
        let a = l.times(&l.adjoint());
        let is_upper = cases.int(0, 1) == 1;
        // What is on the other side of the diagonal is not read.
        let noise = Batch::random(cases, a.sizes, dtype);
        let given = Batch::build(a.sizes, |entry, i, j| match i == j || (i < j) == is_upper {
            true => a.at(entry, i, j),
            false => noise.at(entry, i, j),
        });
        let [factor, info] =
            cholesky_ex(given.tensor(cases, dtype).handle(), is_upper, true).unwrap();
        assert_eq!(Dense::of(info.handle()).values, vec![0.0; count as usize]);
        let factor = Batch::of(&factor);
        let product = match is_upper {
            true => factor.adjoint().times(&factor),
            false => factor.times(&factor.adjoint()),
        };
        a.assert_near(&product, dtype, "the product of the factors");
        factor.triangle(is_upper, false).assert_near(&factor, dtype, "the other triangle");
        let b = Batch::random(cases, [count, rows, columns], dtype);
        let known = if is_upper { l.adjoint() } else { l };
        let (right, left) = (b.tensor(cases, dtype), known.tensor(cases, dtype));
        let solution = Batch::of(&cholesky_solve(right.handle(), left.handle(), is_upper).unwrap());
        b.assert_near(&a.times(&solution), dtype, "cholesky_solve");
        let inverse = Batch::of(&cholesky_inverse(left.handle(), is_upper).unwrap());
        Batch::identity(a.sizes).assert_near(&a.times(&inverse), dtype, "cholesky_inverse");
    });
}

#[test]
fn matrices_that_are_not_definite_are_noted_by_their_first_part() {
    let order = 50;
    for (wrong, dtype) in [(0, TYPES[0]), (31, TYPES[1]), (32, TYPES[2]), (49, TYPES[3])] {
        let mut cases = Cases::new(3);
        let a = Batch::build([2, order, order], |entry, i, j| match i == j {
            true if entry == 1 && i == wrong => Number::of(-1.0, 0.0),
            true => Number::of(4.0, 0.0),
            false => Number::ZERO,
        });
        let tensor = a.tensor(&mut cases, dtype);
        let [_, info] = cholesky_ex(tensor.handle(), false, false).unwrap();
        assert_eq!(Dense::of(info.handle()).values, [0.0, wrong as f64 + 1.0]);
        let why = cholesky_ex(tensor.handle(), false, true).err().unwrap().message;
        assert!(
            why.contains("(Batch element 1): The factorization could not be completed"),
            "{why}"
        );
        assert!(why.contains(&format!("minor of order {}", wrong + 1)), "{why}");
    }
}

#[test]
fn reflections_make_an_upper_factor_and_keep_lengths() {
    run(4, 24, |cases, dtype| {
        let (count, rows, columns) = (cases.int(0, 3), size(cases), size(cases));
        let a = Batch::random(cases, [count, rows, columns], dtype);
        let given = a.tensor(cases, dtype);
        let mode = cases.one(&["reduced", "complete"]);
        let [q, r] = qr(given.handle(), mode).unwrap();
        let (q, r) = (Batch::of(&q), Batch::of(&r));
        a.assert_near(&q.times(&r), dtype, "the product of the factors");
        r.triangle(true, false).assert_near(&r, dtype, "below the diagonal");
        let inner = q.sizes[2];
        let lengths = q.adjoint().times(&q);
        Batch::identity([count, inner, inner]).assert_near(&lengths, dtype, "lengths");
        // The same reflections multiply another matrix as the complete first factor does.
        let [packed, tau] = geqrf(given.handle()).unwrap();
        let whole = Batch::of(&qr(given.handle(), "complete").unwrap()[0]);
        let (is_left, is_adjoint) = (cases.int(0, 1) == 1, cases.int(0, 1) == 1);
        let width = size(cases);
        let sizes = if is_left { [count, rows, width] } else { [count, width, rows] };
        let c = Batch::random(cases, sizes, dtype);
        let other = c.tensor(cases, dtype);
        let found =
            ormqr(packed.handle(), tau.handle(), other.handle(), is_left, is_adjoint).unwrap();
        let factor = if is_adjoint { whole.adjoint() } else { whole };
        let product = if is_left { factor.times(&c) } else { c.times(&factor) };
        product.assert_near(&Batch::of(&found), dtype, "ormqr");
        if rows >= columns {
            let first = householder_product(packed.handle(), tau.handle()).unwrap();
            let expected = Batch::of(&qr(given.handle(), "reduced").unwrap()[0]);
            expected.assert_near(&Batch::of(&first), dtype, "householder_product");
        }
    });
}

#[test]
fn triangles_and_exchanges_return_the_matrix() {
    run(5, 24, |cases, dtype| {
        let (count, rows, columns) = (cases.int(0, 3), size(cases), size(cases));
        let a = Batch::random(cases, [count, rows, columns], dtype);
        let given = a.tensor(cases, dtype);
        let factors = lu_factor("linalg.lu_factor_ex", given.handle()).unwrap();
        let [exchanges, lower, upper] =
            unpack(factors.lu.handle(), factors.pivots.handle(), true, true).unwrap();
        let (lower, upper) = (Batch::of(&lower), Batch::of(&upper));
        let product = Batch::of(&exchanges).times(&lower).times(&upper);
        a.assert_near(&product, dtype, "the product of the factors");
        // Pivots are the largest ones, so no factor of a row is larger than that.
        let most = lower.values.iter().map(|value| value.re.hypot(value.im)).fold(0.0, f64::max);
        assert!(most <= 1.5, "{most}");
        let [_, nothing, _] =
            unpack(factors.lu.handle(), factors.pivots.handle(), false, true).unwrap();
        assert_eq!(sizes_of(nothing.handle()).unwrap(), [0]);
        let square = Batch::dominated(cases, [count, rows, rows], dtype);
        let factors = lu_factor("linalg.inv", square.tensor(cases, dtype).handle()).unwrap();
        let found = Batch::of(&inverse(&factors).unwrap());
        Batch::identity(square.sizes).assert_near(&square.times(&found), dtype, "the inverse");
    });
}

#[test]
fn the_first_pivot_that_is_0_is_noted() {
    let order = 40;
    let mut cases = Cases::new(6);
    for zero in [0, 20, 39] {
        let a = Batch::build([1, order, order], |_, i, j| {
            Number::of(if i == j && i != zero { 2.0 } else { 0.0 }, 0.0)
        });
        let tensor = a.tensor(&mut cases, TYPES[1]);
        let factors = lu_factor("linalg.inv", tensor.handle()).unwrap();
        assert_eq!(Dense::of(factors.info.handle()).values, [zero as f64 + 1.0]);
        let why = super::checks::factored("linalg.inv", &factors.info).unwrap_err().message;
        assert!(why.contains(&format!("The diagonal element {} is zero", zero + 1)), "{why}");
    }
}

#[test]
fn lengths_near_the_ends_of_the_range_are_kept() {
    for scale in [1e-200, 1e200] {
        let a =
            Batch::build([1, 3, 1], |_, i, _| Number::of([3.0, 0.0, 4.0][i as usize] * scale, 0.0));
        let given = a.tensor(&mut Cases::new(7), TYPES[1]);
        let [packed, _] = geqrf(given.handle()).unwrap();
        let upper = Batch::of(&packed).at(0, 0, 0).re / scale;
        assert!((upper + 5.0).abs() < 1e-12, "{upper}");
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let dense = |sizes: &[i64]| Dense::build(sizes, |_| 1.0);
    let of = |sizes: &[i64]| dense(sizes).tensor(TYPES[0]);
    let (square, wide, vector, double) =
        (of(&[3, 3]), of(&[3, 4]), of(&[3]), dense(&[3, 3]).tensor(TYPES[1]));
    let triangular = |b: &Tensor, a: &Tensor| {
        triangular_solve(b.handle(), a.handle(), [true, false, false]).err().unwrap().message
    };
    let cases = [
        (triangular(&vector, &square), "Expected b to have at least 2 dimensions, but it has 1"),
        (triangular(&square, &vector), "Expected A to have at least 2 dimensions, but it has 1"),
        (triangular(&square, &wide), "A must be batches of square matrices, but they are 3 by 4"),
        (triangular(&of(&[4, 1]), &square), "each A matrix is 3 by 3 but each b matrix is 4 by 1"),
        (triangular(&square, &double), "b of type float32 and A of type float64"),
        (triangular(&of(&[2, 3, 1]), &of(&[4, 3, 3])), "cannot be broadcast"),
    ];
    for (why, words) in cases {
        assert!(why.contains(words), "{why}");
    }
    let half = dense(&[3, 3]).tensor(api::SCONCE_DTYPE_F16);
    let cases = [
        (geqrf(half.handle()).err(), "not implemented for tensors of float16"),
        (geqrf(vector.handle()).err(), "torch.geqrf: input must have at least 2 dimensions."),
        (qr(square.handle(), "other").err(), "unrecognized mode 'other'"),
        (
            ormqr(square.handle(), of(&[2]).handle(), square.handle(), true, true).err(),
            "tau.shape[-1] must be equal to min(other.shape[-2], input.shape[-1])",
        ),
        (
            ormqr(square.handle(), vector.handle(), of(&[4, 3]).handle(), true, true).err(),
            "other.shape[-2] must be equal to input.shape[-2]",
        ),
        (
            unpack(square.handle(), vector.handle(), true, true).err(),
            "contiguous tensor of torch.int32",
        ),
        (
            unpack(
                square.handle(),
                Dense::build(&[3], |_| 7.0).tensor(api::SCONCE_DTYPE_I32).handle(),
                true,
                true,
            )
            .err(),
            "must be between 1 and LU.size(-2)",
        ),
        (
            solve_triangular(square.handle(), of(&[4, 1]).handle(), [true, true, false]).err(),
            "Incompatible shapes of A and B for the equation AX = B (3x3 and 4x1)",
        ),
    ];
    for (why, words) in cases {
        let why = why.unwrap().message;
        assert!(why.contains(words), "{why}");
    }
    let zero =
        Dense::build(&[2, 3, 3], |at| f64::from(u8::from(at[1] == at[2] && at[0] + at[1] != 2)));
    let why = cholesky_inverse(zero.tensor(TYPES[0]).handle(), false).err().unwrap().message;
    assert!(why.contains("(Batch element 0): The diagonal element 3 is zero"), "{why}");
}

#[test]
fn determinants_are_those_of_the_expansion() {
    use super::determinants::{determinant, sign_and_logarithm};
    /// By the first row.
    fn expanded(a: &Batch, entry: i64, rows: &[i64], column: i64) -> Number {
        let others = |at: usize| -> Vec<i64> {
            rows.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, row)| *row).collect()
        };
        let terms = rows.iter().enumerate().map(|(at, &row)| {
            let sign = Number::of(if at % 2 == 0 { 1.0 } else { -1.0 }, 0.0);
            sign * a.at(entry, row, column) * expanded(a, entry, &others(at), column + 1)
        });
        if rows.is_empty() { Number::ONE } else { terms.fold(Number::ZERO, |sum, term| sum + term) }
    }
    run(8, 40, |cases, dtype| {
        let (count, order) = (cases.int(1, 3), cases.int(0, 5));
        let mut a = Batch::random(cases, [count, order, order], dtype);
        if cases.int(0, 3) == 0 && order > 0 {
            // A column of zeros.
            a = Batch::build(
                a.sizes,
                |entry, i, j| if j == 0 { Number::ZERO } else { a.at(entry, i, j) },
            );
        }
        let given = a.tensor(cases, dtype);
        let rows: Vec<i64> = (0..order).collect();
        let expected = Batch::build([1, 1, count], |_, _, entry| expanded(&a, entry, &rows, 0));
        let as_batch = |tensor: &Tensor| {
            Batch::of(&crate::sconce::operations::reshape(tensor.handle(), &[1, 1, count]).unwrap())
        };
        let found = determinant(given.handle()).unwrap().0;
        expected.assert_near(&as_batch(&found), dtype, "determinant");
        let found = sign_and_logarithm(given.handle()).unwrap();
        let (sign, logarithm) = (as_batch(&found.sign), as_batch(&found.logarithm));
        let product = Batch::build(expected.sizes, |_, _, at| {
            sign.at(0, 0, at) * Number::of(logarithm.at(0, 0, at).re.exp(), 0.0)
        });
        expected.assert_near(&product, dtype, "sign and logarithm");
    });
}

#[test]
fn equations_with_square_matrices_return_the_right_side() {
    use super::equations::{lu_solve, solve};
    run(9, 24, |cases, dtype| {
        let (count, rows, columns) = (cases.int(0, 3), size(cases), size(cases));
        let a = Batch::dominated(cases, [count, rows, rows], dtype);
        let is_left = cases.int(0, 1) == 1;
        let sizes = if is_left { [count, rows, columns] } else { [count, columns, rows] };
        let b = Batch::random(cases, sizes, dtype);
        let (left, right) = (a.tensor(cases, dtype), b.tensor(cases, dtype));
        // A batch of one column each would be read as vectors.
        let solution = solve(left.handle(), right.handle(), is_left, true);
        let solution = Batch::of(&solution.unwrap().result);
        let product = if is_left { a.times(&solution) } else { solution.times(&a) };
        b.assert_near(&product, dtype, "solve");
        let factors = lu_factor("linalg.lu_factor_ex", left.handle()).unwrap();
        let is_adjoint = cases.int(0, 1) == 1;
        let (lu, pivots) = (factors.lu.handle(), factors.pivots.handle());
        let solution =
            Batch::of(&lu_solve(lu, pivots, right.handle(), is_left, is_adjoint).unwrap());
        let matrix = if is_adjoint { a.adjoint() } else { a };
        let product = if is_left { matrix.times(&solution) } else { solution.times(&matrix) };
        b.assert_near(&product, dtype, "lu_solve");
    });
    let zero = Dense::build(&[2, 2], |_| 0.0).tensor(TYPES[0]);
    let why = solve(zero.handle(), zero.handle(), true, true).err().unwrap().message;
    assert_eq!(why, "torch.linalg.solve: The solver failed because the input matrix is singular.");
}

#[test]
fn singular_vectors_and_values_return_the_matrix() {
    use super::spectra::singular;
    run(10, 40, |cases, dtype| {
        let (count, rows, columns) = (cases.int(1, 2), cases.int(0, 12), cases.int(0, 12));
        let mut a = Batch::random(cases, [count, rows, columns], dtype);
        if cases.int(0, 3) == 0 {
            // Of rank one.
            a = Batch::build(a.sizes, |entry, i, j| a.at(entry, i, 0) * a.at(entry, 0, j));
        }
        let is_full = cases.int(0, 1) == 1;
        let given = a.tensor(cases, dtype);
        let found = singular(given.handle(), is_full, true).unwrap();
        let (left, right) = (Batch::of(&found.left), Batch::of(&found.right));
        let values = Dense::of(found.values.handle());
        let least = rows.min(columns);
        let scaled = Batch::build([count, rows, least], |entry, i, j| {
            left.at(entry, i, j) * Number::of(values.at(&[entry, j]), 0.0)
        });
        let upper = Batch::build([count, least, columns], |entry, i, j| right.at(entry, i, j));
        a.assert_near(&scaled.times(&upper), dtype, "the product");
        for vectors in [left.adjoint(), right] {
            let (lengths, size) = (vectors.times(&vectors.adjoint()), vectors.sizes[1]);
            Batch::identity([count, size, size]).assert_near(&lengths, dtype, "lengths");
        }
        let ordered = |entry: i64| {
            (1..least).all(|at| values.at(&[entry, at - 1]) >= values.at(&[entry, at]))
        };
        assert!(
            (0..count).all(ordered) && values.values.iter().all(|value| *value >= 0.0),
            "{values:?}"
        );
        let alone = singular(given.handle(), is_full, false).unwrap();
        values.assert_near(alone.values.handle(), within(dtype), "values alone");
        assert_eq!(sizes_of(alone.left.handle()).unwrap(), [0]);
    });
    let nan = Dense::build(&[2, 2], |_| f64::NAN).tensor(TYPES[0]);
    let why = singular(nan.handle(), false, true).err().unwrap().message;
    assert!(why.contains("contained non-finite values"), "{why}");
}

#[test]
fn eigenvectors_of_hermitian_matrices_are_only_scaled_by_them() {
    use super::spectra::eigen;
    run(11, 40, |cases, dtype| {
        let (count, order) = (cases.int(1, 2), cases.int(0, 12));
        let a = Batch::random(cases, [count, order, order], dtype);
        let is_upper = cases.int(0, 1) == 1;
        let uplo = if is_upper { "U" } else { "L" };
        let given = a.tensor(cases, dtype);
        let found = eigen(given.handle(), uplo, true).unwrap();
        let whole = Batch::build(a.sizes, |entry, i, j| match (i == j, (i < j) == is_upper) {
            (true, _) => Number::of(a.at(entry, i, i).re, 0.0),
            (false, true) => a.at(entry, i, j),
            (false, false) => a.at(entry, j, i).conjugate(),
        });
        let (vectors, values) = (Batch::of(&found.vectors), Dense::of(found.values.handle()));
        let scaled = Batch::build(vectors.sizes, |entry, i, j| {
            vectors.at(entry, i, j) * Number::of(values.at(&[entry, j]), 0.0)
        });
        whole.times(&vectors).assert_near(&scaled, dtype, "the product");
        let lengths = vectors.adjoint().times(&vectors);
        Batch::identity(a.sizes).assert_near(&lengths, dtype, "lengths");
        let ordered = |entry: i64| {
            (1..order).all(|at| values.at(&[entry, at - 1]) <= values.at(&[entry, at]))
        };
        assert!((0..count).all(ordered), "{values:?}");
    });
    let one = Dense::build(&[1, 1], |_| 1.0).tensor(TYPES[0]);
    let why = eigen(one.handle(), "x", true).err().unwrap().message;
    assert_eq!(why, "Expected UPLO argument to be 'L' or 'U', but got x");
}
