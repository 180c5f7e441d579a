//! Eigenvalues of matrices that are not Hermitian, least squares, pseudoinverses and exponentials beside what defines
//! them, on the CPU and on simulated devices, which run no code: eigenvalues are the host's.

use super::super::eigen::eig;
use super::super::functions::exponential::matrix_exp;
use super::super::least_squares::{lstsq, pseudoinverse};
use super::*;
use crate::operations::tensors::on_device;
use crate::testing::captured;

/// Matrices of several kinds.
fn matrix(cases: &mut Cases, order: i64, dtype: i32) -> Batch {
    let random = Batch::random(cases, [2, order, order], dtype);
    let kind = cases.int(0, 4);
    Batch::build(random.sizes, |entry, i, j| match kind {
        // A triangle, whose eigenvalues are its diagonal.
        0 if i > j => Number::ZERO,
        // A multiple of the identity.
        1 => {
            if i == j {
                Number::of(3.0, 0.0)
            } else {
                Number::ZERO
            }
        }
        // Rows of very different sizes.
        2 => random.at(entry, i, j) * Number::of(f64::exp2((i * 3) as f64 - order as f64), 0.0),
        // A rotation of the axes, whose eigenvalues have the size 1.
        3 => {
            if (i + 1) % order == j {
                Number::ONE
            } else {
                Number::ZERO
            }
        }
        _ => random.at(entry, i, j),
    })
}

fn check_eigenvectors(a: &Batch, given: &Tensor, dtype: i32) {
    let found = eig("linalg.eig", given.handle(), true).unwrap();
    let vectors = found.vectors.unwrap();
    assert_eq!(
        device_of_tensor(vectors.handle()).unwrap(),
        device_of_tensor(given.handle()).unwrap()
    );
    let vectors = Batch::of(&on_device(vectors.handle(), api::SCONCE_DEVICE_CPU).unwrap());
    let order = a.sizes[1];
    let on_cpu = on_device(found.values.handle(), api::SCONCE_DEVICE_CPU).unwrap();
    let column = crate::sconce::operations::unsqueeze(on_cpu.handle(), -1).unwrap();
    let values = Batch::of(&column);
    let scaled =
        Batch::build(vectors.sizes, |entry, i, j| vectors.at(entry, i, j) * values.at(entry, j, 0));
    let most = a.values.iter().map(|value| value.size_of_parts()).fold(1.0, f64::max);
    for (own, other) in a.times(&vectors).values.iter().zip(&scaled.values) {
        let apart = (*own - *other).size_of_parts();
        assert!(
            apart <= 2.0 * within(dtype) * most * order as f64,
            "{own:?} and {other:?} of {a:?}"
        );
    }
    for entry in 0..a.sizes[0] {
        let mut trace = Number::ZERO;
        for j in 0..order {
            let square: f64 = (0..order)
                .map(|i| vectors.at(entry, i, j))
                .map(|one| one.re * one.re + one.im * one.im)
                .sum();
            assert!((square - 1.0).abs() < 1e-5, "a vector has the length {square}²");
            trace = trace + values.at(entry, j, 0) - a.at(entry, j, j);
        }
        assert!(trace.size_of_parts() <= within(dtype) * most * order as f64, "{trace:?}");
        if is_complex(dtype) {
            continue;
        }
        // Those of real matrices are real, or come with their conjugates, exactly.
        let mut j = 0;
        while j < order {
            let value = values.at(entry, j, 0);
            if value.im != 0.0 {
                assert!(value.im > 0.0);
                assert_eq!(values.at(entry, j + 1, 0), value.conjugate());
                j += 1;
            } else {
                assert!((0..order).all(|i| vectors.at(entry, i, j).im == 0.0));
            }
            j += 1;
        }
    }
    let alone = eig("linalg.eigvals", given.handle(), false).unwrap();
    let alone = on_device(alone.values.handle(), api::SCONCE_DEVICE_CPU).unwrap();
    let alone = Batch::of(&crate::sconce::operations::unsqueeze(alone.handle(), -1).unwrap());
    values.assert_near(&alone, dtype, "values alone");
}

