//! Factors beside their products: Cholesky, reflections, LU.

use super::super::checks::factored;
use super::super::definite::{cholesky_ex, cholesky_inverse, cholesky_solve};
use super::super::lu::{inverse, lu_factor, unpack};
use super::super::reflections::{geqrf, householder_product, ormqr, qr};
use super::*;

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
        let why = factored("linalg.inv", &factors.info).unwrap_err().message;
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

/// Real and imaginary parts, where each candidate for the third pivot has the same size.
const TIED: [[(i32, i32); 4]; 4] = [
    [(0, 0), (2, 0), (-2, 1), (-2, 1)],
    [(0, -2), (-2, 0), (-1, 1), (0, 1)],
    [(-2, -1), (1, 2), (-1, 0), (1, -1)],
    [(-1, -1), (-1, 2), (2, 2), (2, 0)],
];

#[test]
fn of_pivots_of_the_same_size_lapacks_are_chosen() {
    let pivots = |batch: &Batch, dtype: i32| {
        let given = batch.tensor(&mut Cases::new(1), dtype);
        Dense::of(lu_factor("lu", given.handle()).unwrap().pivots.handle()).values
    };
    // PyTorch 2.11's. A quotient that is rounded otherwise makes the fourth row larger.
    let tied = Batch::build([1, 4, 4], |_, i, j| {
        let (re, im) = TIED[i as usize][j as usize];
        Number::of(re.into(), im.into())
    });
    assert_eq!(pivots(&tied, TYPES[3]), [3.0, 2.0, 3.0, 4.0]);
    // The second sum is larger by less than float32 holds.
    let near = Batch::build([1, 2, 1], |_, i, _| Number::of(1.0, if i == 0 { 0.0 } else { 1e-9 }));
    assert_eq!(pivots(&near, TYPES[2]), [1.0]);
    assert_eq!(pivots(&near, TYPES[3]), [2.0]);
    // The reciprocal of so small a pivot is infinite.
    let small = Batch::build([1, 2, 1], |_, i, _| Number::of([1e-310, 5e-311][i as usize], 0.0));
    let factors = lu_factor("lu", small.tensor(&mut Cases::new(1), TYPES[1]).handle()).unwrap();
    assert!((Batch::of(&factors.lu).at(0, 1, 0).re - 0.5).abs() < 1e-12);
}
