//! Operations of whole arrays, compared with plain formulas for every type.

use std::cell::RefCell;

use sconce_base::element::{Dtype, DtypeKind};
use smallvec::SmallVec;

use super::stored::{decode, encode};
use super::*;

/// The operands as arrays of bytes, the output first.
struct Arrays(RefCell<Vec<Vec<u8>>>);

impl ElementRuns for Arrays {
    type Refusal = ();

    fn read(&self, operand: usize, run: ElementRun, into: &mut [u8]) -> Result<(), ()> {
        for (index, element) in into.chunks_exact_mut(run.width).enumerate() {
            let at = (run.offset + run.stride * index as i64) as usize;
            element.copy_from_slice(&self.0.borrow()[operand][at..at + run.width]);
        }
        Ok(())
    }

    fn write(&self, run: ElementRun, from: &[u8]) -> Result<(), ()> {
        for (index, element) in from.chunks_exact(run.width).enumerate() {
            let at = (run.offset + run.stride * index as i64) as usize;
            self.0.borrow_mut()[0][at..at + run.width].copy_from_slice(element);
        }
        Ok(())
    }
}

fn array(dtype: Dtype, values: &[AnyNumber]) -> Vec<u8> {
    let mut bytes = vec![0; values.len() * dtype.bytes()];
    for (value, bytes) in values.iter().zip(bytes.chunks_exact_mut(dtype.bytes())) {
        encode(*value, dtype, bytes);
    }
    bytes
}

/// The results of an operation on packed arrays.
fn computed(
    operation: ElementOperation,
    compute: Dtype,
    to: Dtype,
    inputs: &[(Dtype, &[AnyNumber])],
) -> Vec<AnyNumber> {
    let count = inputs[0].1.len();
    let mut arrays = vec![vec![0; count * to.bytes()]];
    arrays.extend(inputs.iter().map(|(dtype, values)| array(*dtype, values)));
    let mut strides = [to.bytes() as i64; MOST_INPUTS + 1];
    for (stride, (dtype, _)) in strides[1..].iter_mut().zip(inputs) {
        *stride = dtype.bytes() as i64;
    }
    let task = Elementwise {
        operation,
        domain: Domain::of(compute),
        compute,
        parameters: [AnyNumber::Signed(1); 3],
        output: (0, to),
        inputs: inputs.iter().map(|(dtype, _)| ElementwiseInput::Memory(0, *dtype)).collect(),
        first: 0,
        total: count as u64,
        axes: SmallVec::from_slice(&[ElementwiseAxis { size: count as u64, strides }]),
    };
    let arrays = Arrays(RefCell::new(arrays));
    evaluate(&task, &arrays).unwrap();
    let results = &arrays.0.borrow()[0];
    results.chunks_exact(to.bytes()).map(|bytes| decode(to, bytes)).collect()
}

/// All pairs of some numbers.
fn pairs<T: Copy>(numbers: &[T]) -> (Vec<T>, Vec<T>) {
    let all = numbers.iter().flat_map(|a| numbers.iter().map(move |b| (*a, *b)));
    all.unzip()
}

fn integer_types() -> impl Iterator<Item = (Dtype, i128, i128)> {
    let range = |dtype: Dtype| dtype.integer_range().map(|(least, most)| (dtype, least, most));
    Dtype::ALL.into_iter().filter_map(range).filter(|(dtype, ..)| *dtype != Dtype::Bool)
}

