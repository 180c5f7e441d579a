//! Products of integers beside loops over numbers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod four_bits;

use super::behind::{Added, Behind};
use super::convolution::convolution;
use super::linear::linear;
use super::numbers::{Scale, exact_type, in_type};
use super::observer::{Rule, State, observe};
use super::wrapped;
use crate::abi::tensors::strides_of;
use crate::operations::convolution::Steps;
use crate::operations::fused::activation::Activation;
use crate::sconce::{Tensor, api};
use crate::testing::{Cases, Dense, live};

const F32: i32 = api::SCONCE_DTYPE_F32;
const BF16: i32 = api::SCONCE_DTYPE_BF16;
const I8: i32 = api::SCONCE_DTYPE_I8;
const I32: i32 = api::SCONCE_DTYPE_I32;
const U8: i32 = api::SCONCE_DTYPE_U8;

#[test]
fn numbers_become_the_nearest_integers_within_bounds() {
    let numbers = Dense { sizes: vec![6], values: vec![-9.0, 0.25, 0.75, 1.25, 2.0, 900.0] };
    let scale = Scale { factor: 0.5, zero_point: 3 };
    let found = in_type(&numbers.tensor(F32), scale, U8).unwrap();
    // 0.5, 1.5 and 2.5 steps go to the even one.
    assert_eq!(Dense::of(found.handle()).values, [0.0, 4.0, 4.0, 6.0, 7.0, 255.0]);
    let found = in_type(&numbers.tensor(F32), scale, I8).unwrap();
    assert_eq!(Dense::of(found.handle()).values, [-15.0, 4.0, 4.0, 6.0, 7.0, 127.0]);
    let why = in_type(&numbers.tensor(F32), scale, BF16).unwrap_err();
    assert!(why.message.contains("expect scale=1 and zero point=0 for output of bfloat16"));
    assert_eq!((exact_type(512), exact_type(515)), (F32, api::SCONCE_DTYPE_F64));
}

struct Integers {
    input: Dense,
    weights: Dense,
    scale: Scale,
    scales: Dense,
    bias: Dense,
}

impl Integers {
    fn new(cases: &mut Cases, input: &[i64], weights: &[i64], outputs: i64) -> Integers {
        let factor = cases.int(1, 8) as f64 / 64.0;
        Integers {
            input: Dense::whole(cases, input, 0, 255),
            weights: Dense::whole(cases, weights, -128, 127),
            scale: Scale { factor, zero_point: cases.int(0, 255) },
            scales: Dense::build(&[outputs], |_| cases.int(1, 8) as f64 / 256.0),
            bias: Dense::quarters(cases, &[outputs]),
        }
    }
}

#[test]
fn products_of_integers_agree_with_loops() {
    let before = live();
    let mut cases = Cases::new(91);
    for turn in 0..30 {
        let (rows, outputs) = (cases.int(1, 4), cases.int(1, 5));
        let inner = cases.one(&[1, 7, 40, 600]);
        let of = Integers::new(&mut cases, &[rows, inner], &[inner, outputs], outputs);
        let sum = |at: &[i64]| -> f64 {
            let zero = of.scale.zero_point as f64;
            let product = |k| (of.input.at(&[at[0], k]) - zero) * of.weights.at(&[k, at[1]]);
            let whole: f64 = (0..inner).map(product).sum();
            whole * of.scale.factor * of.scales.at(&at[1..]) + of.bias.at(&at[1..])
        };
        let (input, weights) = (of.input.either(&mut cases, U8), of.weights.tensor(I8));
        let (scales, bias) = (of.scales.tensor(F32), of.bias.tensor(F32));
        let run = |behind: &Behind| {
            let bias = Some(bias.handle());
            linear(input.handle(), of.scale, weights.handle(), scales.handle(), bias, behind)
                .unwrap()
        };
        let activation = Activation::of("relu", &[], "").unwrap();
        let mut behind = Behind { added: None, activation, dtype: F32, scale: Scale::NONE };
        let exact = Dense::build(&[rows, outputs], |at| sum(at).max(0.0));
        exact.assert_near(run(&behind).handle(), 1e-6, &format!("turn {turn}"));
        // A sum in place: the tensor that is added to has the result, and integers with a scale of its own.
        let other = Dense::whole(&mut cases, &[rows, outputs], 0, 255);
        let into = other.tensor(U8);
        let of_other = Scale { factor: 0.5, zero_point: 100 };
        behind.added = Added::of("sum", Some(into.handle()), of_other, 1.0).unwrap();
        (behind.dtype, behind.scale) = (U8, Scale { factor: 4.0, zero_point: 20 });
        let found = run(&behind);
        let exact = Dense::build(&[rows, outputs], |at| {
            let number = (sum(at) + (other.at(at) - 100.0) * 0.5).max(0.0);
            (number / 4.0 + 20.0).round_ties_even().clamp(0.0, 255.0)
        });
        for tensor in [&found, &into] {
            let ours = Dense::of(tensor.handle());
            let apart = ours.values.iter().zip(&exact.values).map(|(a, b)| (a - b).abs());
            assert!(apart.fold(0.0, f64::max) <= 1.0, "turn {turn}: {ours:?} instead of {exact:?}");
        }
    }
    assert_eq!(live(), before);
}