#[test]
fn eigenvectors_of_any_matrix_are_only_scaled_by_it() {
    crate::testing::simulate();
    run(31, 160, |cases, dtype| {
        let order = cases.int(1, 14);
        let a = matrix(cases, order, dtype);
        let given = a.tensor(cases, dtype);
        check_eigenvectors(&a, &given, dtype);
        if cases.int(0, 9) == 0 {
            check_eigenvectors(&a, &on_device(given.handle(), 0).unwrap(), dtype);
        }
    });
    let nothing = Dense::build(&[2, 0, 0], |_| 0.0).tensor(TYPES[0]);
    let found = eig("linalg.eig", nothing.handle(), true).unwrap();
    assert_eq!(sizes_of(found.vectors.unwrap().handle()).unwrap(), [2, 0, 0]);
    for (value, sizes, words) in [
        (f64::NAN, [2, 2], "should not contain infs or NaNs"),
        (1.0, [3, 2], "batches of square matrices, but they are 3 by 2"),
    ] {
        let wrong = Dense::build(&sizes, |_| value).tensor(TYPES[1]);
        let why = eig("linalg.eig", wrong.handle(), true).unwrap_err().message;
        assert!(why.contains(words), "{why}");
    }
}

#[test]
fn a_capture_refuses_what_the_host_calculates() {
    crate::testing::simulate();
    let one = Dense::build(&[2, 2], |at| (at[0] + 2 * at[1]) as f64).tensor(TYPES[1]);
    let one = on_device(one.handle(), 0).unwrap();
    let errors = captured(|| {
        let (of_values, of_power) =
            (eig("linalg.eig", one.handle(), true), matrix_exp(one.handle()));
        [of_values.unwrap_err(), of_power.unwrap_err()]
    });
    for error in errors {
        assert_eq!(error.status, api::SCONCE_ERROR_NOT_SUPPORTED);
        assert!(error.message.contains("before the capture"), "{}", error.message);
    }
}

