//! Sums, largest elements, medians and sorting beside loops.

use super::{call, counted, ints, one, refused, tensors, word};
use crate::abi::tensors::dtype_of_tensor;
use crate::registry::value::Value;
use crate::sconce::api::{
    SCONCE_DTYPE_BOOL as BOOL, SCONCE_DTYPE_F16 as F16, SCONCE_DTYPE_F32 as F32,
    SCONCE_DTYPE_F64 as F64, SCONCE_DTYPE_I16 as I16, SCONCE_DTYPE_I64 as I64,
};
use crate::testing::{Cases, Dense};

/// The lines along a dimension: the sizes without it, and the elements of each.
fn lines(values: &Dense, dim: usize) -> (Vec<i64>, Vec<Vec<f64>>) {
    let mut outer = values.sizes.clone();
    let length = outer.remove(dim);
    let mut found = Vec::new();
    Dense::build(&outer, |index| {
        let of = |place| {
            let mut index = index.to_vec();
            index.insert(dim, place);
            values.at(&index)
        };
        found.push((0..length).map(of).collect());
        0.0
    });
    (outer, found)
}

#[test]
fn dimensions_are_reduced_as_by_loops() {
    counted(|| {
        let mut cases = Cases::new(21);
        for _ in 0..25 {
            let sizes: Vec<i64> = (0..cases.int(1, 3)).map(|_| cases.int(1, 4)).collect();
            let dtype = cases.one(&[F32, F64, I64, I16]);
            let values = Dense::whole(&mut cases, &sizes, -3, 3);
            let x = values.either(&mut cases, dtype);
            let dim = cases.int(0, sizes.len() as i64 - 1);
            let (outer, lines) = lines(&values, dim as usize);
            let expect = |fold: &dyn Fn(&[f64]) -> f64| Dense {
                sizes: outer.clone(),
                values: lines.iter().map(|line| fold(line)).collect(),
            };
            let most = |line: &[f64]| line.iter().copied().fold(f64::MIN, f64::max);
            let least = |line: &[f64]| line.iter().copied().fold(f64::MAX, f64::min);
            let position = |line: &[f64], value: f64| {
                line.iter().position(|other| *other == value).map_or(-1.0, |at| at as f64)
            };
            let with_list = |name: &str, overload: &str, expected: Dense| {
                let found = one(name, overload, vec![word(&x), ints(&[dim])]);
                expected.assert_near(found.handle(), 1e-6, name);
            };
            with_list("sum", "dim_IntList", expect(&|line| line.iter().sum()));
            with_list("amax", "", expect(&most));
            with_list("amin", "", expect(&least));
            let with_dim = |name: &str, expected: Dense| {
                let found = one(name, "dim", vec![word(&x), Value::Int(dim)]);
                expected.assert_near(found.handle(), 0.0, name);
            };
            with_dim("all", expect(&|line| f64::from(line.iter().all(|value| *value != 0.0))));
            with_dim("any", expect(&|line| f64::from(line.iter().any(|value| *value != 0.0))));
            for (name, pick) in [
                ("max", &most as &dyn Fn(&[f64]) -> f64),
                ("min", &least as &dyn Fn(&[f64]) -> f64),
            ] {
                let found = tensors(call(name, "dim", vec![word(&x), Value::Int(dim)]).unwrap());
                expect(pick).assert_near(found[0].handle(), 0.0, name);
                expect(&|line| position(line, pick(line))).assert_near(
                    found[1].handle(),
                    0.0,
                    name,
                );
                let all = one(name, "", vec![word(&x)]);
                let expected = Dense { sizes: vec![], values: vec![pick(&values.values)] };
                expected.assert_near(all.handle(), 0.0, name);
                let index = one(&format!("arg{name}"), "", vec![word(&x), Value::Int(dim)]);
                expect(&|line| position(line, pick(line))).assert_near(index.handle(), 0.0, name);
            }
            let total = one("sum", "", vec![word(&x)]);
            Dense { sizes: vec![], values: vec![values.values.iter().sum()] }.assert_near(
                total.handle(),
                1e-6,
                "sum",
            );
            if dtype == F32 || dtype == F64 {
                let mean = |line: &[f64]| line.iter().sum::<f64>() / line.len() as f64;
                with_list("mean", "dim", expect(&mean));
                let out =
                    Dense { sizes: outer.clone(), values: vec![0.0; lines.len()] }.tensor(dtype);
                let arguments =
                    vec![word(&x), ints(&[dim]), Value::Bool(false), Value::None, word(&out)];
                let found = one("sum", "IntList_out", arguments);
                assert_eq!(found.handle(), out.handle());
                expect(&|line| line.iter().sum()).assert_near(
                    out.handle(),
                    1e-6,
                    "sum.IntList_out",
                );
            }
        }
        let x = Dense { sizes: vec![2], values: vec![0.0, 1.0] }.tensor(BOOL);
        assert_eq!(dtype_of_tensor(one("all", "", vec![word(&x)]).handle()).unwrap(), BOOL);
        refused("sum", "dim_IntList", vec![word(&x), ints(&[3])], "Dimension out of range");
    });
}

