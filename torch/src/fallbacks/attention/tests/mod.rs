//! Attention beside sums that are written out.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod gradients;
mod memory;
mod pages;
mod sequences;

use super::functions::aoti_torch_cuda__scaled_dot_product_flash_attention;
use super::{Attention, ResultOrder};
use crate::abi::tensors::{dtype_of_tensor, numel_of, sizes_of, strides_of};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api, check, operations};

/// A tensor of the CPU with values that go up and down.
pub(super) fn tensor(sizes: &[i64], seed: usize) -> (Tensor, Vec<f64>) {
    let count = sizes.iter().product::<i64>() as usize;
    let values: Vec<f32> =
        (0..count).map(|at| ((at * 7 + seed * 13) % 17) as f32 / 8.0 - 1.0).collect();
    (from_values(sizes, &values), values.into_iter().map(f64::from).collect())
}

fn from_values(sizes: &[i64], values: &[f32]) -> Tensor {
    let options = options(api::SCONCE_DTYPE_F32, api::SCONCE_DEVICE_CPU);
    let bytes = size_of_val(values);
    // SAFETY: the values have that many bytes; sizes, options and the place are valid.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_from_values(
            values.as_ptr().cast(),
            bytes,
            sizes.as_ptr(),
            sizes.len(),
            &options,
            made,
        )
    })
    .unwrap()
}

pub(super) fn values(tensor: &Tensor) -> Vec<f64> {
    let single = operations::to_dtype(tensor.handle(), api::SCONCE_DTYPE_F32).unwrap();
    let mut values = vec![0.0_f32; numel_of(tensor.handle()).unwrap() as usize];
    let bytes = size_of_val(values.as_slice());
    // SAFETY: the buffer has that many bytes.
    check(unsafe {
        api::sconce_tensor_to_values(single.handle(), values.as_mut_ptr().cast(), bytes)
    })
    .unwrap();
    values.into_iter().map(f64::from).collect()
}

const BATCH: usize = 2;
const HEADS: usize = 4;
const QUERIES: usize = 5;
const KEYS: usize = 6;
const WIDTH: usize = 3;
const VALUE_WIDTH: usize = 2;

/// The result and the logarithms of sums, of `key_heads` heads of keys; a score counts with what `bias` adds.
fn expected(
    [query, key, value]: [&[f64]; 3],
    key_heads: usize,
    bias: impl Fn(usize, usize) -> f64,
) -> (Vec<f64>, Vec<f64>) {
    let (mut results, mut logs) = (Vec::new(), Vec::new());
    for (batch, head, row) in (0..BATCH * HEADS * QUERIES)
        .map(|at| (at / (HEADS * QUERIES), at / QUERIES % HEADS, at % QUERIES))
    {
        let key_head = batch * key_heads + head / (HEADS / key_heads);
        let at = ((batch * HEADS + head) * QUERIES + row) * WIDTH;
        let scores: Vec<f64> = (0..KEYS)
            .map(|column| {
                let keys = (key_head * KEYS + column) * WIDTH;
                let dot: f64 = (0..WIDTH).map(|dim| query[at + dim] * key[keys + dim]).sum();
                dot / (WIDTH as f64).sqrt() + bias(row, column)
            })
            .collect();
        let sum: f64 = scores.iter().map(|score| score.exp()).sum();
        logs.push(sum.ln());
        for dim in 0..VALUE_WIDTH {
            let of = |column: usize| value[(key_head * KEYS + column) * VALUE_WIDTH + dim];
            let weighted: f64 = (0..KEYS).map(|column| scores[column].exp() * of(column)).sum();
            results.push(if sum == 0.0 { 0.0 } else { weighted / sum });
        }
    }
    (results, logs)
}

pub(super) fn assert_near(found: &[f64], expected: &[f64], within: f64) {
    assert_eq!(found.len(), expected.len());
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let equal = found == expected || (found - expected).abs() <= within;
        assert!(equal, "at {at}: {found} instead of {expected}");
    }
}

fn sizes(heads: usize, positions: usize, width: usize) -> [i64; 4] {
    [BATCH, heads, positions, width].map(|size| size as i64)
}

/// Attention without a mask.
pub(super) fn unmasked(query: &Tensor, key: &Tensor, value: &Tensor) -> Attention {
    Attention {
        query: query.handle(),
        key: key.handle(),
        value: value.handle(),
        mask: None,
        is_causal: false,
        scale: None,
    }
}

/// Checks one way of attention.
fn check_attention(key_heads: usize, is_causal: bool, bias: Option<&dyn Fn(usize, usize) -> f64>) {
    let (query, queries) = tensor(&sizes(HEADS, QUERIES, WIDTH), 1);
    let (key, keys) = tensor(&sizes(key_heads, KEYS, WIDTH), 2);
    let (value, given) = tensor(&sizes(key_heads, KEYS, VALUE_WIDTH), 3);
    let mask = bias.map(|bias| {
        let values: Vec<f32> =
            (0..QUERIES * KEYS).map(|at| bias(at / KEYS, at % KEYS) as f32).collect();
        from_values(&[QUERIES as i64, KEYS as i64], &values)
    });
    let attention = Attention {
        query: query.handle(),
        key: key.handle(),
        value: value.handle(),
        mask: mask.as_ref().map(Tensor::handle),
        is_causal,
        scale: None,
    };
    let found = attention.run(ResultOrder::PositionsFirst, true).unwrap();
    let adds = |row: usize, column: usize| match bias {
        _ if is_causal && column > row => f64::NEG_INFINITY,
        Some(bias) => bias(row, column),
        None => 0.0,
    };
    let (results, logs) = expected([&queries, &keys, &given], key_heads, adds);
    assert_near(&values(&found.output), &results, 1e-5);
    let finite: (Vec<_>, Vec<_>) = values(&found.log_sums.unwrap())
        .into_iter()
        .zip(logs)
        .filter(|(_, log)| log.is_finite())
        .unzip();
    assert_near(&finite.0, &finite.1, 1e-5);
}