#[test]
fn integers_of_every_type_wrap_as_whole_numbers_do() {
    use ElementOperation::*;
    for (dtype, least, most) in integer_types() {
        let modulus = most - least + 1;
        let wrapped = |value: i128| (value - least).rem_euclid(modulus) + least;
        let numbers: Vec<i128> =
            [least, least + 1, -7, -2, -1, 0, 1, 2, 3, 7, 100, most - 1, most].map(wrapped).into();
        let (first, second) = pairs(&numbers);
        let any = |values: &[i128]| -> Vec<AnyNumber> {
            values.iter().map(|value| AnyNumber::Signed(*value as i64)).collect()
        };
        let (one, other) = (any(&first), any(&second));
        let formula = |operation, a: i128, b: i128| match operation {
            Add => a + b,
            Mul => a.wrapping_mul(b),
            FloorDivide if b == 0 => -1,
            FloorDivide => a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0),
            TruncDivide if b == 0 => -1,
            TruncDivide => a / b,
            Remainder if b == 0 => a,
            Remainder => a.rem_euclid(b) + if b < 0 && a.rem_euclid(b) != 0 { b } else { 0 },
            Pow if b < 0 => i128::from(a == 1) + if a == -1 { 1 - 2 * (b & 1) } else { 0 },
            // The low bits of powers beyond 128 bits, by repeated multiplication.
            Pow => {
                let mut rest = (0..127).rev().skip_while(|bit| b >> bit & 1 == 0);
                let square = |power: i128| wrapped(power.wrapping_mul(power));
                rest.try_fold(1, |power, bit| {
                    Some(wrapped(square(power).wrapping_mul(if b >> bit & 1 == 1 { a } else { 1 })))
                })
                .unwrap()
            }
            Minimum => a.min(b),
            Maximum => a.max(b),
            Eq => i128::from(a == b),
            Ne => i128::from(a != b),
            Lt => i128::from(a < b),
            Le => i128::from(a <= b),
            BitwiseAnd => a & b,
            BitwiseOr => a | b,
            BitwiseXor => a ^ b,
            _ => unreachable!(),
        };
        for operation in [
            Add,
            Mul,
            FloorDivide,
            TruncDivide,
            Remainder,
            Pow,
            Minimum,
            Maximum,
            Eq,
            Ne,
            Lt,
            Le,
            BitwiseAnd,
            BitwiseOr,
            BitwiseXor,
        ] {
            let results = computed(operation, dtype, dtype, &[(dtype, &one), (dtype, &other)]);
            for ((a, b), result) in first.iter().zip(&second).zip(results) {
                let expected = any(&[wrapped(formula(operation, *a, *b))])[0].to_integer(dtype);
                assert_eq!(result.to_integer(dtype), expected, "{operation:?} {dtype:?} {a} {b}");
            }
        }
    }
}

/// What an operation computes, in doubles.
type Formula<'a> = &'a dyn Fn(f64, f64) -> f64;

#[test]
fn real_numbers_are_rounded_once_to_their_type() {
    use ElementOperation::*;
    let numbers = [0.0, -0.0, 0.1, -1.5, 2.0, 7.25, -3.0, 100.0, 6e4, f64::INFINITY, f64::NAN];
    let (first, second) = pairs(&numbers);
    let any = |values: &[f64]| -> Vec<AnyNumber> {
        values.iter().map(|value| AnyNumber::Double(*value)).collect()
    };
    for dtype in [Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64] {
        // The numbers as the type holds them.
        let held = |values: &[f64]| -> Vec<f64> {
            let bytes = array(dtype, &any(values));
            bytes
                .chunks_exact(dtype.bytes())
                .map(|bytes| decode(dtype, bytes).to_double())
                .collect()
        };
        let (first, second) = (held(&first), held(&second));
        let (one, other) = (any(&first), any(&second));
        let floor_of = |a: f64, b: f64| match b == 0.0 {
            true => a / b,
            false => {
                let rest = a % b;
                let down = if rest != 0.0 && (rest < 0.0) != (b < 0.0) { 1.0 } else { 0.0 };
                ((a - rest) / b).round() - down
            }
        };
        let formulas: [(ElementOperation, Formula<'_>); 13] = [
            (Add, &|a, b| a + b),
            (Mul, &|a, b| a * b),
            (Div, &|a, b| a / b),
            (TruncDivide, &|a, b| match dtype {
                Dtype::F64 => (a / b).trunc(),
                _ => held(&[f64::from((a / b) as f32)])[0].trunc(),
            }),
            (FloorDivide, &floor_of),
            (Remainder, &|a, b| {
                let rest = a % b;
                if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
            }),
            (Minimum, &|a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) }),
            (Maximum, &|a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }),
            (Eq, &|a, b| f64::from(u8::from(a == b))),
            (Ne, &|a, b| f64::from(u8::from(a != b))),
            (Lt, &|a, b| f64::from(u8::from(a < b))),
            (Le, &|a, b| f64::from(u8::from(a <= b))),
            (Pow, &|a, b| a.powf(b)),
        ];
        for (operation, formula) in formulas {
            let results = computed(operation, dtype, dtype, &[(dtype, &one), (dtype, &other)]);
            for ((a, b), result) in first.iter().zip(&second).zip(results) {
                let (result, expected) = (result.to_double(), held(&[formula(*a, *b)])[0]);
                let step = 2.0_f64.powi(1 - dtype.significand_bits() as i32);
                let allowed = match operation {
                    Pow => 2.0 * step * expected.abs(),
                    // The dividend without the remainder is rounded, too.
                    FloorDivide | Remainder => {
                        4.0 * step * a.abs().max(b.abs()).max(expected.abs())
                    }
                    _ => 0.0,
                };
                let is_near = result == expected
                    || (result - expected).abs() <= allowed
                    || result.is_nan() && expected.is_nan()
                    || operation == FloorDivide && !a.is_finite();
                assert!(is_near, "{operation:?} {dtype:?} {a} {b}: {result} {expected}");
            }
        }
    }
}