#[test]
fn the_lower_one_of_two_in_the_middle_is_the_median() {
    counted(|| {
        let mut cases = Cases::new(22);
        for turn in 0..40 {
            let sizes: Vec<i64> = (0..cases.int(1, 3)).map(|_| cases.int(1, 5)).collect();
            let dtype = cases.one(&[F32, F64, F16, I64]);
            let mut values = Dense::whole(&mut cases, &sizes, -9, 9);
            if dtype != I64 && turn % 3 == 0 {
                let at = cases.int(0, values.values.len() as i64 - 1) as usize;
                values.values[at] = f64::NAN;
            }
            let x = values.either(&mut cases, dtype);
            let median = |line: &[f64]| {
                if let Some(nan) = line.iter().position(|value| value.is_nan()) {
                    return (f64::NAN, nan as f64);
                }
                let mut sorted: Vec<(f64, usize)> = line.iter().copied().zip(0..).collect();
                sorted.sort_by(|a, b| a.partial_cmp(b).unwrap());
                let (value, at) = sorted[(line.len() - 1) / 2];
                (value, at as f64)
            };
            let all = one("median", "", vec![word(&x)]);
            Dense { sizes: vec![], values: vec![median(&values.values).0] }.assert_near(
                all.handle(),
                0.0,
                "median",
            );
            let dim = cases.int(0, sizes.len() as i64 - 1);
            let (mut outer, lines) = lines(&values, dim as usize);
            let keep = cases.int(0, 1) == 1;
            if keep {
                outer.insert(dim as usize, 1);
            }
            let arguments = vec![word(&x), Value::Int(dim - sizes.len() as i64), Value::Bool(keep)];
            let found = tensors(call("median", "dim", arguments).unwrap());
            let (middle, places): (Vec<f64>, Vec<f64>) =
                lines.iter().map(|line| median(line)).unzip();
            Dense { sizes: outer.clone(), values: middle }.assert_near(
                found[0].handle(),
                0.0,
                "median",
            );
            Dense { sizes: outer, values: places }.assert_near(found[1].handle(), 0.0, "its index");
        }
        let none = Dense { sizes: vec![0], values: vec![] };
        let found = one("median", "", vec![word(&none.tensor(F32))]);
        assert!(Dense::of(found.handle()).values[0].is_nan());
        refused("median", "", vec![word(&none.tensor(I64))], "has no elements");
        let arguments = vec![word(&none.tensor(F32)), Value::Int(1)];
        refused("median", "dim", arguments, "dim is 1, but the tensor has 1 dimensions");
    });
}

#[test]
fn elements_are_sorted_with_their_places() {
    counted(|| {
        let mut cases = Cases::new(23);
        for _ in 0..20 {
            let sizes: Vec<i64> = (0..cases.int(1, 3)).map(|_| cases.int(0, 6)).collect();
            let values = Dense::whole(&mut cases, &sizes, -4, 4);
            let x = values.either(&mut cases, F32);
            let (dim, descending) = (cases.int(0, sizes.len() as i64 - 1), cases.int(0, 1) == 1);
            let arguments = || vec![word(&x), Value::Int(dim), Value::Bool(descending)];
            let found = tensors(call("sort", "", arguments()).unwrap());
            let indices = one("argsort", "", arguments());
            let (sorted, places) = (Dense::of(found[0].handle()), Dense::of(found[1].handle()));
            assert_eq!(Dense::of(indices.handle()), places);
            assert_eq!(sorted.sizes, sizes);
            let (_, before) = lines(&values, dim as usize);
            let (_, after) = lines(&sorted, dim as usize);
            let (_, places) = lines(&places, dim as usize);
            for ((before, after), places) in before.iter().zip(&after).zip(&places) {
                let mut expected: Vec<(f64, usize)> = before.iter().copied().zip(0..).collect();
                expected.sort_by(|a, b| {
                    let order = a.0.partial_cmp(&b.0).unwrap();
                    if descending { order.reverse() } else { order }
                });
                let found: Vec<(f64, usize)> =
                    after.iter().copied().zip(places.iter().map(|place| *place as usize)).collect();
                assert_eq!(found, expected);
            }
        }
        let x = Dense { sizes: vec![2], values: vec![1.0, 2.0] };
        let (x, same, other) =
            (x.tensor(F32), x.tensor(F32), Dense { sizes: vec![2, 1], ..x }.tensor(F32));
        for (with, expected) in [(&same, true), (&other, false)] {
            let results = call("equal", "", vec![word(&x), word(with)]).unwrap();
            assert!(matches!(results[..], [Value::Bool(equal)] if equal == expected));
        }
    });
}
