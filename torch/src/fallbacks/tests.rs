//! Products and running sums beside loops that are written out, and results that nobody reads.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls functions of the ABI")]

use super::lines::aoti_torch_cpu_cumsum;
use super::products::{
    aoti_torch__mm_plus_mm_out, aoti_torch_cpu__addmm_activation, aoti_torch_cpu_addbmm,
    aoti_torch_cpu_addmm_out, aoti_torch_cpu_addmv, aoti_torch_cpu_baddbmm_out,
    aoti_torch_cpu_bmm_out, aoti_torch_cpu_mm_out,
};
use crate::error::newest;
use crate::sconce::Tensor;
use crate::sconce::api::{
    SCONCE_DTYPE_BF16 as BF16, SCONCE_DTYPE_F16 as F16, SCONCE_DTYPE_F32 as F32,
    SCONCE_DTYPE_F64 as F64, SCONCE_DTYPE_I32 as I32, SCONCE_DTYPE_I64 as I64,
};
use crate::testing::{Cases, Dense, assert_refused, call, live, returned_by};

/// The products of batches, the first dimension; `first` and `second` have three dimensions.
fn product(first: &Dense, second: &Dense) -> Dense {
    let sizes = [first.sizes[0], first.sizes[1], second.sizes[2]];
    Dense::build(&sizes, |at| {
        (0..first.sizes[2])
            .map(|k| first.at(&[at[0], at[1], k]) * second.at(&[at[0], k, at[2]]))
            .sum()
    })
}

fn plus(first: &Dense, factor: f64, second: &Dense, other: f64) -> Dense {
    Dense::build(&first.sizes, |at| factor * first.at(at) + other * second.repeated_at(at))
}

/// Without the first dimension, which has one entry.
fn flat(batch: &Dense) -> Dense {
    Dense { sizes: batch.sizes[1..].to_vec(), values: batch.values.clone() }
}

#[test]
fn sums_with_products_agree_with_loops() {
    let before = live();
    let mut cases = Cases::new(43);
    for turn in 0..40 {
        let dtype = cases.one(&[F32, F64]);
        let mut size = || cases.int(1, 5);
        let (batch, rows, inner, columns) = (size(), size(), size(), size());
        let mut operand = |sizes: &[i64]| Dense::quarters(&mut cases, sizes);
        let (a, b) = (operand(&[batch, rows, inner]), operand(&[batch, inner, columns]));
        let (vector, column) = (operand(&[inner]), operand(&[rows]));
        let bias = operand(&[columns]);
        let (alpha, beta) = (cases.one(&[1.0, 0.5, -2.0]), cases.one(&[1.0, 0.0, 3.0]));
        let [x, y, v, c, w] =
            [&a, &b, &vector, &column, &bias].map(|dense| dense.either(&mut cases, dtype));
        let all = product(&a, &b);
        let sums = Dense::build(&[rows, columns], |at| {
            (0..batch).map(|one| all.at(&[one, at[0], at[1]])).sum()
        });
        let sum =
            returned_by!(aoti_torch_cpu_addbmm(w.handle(), x.handle(), y.handle(), beta, alpha));
        let expected = plus(&sums, alpha, &bias, beta);
        expected.assert_near(sum.handle(), 1e-5, &format!("addbmm {turn}"));

        let first = crate::sconce::operations::narrow(x.handle(), 0, 0, 1).unwrap();
        let first = crate::sconce::operations::reshape(first.handle(), &[rows, inner]).unwrap();
        let sum =
            returned_by!(aoti_torch_cpu_addmv(c.handle(), first.handle(), v.handle(), beta, alpha));
        let expected = Dense::build(&[rows], |at| {
            let dot: f64 = (0..inner).map(|k| a.at(&[0, at[0], k]) * vector.at(&[k])).sum();
            alpha * dot + beta * column.at(at)
        });
        expected.assert_near(sum.handle(), 1e-5, &format!("addmv {turn}"));

        let second = crate::sconce::operations::narrow(y.handle(), 0, 0, 1).unwrap();
        let second =
            crate::sconce::operations::reshape(second.handle(), &[inner, columns]).unwrap();
        let sum = returned_by!(aoti_torch_cpu__addmm_activation(
            w.handle(),
            first.handle(),
            second.handle(),
            beta,
            alpha,
            0
        ));
        let expected = Dense::build(&[rows, columns], |at| {
            (alpha * all.at(&[0, at[0], at[1]]) + beta * bias.at(&at[1..])).max(0.0)
        });
        expected.assert_near(sum.handle(), 1e-5, &format!("activation {turn}"));
    }
    assert_eq!(live(), before);
}

