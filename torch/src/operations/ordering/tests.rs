//! What sorted lines say, beside plain loops.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::operations::testing::{Random, content, scattered_tensor, tensor, values};

const F32: i32 = api::SCONCE_DTYPE_F32;

/// The lines along a dimension of a contiguous tensor.
fn lines(sizes: &[i64], dim: usize, all: &[f64]) -> Vec<Vec<f64>> {
    let inner: i64 = sizes[dim + 1..].iter().product();
    let length = sizes[dim];
    let outer: i64 = sizes[..dim].iter().product();
    (0..outer * inner)
        .map(|line| {
            let begin = line / inner * length * inner + line % inner;
            (0..length).map(|at| all[(begin + at * inner) as usize]).collect()
        })
        .collect()
}

#[test]
fn the_largest_and_the_kth_are_those_of_sorted_lines() {
    let random = &mut Random(5);
    for round in 0..60 {
        let rank = random.size(1, 3) as usize;
        let sizes = random.sizes(rank, 6);
        let dim = random.below(rank as u64) as usize;
        let all = random.values(sizes.iter().product(), 50);
        let own = scattered_tensor(&sizes, F32, &all, random);
        let k = random.size(1, sizes[dim]);
        let largest = round % 2 == 0;
        let found = topk(own.handle(), k, dim as i64 - rank as i64, largest, true).unwrap();
        let mut of_k = sizes.clone();
        of_k[dim] = k;
        let (found_sizes, found_values) = content(&found.values);
        assert_eq!(found_sizes, of_k);
        let places = lines(&of_k, dim, &values(found.indices.handle()));
        let kth = kthvalue(own.handle(), k, dim as i64, true).unwrap();
        let kth_lines = lines(&content(&kth.values).0, dim, &values(kth.values.handle()));
        for (at, line) in lines(&sizes, dim, &all).into_iter().enumerate() {
            let mut ordered = line.clone();
            ordered.sort_by(f64::total_cmp);
            assert_eq!(kth_lines[at], [ordered[k as usize - 1]], "round {round}");
            if largest {
                ordered.reverse();
            }
            assert_eq!(
                lines(&of_k, dim, &found_values)[at],
                ordered[..k as usize],
                "round {round}"
            );
            let at_places: Vec<f64> =
                places[at].iter().map(|&place| line[place as usize]).collect();
            assert_eq!(at_places, ordered[..k as usize], "round {round}");
        }
    }
}

#[test]
fn medians_are_the_lower_middle_and_heed_nan() {
    let median_of = |all: &[f64]| {
        let own = tensor(&[all.len() as i64], F32, all);
        (
            values(median(own.handle()).unwrap().handle())[0],
            values(nanmedian(own.handle()).unwrap().handle())[0],
        )
    };
    assert_eq!(median_of(&[4.0, 1.0, 3.0, 2.0]), (2.0, 2.0));
    assert_eq!(median_of(&[5.0]), (5.0, 5.0));
    let (plain, numbers) = median_of(&[f64::NAN, 7.0, 3.0, 9.0]);
    assert!(plain.is_nan());
    assert_eq!(numbers, 7.0);
    let (plain, numbers) = median_of(&[f64::NAN, f64::NAN]);
    assert!(plain.is_nan() && numbers.is_nan());
    assert!(median_of(&[]).0.is_nan());
}

#[test]
fn a_tensor_without_dimensions_is_a_line_of_one() {
    let one = tensor(&[], F32, &[5.0]);
    assert_eq!(content(&topk(one.handle(), 1, 0, true, true).unwrap().values), (vec![], vec![5.0]));
    assert_eq!(
        content(&kthvalue(one.handle(), 1, -1, false).unwrap().indices),
        (vec![], vec![0.0])
    );
}

#[test]
fn k_beyond_the_line_is_refused_with_words() {
    let own = tensor(&[2, 3], F32, &[0.0; 6]);
    let refusal = |result: Result<Sorted>| result.err().unwrap().message;
    assert_eq!(
        refusal(topk(own.handle(), 4, 1, true, true)),
        "selected index k out of range: k is 4, and dimension 1 has 3 elements"
    );
    assert!(refusal(kthvalue(own.handle(), 0, 0, true)).contains("k is 0"));
    assert!(refusal(sort(own.handle(), 2, true)).contains("Dimension out of range"));
}

