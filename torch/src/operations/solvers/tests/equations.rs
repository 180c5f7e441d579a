//! Solutions of equations beside their right sides; determinants; what is refused.

use super::super::definite::cholesky_inverse;
use super::super::equations::{lu_solve, solve};
use super::super::functions::determinants::{determinant, sign_and_logarithm};
use super::super::lu::{lu_factor, unpack};
use super::super::reflections::{geqrf, ormqr, qr};
use super::super::triangles::{solve_triangular, triangular_solve};
use super::*;
use crate::abi::tensors::strides_of;

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
        (unpack(square.handle(), vector.handle(), true, true).err(), "contiguous tensor of int32"),
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
    assert_eq!(why, "linalg.solve: The solver failed because the input matrix is singular.");
}