#[test]
fn functions_are_those_of_the_standard_library() {
    use ElementOperation::*;
    let numbers = [-5.0, -1.0, -0.3, 0.0, 0.2, 0.5, 1.0, 2.5, 9.0];
    let input = numbers.map(AnyNumber::Double);
    let gelu = |x: f64| 0.5 * x * (1.0 + erf::erf(x / std::f64::consts::SQRT_2));
    let tanh_of = |x: f64| (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
    let formulas: [(ElementOperation, &dyn Fn(f64) -> f64); 20] = [
        (Neg, &|x| -x),
        (Abs, &f64::abs),
        (Sign, &|x| if x == 0.0 { 0.0 } else { x.signum() }),
        (Relu, &|x| x.max(0.0)),
        (Floor, &f64::floor),
        (Ceil, &f64::ceil),
        (Round, &f64::round_ties_even),
        (Trunc, &f64::trunc),
        (Sqrt, &f64::sqrt),
        (Rsqrt, &|x| 1.0 / x.sqrt()),
        (Reciprocal, &f64::recip),
        (Exp, &f64::exp),
        (Log, &f64::ln),
        (Sin, &f64::sin),
        (Cos, &f64::cos),
        (Tanh, &f64::tanh),
        (Sigmoid, &|x| 1.0 / (1.0 + (-x).exp())),
        (Silu, &|x| x / (1.0 + (-x).exp())),
        (GeluErf, &gelu),
        (GeluTanh, &|x| 0.5 * x * (1.0 + tanh_of(x).tanh())),
    ];
    for dtype in [Dtype::F64, Dtype::F32, Dtype::F16, Dtype::Bf16] {
        let step = 2.0_f64.powi(3 - dtype.significand_bits() as i32);
        for (operation, formula) in formulas {
            let results = computed(operation, dtype, Dtype::F64, &[(Dtype::F64, &input)]);
            for (x, result) in numbers.into_iter().zip(results) {
                let held = AnyNumber::Double(x).round_to(dtype).to_double();
                let (result, expected) = (result.to_double(), formula(held));
                let is_near = (result - expected).abs() <= step * expected.abs().max(1.0)
                    || result == expected
                    || result.is_nan() && expected.is_nan();
                assert!(is_near, "{operation:?} {dtype:?} {x}: {result} {expected}");
            }
        }
    }
}

#[test]
fn functions_of_complex_numbers_keep_their_identities() {
    use ElementOperation::*;
    let parts = [-2.5, -0.4, 0.3, 1.0, 2.0];
    let (real, imaginary) = pairs(&parts);
    let numbers: Vec<[f64; 2]> = real.into_iter().zip(imaginary).map(|(a, b)| [a, b]).collect();
    let any = |values: &[[f64; 2]]| -> Vec<AnyNumber> {
        values.iter().map(|value| AnyNumber::ComplexDouble(*value)).collect()
    };
    for dtype in [Dtype::C128, Dtype::C64] {
        let step = 2.0_f64.powi(7 - dtype.significand_bits() as i32);
        let run = |operation, inputs: &[&[[f64; 2]]]| -> Vec<[f64; 2]> {
            let arrays: Vec<Vec<AnyNumber>> = inputs.iter().map(|input| any(input)).collect();
            let inputs: Vec<_> = arrays.iter().map(|array| (dtype, &array[..])).collect();
            let results = computed(operation, dtype, dtype, &inputs);
            results.into_iter().map(AnyNumber::to_complex_double).collect()
        };
        let check = |what: &str, results: &[[f64; 2]], expected: &[[f64; 2]]| {
            for ((result, expected), z) in results.iter().zip(expected).zip(&numbers) {
                let size = expected[0].hypot(expected[1]).max(1.0);
                let apart = (result[0] - expected[0]).hypot(result[1] - expected[1]);
                assert!(apart <= step * size, "{what} {dtype:?} {z:?}: {result:?} {expected:?}");
            }
        };
        let roots = run(Sqrt, &[&numbers]);
        check("sqrt", &run(Mul, &[&roots, &roots]), &numbers);
        assert!(roots.iter().all(|root| root[0] >= 0.0));
        let logarithms = run(Log, &[&numbers]);
        check("log", &run(Exp, &[&logarithms]), &numbers);
        check("div", &run(Mul, &[&run(Div, &[&numbers, &roots]), &roots]), &numbers);
        check("reciprocal", &run(Reciprocal, &[&run(Reciprocal, &[&numbers])]), &numbers);
        let two = vec![[2.0, 0.0]; numbers.len()];
        check("pow", &run(Pow, &[&numbers, &two]), &run(Mul, &[&numbers, &numbers]));
        let (sines, cosines) = (run(Sin, &[&numbers]), run(Cos, &[&numbers]));
        let squares = [&sines, &cosines].map(|values| run(Mul, &[values, values]));
        let one = vec![[1.0, 0.0]; numbers.len()];
        let sum = run(Add, &[&squares[0], &squares[1]]);
        // Both squares are large where the imaginary part is.
        for sum in &sum {
            assert!((sum[0] - 1.0).hypot(sum[1]) <= 100.0 * step, "{dtype:?} {sum:?}");
        }
        // tanh(z) = (1 - exp(-2 z)) / (1 + exp(-2 z)), and sigmoid(2 z) = (1 + tanh(z)) / 2.
        let twice = run(Add, &[&numbers, &numbers]);
        let tanhs = run(Tanh, &[&numbers]);
        let shifted = run(Add, &[&one, &tanhs]);
        check("sigmoid", &run(Sigmoid, &[&twice]), &run(Div, &[&shifted, &two]));
        let sizes: Vec<[f64; 2]> = numbers.iter().map(|z| [z[0].hypot(z[1]), 0.0]).collect();
        check("abs", &run(Abs, &[&numbers]), &sizes);
        check("sign", &run(Mul, &[&run(Sign, &[&numbers]), &sizes]), &numbers);
        let real: Vec<[f64; 2]> = [-2.0, 0.0, 4.0].map(|real| [real, 0.0]).into();
        let expected = [[0.0, 2.0_f64.sqrt()], [0.0, 0.0], [2.0, 0.0]];
        check("sqrt", &run(Sqrt, &[&real]), &expected);
    }
}

#[test]
fn conversions_between_all_types_keep_what_both_hold() {
    let numbers = [0, 1, 2, 3, 64, 100, -1, -3, 1 << 20].map(AnyNumber::Signed);
    let types = Dtype::ALL.into_iter().filter(|dtype| *dtype != Dtype::F4E2M1FnX2);
    let holds = |dtype: Dtype, value: f64| match dtype.integer_range() {
        Some((least, most)) => value as i128 >= least && value as i128 <= most,
        None => {
            let mut bytes = [0; 16];
            encode(AnyNumber::Double(value), dtype, &mut bytes);
            decode(dtype, &bytes).to_double() == value
        }
    };
    for from in types.clone() {
        let is_complex = |dtype: Dtype| dtype.kind() == DtypeKind::Complex;
        for to in types.clone() {
            // A domain of complex numbers computes where either side is one.
            let wide = if is_complex(to) && !is_complex(from) { Dtype::C128 } else { from };
            let results = computed(ElementOperation::Cast, wide, to, &[(from, &numbers)]);
            for (number, result) in numbers.into_iter().zip(results) {
                let value = number.to_double();
                if holds(from, value) && holds(to, value) {
                    assert_eq!(result.to_double(), value, "{from:?} {to:?}");
                }
            }
        }
    }
}

#[test]
fn a_quotient_is_rounded_to_its_type_before_it_is_cut() {
    let of = |value: f64| [AnyNumber::Double(value)];
    for (dtype, dividend, quotient) in [
        // 1502.67 and 202.67 are no numbers of these types, and lie nearer to the next integer.
        (Dtype::F16, 4508.0, 1503.0),
        (Dtype::Bf16, 608.0, 203.0),
        (Dtype::F32, 4508.0, 1502.0),
        (Dtype::F64, 608.0, 202.0),
    ] {
        let operands: [(Dtype, &[AnyNumber]); 2] = [(dtype, &of(dividend)), (dtype, &of(3.0))];
        let cut = computed(ElementOperation::TruncDivide, dtype, dtype, &operands);
        assert_eq!(cut[0].to_double(), quotient, "{dtype:?}");
    }
}