#[test]
fn modes_agree_with_counting() {
    let mut random = Random(41);
    for _ in 0..100 {
        let (lines, length) = (random.size(1, 3), random.size(1, 9));
        let values = random.values(lines * length, 4);
        let own = scattered_tensor(&[lines, length], api::SCONCE_DTYPE_I64, &values, &mut random);
        let found = mode(own.handle(), 1, false).unwrap();
        let (mut modes, mut places) = (Vec::new(), Vec::new());
        for line in values.chunks(length as usize) {
            let count = |value: f64| line.iter().filter(|other| **other == value).count();
            // The first of the largest counts is that of the smallest value.
            let best = (0..4).map(f64::from).rev().max_by_key(|value| count(*value)).unwrap();
            modes.push(best);
            places.push(line.iter().rposition(|value| *value == best).unwrap() as f64);
        }
        assert_eq!(content(&found.values), (vec![lines], modes));
        assert_eq!(content(&found.indices), (vec![lines], places));
    }
    let one = tensor(&[], api::SCONCE_DTYPE_F32, &[3.0]);
    let found = mode(one.handle(), 0, true).unwrap();
    assert_eq!(
        (content(&found.values), content(&found.indices)),
        ((vec![], vec![3.0]), (vec![], vec![0.0]))
    );
    let none = tensor(&[2, 0], api::SCONCE_DTYPE_F32, &[]);
    assert!(mode(none.handle(), 1, true).err().unwrap().message.contains("non-zero size"));
}

/// The elements of `tests/operations/ties.txt`, of which many are equal.
fn with_ties(length: i64, modulus: i64, has_nan: bool) -> Vec<f64> {
    let element = |at: i64| match has_nan && at % 11 == 5 {
        true => f64::NAN,
        false => ((((at * 2_654_435_761) % (1 << 32)) >> 16) % modulus) as f64,
    };
    (0..length).map(element).collect()
}

/// FNV, a number at a time.
fn hash(places: &[f64]) -> u64 {
    places.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &place| {
        (hash ^ place as u64).wrapping_mul(0x0100_0000_01b3)
    })
}

const TIES: &str = include_str!("../../../tests/operations/ties.txt");

#[test]
fn equal_elements_are_in_pytorchs_order_on_the_cpu() {
    let random = &mut Random(11);
    let mut compared = 0;
    for line in TIES.lines().filter(|line| !line.starts_with('#')) {
        let parts: Vec<&str> = line.split(' ').collect();
        let [operation, kind, rest @ .., expected] = &parts[..] else { panic!("{line}") };
        let numbers: Vec<i64> = rest.iter().map(|number| number.parse().unwrap()).collect();
        let [length, modulus, k, descending, in_order] = numbers[..] else { panic!("{line}") };
        let has_nan = kind.ends_with('n');
        let dtype = match kind.trim_end_matches('n') {
            "f32" => F32,
            "bf16" => api::SCONCE_DTYPE_BF16,
            "i64" => api::SCONCE_DTYPE_I64,
            _ => api::SCONCE_DTYPE_U8,
        };
        let all = with_ties(length, modulus, has_nan);
        let flat = tensor(&[length], dtype, &all);
        // The same line is the second column of a matrix, too. One line has an order of its own if it is long.
        let twice: Vec<f64> = all.iter().flat_map(|&element| [0.0, element]).collect();
        let columns = scattered_tensor(&[length, 2], dtype, &twice, random);
        let second = operations::narrow(columns.handle(), 1, 1, 1).unwrap();
        let operands = if length < 32_768 { vec![&flat, &second] } else { vec![&flat] };
        for operand in operands {
            let operand = operand.handle();
            let found = match *operation {
                "sort" => sort_any(operand, 0, descending != 0),
                "topk" => topk(operand, k, 0, descending != 0, in_order != 0),
                _ => kthvalue(operand, k, 0, true),
            };
            let Sorted { values: elements, indices } = found.unwrap();
            let places = values(indices.handle());
            assert_eq!(format!("{:016x}", hash(&places)), *expected, "{line}");
            let chosen: Vec<f64> = places.iter().map(|&place| all[place as usize]).collect();
            let elements = values(elements.handle());
            assert!(
                chosen.iter().zip(&elements).all(|(a, b)| a == b || a.is_nan() && b.is_nan()),
                "{line}"
            );
        }
        compared += 1;
    }
    assert!(compared > 300, "{compared}");
}

#[test]
fn a_stable_sort_keeps_equal_elements_in_order() {
    let all = with_ties(700, 3, false);
    let own = tensor(&[700], F32, &all);
    for descending in [false, true] {
        let sorted = sort(own.handle(), 0, descending).unwrap();
        let places = values(sorted.indices.handle());
        let is_before = |pair: &[f64]| {
            let [a, b] = [all[pair[0] as usize], all[pair[1] as usize]];
            if descending { a > b } else { a < b }
        };
        assert!(places.windows(2).all(|pair| is_before(pair) || pair[0] < pair[1]));
    }
}

