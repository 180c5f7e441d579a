//! Convolutions and products with what follows, beside loops over numbers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::activation::Activation;
use super::after::{After, Combination};
use super::convolution::{convolution, transposed_convolution};
use super::linear::linear;
use crate::abi::tensors::{dtype_of_tensor, strides_of};
use crate::operations::convolution::Steps;
use crate::operations::packed::description::PackedLayout;
use crate::operations::packed::description::tests::Written;
use crate::operations::packed::unpack::unpacked;
use crate::sconce::{Tensor, api};
use crate::testing::{Cases, Dense, live};

const F32: i32 = api::SCONCE_DTYPE_F32;
const BF16: i32 = api::SCONCE_DTYPE_BF16;

/// A function's name, its numbers, and the function itself.
type Named = (&'static str, &'static [Option<f64>], fn(f64) -> f64);

const FUNCTIONS: &[Named] = &[
    ("none", &[], |x| x),
    ("relu", &[None], |x| x.max(0.0)),
    ("sigmoid", &[], |x| 1.0 / (1.0 + (-x).exp())),
    ("tanh", &[], f64::tanh),
    ("swish", &[], |x| x / (1.0 + (-x).exp())),
    ("hardswish", &[], |x| x * (x + 3.0).clamp(0.0, 6.0) / 6.0),
    ("hardsigmoid", &[], |x| (x + 3.0).clamp(0.0, 6.0) / 6.0),
    ("leaky_relu", &[Some(0.25)], |x| if x > 0.0 { x } else { x / 4.0 }),
    ("hardtanh", &[Some(-0.5), Some(1.5)], |x| x.clamp(-0.5, 1.5)),
];

fn gelu_tanh(x: f64) -> f64 {
    let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
    x / 2.0 * (1.0 + inner.tanh())
}

#[test]
fn functions_are_those_of_their_names() {
    let before = live();
    let input = Dense::build(&[17], |at| at[0] as f64 / 2.0 - 4.0);
    for &(name, numbers, function) in FUNCTIONS {
        let found = Activation::of(name, numbers, "").unwrap().apply(input.tensor(F32)).unwrap();
        let expected = Dense::build(&[17], |at| function(input.at(at)));
        expected.assert_near(found.handle(), 1e-6, name);
    }
    let gelu = Activation::of("gelu", &[], "tanh").unwrap().apply(input.tensor(F32)).unwrap();
    Dense::build(&[17], |at| gelu_tanh(input.at(at))).assert_near(gelu.handle(), 1e-5, "gelu");
    // The exact one differs by up to 5e-4.
    let exact = Activation::of("gelu", &[], "none").unwrap().apply(input.tensor(F32)).unwrap();
    Dense::of(gelu.handle()).assert_near(exact.handle(), 1e-3, "gelu");
    assert_ne!(Dense::of(gelu.handle()), Dense::of(exact.handle()));
    drop((gelu, exact));
    assert_eq!(live(), before);
}

#[test]
fn what_is_no_function_is_named() {
    for (name, numbers, algorithm, words) in [
        ("mish", &[][..], "", "\"mish\" is no function"),
        ("gelu", &[], "fast", "algorithm of gelu is \"fast\""),
        ("leaky_relu", &[None], "", "scalars of leaky_relu lack the one at 0"),
        ("hardtanh", &[Some(1.0)], "", "scalars of hardtanh lack the one at 1"),
    ] {
        let why = Activation::of(name, numbers, algorithm).unwrap_err();
        assert!(why.message.contains(words), "{words:?} in {why:?}");
    }
    assert!(Combination::of("pow").unwrap_err().message.contains("\"pow\" is not add"));
}

/// Weights as a model has them: packed in columns, and unpacked again.
fn packed(of: &Dense) -> Tensor {
    let strides: Vec<i64> =
        (0..of.sizes.len()).map(|dim| of.sizes[..dim].iter().product()).collect();
    let mut memory = vec![0.0_f32; of.values.len()];
    Dense::build(&of.sizes, |at| {
        let place: i64 = at.iter().zip(&strides).map(|(at, stride)| at * stride).sum();
        memory[place as usize] = of.at(at) as f32;
        0.0
    });
    let written = Written::new(3, &of.sizes, &of.sizes, &strides, &[]);
    let description = PackedLayout::read(&written.0, &of.sizes).unwrap();
    // SAFETY: the memory has all elements.
    #[allow(unsafe_code, reason = "unpacks memory")]
    unsafe { unpacked(memory.as_ptr().cast(), &description, &of.sizes) }.unwrap()
}

