//! Operations on indices beside loops over all indices.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::{gather, index_reduce, scatter, scatter_reduce, scatter_value};
use crate::operations::testing::{Random, content, indices, scattered_tensor, tensor, values};
use crate::sconce::api;

const F32: i32 = api::SCONCE_DTYPE_F32;
const I64: i32 = api::SCONCE_DTYPE_I64;
const TYPES: [i32; 6] = [
    F32,
    api::SCONCE_DTYPE_F64,
    api::SCONCE_DTYPE_BF16,
    api::SCONCE_DTYPE_I8,
    I64,
    api::SCONCE_DTYPE_I32,
];

/// The place of an index in a contiguous tensor.
fn place(index: &[i64], sizes: &[i64]) -> usize {
    index.iter().zip(sizes).fold(0, |place, (at, size)| place * size + at) as usize
}

/// Where an index of gather and scatter leads.
fn chosen(at: &[i64], dim: usize, index: f64) -> Vec<i64> {
    let mut chosen = at.to_vec();
    chosen[dim] = index as i64;
    chosen
}

/// Sizes, a dimension, and indices no larger than the sizes apart from the dimension.
fn case(random: &mut Random) -> (Vec<i64>, usize, Vec<i64>, Vec<f64>) {
    let rank = random.size(1, 4) as usize;
    let sizes = random.sizes(rank, 5);
    let dim = random.below(rank as u64) as usize;
    let mut index_sizes: Vec<i64> = sizes.iter().map(|&size| random.size(1, size)).collect();
    index_sizes[dim] = random.size(1, 6);
    let index = random.values(index_sizes.iter().product(), sizes[dim] as u64);
    (sizes, dim, index_sizes, index)
}

#[test]
fn gather_reads_where_the_indices_lead() {
    let random = &mut Random(1);
    for round in 0..120 {
        let (sizes, dim, index_sizes, index) = case(random);
        let dtype = TYPES[round % TYPES.len()];
        let table = random.values(sizes.iter().product(), 100);
        let index_dtype = if round % 3 == 0 { api::SCONCE_DTYPE_I32 } else { I64 };
        let self_ = scattered_tensor(&sizes, dtype, &table, random);
        let index_tensor = scattered_tensor(&index_sizes, index_dtype, &index, random);
        let found = gather(self_.handle(), dim as i64, index_tensor.handle()).unwrap();
        let expected: Vec<f64> = indices(&index_sizes)
            .iter()
            .zip(&index)
            .map(|(at, &index)| table[place(&chosen(at, dim, index), &sizes)])
            .collect();
        assert_eq!(content(&found), (index_sizes, expected), "round {round}");
    }
}

#[test]
fn scatter_writes_where_the_indices_lead() {
    let random = &mut Random(2);
    for round in 0..120 {
        let (sizes, dim, index_sizes, index) = case(random);
        let dtype = TYPES[round % TYPES.len()];
        let table = random.values(sizes.iter().product(), 100);
        let source_sizes: Vec<i64> =
            index_sizes.iter().map(|&size| size + random.size(0, 2)).collect();
        let source = random.values(source_sizes.iter().product(), 100);
        let self_ = scattered_tensor(&sizes, dtype, &table, random);
        let index_tensor = scattered_tensor(&index_sizes, I64, &index, random);
        let source_tensor = scattered_tensor(&source_sizes, dtype, &source, random);
        let out = tensor(&[0], dtype, &[]);
        let handles = [self_.handle(), index_tensor.handle(), source_tensor.handle()];
        scatter(out.handle(), handles[0], dim as i64, handles[1], handles[2]).unwrap();
        let (mut expected, mut with_value) = (table.clone(), table.clone());
        for (at, &index) in indices(&index_sizes).iter().zip(&index) {
            let to = place(&chosen(at, dim, index), &sizes);
            expected[to] = source[place(at, &source_sizes)];
            with_value[to] = 7.0;
        }
        assert_eq!(content(&out), (sizes.clone(), expected), "round {round}");
        assert_eq!(values(self_.handle()), table, "the input stays as it is");
        // In place.
        scatter_value(handles[0], handles[0], dim as i64, handles[1], 7.0).unwrap();
        assert_eq!(content(&self_), (sizes, with_value), "round {round}");
    }
}

/// What a reduction makes of the values at one place, the one of the table first if it counts.
fn reduced(name: &str, values: &[f64], is_integer: bool) -> f64 {
    let sum: f64 = values.iter().sum();
    match name {
        "sum" => sum,
        "prod" => values.iter().product(),
        "mean" if is_integer => (sum / values.len() as f64).floor(),
        "mean" => sum / values.len() as f64,
        "amax" => values.iter().fold(f64::NEG_INFINITY, |most, &value| most.max(value)),
        _ => values.iter().fold(f64::INFINITY, |least, &value| least.min(value)),
    }
}