#[test]
fn sums_with_products_refuse_shapes_with_words() {
    let (vector, matrix) =
        (Dense::build(&[3], |_| 0.0).tensor(F32), Dense::build(&[2, 2], |_| 0.0).tensor(F32));
    let mut made = std::ptr::null_mut();
    let (v, m) = (vector.handle(), matrix.handle());
    assert_refused(call!(aoti_torch_cpu_addmv(v, m, v, 1.0, 1.0, &mut made)), &["[2, 2] and [3]"]);
    let status = call!(aoti_torch_cpu_addbmm(v, m, m, 1.0, 1.0, &mut made));
    assert_refused(status, &["batch1 and batch2 must be 3D"]);
}

#[test]
fn products_agree_with_loops() {
    let before = live();
    let mut cases = Cases::new(41);
    for turn in 0..60 {
        let dtype = cases.one(&[F32, F64, F16, BF16]);
        // Sums are of quarters: exact except for the rounding of the result.
        let within = if dtype == F16 || dtype == BF16 { 2e-2 } else { 1e-5 };
        let mut size = |least| cases.int(least, 5);
        let (batch, rows, inner, columns) = (size(1), size(0), size(1), size(1));
        let mut operand = |sizes: &[i64]| Dense::quarters(&mut cases, sizes);
        let (a, b) = (operand(&[batch, rows, inner]), operand(&[batch, inner, columns]));
        let (c, d) = (operand(&[1, rows, inner]), operand(&[1, inner, columns]));
        let (e, f) = (operand(&[1, rows, inner]), operand(&[1, inner, columns]));
        let (bias, one) = (operand(&[columns]), operand(&[batch, rows, columns]));
        let (alpha, beta) = (cases.one(&[1.0, 0.5, -2.0]), cases.one(&[1.0, 0.0, 3.0]));
        let mut make = |dense: &Dense| dense.either(&mut cases, dtype);
        let [x, y, p, q] = [&a, &b, &flat(&c), &flat(&d)].map(&mut make);
        let [r, s, t, u] = [&flat(&e), &flat(&f), &bias, &one].map(&mut make);
        let unset = |sizes: &[i64]| Dense::build(sizes, |_| f64::NAN).tensor(dtype);
        let check = |name: &str, expected: &Dense, run: &dyn Fn(&Tensor) -> i32| {
            let out = unset(&expected.sizes);
            assert_eq!(run(&out), 0, "{name}: {:?}", newest());
            expected.assert_near(out.handle(), within, &format!("{name}, turn {turn}"));
        };
        check("mm", &flat(&product(&c, &d)), &|out| {
            call!(aoti_torch_cpu_mm_out(out.handle(), p.handle(), q.handle()))
        });
        check("bmm", &product(&a, &b), &|out| {
            call!(aoti_torch_cpu_bmm_out(out.handle(), x.handle(), y.handle()))
        });
        let sum = plus(&flat(&product(&c, &d)), alpha, &bias, beta);
        check("addmm", &sum, &|out| {
            call!(aoti_torch_cpu_addmm_out(
                out.handle(),
                t.handle(),
                p.handle(),
                q.handle(),
                beta,
                alpha
            ))
        });
        let sum = plus(&product(&a, &b), alpha, &one, beta);
        check("baddbmm", &sum, &|out| {
            call!(aoti_torch_cpu_baddbmm_out(
                out.handle(),
                u.handle(),
                x.handle(),
                y.handle(),
                beta,
                alpha
            ))
        });
        let sum = plus(&flat(&product(&c, &d)), 1.0, &flat(&product(&e, &f)), 1.0);
        check("mm_plus_mm", &sum, &|out| {
            let [p, q, r, s] = [&p, &q, &r, &s].map(Tensor::handle);
            call!(aoti_torch__mm_plus_mm_out(out.handle(), p, q, r, s))
        });
    }
    assert_eq!(live(), before);
}

#[test]
fn what_is_multiplied_by_nothing_does_not_count() {
    let nan = Dense::build(&[1, 1, 1], |_| f64::NAN).tensor(F32);
    let two = Dense::build(&[1, 1, 1], |_| 2.0).tensor(F32);
    let out = Dense::build(&[1, 1, 1], |_| 0.0).tensor(F32);
    let [n, t, o] = [&nan, &two, &out].map(Tensor::handle);
    assert_eq!(call!(aoti_torch_cpu_baddbmm_out(o, n, t, t, 0.0, 1.0)), 0);
    assert_eq!(Dense::of(o).values, [4.0]);
}