#[test]
fn products_agree_with_loops() {
    let before = live();
    let mut cases = Cases::new(81);
    for turn in 0..40 {
        let dtype = cases.one(&[F32, BF16]);
        let mut sizes = vec![cases.int(1, 3)];
        if cases.int(0, 1) == 1 {
            sizes.push(cases.int(1, 4));
        }
        let (inner, outputs) = (cases.int(1, 9), cases.int(1, 6));
        let (mut of_input, mut of_result) = (sizes.clone(), sizes);
        of_input.push(inner);
        of_result.push(outputs);
        let input = Dense::quarters(&mut cases, &of_input);
        let weights = Dense::quarters(&mut cases, &[outputs, inner]);
        let bias = (cases.int(0, 1) == 1).then(|| Dense::quarters(&mut cases, &[outputs]));
        let other = (cases.int(0, 1) == 1).then(|| Dense::quarters(&mut cases, &of_result));
        let name = cases.one(&["add", "sub", "mul"]);
        let &(function, numbers, real) = &FUNCTIONS[cases.int(0, 8) as usize];
        let tensor = input.either(&mut cases, dtype);
        let rows = match dtype {
            F32 => packed(&weights),
            _ => weights.either(&mut cases, dtype),
        };
        let (bias_tensor, other_tensor) =
            (bias.as_ref().map(|of| of.tensor(dtype)), other.as_ref().map(|of| of.tensor(dtype)));
        let after = After {
            other: other_tensor.as_ref().map(|of| (of.handle(), Combination::of(name).unwrap())),
            activation: Activation::of(function, numbers, "").unwrap(),
        };
        let found =
            linear(tensor.handle(), rows.handle(), bias_tensor.as_ref().map(Tensor::handle), after)
                .unwrap();
        let exact = Dense::build(&of_result, |at| {
            let (line, output) = (&at[..at.len() - 1], at[at.len() - 1]);
            let product = |k| input.at(&[line, &[k]].concat()) * weights.at(&[output, k]);
            let mut sum: f64 = (0..inner).map(product).sum();
            sum += bias.as_ref().map_or(0.0, |bias| bias.at(&[output]));
            if let Some(other) = &other {
                sum = match name {
                    "add" => sum + other.at(at),
                    "sub" => sum - other.at(at),
                    _ => sum * other.at(at),
                };
            }
            real(sum)
        });
        let near = if dtype == F32 { 1e-5 } else { 4e-3 };
        exact.assert_near(found.handle(), near, &format!("turn {turn}, {function}"));
        assert_eq!(dtype_of_tensor(found.handle()).unwrap(), dtype);
    }
    assert_eq!(live(), before);
}

/// A convolution over one dimension: the sum over taps and channels of a group.
fn convolved(images: &Dense, filter: &Dense, bias: &Dense, steps: Steps<'_>) -> Dense {
    let (channels, taps) = (filter.sizes[1], filter.sizes[2]);
    let (stride, padding, dilation) = (steps.stride[0], steps.padding[0], steps.dilation[0]);
    let places = (images.sizes[2] + 2 * padding - dilation * (taps - 1) - 1) / stride + 1;
    Dense::build(&[images.sizes[0], filter.sizes[0], places], |at| {
        let group = at[1] / (filter.sizes[0] / steps.groups);
        let mut sum = bias.at(&[at[1]]);
        for channel in 0..channels {
            for tap in 0..taps {
                let place = at[2] * stride - padding + tap * dilation;
                if (0..images.sizes[2]).contains(&place) {
                    let pixel = images.at(&[at[0], group * channels + channel, place]);
                    sum += pixel * filter.at(&[at[1], channel, tap]);
                }
            }
        }
        sum
    })
}