fn reduced_table(
    table: &[f64],
    added: &[(usize, f64)],
    name: &str,
    include_self: bool,
    is_integer: bool,
) -> Vec<f64> {
    table
        .iter()
        .enumerate()
        .map(|(at, &value)| {
            let here: Vec<f64> =
                added.iter().filter(|(to, _)| *to == at).map(|(_, value)| *value).collect();
            match (here.is_empty(), include_self) {
                (true, _) => value,
                (false, true) => reduced(name, &[&[value], here.as_slice()].concat(), is_integer),
                (false, false) => reduced(name, &here, is_integer),
            }
        })
        .collect()
}

fn assert_near(found: &[f64], expected: &[f64], within: f64, what: &str) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let near = (found - expected).abs() <= within * expected.abs();
        assert!(near, "{what}: {found} instead of {expected}");
    }
}

#[test]
fn reductions_combine_what_goes_to_one_place() {
    let random = &mut Random(3);
    for round in 0..300 {
        let (sizes, dim, index_sizes, index) = case(random);
        let name = ["sum", "prod", "mean", "amax", "amin"][round % 5];
        let include_self = random.below(2) == 0;
        let dtype = TYPES[random.below(TYPES.len() as u64) as usize];
        let is_integer = dtype >= api::SCONCE_DTYPE_I8;
        let table = random.values(sizes.iter().product(), 4);
        let source = random.values(index.len() as i64, 4);
        let self_ = scattered_tensor(&sizes, dtype, &table, random);
        let index_tensor = scattered_tensor(&index_sizes, I64, &index, random);
        let source_tensor = scattered_tensor(&index_sizes, dtype, &source, random);
        let out = tensor(&[0], dtype, &[]);
        let pair = [index_tensor.handle(), source_tensor.handle()];
        let what = format!("round {round}: {name}, type {dtype}, include_self {include_self}");
        if name == "prod" && dtype == api::SCONCE_DTYPE_I8 {
            continue; // Products of many may wrap.
        }
        scatter_reduce(out.handle(), self_.handle(), pair, dim as i64, name, include_self).unwrap();
        let added: Vec<(usize, f64)> = indices(&index_sizes)
            .iter()
            .zip(index.iter().zip(&source))
            .map(|(at, (&index, &value))| (place(&chosen(at, dim, index), &sizes), value))
            .collect();
        let expected = reduced_table(&table, &added, name, include_self, is_integer);
        let within = if dtype == api::SCONCE_DTYPE_BF16 { 0.02 } else { 1e-6 };
        assert_near(&values(out.handle()), &expected, within, &what);
    }
}

#[test]
fn parts_are_combined_along_a_dimension() {
    let random = &mut Random(4);
    for round in 0..100 {
        let rank = random.size(1, 3) as usize;
        let sizes = random.sizes(rank, 4);
        let dim = random.below(rank as u64) as usize;
        let mut source_sizes = sizes.clone();
        source_sizes[dim] = random.size(1, 6);
        let index = random.values(source_sizes[dim], sizes[dim] as u64);
        let table = random.values(sizes.iter().product(), 4);
        let source = random.values(source_sizes.iter().product(), 4);
        let name = ["prod", "mean", "amax", "amin"][round % 4];
        let include_self = round % 8 < 4;
        let self_ = scattered_tensor(&sizes, F32, &table, random);
        let index_tensor = tensor(&[source_sizes[dim]], I64, &index);
        let source_tensor = scattered_tensor(&source_sizes, F32, &source, random);
        let pair = [index_tensor.handle(), source_tensor.handle()];
        let found = index_reduce(self_.handle(), dim as i64, pair, name, include_self).unwrap();
        let added: Vec<(usize, f64)> = indices(&source_sizes)
            .iter()
            .zip(&source)
            .map(|(at, &value)| (place(&chosen(at, dim, index[at[dim] as usize]), &sizes), value))
            .collect();
        let expected = reduced_table(&table, &added, name, include_self, false);
        assert_near(&values(found.handle()), &expected, 1e-6, &format!("round {round}: {name}"));
        assert_eq!(values(self_.handle()), table, "the input stays as it is");
    }
}

