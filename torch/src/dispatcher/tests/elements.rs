//! Operations on elements, of each type and with operands that are repeated.

use super::{counted, one, refused, word};
use crate::registry::value::Value;
use crate::sconce::api::{
    SCONCE_DTYPE_BOOL as BOOL, SCONCE_DTYPE_F16 as F16, SCONCE_DTYPE_F32 as F32,
    SCONCE_DTYPE_F64 as F64, SCONCE_DTYPE_I8 as I8, SCONCE_DTYPE_I16 as I16,
    SCONCE_DTYPE_I32 as I32, SCONCE_DTYPE_I64 as I64, SCONCE_DTYPE_U8 as U8,
};
use crate::testing::{Cases, Dense};

/// What is expected of an element.
type Function = fn(f64) -> f64;

/// Sizes of two operands and of their result.
fn pair(cases: &mut Cases) -> [Vec<i64>; 3] {
    let whole = cases.sizes(3, 4);
    let mut part = |sizes: &[i64]| -> Vec<i64> {
        sizes.iter().map(|size| if cases.int(0, 3) == 0 { 1 } else { *size }).collect()
    };
    let first = part(&whole);
    let second = part(&whole);
    let result = first.iter().zip(&second).map(|(a, b)| if *a == 1 { *b } else { *a }).collect();
    let skip = cases.int(0, second.len() as i64) as usize;
    let skip = if second[..skip].iter().all(|size| *size == 1) { skip } else { 0 };
    [first, second[skip..].to_vec(), result]
}

fn check_pairs(
    name: &str,
    overload: &str,
    dtypes: &[i32],
    least: i64,
    oracle: fn(f64, f64) -> f64,
) {
    let mut cases = Cases::new(name.len() as u64);
    for turn in 0..24 {
        let [first, second, result] = pair(&mut cases);
        let dtype = cases.one(dtypes);
        let a = Dense::whole(&mut cases, &first, if dtype == U8 { 0 } else { -9 }, 9);
        let b =
            Dense::whole(&mut cases, &second, if dtype == U8 { least.max(0) } else { least }, 9);
        let expected =
            Dense::build(&result, |index| oracle(a.repeated_at(index), b.repeated_at(index)));
        let (x, y) = (a.either(&mut cases, dtype), b.either(&mut cases, dtype));
        let found = one(name, overload, vec![word(&x), word(&y)]);
        expected.assert_near(found.handle(), 1e-3, &format!("{name}, turn {turn}, type {dtype}"));
    }
}

#[test]
fn pairs_of_elements_agree_with_loops() {
    counted(|| {
        let all = [F16, F32, F64, I16, I32, I64, U8, I8];
        let whole = [I8, I16, I32, I64, U8];
        check_pairs("maximum", "", &all, -9, f64::max);
        check_pairs("minimum", "", &all, -9, f64::min);
        check_pairs("mul", "Tensor", &[F32, F64, I16, I32, I64], -9, |a, b| a * b);
        check_pairs("div", "Tensor", &[F32, F64, I32], 1, |a, b| a / b);
        check_pairs("floor_divide", "", &all, 1, |a, b| (a / b).floor());
        check_pairs("remainder", "Tensor", &all, 1, |a, b| a - b * (a / b).floor());
        check_pairs("eq", "Tensor", &all, -9, |a, b| f64::from(a == b));
        check_pairs("ne", "Tensor", &all, -9, |a, b| f64::from(a != b));
        check_pairs("lt", "Tensor", &all, -9, |a, b| f64::from(a < b));
        check_pairs("le", "Tensor", &all, -9, |a, b| f64::from(a <= b));
        check_pairs("gt", "Tensor", &all, -9, |a, b| f64::from(a > b));
        check_pairs("ge", "Tensor", &all, -9, |a, b| f64::from(a >= b));
        check_pairs("bitwise_and", "Tensor", &whole, -9, |a, b| (a as i64 & b as i64) as f64);
        check_pairs("bitwise_or", "Tensor", &whole, -9, |a, b| (a as i64 | b as i64) as f64);
        check_pairs("bitwise_xor", "Tensor", &whole, -9, |a, b| (a as i64 ^ b as i64) as f64);
        check_pairs("logical_and", "", &all, -9, |a, b| f64::from(a != 0.0 && b != 0.0));
        check_pairs("logical_or", "", &all, -9, |a, b| f64::from(a != 0.0 || b != 0.0));
    });
}