/// Large products on both sides of 1, which float32 would lose beside their sum.
#[test]
fn a_sum_of_many_products_is_exact() {
    let (count, middle) = (40_001, 20_000);
    let input = Dense::build(&[1, count], |at| if at[1] == middle { 1.0 } else { 255.0 });
    let weights = Dense::build(&[count, 1], |at| match at[0].cmp(&middle) {
        std::cmp::Ordering::Less => 127.0,
        std::cmp::Ordering::Equal => 1.0,
        std::cmp::Ordering::Greater => -127.0,
    });
    let one = Dense::build(&[1], |_| 1.0).tensor(F32);
    let behind =
        Behind { added: None, activation: Activation::None, dtype: F32, scale: Scale::NONE };
    let (input, weights) = (input.tensor(U8), weights.tensor(I8));
    let (given, columns) = (input.handle(), weights.handle());
    let found = linear(given, Scale::NONE, columns, one.handle(), None, &behind).unwrap();
    assert_eq!(Dense::of(found.handle()).values, [1.0]);
}

#[test]
fn convolutions_of_integers_agree_with_loops() {
    let before = live();
    let mut cases = Cases::new(92);
    for turn in 0..20 {
        let is_flat = cases.int(0, 2) == 0;
        let (inputs, outputs) = (cases.int(1, 3), cases.int(1, 3));
        let (high, wide) = if is_flat { (1, cases.int(3, 6)) } else { (cases.int(3, 5), 4) };
        let (up, across) = if is_flat { (1, 3) } else { (2, 3) };
        let of = Integers::new(
            &mut cases,
            &[2, inputs, high, wide],
            &[outputs, inputs, up, across],
            outputs,
        );
        let (padding, rows) = (if is_flat { 0 } else { 1 }, high + if is_flat { 0 } else { 1 });
        let exact = Dense::build(&[2, outputs, rows, wide], |at| {
            let mut whole = 0.0;
            for channel in 0..inputs {
                for (row, column) in (0..up).flat_map(|row| (0..across).map(move |at| (row, at))) {
                    let (y, x) = (at[2] - padding + row, at[3] - 1 + column);
                    if (0..high).contains(&y) && (0..wide).contains(&x) {
                        let pixel = of.input.at(&[at[0], channel, y, x]);
                        let weight = of.weights.at(&[at[1], channel, row, column]);
                        whole += (pixel - of.scale.zero_point as f64) * weight;
                    }
                }
            }
            whole * of.scale.factor * of.scales.at(&at[1..2]) + of.bias.at(&at[1..2])
        });
        let (sizes, expected) = match is_flat {
            true => (vec![2, inputs, wide], vec![2, outputs, wide]),
            false => (of.input.sizes.clone(), exact.sizes.clone()),
        };
        let images = Dense { sizes, values: of.input.values.clone() }.either(&mut cases, U8);
        let (filter, scales) = (of.weights.tensor(I8), of.scales.tensor(F32));
        let bias = of.bias.tensor(F32);
        let entries = if is_flat { 1 } else { 2 };
        let (ones, padded) = (vec![1; entries], vec![1; entries]);
        let steps = Steps { stride: &ones, padding: &padded, dilation: &ones, groups: 1 };
        let behind =
            Behind { added: None, activation: Activation::None, dtype: F32, scale: Scale::NONE };
        let (given, rows, bias) = (images.handle(), filter.handle(), Some(bias.handle()));
        let found =
            convolution(given, of.scale, rows, scales.handle(), bias, steps, &behind).unwrap();
        let exact = Dense { sizes: expected, values: exact.values };
        exact.assert_near(found.handle(), 1e-6, &format!("turn {turn}"));
        if !is_flat && outputs > 1 {
            assert_eq!(strides_of(found.handle()).unwrap()[1], 1, "channels are innermost");
        }
    }
    assert_eq!(live(), before);
}