#[test]
fn nan_wins_and_truth_values_are_joined() {
    let table = tensor(&[3], F32, &[1.0, f64::NAN, 3.0]);
    let index = tensor(&[3], I64, &[0.0, 1.0, 2.0]);
    let source = tensor(&[3], F32, &[f64::NAN, 5.0, 4.0]);
    for name in ["amax", "amin"] {
        let out = tensor(&[0], F32, &[]);
        let pair = [index.handle(), source.handle()];
        scatter_reduce(out.handle(), table.handle(), pair, 0, name, true).unwrap();
        let found = values(out.handle());
        assert!(found[0].is_nan() && found[1].is_nan() && !found[2].is_nan(), "{name}: {found:?}");
    }
    let truth = |values: &[f64]| tensor(&[values.len() as i64], api::SCONCE_DTYPE_BOOL, values);
    let (table, source) = (truth(&[0.0, 1.0, 1.0]), truth(&[1.0, 1.0, 0.0]));
    for (name, expected) in [("sum", [1.0, 1.0, 1.0]), ("prod", [0.0, 1.0, 0.0])] {
        let out = truth(&[]);
        let pair = [index.handle(), source.handle()];
        scatter_reduce(out.handle(), table.handle(), pair, 0, name, true).unwrap();
        assert_eq!(values(out.handle()), expected, "{name}");
    }
}

#[test]
fn tensors_without_dimensions_have_one_here_and_empty_indices_change_nothing() {
    let zero = tensor(&[], I64, &[0.0]);
    let found = gather(tensor(&[], F32, &[5.0]).handle(), -1, zero.handle()).unwrap();
    assert_eq!(content(&found), (vec![], vec![5.0]));
    let (table, none) = (tensor(&[2, 2], F32, &[1.0, 2.0, 3.0, 4.0]), tensor(&[0, 2], I64, &[]));
    let found = gather(table.handle(), 0, none.handle()).unwrap();
    assert_eq!(content(&found), (vec![0, 2], vec![]));
    let out = tensor(&[0], F32, &[]);
    let source = tensor(&[0, 2], F32, &[]);
    scatter(out.handle(), table.handle(), 0, none.handle(), source.handle()).unwrap();
    assert_eq!(content(&out), content(&table));
}

/// The text of a failure.
fn refusal<T: std::fmt::Debug>(result: crate::error::Result<T>) -> String {
    result.unwrap_err().message
}

#[test]
fn wrong_arguments_are_refused_with_words() {
    let table = tensor(&[3, 2], F32, &[0.0; 6]);
    let index = |sizes: &[i64], values: &[f64]| tensor(sizes, I64, values);
    for wrong in [3.0, -1.0] {
        let index = index(&[1, 1], &[wrong]);
        assert_eq!(
            refusal(gather(table.handle(), 0, index.handle())),
            format!("index {wrong} is out of bounds for dimension 0 with size 3")
        );
        let refused = scatter_value(table.handle(), table.handle(), 0, index.handle(), 1.0);
        assert!(refusal(refused).contains("out of bounds for dimension 0"));
    }
    assert_eq!(
        refusal(gather(table.handle(), 2, index(&[1, 1], &[0.0]).handle())),
        "Dimension out of range (expected to be in range of [-2, 1], but got 2)"
    );
    assert_eq!(
        refusal(gather(table.handle(), 0, table.handle())),
        "Expected dtype int32/int64 for index, but got float32"
    );
    assert_eq!(
        refusal(gather(table.handle(), 0, index(&[1], &[0.0]).handle())),
        "Index tensor must have the same number of dimensions as self tensor"
    );
    assert_eq!(
        refusal(gather(table.handle(), 0, index(&[1, 3], &[0.0; 3]).handle())),
        "Expected index [1, 3] to be no larger than self [3, 2] apart from dimension 0"
    );
    let (out, double) = (tensor(&[0], F32, &[]), tensor(&[1, 1], api::SCONCE_DTYPE_F64, &[0.0]));
    let one = index(&[1, 1], &[0.0]);
    assert_eq!(
        refusal(scatter(out.handle(), table.handle(), 0, one.handle(), double.handle())),
        "Expected self.dtype to be equal to src.dtype, but they are float32 and float64"
    );
    let small = tensor(&[1, 1], F32, &[0.0]);
    let two = index(&[2, 1], &[0.0, 0.0]);
    assert!(
        refusal(scatter(out.handle(), table.handle(), 0, two.handle(), small.handle()))
            .contains("no larger than src [1, 1]")
    );
    let pair = [one.handle(), small.handle()];
    assert_eq!(
        refusal(scatter_reduce(out.handle(), table.handle(), pair, 0, "median", true)),
        "reduce argument must be one of sum, prod, mean, amax, amin, but is median"
    );
    assert!(
        refusal(index_reduce(table.handle(), 0, pair, "amax", true)).contains("dimension 1 or 0")
    );
}
