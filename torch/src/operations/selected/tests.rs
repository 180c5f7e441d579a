//! Elements that a mask chooses, beside plain loops.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::abi::tensors::strides_of;
use crate::operations::testing::{Random, content, indices, scattered_tensor, tensor, values};

const F32: i32 = api::SCONCE_DTYPE_F32;
const BOOL: i32 = api::SCONCE_DTYPE_BOOL;

#[test]
fn coordinates_of_what_is_not_zero_are_found_in_order() {
    let random = &mut Random(21);
    for round in 0..80 {
        let rank = random.size(0, 4) as usize;
        let sizes: Vec<i64> = (0..rank).map(|_| random.size(0, 4)).collect();
        let all = random.values(sizes.iter().product(), 3);
        let dtype = [F32, BOOL, api::SCONCE_DTYPE_I8, api::SCONCE_DTYPE_F16][round % 4];
        let own = scattered_tensor(&sizes, dtype, &all, random);
        let rows: Vec<Vec<i64>> = indices(&sizes)
            .into_iter()
            .zip(&all)
            .filter(|(_, value)| **value != 0.0)
            .map(|(at, _)| at)
            .collect();
        let flat =
            |rows: &[Vec<i64>]| -> Vec<f64> { rows.concat().iter().map(|&at| at as f64).collect() };
        let found = nonzero(own.handle()).unwrap();
        assert_eq!(
            content(&found),
            (vec![rows.len() as i64, rank as i64], flat(&rows)),
            "round {round}"
        );
        if rows.len() > 1 && rank > 1 {
            assert_eq!(strides_of(found.handle()).unwrap(), [1, rows.len() as i64]);
        }
        let size = random.size(0, 6);
        let mut some = rows;
        some.resize(size as usize, vec![-1; rank]);
        let found = nonzero_static(own.handle(), size, -1).unwrap();
        assert_eq!(content(&found), (vec![size, rank as i64], flat(&some)), "round {round}");
    }
}

#[test]
fn masks_select_and_are_filled_in_order() {
    let random = &mut Random(22);
    for round in 0..80 {
        let rank = random.size(1, 3) as usize;
        let sizes = random.sizes(rank, 5);
        let count: i64 = sizes.iter().product();
        let (all, truth) = (random.values(count, 50), random.values(count, 2));
        let source = random.values(count + 2, 50);
        let own = scattered_tensor(&sizes, F32, &all, random);
        let mask = scattered_tensor(&sizes, BOOL, &truth, random);
        let from = tensor(&[count + 2], F32, &source);
        let chosen: Vec<f64> = all
            .iter()
            .zip(&truth)
            .filter(|(_, truth)| **truth != 0.0)
            .map(|(value, _)| *value)
            .collect();
        let found = masked_select(own.handle(), mask.handle()).unwrap();
        assert_eq!(content(&found), (vec![chosen.len() as i64], chosen.clone()), "round {round}");
        let mut next = source.iter();
        let filled: Vec<f64> = all
            .iter()
            .zip(&truth)
            .map(|(value, truth)| if *truth == 0.0 { *value } else { *next.next().unwrap() })
            .collect();
        let found = masked_scatter(own.handle(), mask.handle(), from.handle()).unwrap();
        assert_eq!(content(&found), (sizes.clone(), filled), "round {round}");
        let mut gradient = chosen;
        gradient.resize(count as usize, 0.0);
        let found = masked_scatter_backward(own.handle(), mask.handle(), &sizes).unwrap();
        assert_eq!(content(&found), (sizes, gradient), "round {round}");
    }
}

#[test]
fn masks_are_repeated_and_may_choose_nothing() {
    let own = tensor(&[2, 2], F32, &[1.0, 2.0, 3.0, 4.0]);
    let column = tensor(&[2, 1], BOOL, &[0.0, 1.0]);
    assert_eq!(values(masked_select(own.handle(), column.handle()).unwrap().handle()), [3.0, 4.0]);
    let row = tensor(&[1, 2], BOOL, &[0.0, 0.0]);
    assert_eq!(content(&masked_select(own.handle(), row.handle()).unwrap()), (vec![0], vec![]));
    let nothing = tensor(&[0], F32, &[]);
    let found = masked_scatter(own.handle(), row.handle(), nothing.handle()).unwrap();
    assert_eq!(values(found.handle()), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn wrong_arguments_are_refused_with_words() {
    let own = tensor(&[2], F32, &[1.0, 2.0]);
    let mask = tensor(&[2], BOOL, &[1.0, 1.0]);
    let refusal = |result: Result<Tensor>| result.unwrap_err().message;
    assert_eq!(
        refusal(masked_select(own.handle(), own.handle())),
        "masked_select: expected BoolTensor for mask, but got float32"
    );
    let long = tensor(&[3], BOOL, &[1.0; 3]);
    assert!(refusal(masked_select(own.handle(), long.handle())).contains("cannot be broadcast"));
    let few = tensor(&[1], F32, &[0.0]);
    assert_eq!(
        refusal(masked_scatter(own.handle(), mask.handle(), few.handle())),
        "Number of elements of source < number of ones in mask"
    );
    let double = tensor(&[2], api::SCONCE_DTYPE_F64, &[0.0; 2]);
    assert!(
        refusal(masked_scatter(own.handle(), mask.handle(), double.handle()))
            .contains("same dtypes")
    );
    assert!(refusal(nonzero_static(own.handle(), -1, 0)).contains("but is -1"));
}
