//! Random numbers by name, beside those that PyTorch 2.11 draws on the CPU for the seed 42.

use std::ptr::null_mut;

use super::{Value, call, counted, ints, one, refused, word};
use crate::abi::tensors::{dtype_of_tensor, strides_of};
use crate::sconce::api::{
    self, SCONCE_DTYPE_F32 as F32, SCONCE_DTYPE_F64 as F64, SCONCE_DTYPE_I8 as I8,
    SCONCE_DTYPE_I64 as I64, SCONCE_DTYPE_U8 as U8,
};
use crate::sconce::generator::Generator;
use crate::sconce::{Tensor, check, operations};
use crate::testing::Dense;

/// The default generator of the CPU.
fn default() -> Generator {
    let mut generator = null_mut();
    check(api::sconce_generator_get_default(api::SCONCE_DEVICE_CPU, &mut generator)).unwrap();
    Generator::of(generator)
}

fn seed(generator: Generator, seed: u64) {
    check(api::sconce_generator_set_seed(generator.handle(), seed)).unwrap();
}

/// The result of an operation of the default generator.
fn drawn(name: &str, overload: &str, arguments: Vec<Value>) -> Tensor {
    seed(default(), 42);
    one(name, overload, arguments)
}

fn assert_drawn(tensor: &Tensor, dtype: i32, expected: &[f64]) {
    assert_eq!(dtype_of_tensor(tensor.handle()).unwrap(), dtype);
    let flat = operations::reshape(tensor.handle(), &[-1]).unwrap();
    let expected = Dense { sizes: vec![expected.len() as i64], values: expected.to_vec() };
    expected.assert_near(flat.handle(), 1e-6, "drawn");
}

fn zeros(count: i64, dtype: i32) -> Tensor {
    Dense::build(&[count], |_| 0.0).tensor(dtype)
}

const TENTHS: [f64; 3] = [0.8822692632675171, 0.9150039553642273, 0.38286375999450684];

#[test]
fn new_tensors_have_torchs_numbers_with_and_without_a_generator() {
    counted(|| {
        let mut own = null_mut();
        check(api::sconce_generator_create(api::SCONCE_DEVICE_CPU, &mut own)).unwrap();
        let own = Generator::of(own);
        let int = Value::Int;
        let three = zeros(3, F64);
        let like = || word(&three);
        type Make<'a> = &'a dyn Fn() -> Vec<Value>;
        type Case<'a> = (&'a str, &'a str, &'a str, Make<'a>, i32, &'a [f64]);
        let cases: [Case; 6] = [
            ("rand", "", "generator", &|| vec![ints(&[3])], F32, &TENTHS),
            ("randint", "", "generator", &|| vec![int(10), ints(&[3])], I64, &[2.0, 7.0, 6.0]),
            (
                "randint",
                "low",
                "low_generator",
                &|| vec![int(5), int(15), ints(&[3])],
                I64,
                &[7.0, 12.0, 11.0],
            ),
            ("randperm", "", "generator", &|| vec![int(6)], I64, &[0.0, 3.0, 2.0, 4.0, 1.0, 5.0]),
            ("randint_like", "", "generator", &|| vec![like(), int(10)], F64, &[2.0, 7.0, 6.0]),
            (
                "randint_like",
                "low_dtype",
                "low_generator_dtype",
                &|| vec![like(), int(5), int(15)],
                F64,
                &[7.0, 12.0, 11.0],
            ),
        ];
        for (name, plain, with, arguments, dtype, expected) in cases {
            assert_drawn(&drawn(name, plain, arguments()), dtype, expected);
            for generator in [Value::None, Value::Generator(default()), Value::Generator(own)] {
                seed(own, 42);
                let mut arguments = arguments();
                arguments.push(generator);
                assert_drawn(&drawn(name, with, arguments), dtype, expected);
            }
        }
        // The generator of the call has gone on, and the default one was not asked.
        seed(own, 42);
        let with = |generator| vec![ints(&[3]), Value::Generator(generator)];
        let first = drawn("randn", "generator", with(own));
        let next = one("rand", "", vec![ints(&[3])]);
        assert_drawn(&next, F32, &TENTHS);
        let normal = drawn("randn", "", vec![ints(&[3])]);
        assert_eq!(Dense::of(first.handle()), Dense::of(normal.handle()));
        check(api::sconce_generator_destroy(own.handle())).unwrap();
        assert!(call("rand", "generator", with(own)).unwrap_err().contains("generator"));
    });
}

