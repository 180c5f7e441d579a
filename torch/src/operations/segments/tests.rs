#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::testing::{Cases, Dense, live};

const F64: i32 = api::SCONCE_DTYPE_F64;
const I64: i32 = api::SCONCE_DTYPE_I64;

fn reduced(values: &[f64], reduction: Reduction, initial: Option<f64>) -> f64 {
    let first = initial.unwrap_or(reduction.nothing());
    match reduction {
        Reduction::Sum => first + values.iter().sum::<f64>(),
        Reduction::Mean if values.is_empty() => initial.unwrap_or(f64::NAN),
        Reduction::Mean => (first + values.iter().sum::<f64>()) / values.len() as f64,
        Reduction::Product => first * values.iter().product::<f64>(),
        Reduction::Most => values.iter().copied().fold(first, f64::max),
        Reduction::Least => values.iter().copied().fold(first, f64::min),
    }
}

/// The gradient of each element of a segment whose result has the gradient 1.
fn slopes(values: &[f64], reduction: Reduction, initial: Option<f64>) -> Vec<f64> {
    let own = reduced(values, reduction, initial);
    let equal = values.iter().filter(|value| **value == own).count() as f64;
    let slope = |at: usize| match reduction {
        Reduction::Sum => 1.0,
        Reduction::Mean => 1.0 / values.len() as f64,
        Reduction::Product => {
            let others = values.iter().enumerate().filter(|(other, _)| *other != at);
            initial.unwrap_or(1.0) * others.map(|(_, value)| value).product::<f64>()
        }
        Reduction::Most | Reduction::Least if values[at] == own => 1.0 / equal,
        Reduction::Most | Reduction::Least => 0.0,
    };
    (0..values.len()).map(slope).collect()
}

#[test]
fn segments_and_their_gradients_agree_with_loops() {
    let before = live();
    let mut cases = Cases::new(29);
    let all =
        [Reduction::Sum, Reduction::Mean, Reduction::Product, Reduction::Most, Reduction::Least];
    for round in 0..150 {
        let reduction = all[round % 5];
        let initial = cases.one(&[None, None, Some(1.5)]);
        let axis = cases.int(0, 1);
        let (lines, count, behind) = (cases.int(1, 3), cases.int(0, 3), cases.int(1, 2));
        let lines = if axis == 0 { 1 } else { lines };
        // As long as the others, so the last segment has what is left.
        let size = cases.int(0, 6) * i64::from(count > 0);
        let mut lengths = Vec::new();
        for _ in 0..lines {
            let mut ends: Vec<i64> = (1..count).map(|_| cases.int(0, size)).collect();
            ends.sort_unstable();
            ends.push(size);
            let mut begin = 0;
            for end in ends.into_iter().take(count as usize) {
                lengths.push((end - begin) as f64);
                begin = end;
            }
        }
        let data = Dense::whole(&mut cases, &[lines, size, behind], -2, 2);
        let lengths = Dense { sizes: vec![lines, count], values: lengths };
        let own = |dense: &Dense, from: usize| Dense {
            sizes: dense.sizes[from..].to_vec(),
            values: dense.values.clone(),
        };
        let skipped = usize::from(axis == 0);
        let tensor = own(&data, skipped).either(&mut cases, F64);
        let given = own(&lengths, skipped).tensor(I64);
        let mut starts = Dense::build(&[lines, count + 1], |_| 0.0);
        for line in 0..lines {
            for segment in 0..count {
                let at = (line * (count + 1) + segment) as usize;
                starts.values[at + 1] = starts.values[at] + lengths.at(&[line, segment]);
            }
        }
        let offsets = own(&starts, skipped).tensor(I64);
        let by_offsets = cases.int(0, 1) == 1;
        let segmented = Segmented {
            tensor: tensor.handle(),
            reduction,
            lengths: (!by_offsets).then(|| given.handle()),
            offsets: by_offsets.then(|| offsets.handle()),
            axis,
            initial,
        };
        let segment = |line: i64, number: i64, behind: i64| -> Vec<f64> {
            let begin = starts.at(&[line, number]) as i64;
            let end = starts.at(&[line, number + 1]) as i64;
            (begin..end).map(|at| data.at(&[line, at, behind])).collect()
        };
        let expected = Dense::build(&[lines, count, behind], |at| {
            reduced(&segment(at[0], at[1], at[2]), reduction, initial)
        });
        let found = segmented.reduce(false).unwrap();
        own(&expected, skipped).assert_near(found.handle(), 1e-12, "segments");
        let of_result = Dense::quarters(&mut cases, &[lines, count, behind]);
        let mut expected = Dense::build(&data.sizes, |_| 0.0);
        for line in 0..lines {
            for number in 0..count {
                for column in 0..behind {
                    let values = segment(line, number, column);
                    let begin = starts.at(&[line, number]) as i64;
                    for (at, slope) in slopes(&values, reduction, initial).iter().enumerate() {
                        let place = (line * size + begin + at as i64) * behind + column;
                        expected.values[place as usize] =
                            slope * of_result.at(&[line, number, column]);
                    }
                }
            }
        }
        let of_result = own(&of_result, skipped).either(&mut cases, F64);
        let found = segmented.gradient(of_result.handle(), found.handle()).unwrap();
        own(&expected, skipped).assert_near(found.handle(), 1e-12, "gradients");
    }
    assert_eq!(live(), before);
}

#[test]
fn what_is_no_segment_is_refused() {
    let whole =
        |values: &[f64]| Dense { sizes: vec![values.len() as i64], values: values.to_vec() };
    let data = whole(&[1.0, 2.0, 3.0]);
    let tensor = data.tensor(F64);
    let refused = |lengths: Option<&[f64]>, change: &dyn Fn(&mut Segmented), words: &str| {
        let lengths = lengths.map(|lengths| whole(lengths).tensor(I64));
        let mut segmented = Segmented {
            tensor: tensor.handle(),
            reduction: Reduction::Sum,
            lengths: lengths.as_ref().map(Tensor::handle),
            offsets: None,
            axis: 0,
            initial: None,
        };
        change(&mut segmented);
        let error = segmented.reduce(false).err().unwrap();
        assert!(error.message.contains(words), "{}", error.message);
    };
    refused(None, &|_| (), "Either lengths or offsets");
    refused(Some(&[1.0, 1.0]), &|_| (), "to sum to data.size");
    refused(Some(&[4.0, -1.0]), &|_| (), "negative value");
    refused(Some(&[3.0]), &|segmented| segmented.axis = 1, "do not fit axis 1");
    refused(Some(&[3.0]), &|segmented| segmented.lengths = Some(tensor.handle()), "int64 or int32");
    let integers = data.tensor(I64);
    refused(Some(&[3.0]), &|segmented| segmented.tensor = integers.handle(), "int64");
    assert!(Reduction::new("median").err().unwrap().message.contains("median"));
}
