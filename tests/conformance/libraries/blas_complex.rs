//! Products of matrices of complex numbers, compared with sums over both parts.

use sconce_base::element::Dtype;
use sconce_base::types::DevicePtr;
use sconce_driver::{BlasHandle, Gemm, Matrix};

use super::blas::{TRANSPOSES, handle};
use super::{Array, MARK, ZERO, assert_close, drawn, rounding};
use crate::support::stage::{Outcome, Stage};

crate::support::runner::tests![
    complex_products_of_every_transpose_batch_and_factor,
    a_complex_beta_of_zero_does_not_read_the_result,
];

/// The complex types with those of their parts.
const COMPLEX: [(Dtype, Dtype); 2] = [(Dtype::C64, Dtype::F32), (Dtype::C128, Dtype::F64)];

/// Elements behind each column, and behind each matrix.
const ROOM: [i64; 2] = [3, 5];

/// The product without addresses, and the elements that each matrix takes with all of its batch.
fn product(
    element: Dtype,
    transpose: [bool; 2],
    [m, n, k]: [i64; 3],
    batch: i64,
    [alpha, beta]: [f64; 2],
) -> (Gemm, [usize; 3]) {
    let stored = |turned: bool, rows: i64, columns: i64| {
        let (rows, columns) = if turned { (columns, rows) } else { (rows, columns) };
        let column = rows + ROOM[0];
        let apart = column * columns + ROOM[1];
        (Matrix { address: DevicePtr(0), column, batch: apart }, (apart * batch) as usize)
    };
    let (a, b, c) = (stored(transpose[0], m, k), stored(transpose[1], k, n), stored(false, m, n));
    let gemm = Gemm { element, transpose, m, n, k, batch, alpha, beta, a: a.0, b: b.0, c: c.0 };
    (gemm, [a.1, b.1, c.1])
}

/// What the memory of `c` holds after the product, part by part, each with what it may differ by.
fn expected(gemm: &Gemm, part: Dtype, held: [&[f64]; 3]) -> Vec<(f64, f64)> {
    let place = |matrix: &Matrix, index: i64, turned: bool, row: i64, column: i64| {
        let (row, column) = if turned { (column, row) } else { (row, column) };
        2 * (matrix.batch * index + matrix.column * column + row) as usize
    };
    let mut result: Vec<(f64, f64)> = held[2].iter().map(|value| (*value, 0.0)).collect();
    let places =
        |index: i64| (0..gemm.m).flat_map(move |i| (0..gemm.n).map(move |j| (index, i, j)));
    for (index, i, j) in (0..gemm.batch).flat_map(places) {
        let (mut sum, mut magnitude) = ([0.0; 2], 0.0);
        for l in 0..gemm.k {
            let a = &held[0][place(&gemm.a, index, gemm.transpose[0], i, l)..][..2];
            let b = &held[1][place(&gemm.b, index, gemm.transpose[1], l, j)..][..2];
            sum[0] += a[0] * b[0] - a[1] * b[1];
            sum[1] += a[0] * b[1] + a[1] * b[0];
            magnitude += (a[0].abs() + a[1].abs()) * (b[0].abs() + b[1].abs());
        }
        let at = place(&gemm.c, index, false, i, j);
        for (sum, place) in sum.into_iter().zip(&mut result[at..at + 2]) {
            let kept = if gemm.beta == 0.0 { 0.0 } else { gemm.beta * place.0 };
            let parts = gemm.alpha.abs() * magnitude + kept.abs();
            let error = (2 * gemm.k + 6) as f64 * rounding(part) * parts;
            *place = (gemm.alpha * sum + kept, error);
        }
    }
    result
}

/// Queues a product of drawn numbers, and compares; the result's memory holds `c` before, or drawn numbers.
fn check(
    stage: &Stage<'_>,
    blas: &mut dyn BlasHandle,
    part: Dtype,
    (mut gemm, rooms): (Gemm, [usize; 3]),
    c: Option<f64>,
) -> Outcome {
    let mut seed = rooms[2] as u64;
    let mut held = rooms.map(|room| {
        seed += 1;
        drawn(part, 2 * room, seed)
    });
    if let Some(value) = c {
        held[2].fill(value);
    }
    let array = |index: usize| Array::holding(stage, ZERO, part, &held[index]);
    let arrays = [array(0)?, array(1)?, array(2)?];
    for (matrix, array) in [&mut gemm.a, &mut gemm.b, &mut gemm.c].into_iter().zip(&arrays) {
        matrix.address = array.at();
    }
    blas.gemm(&gemm)?;
    let mut wanted = expected(&gemm, part, held.each_ref().map(|held| &held[..]));
    if c.is_some_and(f64::is_nan) {
        // Between columns the memory stays as it is, and no number equals NaN.
        let found = arrays[2].read()?;
        for ((wanted, _), found) in wanted.iter_mut().zip(&found) {
            if wanted.is_nan() {
                assert!(found.is_nan(), "{gemm:?}");
                *wanted = MARK;
            }
        }
        let found: Vec<f64> =
            found.iter().map(|value| if value.is_nan() { MARK } else { *value }).collect();
        assert_close(&found, &wanted, &gemm);
        return Ok(());
    }
    assert_close(&arrays[2].read()?, &wanted, &gemm);
    Ok(())
}

fn complex_products_of_every_transpose_batch_and_factor(stage: &Stage<'_>) -> Outcome {
    let (mut blas, _stream) = handle(stage, ZERO)?;
    for (element, part) in COMPLEX {
        for (transpose, sizes) in TRANSPOSES.into_iter().flat_map(|transpose| {
            [[1, 1, 1], [5, 3, 7], [33, 18, 40]].map(|size| (transpose, size))
        }) {
            for (batch, factors) in [(1, [1.0, 0.0]), (1, [-0.5, 2.0]), (3, [1.5, -1.0])] {
                let case = product(element, transpose, sizes, batch, factors);
                check(stage, &mut *blas, part, case, None)?;
            }
        }
        // Without a sum only what was there remains; a factor of 0 leaves none either.
        for (batch, inner, alpha) in [(1, 0, 1.0), (2, 0, 1.0), (1, 5, 0.0), (2, 5, 0.0)] {
            for beta in [-3.0, 0.0] {
                let case = product(element, [false; 2], [4, 3, inner], batch, [alpha, beta]);
                check(stage, &mut *blas, part, case, None)?;
            }
        }
    }
    Ok(())
}

fn a_complex_beta_of_zero_does_not_read_the_result(stage: &Stage<'_>) -> Outcome {
    let (mut blas, _stream) = handle(stage, ZERO)?;
    for (element, part) in COMPLEX {
        for batch in [1, 2] {
            let case = product(element, [true, false], [6, 5, 4], batch, [1.0, 0.0]);
            check(stage, &mut *blas, part, case, Some(f64::NAN))?;
        }
    }
    Ok(())
}