/// Torch's shifts: none of the bits is left of a shift that is negative or as long as the type.
fn shifted(value: i64, by: i64, bits: u32, signed: bool, left: bool) -> i64 {
    let outside = by < 0 || by >= i64::from(bits);
    let wrapped = |value: i128| match (bits, signed) {
        (8, false) => i64::from(value as u8),
        (8, true) => i64::from(value as i8),
        (16, _) => i64::from(value as i16),
        (32, _) => i64::from(value as i32),
        _ => value as i64,
    };
    match (left, outside) {
        (true, true) => 0,
        (true, false) => wrapped(i128::from(value) << by),
        (false, true) => -i64::from(value < 0),
        (false, false) => value >> by,
    }
}

#[test]
fn bits_are_shifted_as_by_the_processor_and_out_of_range_as_in_torch() {
    counted(|| {
        let mut cases = Cases::new(5);
        for (dtype, bits, signed) in
            [(U8, 8, false), (I8, 8, true), (I16, 16, true), (I32, 32, true), (I64, 64, true)]
        {
            let range = match (bits, signed) {
                (8, false) => (0, 255),
                (64, _) => (-1 << 40, 1 << 40),
                _ => (-1 << (bits - 1), (1_i64 << (bits - 1)) - 1),
            };
            let by: Vec<i64> = (if signed { -2 } else { 0 }..=i64::from(bits) + 1).collect();
            let sizes = [4, by.len() as i64];
            let values = Dense::whole(&mut cases, &sizes, range.0, range.1);
            let steps = Dense::build(&[by.len() as i64], |index| by[index[0] as usize] as f64);
            let (x, y) = (values.either(&mut cases, dtype), steps.tensor(dtype));
            for (name, left) in [("bitwise_left_shift", true), ("bitwise_right_shift", false)] {
                let found = one(name, "Tensor", vec![word(&x), word(&y)]);
                let expected = Dense::build(&sizes, |index| {
                    let (value, by) = (values.at(index) as i64, steps.repeated_at(index) as i64);
                    shifted(value, by, bits, signed, left) as f64
                });
                expected.assert_near(found.handle(), 1e-15, &format!("{name} of {bits} bits"));
            }
        }
        let real = Dense { sizes: vec![1], values: vec![1.0] }.tensor(F32);
        let values = vec![word(&real), word(&real)];
        refused("bitwise_left_shift", "Tensor", values, "bits are shifted in tensors of uint8");
    });
}

#[test]
fn single_elements_agree_with_the_functions_of_the_language() {
    counted(|| {
        let mut cases = Cases::new(11);
        let functions: [(&str, Function); 14] = [
            ("abs", f64::abs),
            ("neg", |x| -x),
            ("exp", f64::exp),
            ("sin", f64::sin),
            ("cos", f64::cos),
            ("tanh", f64::tanh),
            ("sigmoid", |x| 1.0 / (1.0 + (-x).exp())),
            ("relu", |x| x.max(0.0)),
            ("silu", |x| x / (1.0 + (-x).exp())),
            ("floor", f64::floor),
            ("ceil", f64::ceil),
            ("trunc", f64::trunc),
            ("sqrt", f64::sqrt),
            ("log", f64::ln),
        ];
        for (name, function) in functions {
            for dtype in [F32, F64] {
                let sizes = cases.sizes(3, 4);
                let values = Dense::quarters(&mut cases, &sizes);
                let x = values.either(&mut cases, dtype);
                let found = one(name, "", vec![word(&x)]);
                let expected = Dense::build(&sizes, |index| function(values.at(index)));
                expected.assert_near(found.handle(), 1e-6, name);
            }
        }
        for name in ["abs_", "neg_", "relu_", "exp_"] {
            let values = Dense::quarters(&mut cases, &[3, 4]);
            let (x, plain) = (values.strided(F32), values.tensor(F32));
            let expected = Dense::of(one(&name[..name.len() - 1], "", vec![word(&plain)]).handle());
            let found = one(name, "", vec![word(&x)]);
            assert_eq!(found.handle(), x.handle());
            expected.assert_near(x.handle(), 1e-6, name);
        }
    });
}