#[test]
fn fills_change_the_tensor_or_return_one_like_it() {
    counted(|| {
        let real = Value::Float;
        type Case<'a> = (&'a str, &'a str, [&'a str; 2], i32, Vec<f64>, &'a [f64]);
        let cases: [Case; 8] = [
            (
                "uniform_",
                "uniform",
                ["", ""],
                F32,
                vec![2.0, 4.0],
                &[3.7645385, 3.830008, 2.7657275],
            ),
            (
                "normal_",
                "normal_functional",
                ["", ""],
                F32,
                vec![1.0, 2.0],
                &[1.6733807, 1.2576188, 1.4689248],
            ),
            ("log_normal_", "log_normal", ["", ""], F32, vec![], &[5.3301573, 3.5170367, 4.344561]),
            ("cauchy_", "cauchy", ["", ""], F32, vec![], &[-5.4124875, -4.993701, -2.4448743]),
            ("geometric_", "geometric", ["", ""], F32, vec![0.3], &[8.0, 8.0, 6.0]),
            ("random_", "random", ["to", "to"], I64, vec![10.0], &[2.0, 7.0, 6.0]),
            ("random_", "random", ["", ""], I8, vec![], &[102.0, 51.0, 92.0]),
            ("random_", "random", ["from", "from"], U8, vec![5.0], &[133.0, 88.0, 56.0]),
        ];
        for (in_place, functional, overloads, dtype, numbers, expected) in cases {
            let tensor = zeros(3, dtype);
            let arguments = || {
                let mut all = vec![word(&tensor)];
                for number in &numbers {
                    let is_whole = in_place == "random_";
                    all.push(if is_whole { Value::Int(*number as i64) } else { real(*number) });
                }
                if overloads[0] == "from" {
                    all.push(Value::None);
                }
                all
            };
            let returned = drawn(functional, overloads[1], arguments());
            assert_drawn(&returned, dtype, expected);
            assert_drawn(&tensor, dtype, &[0.0; 3]);
            let same = drawn(in_place, overloads[0], arguments());
            assert_eq!(same.handle(), tensor.handle(), "{in_place}");
            assert_drawn(&tensor, dtype, expected);
        }
        let tensor = zeros(3, F32);
        drawn("random_", "from", vec![word(&tensor), Value::Int(5), Value::None]);
        assert_drawn(&tensor, F32, &[14802407.0, 15352036.0, 6424365.0]);
        drawn("exponential_", "", vec![word(&tensor), real(0.5)]);
        assert_drawn(&tensor, F32, &[0.11982803, 0.12995225, 0.26383355]);
        let ones = drawn("bernoulli", "p", vec![word(&zeros(12, F32)), real(0.4)]);
        assert_drawn(&ones, F32, &[1., 1., 1., 1., 0., 0., 0., 0., 1., 1., 1., 1.]);
        let endless = vec![word(&zeros(3, I64)), Value::Int(5), Value::None];
        refused("random_", "from", endless, "pass `to`");
    });
}

#[test]
fn samples_and_chances_have_torchs_numbers() {
    counted(|| {
        let chances =
            Dense { sizes: vec![2, 4], values: vec![1.0, 2.0, 3.0, 4.0, 0.0, 1.0, 0.0, 3.0] };
        let chances = chances.tensor(F32);
        let line = Dense { sizes: vec![4], values: vec![1.0, 2.0, 3.0, 4.0] }.tensor(F32);
        let sampled = |tensor: &Tensor, count, again| {
            vec![word(tensor), Value::Int(count), Value::Bool(again)]
        };
        let two = drawn("multinomial", "", sampled(&chances, 2, false));
        assert_drawn(&two, I64, &[3.0, 1.0, 1.0, 3.0]);
        let six = drawn("multinomial", "", sampled(&line, 6, true));
        assert_drawn(&six, I64, &[0.0, 0.0, 1.0, 0.0, 2.0, 2.0]);
        assert_drawn(&drawn("multinomial", "", sampled(&line, 1, true)), I64, &[3.0]);
        for (tensor, count, words) in [
            (&line, 5, "without replacement"),
            (&line, 0, "n_sample <= 0"),
            (&zeros(3, F32), 1, "sum of probabilities <= 0"),
            (&zeros(3, I64), 1, "floating-point"),
            (&Dense { sizes: vec![2], values: vec![1.0, -1.0] }.tensor(F32), 1, "element < 0"),
        ] {
            refused("multinomial", "", sampled(tensor, count, false), words);
        }

        let tenths = Dense { sizes: vec![4], values: vec![0.1, 0.9, 0.5, 0.5] }.tensor(F32);
        let ones = drawn("bernoulli", "", vec![word(&tenths)]);
        assert_drawn(&ones, F32, &[0.0, 0.0, 1.0, 0.0]);
        let into = zeros(4, I64);
        drawn("bernoulli_", "Tensor", vec![word(&into), word(&tenths)]);
        assert_drawn(&into, I64, &[0.0, 0.0, 1.0, 0.0]);

        let mean = Dense { sizes: vec![3], values: vec![1.0, 2.0, 3.0] }.tensor(F32);
        let moved = drawn("normal", "Tensor_float", vec![word(&mean), Value::Float(0.5)]);
        assert_drawn(&moved, F32, &[1.1683452, 2.0644047, 3.1172311]);
        let means = Dense { sizes: vec![2, 1], values: vec![1.0, 2.0] }.tensor(F32);
        let deviations = Dense { sizes: vec![3], values: vec![1.0, 10.0, 100.0] }.tensor(F32);
        let both = drawn("normal", "Tensor_Tensor", vec![word(&means), word(&deviations)]);
        let expected = [1.3366904, 2.288094, 24.446236, 2.230333, -9.228563, -16.63283];
        assert_drawn(&both, F32, &expected);
        let alone =
            drawn("normal", "float_float", vec![Value::Float(1.0), Value::Float(2.0), ints(&[3])]);
        assert_drawn(&alone, F32, &[1.6733807, 1.2576188, 1.4689248]);
        let sized = |with_gradient| {
            let numbers = vec![ints(&[3]), Value::Int(2), Value::Float(3.0)];
            let place = [Value::Code(6), Value::Device(0, -1), Value::Bool(with_gradient)];
            numbers.into_iter().chain(place).collect()
        };
        let exported = drawn("prims::normal", "", sized(false));
        assert_drawn(&exported, F32, &[3.010071, 2.3864281, 2.703387]);
        assert!(call("prims::normal", "", sized(true)).unwrap_err().contains("requires_grad"));
        let turned =
            operations::transpose(Dense::build(&[2, 3], |_| 0.0).tensor(F32).handle(), 0, 1);
        let like = drawn("rand_like", "", vec![word(&turned.unwrap())]);
        assert_eq!(strides_of(like.handle()).unwrap(), [1, 3]);
    });
}