#[test]
fn weights_that_a_model_packs_are_its_own() {
    let before = live();
    pack_and_multiply();
    assert_eq!(live(), before);
}

fn pack_and_multiply() {
    let mut cases = Cases::new(96);
    let (weights, bias) = (Dense::quarters(&mut cases, &[3, 5]), Dense::quarters(&mut cases, &[3]));
    let input = Dense::quarters(&mut cases, &[2, 5]);
    let exact = Dense::build(&[2, 3], |at| {
        let sum: f64 = (0..5).map(|k| input.at(&[at[0], k]) * weights.at(&[at[1], k])).sum();
        sum + bias.at(&at[1..])
    });
    let (given, rows, added) = (input.tensor(F32), weights.tensor(F32), bias.tensor(F32));
    let packed = wrapped::pack_halves(rows.handle()).unwrap();
    let found =
        wrapped::linear_halves(given.handle(), packed.handle(), Some(added.handle()), 3).unwrap();
    exact.assert_near(found.handle(), 1e-6, "halves");
    // Quarters are whole numbers of these scales.
    let (fine, wide) =
        (Scale { factor: 0.25, zero_point: 3 }, Scale { factor: 0.25, zero_point: 120 });
    let packed = wrapped::pack_integers(rows.handle(), fine, Some(added.handle())).unwrap();
    let result = Scale { factor: 0.5, zero_point: 128 };
    let found = wrapped::linear_integers(given.handle(), wide, packed.handle(), result, 3).unwrap();
    let exact = Dense::build(&[2, 3], |at| {
        ((exact.at(at) / 0.5 + 128.0).round_ties_even().clamp(0.0, 255.0) - 128.0) * 0.5
    });
    exact.assert_near(found.handle(), 1e-6, "integers");
    let address = Dense::build(&[8], |_| 1.0).tensor(U8);
    for why in [
        wrapped::linear_halves(given.handle(), address.handle(), None, 3).unwrap_err(),
        wrapped::linear_integers(given.handle(), wide, address.handle(), result, 3).unwrap_err(),
    ] {
        assert!(why.message.contains("torch._inductor.config.freezing = False"), "{why:?}");
    }
}

#[test]
fn a_range_is_followed_and_elements_are_rounded() {
    let before = live();
    follow_a_range();
    assert_eq!(live(), before);
}