#[test]
fn masks_choose_elements() {
    counted(|| {
        let mut cases = Cases::new(3);
        for _ in 0..20 {
            let sizes = cases.sizes(3, 4);
            let mask = Dense::whole(&mut cases, &sizes, 0, 1);
            let (a, b) = (Dense::quarters(&mut cases, &sizes), Dense::quarters(&mut cases, &sizes));
            let m = mask.either(&mut cases, BOOL);
            let (x, y) = (a.either(&mut cases, F32), b.either(&mut cases, F32));
            let choose = |index: &[i64]| {
                if mask.at(index) != 0.0 { a.at(index) } else { b.at(index) }
            };
            let found = one("where", "self", vec![word(&m), word(&x), word(&y)]);
            Dense::build(&sizes, choose).assert_near(found.handle(), 0.0, "where");
            let value = Dense { sizes: vec![], values: vec![7.5] }.tensor(F64);
            let expected =
                Dense::build(&sizes, |index| if mask.at(index) != 0.0 { 7.5 } else { a.at(index) });
            let found = one("masked_fill", "Tensor", vec![word(&x), word(&m), word(&value)]);
            expected.assert_near(found.handle(), 0.0, "masked_fill");
            let found = one("masked_fill_", "Tensor", vec![word(&x), word(&m), word(&value)]);
            assert_eq!(found.handle(), x.handle());
            expected.assert_near(x.handle(), 0.0, "masked_fill_");
        }
        let x = Dense { sizes: vec![2], values: vec![1.0; 2] }.tensor(F32);
        let m = Dense { sizes: vec![2, 2], values: vec![1.0; 4] }.tensor(BOOL);
        let value = Dense { sizes: vec![], values: vec![1.0] }.tensor(F32);
        let of = |m, v| vec![word(&x), m, v];
        refused("masked_fill_", "Tensor", of(word(&m), word(&value)), "the mask has sizes");
        refused("masked_fill_", "Tensor", of(word(&x), word(&value)), "a tensor of bool");
        refused("masked_fill", "Tensor", of(word(&m), word(&x)), "without dimensions, but has 1");
    });
}

#[test]
fn lines_are_summed_and_normalised() {
    counted(|| {
        let mut cases = Cases::new(8);
        for _ in 0..12 {
            let sizes = [cases.int(1, 4), cases.int(1, 5), cases.int(1, 3)];
            let values = Dense::quarters(&mut cases, &sizes);
            let x = values.either(&mut cases, F32);
            let dim = cases.int(0, 2);
            let line = |index: &[i64], until: i64| -> Vec<f64> {
                (0..until)
                    .map(|place| {
                        let mut index = index.to_vec();
                        index[dim as usize] = place;
                        values.at(&index)
                    })
                    .collect()
            };
            let sum = one("cumsum", "", vec![word(&x), Value::Int(dim - 3)]);
            Dense::build(&sizes, |index| line(index, index[dim as usize] + 1).iter().sum())
                .assert_near(sum.handle(), 1e-6, "cumsum");
            let soft = one("softmax", "int", vec![word(&x), Value::Int(dim)]);
            let share = |index: &[i64]| {
                let all = line(index, sizes[dim as usize]);
                values.at(index).exp() / all.iter().map(|value| value.exp()).sum::<f64>()
            };
            Dense::build(&sizes, share).assert_near(soft.handle(), 1e-6, "softmax");
            let log = one("log_softmax", "int", vec![word(&x), Value::Int(dim)]);
            Dense::build(&sizes, |index| share(index).ln()).assert_near(
                log.handle(),
                1e-5,
                "log_softmax",
            );
        }
    });
}
