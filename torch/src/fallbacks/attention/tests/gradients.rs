//! Gradients of attention beside differences of sums that are written out.

use super::{
    HEADS, KEYS, QUERIES, VALUE_WIDTH, WIDTH, assert_near, expected, from_values, sizes, tensor,
    values,
};
use crate::abi::tensors::{sizes_of, strides_of};
use crate::error::newest;
use crate::fallbacks::attention::backward::{
    aoti_torch_cpu__scaled_dot_product_flash_attention_for_cpu_backward as cpu_backward,
    aoti_torch_cpu__scaled_dot_product_fused_attention_overrideable_backward as other_backward,
    aoti_torch_cuda__scaled_dot_product_cudnn_attention_backward as cudnn_backward,
    aoti_torch_cuda__scaled_dot_product_efficient_attention_backward as efficient_backward,
    aoti_torch_cuda__scaled_dot_product_flash_attention_backward as flash_backward,
};
use crate::fallbacks::attention::gradients::Returned;
use crate::fallbacks::attention::{Attention, ResultOrder};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, operations};
use crate::testing::{assert_refused, call, live};

/// Query, keys, values and what is added to scores, as numbers.
#[derive(Clone)]
struct Inputs([Vec<f64>; 4]);

impl Inputs {
    /// The sum of results, each times its weight.
    fn loss(&self, key_heads: usize, is_causal: bool, weights: &[f64]) -> f64 {
        let [query, key, value, bias] = &self.0;
        let added = |row: usize, column: usize| match is_causal && column > row {
            true => f64::NEG_INFINITY,
            false => bias[row * KEYS + column],
        };
        let (results, _) = expected([query, key, value], key_heads, added);
        results.iter().zip(weights).map(|(result, weight)| result * weight).sum()
    }

    /// How the loss changes with each number of one of the inputs.
    fn differences(&self, which: usize, loss: impl Fn(&Inputs) -> f64) -> Vec<f64> {
        const STEP: f64 = 1e-5;
        (0..self.0[which].len())
            .map(|at| {
                let mut moved = self.clone();
                moved.0[which][at] += STEP;
                let above = loss(&moved);
                moved.0[which][at] -= 2.0 * STEP;
                (above - loss(&moved)) / (2.0 * STEP)
            })
            .collect()
    }
}

/// Tensors of a case, with what attention returned.
struct Case {
    inputs: Inputs,
    tensors: [Tensor; 4],
    gradient: Tensor,
    weights: Vec<f64>,
    output: Tensor,
    log_sums: Tensor,
    key_heads: usize,
    is_causal: bool,
}

impl Case {
    fn new(key_heads: usize, is_causal: bool) -> Case {
        let (query, a) = tensor(&sizes(HEADS, QUERIES, WIDTH), 1);
        let (key, b) = tensor(&sizes(key_heads, KEYS, WIDTH), 2);
        let (value, c) = tensor(&sizes(key_heads, KEYS, VALUE_WIDTH), 3);
        let (bias, d) = tensor(&[QUERIES as i64, KEYS as i64], 4);
        let (gradient, weights) = tensor(&sizes(HEADS, QUERIES, VALUE_WIDTH), 5);
        let tensors = [query, key, value, bias];
        let found = attention(&tensors, is_causal).run(ResultOrder::OfQuery, true).unwrap();
        let (output, log_sums) = (found.output, found.log_sums.unwrap());
        let inputs = Inputs([a, b, c, d]);
        Case { inputs, tensors, gradient, weights, output, log_sums, key_heads, is_causal }
    }

    fn returned(&self) -> Returned {
        Returned {
            gradient: self.gradient.handle(),
            output: self.output.handle(),
            log_sums: self.log_sums.handle(),
        }
    }

    fn expected(&self, which: usize) -> Vec<f64> {
        let loss = |inputs: &Inputs| inputs.loss(self.key_heads, self.is_causal, &self.weights);
        self.inputs.differences(which, loss)
    }
}

fn attention(tensors: &[Tensor; 4], is_causal: bool) -> Attention {
    let [query, key, value, bias] = tensors.each_ref().map(Tensor::handle);
    Attention { query, key, value, mask: Some(bias), is_causal, scale: None }
}

#[test]
fn gradients_are_those_of_differences() {
    for key_heads in [HEADS, 2, 1] {
        for is_causal in [false, true] {
            let case = Case::new(key_heads, is_causal);
            let found =
                attention(&case.tensors, is_causal).gradients(&case.returned(), true).unwrap();
            let all = [found.query, found.key, found.value, found.bias.unwrap()];
            for (which, gradient) in all.iter().enumerate() {
                let sizes = sizes_of(case.tensors[which].handle()).unwrap();
                assert_eq!(sizes_of(gradient.handle()).unwrap(), sizes);
                assert_near(&values(gradient), &case.expected(which), 2e-5);
            }
        }
    }
}

#[test]
fn a_query_that_meets_no_key_changes_nothing() {
    let case = Case::new(HEADS, false);
    let mask: Vec<f32> = (0..QUERIES * KEYS)
        .map(|at| if at / KEYS == 2 { f32::NEG_INFINITY } else { 0.0 })
        .collect();
    let mask = from_values(&[QUERIES as i64, KEYS as i64], &mask);
    let [query, key, value, _] = case.tensors.each_ref().map(Tensor::handle);
    let attention =
        Attention { query, key, value, mask: Some(mask.handle()), is_causal: false, scale: None };
    let found = attention.run(ResultOrder::OfQuery, true).unwrap();
    let log_sums = found.log_sums.unwrap();
    assert_eq!(values(&log_sums)[2], 0.0);
    let returned = Returned {
        gradient: case.gradient.handle(),
        output: found.output.handle(),
        log_sums: log_sums.handle(),
    };
    let gradients = attention.gradients(&returned, false).unwrap();
    assert!(gradients.bias.is_none());
    let of_query = values(&gradients.query);
    assert_eq!(of_query[2 * WIDTH..3 * WIDTH], [0.0; WIDTH]);
    for tensor in [&gradients.query, &gradients.key, &gradients.value] {
        assert!(values(tensor).iter().all(|value| value.is_finite()));
    }
}

