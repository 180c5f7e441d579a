//! Attention of sequences whose keys lie in pages, or are fewer than their memory holds.

use super::{assert_near, tensor, values};
use crate::abi::tensors::sizes_of;
use crate::error::Result;
use crate::fallbacks::attention::sequences::flash::FlashArguments;
use crate::fallbacks::attention::sequences::flash_forward::{
    aoti_torch_cuda__flash_attention_forward_no_dropout_inplace as inplace,
    aoti_torch_cuda__flash_attention_forward_no_dropout_inplace_v2 as inplace_v2,
    aoti_torch_cuda__flash_attention_forward_v2 as forward_v2,
};
use crate::fallbacks::attention::sequences::varlen::Varlen;
use crate::sconce::operations::{copy, empty_like, fill, narrow, squeeze, unsqueeze};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::real;
use crate::sconce::{Tensor, api};
use crate::testing::{Dense, assert_refused, live};

const HEADS: i64 = 4;
const KEY_HEADS: i64 = 2;
const WIDTH: i64 = 8;
const PAGE: i64 = 3;
/// Queries and keys of the sequences; the second has no queries, the third no keys.
const QUERIES: [i64; 4] = [2, 0, 1, 3];
const KEYS: [i64; 4] = [5, 4, 0, 7];
/// The page of each part of a sequence's keys.
const PAGES: [[i64; 3]; 4] = [[6, 2, 99], [1, 0, 99], [99, 99, 99], [4, 7, 3]];

fn whole_numbers(sizes: &[i64], numbers: &[i64]) -> Tensor {
    let values = numbers.iter().map(|&number| number as f64).collect();
    Dense { sizes: sizes.to_vec(), values }.tensor(api::SCONCE_DTYPE_I32)
}

fn bounds(lengths: [i64; 4]) -> Tensor {
    let mut bounds = vec![0];
    for length in lengths {
        bounds.push(bounds[bounds.len() - 1] + length);
    }
    whole_numbers(&[5], &bounds)
}

/// Keys and values of all sequences one after another, and the same in pages.
struct Case {
    query: Tensor,
    packed: [Tensor; 2],
    paged: [Tensor; 2],
    bounds: [Tensor; 2],
    counts: Tensor,
    table: Tensor,
}

fn case() -> Case {
    let all = |lengths: [i64; 4]| lengths.iter().sum::<i64>();
    let query = tensor(&[all(QUERIES), HEADS, WIDTH], 1).0;
    let packed = [2, 3].map(|seed| tensor(&[all(KEYS), KEY_HEADS, WIDTH], seed).0);
    let paged = packed.each_ref().map(|packed| {
        let pages = tensor(&[8, PAGE, KEY_HEADS, WIDTH], 4).0;
        let mut begin = 0;
        for (keys, row) in KEYS.into_iter().zip(PAGES) {
            for at in 0..keys {
                let page = narrow(pages.handle(), 0, row[(at / PAGE) as usize], 1).unwrap();
                let place = narrow(page.handle(), 1, at % PAGE, 1).unwrap();
                let from = narrow(packed.handle(), 0, begin + at, 1).unwrap();
                copy(&place, unsqueeze(from.handle(), 0).unwrap().handle()).unwrap();
            }
            begin += keys;
        }
        pages
    });
    let counts = whole_numbers(&[4], &KEYS);
    let table = whole_numbers(&[4, 3], PAGES.as_flattened());
    Case { query, packed, paged, bounds: [bounds(QUERIES), bounds(KEYS)], counts, table }
}

impl Case {
    fn arguments(&self, is_paged: bool) -> FlashArguments {
        let [queries, keys] = self.bounds.each_ref().map(Tensor::handle);
        let [key, value] = if is_paged { &self.paged } else { &self.packed };
        FlashArguments {
            query: self.query.handle(),
            key: key.handle(),
            value: value.handle(),
            cumulated: [Some(queries), (!is_paged).then_some(keys)],
            counts: is_paged.then(|| self.counts.handle()),
            pages: is_paged.then(|| self.table.handle()),
            most: [3, 7],
            splits: None,
            is_causal: true,
            window: [Some(4), None],
            scale: Some(0.4),
        }
    }

    fn varlen(&self, window: Option<Vec<i64>>) -> Varlen {
        let [key, value] = self.paged.each_ref().map(Tensor::handle);
        Varlen {
            tensors: [self.query.handle(), key, value],
            cumulated: [Some(self.bounds[0].handle()), None],
            most: [3, 7],
            is_causal: true,
            scale: Some(0.4),
            window,
            counts: Some(self.counts.handle()),
            pages: Some(self.table.handle()),
            splits: Some(1),
        }
    }
}