#[test]
fn wrong_operands_of_products_are_named() {
    let before = live();
    let of = |sizes: &[i64]| Dense::build(sizes, |_| 1.0).tensor(F32);
    let (matrix, wide, line, batch) = (of(&[2, 3]), of(&[2, 4]), of(&[3]), of(&[2, 3, 4]));
    let out = of(&[2, 2]);
    let [m, w, l, b, o] = [&matrix, &wide, &line, &batch, &out].map(Tensor::handle);
    let refused = |status: i32, words: &str| {
        assert_ne!(status, 0, "{words}");
        let why = newest().unwrap();
        assert!(why.contains(words), "expected {words:?} in {why:?}");
    };
    refused(call!(aoti_torch_cpu_mm_out(o, m, l)), "mat2 must be a matrix, but has 1 dimensions");
    refused(call!(aoti_torch_cpu_mm_out(o, b, m)), "self must be a matrix, but has 3 dimensions");
    refused(call!(aoti_torch_cpu_mm_out(o, m, w)), "mm_out: ");
    refused(call!(aoti_torch_cpu_bmm_out(o, m, m)), "bmm_out: ");
    refused(call!(aoti_torch_cpu_addmm_out(o, l, m, w, 1.0, 1.0)), "addmm_out: ");
    refused(call!(aoti_torch__mm_plus_mm_out(o, m, l, m, l)), "mat2 must be a matrix");
    refused(call!(aoti_torch_cpu_mm_out(std::ptr::null_mut(), m, m)), "mm_out: ");
    drop((matrix, wide, line, batch, out));
    assert_eq!(live(), before);
}

#[test]
fn running_sums_agree_with_loops() {
    let before = live();
    let mut cases = Cases::new(43);
    for _ in 0..30 {
        let sizes: Vec<i64> = (0..cases.int(1, 3)).map(|_| cases.int(0, 5)).collect();
        let dtype = cases.one(&[F32, F64, I32, I64]);
        let values = Dense::whole(&mut cases, &sizes, -9, 9);
        let tensor = values.either(&mut cases, dtype);
        let dim = cases.int(0, sizes.len() as i64 - 1);
        // c10's number of float64, or none.
        let wanted = cases.one(&[None, Some(7_i32)]);
        let place = wanted.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let mut made = std::ptr::null_mut();
        let status = call!(aoti_torch_cpu_cumsum(
            tensor.handle(),
            dim - sizes.len() as i64,
            place,
            &mut made
        ));
        assert_eq!(status, 0, "{:?}", newest());
        let sums = Tensor::from_handle(made);
        Dense::build(&sizes, |at| {
            let of = |place| {
                let mut index = at.to_vec();
                index[dim as usize] = place;
                values.at(&index)
            };
            (0..=at[dim as usize]).map(of).sum()
        })
        .assert_near(sums.handle(), 1e-6, "cumsum");
        let mut none = std::ptr::null_mut();
        let far = sizes.len() as i64;
        assert_ne!(call!(aoti_torch_cpu_cumsum(tensor.handle(), far, place, &mut none)), 0);
        assert!(newest().unwrap().starts_with("cumsum: "));
    }
    assert_eq!(live(), before);
}

#[test]
fn failures_begin_with_the_name_of_the_operator() {
    for (function, operator) in [
        ("aoti_torch_cpu_cumsum", "cumsum"),
        ("aoti_torch_cuda__efficient_attention_forward", "_efficient_attention_forward"),
        ("aoti_torch__mm_plus_mm_out", "_mm_plus_mm_out"),
    ] {
        assert_eq!(super::operator_of(function), operator);
    }
}

#[test]
fn a_result_that_is_not_read_is_not_returned() {
    let before = live();
    let input = Dense { sizes: vec![1, 2, 2], values: vec![3.0, 1.0, 4.0, 2.0] };
    let tensor = input.tensor(F32);
    let (mut values, mut indices) = (std::ptr::null_mut(), std::ptr::null_mut());
    let none = std::ptr::null_mut();
    let sort = super::ordering::aoti_torch_cpu_sort;
    assert_eq!(call!(sort(tensor.handle(), -1, 0, none, &mut indices)), 0);
    let indices = Tensor::from_handle(indices);
    Dense { values: vec![1.0, 0.0, 1.0, 0.0], ..input.clone() }.assert_near(
        indices.handle(),
        0.0,
        "indices alone",
    );
    let (two, pool) = (2, super::pooling::windows::aoti_torch_cpu_adaptive_max_pool2d);
    assert_eq!(call!(pool(tensor.handle(), &two, 1, &mut values, none)), 0);
    let values = Tensor::from_handle(values);
    input.assert_near(values.handle(), 0.0, "values alone");
    drop((tensor, indices, values));
    assert_eq!(live(), before);
}