/// Calls a function of the ABI with places for so many results.
fn called<const N: usize>(call: impl FnOnce([*mut TensorHandle; N]) -> i32) -> [Tensor; N] {
    let mut handles = [std::ptr::null_mut(); N];
    assert_eq!(call(handles.each_mut().map(std::ptr::from_mut)), 0, "{:?}", newest());
    handles.map(Tensor::from_handle)
}

#[test]
fn all_names_return_the_same_gradients() {
    let before = live();
    let case = Case::new(HEADS, true);
    let [q, k, v, bias] = case.tensors.each_ref().map(Tensor::handle);
    let [g, o, l] = [&case.gradient, &case.output, &case.log_sums].map(Tensor::handle);
    let (none, scale) = (std::ptr::null_mut(), std::ptr::null());
    let mask: *const TensorHandle = &bias;
    let on_cpu =
        called(|[a, b, c]| call!(cpu_backward(g, q, k, v, o, l, 0.0, 1, mask, scale, a, b, c)));
    for (which, gradient) in on_cpu.iter().enumerate() {
        assert_near(&values(gradient), &case.expected(which), 2e-5);
        let [_, head, position, _] = strides_of(gradient.handle()).unwrap()[..] else { panic!() };
        assert!(position > head, "positions lie before heads");
    }
    let flags = [1, 1, 1, 1];
    let flags: *const i32 = flags.as_ptr();
    // Lines of log sums that lie a multiple of 32 apart.
    let options = crate::sconce::values::options(api::SCONCE_DTYPE_F32, api::SCONCE_DEVICE_CPU);
    let nan = crate::sconce::values::real(f64::NAN);
    let padded = operations::full(&[2, HEADS as i64, 32], &nan, &options).unwrap();
    let part = operations::narrow(padded.handle(), 2, 0, QUERIES as i64).unwrap();
    operations::copy(&part, l).unwrap();
    // SAFETY: the handles and arrays are those of the test, and the places are valid for writes; there are four flags.
    let efficient = called(|[a, b, c, d]| unsafe {
        let padded = padded.handle();
        efficient_backward(
            g, q, k, v, bias, o, padded, none, none, 0.0, flags, 4, 1, scale, a, b, c, d,
        )
    });
    let other = called(|[a, b, c, d]| {
        call!(other_backward(
            g, q, k, v, bias, flags, 4, o, l, none, none, 5, 6, 0.0, 1, none, none, scale, a, b, c,
            d
        ))
    });
    for (which, gradient) in efficient.iter().enumerate() {
        assert_near(&values(gradient), &case.expected(which), 2e-5);
        assert_eq!(values(gradient), values(&other[which]));
    }
    // Lines of the bias lie 16 elements apart.
    assert_eq!(strides_of(efficient[3].handle()).unwrap(), [16, 1]);
    let column = operations::unsqueeze(l, -1).unwrap();
    // SAFETY: the handles and arrays are those of the test, and the places are valid for writes.
    let cudnn = called(|[a, b, c]| unsafe {
        let l = column.handle();
        cudnn_backward(g, q, k, v, o, l, none, none, bias, none, none, 5, 6, 0.0, 1, scale, a, b, c)
    });
    for (which, gradient) in cudnn.iter().enumerate() {
        assert_eq!(values(gradient), values(&other[which]));
        let strides = strides_of(case.tensors[which].handle()).unwrap();
        assert_eq!(strides_of(gradient.handle()).unwrap(), strides);
    }
    // Without a bias, whose handle may be NULL.
    let plain = called(|[a, b, c]| {
        call!(cudnn_backward(
            g, q, k, v, o, l, none, none, none, none, none, 5, 6, 0.0, 1, scale, a, b, c
        ))
    });
    let flash = called(|[a, b, c]| {
        call!(flash_backward(
            g, q, k, v, o, l, none, none, 5, 6, 0.0, 1, none, none, scale, a, b, c
        ))
    });
    for (one, another) in plain.iter().zip(&flash) {
        assert_eq!(values(one), values(another));
    }
    drop((case, on_cpu, efficient, other, padded, part, column, cudnn, plain, flash));
    assert_eq!(live(), before);
}

#[test]
fn what_does_not_fit_is_named() {
    let case = Case::new(HEADS, false);
    let [q, k, v, _] = case.tensors.each_ref().map(Tensor::handle);
    let [g, o, l] = [&case.gradient, &case.output, &case.log_sums].map(Tensor::handle);
    let (none, scale) = (std::ptr::null_mut(), std::ptr::null());
    let backward = |g: TensorHandle, o, l, dropout: f64| {
        let (mut a, mut b, mut c) = (std::ptr::null_mut(), none, none);
        let mask = std::ptr::null();
        call!(cpu_backward(g, q, k, v, o, l, dropout, 0, mask, scale, &mut a, &mut b, &mut c))
    };
    assert_refused(backward(q, o, l, 0.0), &["grad_out has the sizes"]);
    assert_refused(backward(g, q, l, 0.0), &["out has the sizes"]);
    assert_refused(backward(g, o, q, 0.0), &["logsumexp has the sizes"]);
    assert_refused(backward(g, o, l, 0.5), &["dropout of 0.5", "model.eval()"]);
}