fn numbers((output, log_sums): (Tensor, Tensor)) -> [Vec<f64>; 2] {
    [values(&output), values(&log_sums)]
}

#[test]
fn keys_in_pages_are_those_that_lie_one_after_another() {
    let before = live();
    let case = case();
    let packed = numbers(case.arguments(false).forward(None, true).unwrap());
    // The third sequence meets no key.
    let row = (HEADS * WIDTH) as usize;
    assert!(packed[0][2 * row..3 * row].iter().all(|number| *number == 0.0));
    assert!(packed[0][..2 * row].iter().any(|number| number.abs() > 0.1));
    assert_eq!(packed[1].iter().filter(|number| number.is_infinite()).count(), HEADS as usize);

    let paged = numbers(case.arguments(true).forward(None, true).unwrap());
    let [output, log_sums, state] = case.varlen(Some(vec![4, -1])).attention().unwrap();
    assert_eq!(values(&state), [0.0, 0.0]);
    let varlen = numbers((output, log_sums));
    let place = empty_like(case.query.handle(), api::SCONCE_DTYPE_F32).unwrap();
    let log_sums = case.varlen(Some(vec![4, -1])).attention_into(place.handle()).unwrap();
    let into = numbers((place, log_sums));
    for found in [paged, varlen, into] {
        assert_near(&found[0], &packed[0], 1e-6);
        // Infinity has no distance from itself.
        let finite = |sums: &[f64]| -> Vec<f64> {
            sums.iter().copied().filter(|sum| sum.is_finite()).collect()
        };
        assert_eq!(finite(&found[1]).len(), finite(&packed[1]).len());
        assert_near(&finite(&found[1]), &finite(&packed[1]), 1e-6);
    }
    drop((case, state));
    assert_eq!(live(), before);
}

#[test]
fn a_sequence_may_have_fewer_keys_than_there_is_room_for() {
    let case = case();
    let counts = whole_numbers(&[4], &[3, 1, 0, 6]);
    let arguments = FlashArguments { counts: Some(counts.handle()), ..case.arguments(false) };
    let found = arguments.forward(None, false).unwrap().0;
    for (at, (begin, keys)) in [(0, (0, 3)), (3, (9, 6))] {
        let [key, value] = case.packed.each_ref().map(|one| {
            unsqueeze(narrow(one.handle(), 0, begin, keys).unwrap().handle(), 0).unwrap()
        });
        let length = if at == 0 { 2 } else { 3 };
        let part = |tensor: &Tensor| narrow(tensor.handle(), 0, at, length).unwrap();
        let query = unsqueeze(part(&case.query).handle(), 0).unwrap();
        let alone = FlashArguments {
            query: query.handle(),
            key: key.handle(),
            value: value.handle(),
            cumulated: [None; 2],
            ..case.arguments(false)
        };
        let alone = squeeze(alone.forward(None, false).unwrap().0.handle(), 0).unwrap();
        assert_near(&values(&part(&found)), &values(&alone), 1e-6);
    }
}

/// Calls a function of the ABI with pages, into `out` if it is there.
fn abi(case: &Case, splits: Option<i64>, out: Option<&Tensor>) -> (i32, Vec<Tensor>) {
    let [key, value] = case.paged.each_ref().map(Tensor::handle);
    let (query, queries) = (case.query.handle(), case.bounds[0].handle());
    let (counts, table) = (case.counts.handle(), case.table.handle());
    let (none, scale, window) = (std::ptr::null(), &0.4, &4);
    let unlimited: *const i64 = std::ptr::null();
    let splits = splits.as_ref();
    let mut made: [TensorHandle; 5] = [std::ptr::null_mut(); 5];
    let [a, b, c, d, e] = made.each_mut().map(std::ptr::from_mut);
    let status = match (out.map(Tensor::handle), splits) {
        (None, splits) => {
            let splits = splits.map_or(std::ptr::null(), std::ptr::from_ref);
            // SAFETY: the handles are alive, and the places valid for writes.
            unsafe {
                forward_v2(
                    query, key, value, &queries, none, 3, 7, 0.0, 1, 0, scale, window, unlimited,
                    &counts, none, &table, splits, a, b, c, d, e,
                )
            }
        }
        // SAFETY: the handles are alive, and the place is valid for a write.
        (Some(out), None) => unsafe {
            inplace(
                out, query, key, value, &queries, none, 3, 7, 0.0, 1, 0, scale, window, unlimited,
                &counts, none, &table, a,
            )
        },
        // SAFETY: the handles are alive, and the place is valid for a write.
        (Some(out), Some(splits)) => unsafe {
            inplace_v2(
                out, query, key, value, &queries, none, 3, 7, 0.0, 1, 0, scale, window, unlimited,
                &counts, none, &table, splits, a,
            )
        },
    };
    let made = made.into_iter().filter(|handle| !handle.is_null()).map(Tensor::from_handle);
    (status, made.collect())
}