#[test]
fn least_squares_leave_a_rest_that_is_orthogonal_to_the_matrix() {
    run(32, 160, |cases, dtype| {
        let (rows, unknowns, columns) = (cases.int(1, 12), cases.int(1, 12), cases.int(1, 3));
        let mut a = Batch::random(cases, [2, rows, unknowns], dtype);
        // Far from singular.
        a = Batch::build(a.sizes, |entry, i, j| {
            a.at(entry, i, j) * Number::of(0.2, 0.0)
                + if i == j { Number::of(6.0, 0.0) } else { Number::ZERO }
        });
        let b = Batch::random(cases, [2, rows, columns], dtype);
        let driver = cases.one(&[None, Some("gels"), Some("gelsd"), Some("gelsy")]);
        let (left, right) = (a.tensor(cases, dtype), b.tensor(cases, dtype));
        let found = lstsq(left.handle(), right.handle(), None, driver).unwrap();
        let x = Batch::of(&found.solution);
        let product = a.times(&x);
        let rest = Batch::build(b.sizes, |entry, i, j| b.at(entry, i, j) - product.at(entry, i, j));
        let zero = Batch::build([2, unknowns, columns], |_, _, _| Number::ZERO);
        zero.assert_near(&a.adjoint().times(&rest), dtype, "the rest");
        if rows < unknowns {
            // Of all solutions the shortest one: it is a combination of rows.
            let given = Batch::of(&pseudoinverse(left.handle(), None, None, false).unwrap());
            given.times(&b).assert_near(&x, dtype, "the shortest solution");
        }
        let has_residuals = rows > unknowns && matches!(driver, Some("gels" | "gelsd"));
        let residuals = Dense::of(found.residuals.handle());
        match has_residuals {
            false => assert_eq!(residuals.sizes, [0]),
            true => {
                for (at, value) in residuals.values.iter().enumerate() {
                    let (entry, j) = (at as i64 / columns, at as i64 % columns);
                    let square = |i| {
                        let one = rest.at(entry, i, j);
                        one.re * one.re + one.im * one.im
                    };
                    let sum: f64 = (0..rows).map(square).sum();
                    assert!(
                        (sum - value).abs() <= 100.0 * within(dtype) * sum.max(1.0),
                        "{sum} {value}"
                    );
                }
            }
        }
        let ranks = Dense::of(found.rank.handle());
        match driver {
            Some("gels") => assert_eq!(ranks.sizes, [0]),
            _ => assert!(ranks.values.iter().all(|rank| *rank == rows.min(unknowns) as f64)),
        }
    });
    let one = |sizes: &[i64]| Dense::build(sizes, |_| 1.0).tensor(TYPES[1]);
    let (a, b) = (one(&[3, 2]), one(&[3, 1]));
    // Both columns are equal: the shortest solution shares the work.
    let found = lstsq(a.handle(), b.handle(), None, Some("gelsd")).unwrap();
    Dense::build(&[2, 1], |_| 0.5).assert_near(found.solution.handle(), 1e-12, "of rank one");
    assert_eq!(Dense::of(found.rank.handle()).values, [1.0]);
    for (left, right, driver, words) in [
        (&a, &b, Some("abc"), "should be one of (gels, gelsy, gelsd, gelss)"),
        (&a, &one(&[4, 1]), None, "input.size(-2) should match other.size(-2)"),
        (&one(&[3]), &b, None, "at least 2 dimensions"),
        (&one(&[2, 2]), &one(&[2, 1]), Some("gels"), ""),
    ] {
        let why = lstsq(left.handle(), right.handle(), None, driver);
        if !words.is_empty() {
            assert!(why.unwrap_err().message.contains(words), "{words}");
        }
    }
    let zero = Dense::build(&[2, 2], |_| 0.0).tensor(TYPES[1]);
    let why = lstsq(zero.handle(), one(&[2, 1]).handle(), None, Some("gels")).unwrap_err();
    assert!(why.message.contains("does not have full rank"), "{}", why.message);
}

#[test]
fn pseudoinverses_and_exponentials_are_what_defines_them() {
    run(33, 80, |cases, dtype| {
        let (rows, columns) = (cases.int(1, 9), cases.int(1, 9));
        let a = Batch::random(cases, [2, rows, columns], dtype);
        let given = a.tensor(cases, dtype);
        let inverse = Batch::of(&pseudoinverse(given.handle(), None, None, false).unwrap());
        let tall = if rows > columns { inverse.times(&a) } else { a.times(&inverse) };
        // Where values are far enough from 0, it inverts from one side.
        let least = rows.min(columns);
        let trace = (0..least).fold(0.0, |sum, at| sum + tall.at(0, at, at).re);
        assert!((trace - trace.round()).abs() < 0.05, "{trace}");
        a.times(&inverse).times(&a).assert_near(
            &a,
            if is_complex(dtype) { TYPES[2] } else { TYPES[0] },
            "a x a",
        );

        let order = cases.int(1, 6);
        let power = Batch::random(cases, [2, order, order], dtype);
        let found = Batch::of(&matrix_exp(power.tensor(cases, dtype).handle()).unwrap());
        // The series itself, of a sixty-fourth, squared six times.
        let part = Batch::build(power.sizes, |entry, i, j| {
            power.at(entry, i, j) * Number::of(1.0 / 64.0, 0.0)
        });
        let one = Batch::identity(power.sizes);
        let (mut sum, mut term) = (one.clone(), one);
        for count in 1..30 {
            term = term.times(&part);
            term = Batch::build(term.sizes, |entry, i, j| {
                term.at(entry, i, j) * Number::of(1.0 / f64::from(count), 0.0)
            });
            sum = Batch::build(sum.sizes, |entry, i, j| sum.at(entry, i, j) + term.at(entry, i, j));
        }
        for _ in 0..6 {
            sum = sum.times(&sum);
        }
        sum.assert_near(&found, dtype, "the exponential");
    });
}
