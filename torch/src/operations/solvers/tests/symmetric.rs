//! Factors of symmetric and Hermitian matrices: solutions, and PyTorch 2.11's own factors.

use super::super::checks::factored;
use super::super::symmetric::{ldl_factor, ldl_solve};
use super::*;

/// A random matrix that is symmetric, or Hermitian; its diagonal may be 0.
fn mirrored(
    cases: &mut Cases,
    sizes: [i64; 3],
    dtype: i32,
    is_hermitian: bool,
    has_diagonal: bool,
) -> Batch {
    let random = Batch::random(cases, sizes, dtype);
    Batch::build(sizes, |entry, i, j| {
        let lower = random.at(entry, i.max(j), i.min(j));
        match (i == j, is_hermitian) {
            (true, _) if !has_diagonal => Number::ZERO,
            (true, true) => Number::of(lower.re, 0.0),
            (false, true) if i < j => lower.conjugate(),
            _ => lower,
        }
    })
}

#[test]
fn solutions_solve_the_equations() {
    run(4, 40, |cases, dtype| {
        let (count, rows, columns) = (cases.int(1, 2), cases.int(2, 20), cases.int(1, 4));
        let is_hermitian = cases.int(0, 1) == 1;
        let has_diagonal = cases.int(0, 1) == 1;
        let a = mirrored(cases, [count, rows, rows], dtype, is_hermitian, has_diagonal);
        let b = Batch::random(cases, [count, rows, columns], dtype);
        // What is above the diagonal is not read.
        let noise = Batch::random(cases, a.sizes, dtype);
        let given = Batch::build(a.sizes, |entry, i, j| match i >= j {
            true => a.at(entry, i, j),
            false => noise.at(entry, i, j),
        });
        let [factors, pivots, info] =
            ldl_factor(given.tensor(cases, dtype).handle(), is_hermitian).unwrap();
        if Dense::of(info.handle()).values.iter().any(|number| *number != 0.0) {
            return;
        }
        let right = b.tensor(cases, dtype);
        let x = ldl_solve(factors.handle(), pivots.handle(), right.handle(), is_hermitian);
        let x = Batch::of(&x.unwrap());
        let most = x.values.iter().map(|value| value.size_of_parts()).fold(1.0, f64::max);
        let scale = Number::of(1.0 / most, 0.0);
        let scaled =
            |batch: &Batch| Batch::build(batch.sizes, |entry, i, j| batch.at(entry, i, j) * scale);
        scaled(&b).assert_near(&scaled(&a.times(&x)), dtype, "the right side");
    });
}

#[test]
fn factors_and_pivots_are_lapacks() {
    let mut cases = Cases::new(2);
    let rows = [[0, 1, 2, -3], [1, 0, 4, 5], [2, 4, 0, 1], [-3, 5, 1, 2]];
    let a = Batch::build([1, 4, 4], |_, i, j| Number::of(rows[i as usize][j as usize].into(), 0.0));
    let [factors, pivots, _] = ldl_factor(a.tensor(&mut cases, TYPES[1]).handle(), false).unwrap();
    let ninths = [[0, 0, 0, 0], [-27, 18, 0, 0], [-7, -6, 20, 0], [-17, -3, 73, 32]];
    let expected = Batch::build([1, 4, 4], |_, i, j| {
        Number::of(f64::from(ninths[i as usize][j as usize]) / 9.0, 0.0)
    });
    expected.assert_near(&Batch::of(&factors), TYPES[1], "factors");
    assert_eq!(Dense::of(pivots.handle()).values, [-4.0; 4]);
    // Of 1 + 2i beside the diagonal; the Hermitian matrix has the conjugate above it.
    let lower = [[(0, 0); 3], [(1, 2), (1, 0), (0, 0)], [(0, -2), (3, 0), (0, 0)]];
    let a = Batch::build([1, 3, 3], |_, i, j| {
        let (re, im) = lower[i as usize][j as usize];
        Number::of(re.into(), im.into())
    });
    for (is_hermitian, corner, last) in
        [(true, (0.6, 1.6), (5.6, 0.0)), (false, (0.92, -1.44), (5.28, 3.04))]
    {
        let given = a.tensor(&mut cases, TYPES[3]);
        let [factors, pivots, _] = ldl_factor(given.handle(), is_hermitian).unwrap();
        assert_eq!(Dense::of(pivots.handle()).values, [-2.0, -2.0, 3.0]);
        let found = Batch::of(&factors);
        for (i, j, (re, im)) in [(2, 0, corner), (2, 1, (-0.8, -0.4)), (2, 2, last)] {
            let apart = (found.at(0, i, j) - Number::of(re, im)).size_of_parts();
            assert!(apart < 1e-14, "{:?} at {i} {j}", found.at(0, i, j));
        }
    }
}

#[test]
fn singular_matrices_and_wrong_operands_are_refused() {
    let mut cases = Cases::new(3);
    let a = Batch::build([2, 3, 3], |entry, i, j| match entry == 1 && i == 1 && j == 1 {
        false if i == j => Number::ONE,
        _ => Number::ZERO,
    });
    let given = a.tensor(&mut cases, TYPES[0]);
    let [factors, pivots, info] = ldl_factor(given.handle(), false).unwrap();
    assert_eq!(Dense::of(info.handle()).values, [0.0, 2.0]);
    let why = factored("linalg.ldl_factor", &info).unwrap_err().message;
    assert!(why.contains("(Batch element 1): D[2,2] is zero"), "{why}");
    let wide = Batch::build([2, 3, 2], |_, _, _| Number::ONE).tensor(&mut cases, TYPES[0]);
    let why = ldl_factor(wide.handle(), false).err().unwrap().message;
    assert!(why.contains("must be batches of square matrices"), "{why}");
    let solve =
        |pivots: &Tensor| ldl_solve(factors.handle(), pivots.handle(), wide.handle(), false);
    let of =
        |values: &[f64], dtype| Dense { sizes: vec![2, 3], values: values.to_vec() }.tensor(dtype);
    for (values, dtype, words) in [
        (vec![1.0; 6], api::SCONCE_DTYPE_F32, "Expected pivots to be integers"),
        (vec![1.0, 2.0, 3.0, 1.0, 2.0, 4.0], api::SCONCE_DTYPE_I32, "but one is 4"),
        (vec![0.0; 6], api::SCONCE_DTYPE_I64, "but one is 0"),
    ] {
        let why = solve(&of(&values, dtype)).err().unwrap().message;
        assert!(why.contains(words), "{why}");
    }
    let flat = Dense { sizes: vec![3], values: vec![1.0; 3] }.tensor(api::SCONCE_DTYPE_I32);
    assert!(solve(&flat).err().unwrap().message.contains("pivots with shape [3]"));
    // A block of two rows whose second one is missing reads nothing behind the matrix.
    assert!(solve(&of(&[-3.0, -3.0, -3.0, 1.0, 2.0, -1.0], api::SCONCE_DTYPE_I32)).is_ok());
    drop(pivots);
}
