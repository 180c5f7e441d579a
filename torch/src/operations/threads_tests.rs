//! Loops that threads share have the same results on any number of threads.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::indexed::{gather, scatter, scatter_reduce};
use super::pooling::{self, Divisor, Size, Windows};
use super::running::{extremes, log_sums};
use super::testing::{Random, tensor, values};
use crate::abi::copies::cloned;
use crate::sconce::{Tensor, api, check};

/// The numbers that a call returns on one thread, which are the same ones on several.
fn on_threads(call: impl Fn() -> Vec<Tensor>) -> Vec<Vec<f64>> {
    let mut found: Option<Vec<Vec<f64>>> = None;
    for threads in [1, 2, 3, 7] {
        check(api::sconce_parallel_set_num_threads(threads)).unwrap();
        let results: Vec<Vec<f64>> =
            call().into_iter().map(|tensor| values(tensor.handle())).collect();
        assert!(found.as_ref().is_none_or(|found| *found == results), "{threads} threads");
        found = Some(results);
    }
    found.unwrap()
}

const F32: i32 = api::SCONCE_DTYPE_F32;
const SIZES: [i64; 2] = [200, 600];

/// A table with fractions, whose sums depend on their order.
fn table(random: &mut Random) -> Tensor {
    let values: Vec<f64> =
        random.values(SIZES[0] * SIZES[1], 1000).iter().map(|value| value * 0.137 - 60.0).collect();
    tensor(&SIZES, F32, &values)
}

#[test]
fn elements_at_indices_keep_their_order() {
    let random = &mut Random(5);
    let (table, source) = (table(random), table(random));
    for dim in [0, 1] {
        // Few places, so that each is written many times.
        let places = random.values(SIZES[0] * SIZES[1], 7);
        let index = tensor(&SIZES, api::SCONCE_DTYPE_I64, &places);
        let results = on_threads(|| {
            let read = gather(table.handle(), dim, index.handle()).unwrap();
            let (sum, last) = (cloned(table.handle()).unwrap(), cloned(table.handle()).unwrap());
            let operands = [index.handle(), source.handle()];
            scatter_reduce(sum.handle(), sum.handle(), operands, dim, "sum", true).unwrap();
            scatter(last.handle(), last.handle(), dim, index.handle(), source.handle()).unwrap();
            vec![read, sum, last]
        });
        // The last of several wins, and sums are those of a plain loop.
        let (table, source) = (values(table.handle()), values(source.handle()));
        let (mut sum, mut last) = (table.clone(), table.clone());
        for at in 0..places.len() {
            let (row, column) = (at / SIZES[1] as usize, at % SIZES[1] as usize);
            let place = places[at] as usize;
            let [row, column] = if dim == 0 { [place, column] } else { [row, place] };
            let to = row * SIZES[1] as usize + column;
            assert_eq!(results[0][at], table[to]);
            sum[to] = f64::from(sum[to] as f32 + source[at] as f32);
            last[to] = source[at];
        }
        assert!(results[1] == sum && results[2] == last, "dim {dim}");
    }
}

#[test]
fn the_first_index_out_of_bounds_is_named_on_any_number_of_threads() {
    let random = &mut Random(6);
    let table = table(random);
    let mut places = random.values(SIZES[0] * SIZES[1], 7);
    // The second one is in an earlier column.
    (places[30 * 600 + 500], places[90 * 600 + 10]) = (1000.0, 2000.0);
    let index = tensor(&SIZES, api::SCONCE_DTYPE_I64, &places);
    for threads in [1, 2, 5] {
        check(api::sconce_parallel_set_num_threads(threads)).unwrap();
        let error = gather(table.handle(), 0, index.handle()).unwrap_err();
        let text = "index 1000 is out of bounds for dimension 0 with size 200";
        assert!(error.message.contains(text), "{}", error.message);
    }
}

#[test]
fn pooled_images_and_running_results_are_the_same() {
    let random = &mut Random(7);
    let table = table(random);
    let image = crate::sconce::operations::reshape(table.handle(), &[2, 3, 100, 200]).unwrap();
    let windows = Windows {
        name: "pool",
        dims: 2,
        size: Size::Fixed {
            kernel: vec![3, 2],
            stride: vec![2],
            padding: vec![1],
            dilation: vec![1],
            ceil_mode: false,
        },
        keeps_order: true,
    };
    let results = on_threads(|| {
        let (largest, places) = pooling::max(image.handle(), &windows).unwrap();
        let divisor = Divisor { count_padding: true, fixed: None };
        let mean = pooling::mean(image.handle(), &windows, divisor).unwrap();
        let (from, at) = (mean.handle(), places.handle());
        let to_largest = pooling::max_backward(from, image.handle(), at, &windows).unwrap();
        let to_all = pooling::mean_backward(from, image.handle(), &windows, divisor).unwrap();
        let running = extremes(table.handle(), 1, true).unwrap();
        let sums = log_sums(table.handle(), 0).unwrap();
        vec![largest, places, mean, to_largest, to_all, running.values, running.indices, sums]
    });
    // All of a gradient goes to the largest elements.
    let of = |at: usize| results[at].iter().sum::<f64>();
    assert!((of(2) - of(3)).abs() < 1e-3 * of(2).abs());
    assert!(results[5].chunks(600).all(|line| line.is_sorted()));
}
