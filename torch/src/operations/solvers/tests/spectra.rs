//! Singular values and eigenvalues beside the products of their vectors.

use super::super::spectra::{MatrixLines, eigen, singular, singular_in};
use super::*;
use crate::abi::tensors::strides_of;

#[test]
fn singular_vectors_and_values_return_the_matrix() {
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
        // Devices have right vectors row by row.
        let by_rows = singular_in(given.handle(), is_full, true, MatrixLines::Rows).unwrap().right;
        assert_eq!(Batch::of(&by_rows).values, Batch::of(&found.right).values);
        let strides_of = |tensor: &Tensor| strides_of(tensor.handle()).unwrap();
        let last_two = |strides: Vec<i64>| [strides[1], strides[2]];
        let [_, height, width] = Batch::of(&by_rows).sizes;
        if height > 1 && width > 1 {
            assert_eq!(last_two(strides_of(&by_rows)), [width, 1]);
            assert_eq!(last_two(strides_of(&found.right)), [1, height]);
        }
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