#[test]
fn convolutions_agree_with_loops() {
    let before = live();
    let mut cases = Cases::new(82);
    for turn in 0..30 {
        let dtype = cases.one(&[F32, BF16]);
        let groups = cases.int(1, 2);
        let (inputs, outputs) = (groups * cases.int(1, 3), groups * cases.int(1, 3));
        let (stride, padding, dilation) = ([cases.int(1, 2)], [cases.int(0, 2)], [cases.int(1, 2)]);
        let steps = Steps { stride: &stride, padding: &padding, dilation: &dilation, groups };
        let sizes = [cases.int(1, 2), inputs, cases.int(5, 8)];
        let images = Dense::quarters(&mut cases, &sizes);
        let taps = cases.int(1, 3);
        let filter = Dense::quarters(&mut cases, &[outputs, inputs / groups, taps]);
        let bias = Dense::quarters(&mut cases, &[outputs]);
        let expected = convolved(&images, &filter, &bias, steps);
        let other = Dense::quarters(&mut cases, &expected.sizes);
        let (given, of_bias) = (images.either(&mut cases, dtype), bias.tensor(dtype));
        let (rows, added) = (filter.either(&mut cases, dtype), other.tensor(dtype));
        let after = After {
            other: Some((added.handle(), Combination::of("add").unwrap())),
            activation: Activation::of("relu", &[], "").unwrap(),
        };
        let of_bias = Some(of_bias.handle());
        let found = convolution(given.handle(), rows.handle(), of_bias, steps, after).unwrap();
        let expected =
            Dense::build(&expected.sizes, |at| (expected.at(at) + other.at(at)).max(0.0));
        let near = if dtype == F32 { 1e-5 } else { 4e-3 };
        expected.assert_near(found.handle(), near, &format!("turn {turn}"));
    }
    assert_eq!(live(), before);
}

/// A transposed convolution is as good as the one with ordinary weights, once PyTorch's packed form has been put back
/// in order: outputs of all groups first.
#[test]
fn packed_weights_of_transposed_convolutions_are_exchanged() {
    let before = live();
    let mut cases = Cases::new(83);
    for groups in [1, 2, 3] {
        let (inputs, outputs) = (2 * groups, 3);
        let filter = Dense::quarters(&mut cases, &[inputs, outputs, 2, 3]);
        let each = inputs / groups;
        let turned = Dense::build(&[groups * outputs, each, 2, 3], |at| {
            let (group, output) = (at[0] / outputs, at[0] % outputs);
            filter.at(&[group * each + at[1], output, at[2], at[3]])
        });
        let images = Dense::quarters(&mut cases, &[2, inputs, 4, 4]).tensor(F32);
        let (stride, padding, ones) = ([2, 1], [1, 0], [1, 1]);
        let steps = Steps { stride: &stride, padding: &padding, dilation: &ones, groups };
        let run = |weights: &Tensor| {
            let after = After::only(Activation::None);
            transposed_convolution(images.handle(), weights.handle(), None, steps, &[1, 0], after)
                .unwrap()
        };
        let (own, of_packed) = (run(&filter.tensor(F32)), run(&packed(&turned)));
        Dense::of(own.handle()).assert_near(of_packed.handle(), 1e-6, &format!("groups={groups}"));
        // Channels are innermost in memory where the weights were packed.
        assert_eq!(strides_of(own.handle()).unwrap()[3], 1);
        assert_eq!(strides_of(of_packed.handle()).unwrap()[1], 1);
    }
    assert_eq!(live(), before);
}

#[test]
fn operands_that_do_not_fit_are_named() {
    let of = |sizes: &[i64], dtype| Dense::build(sizes, |_| 1.0).tensor(dtype);
    let (input, rows, wide) = (of(&[2, 4], F32), of(&[3, 4], F32), of(&[3, 5], F32));
    let (half, short, cube) = (of(&[3, 4], BF16), of(&[2], F32), of(&[1, 3, 4], F32));
    let none = After::only(Activation::None);
    for (weights, bias, words) in [
        (
            &wide,
            None,
            "the last dimension of the input has 4 elements, but rows of the weight have 5",
        ),
        (&half, None, "Input type (float32) and weight type (bfloat16) should be the same"),
        (&rows, Some(&short), "bias must have 3 elements, but its sizes are [2]"),
        (&cube, None, "weight must be a matrix"),
    ] {
        let bias = bias.map(Tensor::handle);
        let why = linear(input.handle(), weights.handle(), bias, none).unwrap_err();
        assert!(why.message.contains(words), "{words:?} in {why:?}");
    }
    let other = Some((input.handle(), Combination::of("add").unwrap()));
    let after = After { other, activation: Activation::None };
    let why = linear(input.handle(), rows.handle(), None, after).unwrap_err();
    assert!(why.message.contains("inputs should have same shape, but other has [2, 4]"), "{why:?}");
}