#[test]
fn numbers_that_are_drawn_until_one_fits_are_torchs() {
    counted(|| {
        let line =
            |values: &[f64]| Dense { sizes: vec![values.len() as i64], values: values.to_vec() };
        let rates = line(&[0.0, 0.5, 4.0, 25.0, 1000.0]);
        let found = drawn("poisson", "", vec![word(&rates.tensor(F64))]);
        assert_drawn(&found, F64, &[0.0, 0.0, 1.0, 14.0, 998.0]);
        let found = drawn("poisson", "", vec![word(&rates.tensor(api::SCONCE_DTYPE_BF16))]);
        assert_drawn(&found, api::SCONCE_DTYPE_BF16, &[0.0, 0.0, 1.0, 14.0, 1000.0]);
        let counts = Dense { sizes: vec![2, 1], values: vec![5.0, 100.0] }.tensor(F32);
        let chances = line(&[0.25, 0.75, 1.0]).tensor(F32);
        let found = drawn("binomial", "", vec![word(&counts), word(&chances)]);
        assert_drawn(&found, F32, &[0.0, 5.0, 5.0, 19.0, 75.0, 100.0]);
        let shapes = line(&[0.0, 0.25, 1.0, 7.5]);
        let found = drawn("_standard_gamma", "", vec![word(&shapes.tensor(F32))]);
        assert_drawn(&found, F32, &[0.0, 1.140_649_3, 0.841_549_6, 2.384_537]);
        assert!(Dense::of(found.handle()).values[0] > 0.0);
        let shapes =
            Dense { sizes: vec![2, 3], values: vec![0.5, 2.0, 4.0, 1.0, 1.0, 1.0] }.tensor(F32);
        let found = drawn("_sample_dirichlet", "", vec![word(&shapes)]);
        let expected = [0.3733063, 0.463463, 0.1632307, 0.3215239, 0.3321862, 0.3462898];
        assert_drawn(&found, F32, &expected);
        let (three, ten) = (zeros(3, F64), Dense { sizes: vec![], values: vec![10.0] });
        for (overload, behind) in [("Tensor", vec![]), ("Tensor_generator", vec![Value::None])] {
            let mut arguments = vec![word(&three), word(&ten.tensor(I64))];
            arguments.extend(behind);
            assert_drawn(&drawn("randint_like", overload, arguments), F64, &[2.0, 7.0, 6.0]);
        }

        // Nothing is drawn until a number that cannot be there fits.
        let nan = line(&[f64::NAN, 3.0, f64::INFINITY]).tensor(F64);
        let halves = line(&[0.5, f64::NAN, 0.5]).tensor(F64);
        let found = drawn("binomial", "", vec![word(&nan), word(&halves)]);
        assert!(Dense::of(found.handle()).values.iter().all(|one| one.is_nan()));
        drawn("poisson", "", vec![word(&line(&[f64::INFINITY]).tensor(F64))]);
        drawn("_standard_gamma", "", vec![word(&line(&[f64::NAN, -1.0]).tensor(F64))]);
        let whole = zeros(2, I64);
        let wrong = line(&[-1.0]).tensor(F32);
        refused("poisson", "", vec![word(&wrong)], "to be non-negative");
        refused("poisson", "", vec![word(&whole)], "not implemented for tensors of int64");
        refused("binomial", "", vec![word(&wrong), word(&halves)], "must have the same type");
        refused("_standard_gamma", "", vec![word(&whole)], "not implemented for");
        let two = vec![word(&three), word(&whole)];
        refused("randint_like", "Tensor", two, "high must be a scalar tensor and on CPU");
    });
}