#[test]
fn the_largest_and_the_smallest_are_the_elements_at_their_indices() {
    let nan = f64::NAN;
    // Long enough to be reduced in several parts, which meet zeros of either sign first.
    let mut long = vec![-1.0; 33];
    long[2..5].fill(-0.0);
    long[5..7].fill(0.0);
    for (at, zero) in [(11, -0.0), (15, -0.0), (25, 0.0), (26, -0.0), (31, 0.0)] {
        long[at] = zero;
    }
    for (line, largest, smallest) in [
        (&long[..], 2, 0),
        (&[-0.0, 0.0], 0, 0),
        (&[0.0, -0.0], 0, 0),
        (&[1.0, -0.0, 0.0, -3.0], 0, 3),
        (&[1.0, nan, 2.0, nan], 1, 1),
        (&[7.0], 0, 0),
    ] {
        let own = tensor(&[line.len() as i64], F32, line);
        for (index, wanted) in
            [(api::SCONCE_REDUCE_ARGMAX, largest), (api::SCONCE_REDUCE_ARGMIN, smallest)]
        {
            for keep in [false, true] {
                let found = extreme(own.handle(), -1, keep, index).unwrap();
                let (sizes, value) = content(&found.values);
                assert_eq!(sizes, [1][..usize::from(keep)]);
                assert_eq!(values(found.indices.handle()), [f64::from(wanted)], "{line:?}");
                let element = line[wanted as usize];
                assert!(value[0].to_bits() == element.to_bits() || element.is_nan(), "{line:?}");
            }
        }
    }
    let own = tensor(&[2, 2], api::SCONCE_DTYPE_BOOL, &[1.0, 0.0, 0.0, 0.0]);
    for (index, value, place) in [
        (api::SCONCE_REDUCE_ARGMAX, [1.0, 0.0], [0.0, 0.0]),
        (api::SCONCE_REDUCE_ARGMIN, [0.0, 0.0], [1.0, 0.0]),
    ] {
        let found = extreme(own.handle(), 1, false, index).unwrap();
        assert_eq!(content(&found.values), (vec![2], value.to_vec()));
        assert_eq!(values(found.indices.handle()), place);
        assert_eq!(dtype_of_tensor(found.values.handle()).unwrap(), api::SCONCE_DTYPE_BOOL);
    }
    let single = tensor(&[], F32, &[3.0]);
    let found = extreme(single.handle(), 0, false, api::SCONCE_REDUCE_ARGMAX).unwrap();
    assert_eq!(content(&found.values), (vec![], vec![3.0]));
    let empty = tensor(&[3, 0], F32, &[]);
    assert!(extreme(empty.handle(), 1, false, api::SCONCE_REDUCE_ARGMAX).is_err());
    let found = extreme(empty.handle(), 0, false, api::SCONCE_REDUCE_ARGMAX).unwrap();
    assert_eq!(content(&found.values).0, [0]);
}

#[test]
fn booleans_are_refused_as_in_pytorch() {
    let own = tensor(&[2], api::SCONCE_DTYPE_BOOL, &[1.0, 0.0]);
    let tensor = own.handle();
    for refused in [
        topk(tensor, 1, 0, true, true).err(),
        kthvalue(tensor, 1, 0, false).err(),
        nanmedian_along(tensor, 0, false).err(),
        median(tensor).err(),
        nanmedian(tensor).err(),
    ] {
        assert!(refused.unwrap().message.contains("does not support bool"));
    }
    assert!(sort_any(tensor, 0, false).is_ok() && mode(tensor, 0, false).is_ok());
}

/// The results of PyTorch 2.11 on the CPU.
#[test]
fn modes_have_the_places_of_pytorch_also_with_nan() {
    let nan = f64::NAN;
    for (line, value, place) in [
        (&[nan, 12.0, f64::INFINITY, 0.0, 9.0, 1.0, 2.0][..], nan, 0),
        (&[nan, nan, 12.0, 0.0, 9.0, 1.0, 2.0], nan, 0),
        (&[1.0, 1.0, 12.0, 0.0, nan, nan], 1.0, 1),
        (&[3.0, 3.0, 1.0, 1.0, 2.0, 2.0, 3.0, 1.0], 1.0, 7),
    ] {
        let own = tensor(&[line.len() as i64], F32, line);
        let found = mode(own.handle(), 0, false).unwrap();
        assert_eq!(values(found.indices.handle()), [f64::from(place)], "{line:?}");
        let found = content(&found.values).1[0];
        assert!(found == value || (found.is_nan() && value.is_nan()), "{line:?}");
    }
}