#[test]
fn results_are_those_of_sums_written_out() {
    for key_heads in [HEADS, 2, 1] {
        for is_causal in [false, true] {
            check_attention(key_heads, is_causal, None);
            check_attention(
                key_heads,
                is_causal,
                Some(&|row, column| (row as f64 - column as f64) / 4.0),
            );
        }
    }
}

#[test]
fn a_query_that_meets_no_key_has_zeros() {
    check_attention(HEADS, false, Some(&|row, _| if row == 2 { f64::NEG_INFINITY } else { 0.0 }));
}

#[test]
fn halves_are_rounded_once() {
    let halves = |sizes: &[i64], seed| {
        let (tensor, values) = tensor(sizes, seed);
        (operations::to_dtype(tensor.handle(), api::SCONCE_DTYPE_F16).unwrap(), values)
    };
    let (query, queries) = halves(&sizes(HEADS, QUERIES, WIDTH), 1);
    let (key, keys) = halves(&sizes(HEADS, KEYS, WIDTH), 2);
    let (value, given) = halves(&sizes(HEADS, KEYS, VALUE_WIDTH), 3);
    let attention = unmasked(&query, &key, &value);
    let found = attention.run(ResultOrder::OfQuery, false).unwrap();
    assert!(found.log_sums.is_none());
    assert_eq!(dtype_of_tensor(found.output.handle()).unwrap(), api::SCONCE_DTYPE_F16);
    let (results, _) = expected([&queries, &keys, &given], HEADS, |_, _| 0.0);
    // Half a unit of the last place of a half below 1.
    assert_near(&values(&found.output), &results, 1.0 / 4096.0 + 1e-6);
}

#[test]
fn the_order_in_memory_is_that_of_positions_or_of_the_query() {
    let (rows, _) = tensor(&sizes(QUERIES, HEADS, WIDTH), 1);
    let query = operations::transpose(rows.handle(), 1, 2).unwrap();
    let (plain, _) = tensor(&sizes(HEADS, QUERIES, WIDTH), 1);
    let (key, _) = tensor(&sizes(HEADS, KEYS, WIDTH), 2);
    let (value, _) = tensor(&sizes(HEADS, KEYS, WIDTH), 3);
    let run = |query: &Tensor, order| {
        let attention = unmasked(query, &key, &value);
        let output = attention.run(order, false).unwrap().output;
        assert_eq!(sizes_of(output.handle()).unwrap(), sizes(HEADS, QUERIES, WIDTH));
        strides_of(output.handle()).unwrap()
    };
    let whole = (HEADS * QUERIES * WIDTH) as i64;
    let (positions_first, heads_first) =
        ([whole, 3, 3 * HEADS as i64, 1], [whole, 3 * QUERIES as i64, 3, 1]);
    assert_eq!(run(&plain, ResultOrder::PositionsFirst), positions_first);
    assert_eq!(run(&plain, ResultOrder::OfQuery), heads_first);
    assert_eq!(run(&query, ResultOrder::OfQuery), positions_first);
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let (query, _) = tensor(&sizes(HEADS, QUERIES, WIDTH), 1);
    let (key, _) = tensor(&sizes(3, KEYS, WIDTH), 2);
    let attention = unmasked(&query, &key, &key);
    let refused = attention.run(ResultOrder::OfQuery, false).err().unwrap();
    assert!(refused.message.contains("multiple of those of the keys"), "{}", refused.message);
}

#[test]
fn results_that_are_not_read_are_not_returned() {
    let (query, _) = tensor(&sizes(HEADS, QUERIES, WIDTH), 1);
    let (key, _) = tensor(&sizes(HEADS, KEYS, WIDTH), 2);
    let (value, _) = tensor(&sizes(HEADS, KEYS, VALUE_WIDTH), 3);
    let none = std::ptr::null_mut();
    let mut output = std::ptr::null_mut();
    let mut queries = 0;
    let attend = |place: *mut TensorHandle, queries: *mut i64| {
        // SAFETY: the handles are alive; the places are NULL or valid for writes.
        unsafe {
            aoti_torch_cuda__scaled_dot_product_flash_attention(
                query.handle(),
                key.handle(),
                value.handle(),
                0.0,
                0,
                0,
                std::ptr::null(),
                place,
                none,
                none,
                none,
                queries,
                std::ptr::null_mut(),
                none,
                none,
                none,
            )
        }
    };
    assert_eq!(attend(&mut output, &mut queries), 0);
    assert_eq!(sizes_of(output).unwrap(), sizes(HEADS, QUERIES, VALUE_WIDTH));
    assert_eq!(queries, QUERIES as i64);
    drop(Tensor::from_handle(output));
    assert_eq!(attend(none, &mut queries), 1, "the result itself has to be read");
}