fn follow_a_range() {
    let values = vec![-1.0, 0.0, 0.5, 3.0, -2.0, 1.0, 8.0, 0.25];
    let input = Dense { sizes: vec![2, 4], values }.tensor(F32);
    let of = |value: f64, count: i64, dtype| Dense::build(&[count], |_| value).tensor(dtype);
    let (on, infinity) = (of(1.0, 1, I32), f64::INFINITY);
    let (least, most) = (of(infinity, 1, F32), of(-infinity, 1, F32));
    let (scale, zero_point) = (of(1.0, 1, F32), of(0.0, 1, I32));
    let state = State {
        observes: on.handle(),
        rounds: on.handle(),
        least: least.handle(),
        most: most.handle(),
        scale: scale.handle(),
        zero_point: zero_point.handle(),
    };
    let rule = Rule { share: 0.5, least: 0, most: 255, by_row: false, is_symmetric: false };
    let numbers = |tensor: &Tensor| Dense::of(tensor.handle()).values;
    observe(input.handle(), state, rule, 0).unwrap();
    assert_eq!((numbers(&least), numbers(&most)), (vec![-2.0], vec![8.0]));
    assert!((numbers(&scale)[0] - 10.0 / 255.0).abs() < 1e-7);
    assert_eq!(numbers(&zero_point), [51.0]);
    // Half of the way to another range, whose ends are now out of it.
    let second = Dense { sizes: vec![2], values: vec![-4.0, 20.0] }.tensor(F32);
    let [output, mask] = observe(second.handle(), state, rule, 0).unwrap();
    assert_eq!((numbers(&least), numbers(&most)), (vec![-3.0], vec![14.0]));
    assert_eq!(numbers(&mask), [0.0, 0.0]);
    let step = 17.0 / 255.0;
    Dense { sizes: vec![2], values: vec![-45.0 * step, 210.0 * step] }.assert_near(
        output.handle(),
        1e-6,
        "clamped",
    );
    // Neither observed nor rounded.
    let off = of(0.0, 1, I32);
    let still = State { observes: off.handle(), rounds: off.handle(), ..state };
    let [output, mask] = observe(input.handle(), still, rule, 0).unwrap();
    assert_eq!((numbers(&least), numbers(&output)), (vec![-3.0], numbers(&input)));
    assert_eq!(numbers(&mask), [1.0; 8]);
    let why = observe(input.handle(), state, Rule { by_row: true, ..rule }, 1).unwrap_err();
    assert!(why.message.contains("only supported on axis == 0"), "{why:?}");
    let why = observe(input.handle(), state, Rule { by_row: true, ..rule }, 0).unwrap_err();
    assert!(why.message.contains("running_min must have 2 elements, but has 1"), "{why:?}");
}

#[test]
fn operands_of_integers_are_checked() {
    let of = |sizes: &[i64], dtype| Dense::build(sizes, |_| 1.0).tensor(dtype);
    let (input, weights, scales) = (of(&[2, 4], U8), of(&[4, 3], I8), of(&[3], F32));
    let (floats, few, wide) = (of(&[2, 4], F32), of(&[2], F32), of(&[5, 3], I8));
    let behind =
        Behind { added: None, activation: Activation::None, dtype: U8, scale: Scale::NONE };
    for (input, weights, scales, words) in [
        (&floats, &weights, &scales, "data type of input should be uint8 or int8, but is float32"),
        (&input, &input, &scales, "data type of weight should be int8, but is uint8"),
        (&input, &wide, &scales, "has 4 elements, but columns of the weights have 5"),
        (&input, &weights, &few, "weight_scales must have one element or 3, but have 2"),
        (&input, &weights, &input, "weight scales should be dtype float32, but are uint8"),
    ] {
        let (input, weights, scales) = (input.handle(), weights.handle(), scales.handle());
        let why = linear(input, Scale::NONE, weights, scales, None, &behind).unwrap_err();
        assert!(why.message.contains(words), "{words:?} in {why:?}");
    }
    let why = Added::of("sum", None, Scale::NONE, 1.0).unwrap_err();
    assert!(why.message.contains("the extra input is missing for post op sum"));
    assert!(Added::of("sum", Some(input.handle()), Scale::NONE, 2.0).is_err());
    let added = Added::of("sum", Some(floats.handle()), Scale::NONE, 1.0).unwrap();
    let why = Behind { added, ..behind }.check(&[2, 4]).unwrap_err();
    assert!(why.message.contains("should be uint8 (same as output dtype), but got float32"));
}