#[test]
fn the_functions_of_the_abi_return_the_same() {
    let before = live();
    let case = case();
    let expected = case.arguments(true).forward(None, true).unwrap();
    for splits in [None, Some(1)] {
        let (status, made) = abi(&case, splits, None);
        assert_eq!((status, made.len()), (0, 5));
        assert_eq!(values(&made[0]), values(&expected.0));
        assert_eq!(values(&made[1]), values(&expected.1));
        let out = empty_like(case.query.handle(), api::SCONCE_DTYPE_F32).unwrap();
        fill(out.handle(), &real(9.0)).unwrap();
        let (status, made) = abi(&case, splits, Some(&out));
        assert_eq!((status, made.len()), (0, 1));
        assert_eq!(values(&out), values(&expected.0));
        assert_eq!(values(&made[0]), values(&expected.1));
    }
    drop((case, expected));
    assert_eq!(live(), before);
}

#[test]
fn the_result_has_the_width_of_the_values() {
    let case = case();
    let value = tensor(&[KEYS.iter().sum(), KEY_HEADS, 5], 9).0;
    let arguments = FlashArguments { value: value.handle(), ..case.arguments(false) };
    let output = arguments.forward(None, false).unwrap().0;
    assert_eq!(sizes_of(output.handle()).unwrap(), [6, HEADS, 5]);
}

#[test]
fn what_does_not_fit_is_named() {
    let case = case();
    let refused = |result: Result<(Tensor, Tensor)>, words: &[&str]| {
        let error = result.map(drop).unwrap_err().message;
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    let paged = || case.arguments(true);
    let of = |sizes: &[i64], numbers: &[i64]| whole_numbers(sizes, numbers);
    let no_counts = FlashArguments { counts: None, ..paged() };
    refused(no_counts.forward(None, true), &["block_table needs seqused_k"]);
    let few = of(&[3], &[1, 2, 3]);
    let few = FlashArguments { counts: Some(few.handle()), ..paged() };
    refused(few.forward(None, true), &["seqused_k has 3 entries; expected 4"]);
    let flat = of(&[4], &[1, 2, 3, 4]);
    let flat = FlashArguments { pages: Some(flat.handle()), ..paged() };
    refused(flat.forward(None, true), &["block_table must have", "in int32"]);
    let lone = FlashArguments { cumulated: [None; 2], pages: None, ..paged() };
    refused(lone.forward(None, true), &["seqused_k needs cum_seq_q beside it"]);
    let many = of(&[4], &[5, 4, 0, 10]);
    let many = FlashArguments { counts: Some(many.handle()), ..paged() };
    refused(many.forward(None, true), &["sequence 3 has 10 keys, but 3 pages of 3 keys"]);
    let beyond = of(&[4, 3], &[6, 2, 0, 1, 0, 0, 0, 0, 0, 4, 8, 3]);
    let beyond = FlashArguments { pages: Some(beyond.handle()), ..paged() };
    refused(beyond.forward(None, true), &["sequence 3 has page 8, but there are 8 pages"]);
    let small = tensor(&[5, HEADS, WIDTH], 1).0;
    refused(paged().forward(Some(small), true), &["out has the sizes [5, 4, 8]"]);
    let unequal = FlashArguments { value: case.query.handle(), ..case.arguments(false) };
    refused(unequal.forward(None, true), &["as many values as keys"]);
    let windows = case.varlen(Some(vec![1])).attention().unwrap_err().message;
    assert!(windows.contains("window_size must have length 2, got 1"), "{windows}");
    let odd = tensor(&[6, 3, WIDTH], 1).0;
    let odd = FlashArguments { query: odd.handle(), ..case.arguments(false) };
    refused(odd.forward(None, true), &["a multiple of those of the keys"]);
    let out = tensor(&[1], 1).0;
    assert_refused(abi(&case, None, Some(&out)).0, &["no_dropout_inplace", "out has the sizes"]);
}
