//! Products of integers and of weights of 4 bits, beside loops over numbers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::behind::{Added, Behind};
use super::convolution::convolution;
use super::four_bits::{Packing, four_bit_weights};
use super::linear::linear;
use super::numbers::{Scale, exact_type, in_type};
use super::observer::{Rule, State, observe};
use super::tensor_cores::packed_for_tensor_cores;
use super::{dynamic, wrapped};
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

/// Bits of weights, outputs times inputs, and what they stand for.
struct FourBits {
    bits: Dense,
    scales: Dense,
    group: i64,
}

impl FourBits {
    fn new(cases: &mut Cases, outputs: i64, inputs: i64, group: i64) -> FourBits {
        FourBits {
            bits: Dense::whole(cases, &[outputs, inputs], 0, 15),
            scales: Dense::build(&[inputs / group, outputs, 2], |_| cases.int(-8, 8) as f64 / 16.0),
            group,
        }
    }

    fn product(&self, input: &Dense) -> Dense {
        Dense::build(&[input.sizes[0], self.bits.sizes[0]], |at| {
            let weight = |k: i64| {
                let of = |part| self.scales.at(&[k / self.group, at[1], part]);
                (self.bits.at(&[at[1], k]) - 8.0) * of(0) + of(1)
            };
            (0..self.bits.sizes[1]).map(|k| input.at(&[at[0], k]) * weight(k)).sum()
        })
    }
}

#[test]
fn weights_of_four_bits_are_found_in_each_packing() {
    let before = live();
    let mut cases = Cases::new(93);
    for packing in [Packing::AVX512, Packing::AVX2, Packing::DEFAULT, Packing::NEON] {
        for outputs in [16, 48, 64, 80, 144] {
            let inputs = 64;
            let of = FourBits::new(&mut cases, outputs, inputs, 32);
            // As PyTorch's kernels write them: block by block, input by input.
            let mut bytes = vec![0_u8; (outputs * inputs / 2) as usize];
            for begin in (0..outputs).step_by(packing.block) {
                let count = (outputs - begin).min(packing.block as i64);
                for input in 0..inputs {
                    let line = (begin * inputs + input * count) / 2;
                    for byte in 0..count / 2 {
                        let whole = packing.halves && count == packing.block as i64;
                        let pair = match whole {
                            true => [byte, byte + count / 2],
                            false => [2 * byte, 2 * byte + 1],
                        };
                        let four = pair.map(|at| of.bits.at(&[begin + at, input]) as u8);
                        bytes[(line + byte) as usize] = four[0] | four[1] << 4;
                    }
                }
            }
            let packed = Dense {
                sizes: vec![outputs, inputs / 2],
                values: bytes.into_iter().map(f64::from).collect(),
            };
            // Few rows, and many.
            let rows = cases.one(&[1, 3, 16, 17]);
            let input = Dense::quarters(&mut cases, &[rows, inputs]);
            let (given, packed, scales) =
                (input.tensor(F32), packed.tensor(U8), of.scales.tensor(F32));
            let found =
                four_bit_weights(given.handle(), packed.handle(), 32, scales.handle(), packing)
                    .unwrap();
            let what = format!("{packing:?}, {outputs} outputs, {rows} rows");
            of.product(&input).assert_near(found.handle(), 1e-6, &what);
        }
    }
    assert_eq!(live(), before);
}

/// The numbers of `_convert_weight_to_int4pack`, thread by thread, as its kernel writes them.
fn for_tensor_cores(bits: &Dense, inner: i64) -> Dense {
    let (outputs, inputs) = (bits.sizes[0], bits.sizes[1]);
    Dense::build(&[outputs / 8, inputs / (inner * 16), 32, inner / 2], |at| {
        let (tile, step, thread, pair) = (at[0], at[1], at[2], at[3]);
        let first = (step * inner + 2 * pair) * 16 + thread % 4 * 2;
        let inputs = [0, 1, 8, 9, 16, 17, 24, 25].map(|more| first + more);
        let four = |index: usize| bits.at(&[tile * 8 + thread / 4, inputs[index]]) as u32;
        let order = [0, 2, 4, 6, 1, 3, 5, 7];
        let number = order.iter().rev().fold(0_u32, |number, &index| number << 4 | four(index));
        f64::from(number.cast_signed())
    })
}

#[test]
fn weights_for_tensor_cores_are_found() {
    let before = live();
    let mut cases = Cases::new(94);
    for inner in [2, 4, 8] {
        let of = FourBits::new(&mut cases, 24, 256, 64);
        let packed = for_tensor_cores(&of.bits, inner).tensor(I32);
        let input = Dense::quarters(&mut cases, &[2, 256]);
        let (given, scales) = (input.tensor(BF16), of.scales.tensor(BF16));
        let found =
            packed_for_tensor_cores(given.handle(), packed.handle(), 64, scales.handle()).unwrap();
        let expected = Dense::of(of.product(&input).tensor(BF16).handle());
        expected.assert_near(found.handle(), 1e-2, &format!("inner={inner}"));
    }
    assert_eq!(live(), before);
}

#[test]
fn rows_are_quantized_on_the_way() {
    let before = live();
    let mut cases = Cases::new(95);
    for (group, inputs) in [(32, 96), (64, 64), (6, 6)] {
        let outputs = 5;
        let bits = Dense::whole(&mut cases, &[outputs, inputs], 0, 15);
        let bytes = Dense::build(&[outputs, inputs / 2], |at| {
            let four = |half| bits.at(&[at[0], 2 * at[1] + half]);
            four(0) + 16.0 * four(1)
        });
        let scales = Dense::build(&[outputs, inputs / group], |_| cases.int(1, 9) as f64 / 8.0);
        let sizes = [group, inputs, outputs];
        let (bytes, of_scales) = (bytes.tensor(U8), scales.tensor(F32));
        let packed = dynamic::pack(bytes.handle(), of_scales.handle(), None, sizes).unwrap();
        // Numbers from -1 to 1 in steps of a 255th of 2 are integers without a rounding.
        let mut input = Dense::build(&[3, inputs], |_| cases.int(-127, 127) as f64 / 127.5);
        for row in 0..3 {
            input.values[(row * inputs) as usize] = -1.0;
            input.values[(row * inputs) as usize + 1] = 1.0;
        }
        let given = input.tensor(F32);
        let found = dynamic::matmul(given.handle(), packed.handle(), sizes).unwrap();
        let exact = Dense::build(&[3, outputs], |at| {
            let product = |k| {
                let weight = (bits.at(&[at[1], k]) - 8.0) * scales.at(&[at[1], k / group]);
                input.at(&[at[0], k]) * weight
            };
            (0..inputs).map(product).sum()
        });
        // Each number is within half a step.
        let most = inputs as f64 * 9.0 / 255.0;
        let apart = Dense::of(found.handle()).values;
        for (found, exact) in apart.iter().zip(&exact.values) {
            assert!((found - exact).abs() <= most, "{found} instead of {exact}");
        }
    }
    let other = Dense::build(&[7], |_| 0.0).tensor(F32);
    let given = Dense::build(&[2, 32], |_| 0.0).tensor(F32);
    let why = dynamic::matmul(given.handle(), other.handle(), [32, 32, 4]).unwrap_err();
    assert!(why.message.contains("with 7 elements, and not 68 of float32"), "{why:?}");
    let why = dynamic::matmul(given.handle(), other.handle(), [24, 32, 4]).unwrap_err();
    assert!(why.message.contains("Group size should be multiple 32 or in_features [32]"));
    drop((other, given));
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
