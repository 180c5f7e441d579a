//! Pooling beside loops that look at all inputs for each window.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::{Divisor, Size, Windows, max, max_backward, mean, mean_backward};
use crate::abi::tensors::{sizes_of, strides_of};
use crate::operations::testing::{Random, content, indices, scattered_tensor, tensor, values};
use crate::sconce::{api, operations};

const F32: i32 = api::SCONCE_DTYPE_F32;
const FLOATS: [i32; 4] =
    [F32, api::SCONCE_DTYPE_F64, api::SCONCE_DTYPE_F16, api::SCONCE_DTYPE_BF16];

/// A case: an image or a volume, with or without a batch, and windows.
struct Case {
    sizes: Vec<i64>,
    windows: Windows,
}

fn case(random: &mut Random, is_dilated: bool) -> Case {
    let dims = random.size(2, 3) as usize;
    let rank = dims + 1 + random.below(2) as usize;
    let mut sizes = random.sizes(rank, 3);
    for size in &mut sizes[rank - dims..] {
        *size = random.size(5, 8);
    }
    let size = if random.below(3) == 0 {
        Size::Adaptive((0..dims).map(|_| random.size(1, 9)).collect())
    } else {
        let kernel: Vec<i64> = (0..dims).map(|_| random.size(1, 3)).collect();
        let padding = kernel.iter().map(|&kernel| random.size(0, kernel / 2)).collect();
        let stride = match random.below(3) {
            0 => Vec::new(),
            1 => vec![random.size(1, 3)],
            _ => (0..dims).map(|_| random.size(1, 3)).collect(),
        };
        let dilation = vec![if is_dilated { random.size(1, 2) } else { 1 }];
        Size::Fixed { kernel, stride, padding, dilation, ceil_mode: random.below(2) == 0 }
    };
    Case { sizes, windows: Windows { name: "pool", dims, size, keeps_order: true } }
}

/// One dimension of a window in the plainest terms: the inputs, those before and behind the input included.
fn places(windows: &Windows, at: usize, input: i64, outputs: i64, output: i64) -> Vec<i64> {
    let of = |all: &[i64]| if all.len() == 1 { all[0] } else { all[at] };
    match &windows.size {
        Size::Adaptive(_) => {
            let first = (output as f64 * input as f64 / outputs as f64).floor() as i64;
            let end = ((output + 1) as f64 * input as f64 / outputs as f64).ceil() as i64;
            (first..end).collect()
        }
        Size::Fixed { kernel, stride, padding, dilation, .. } => {
            let stride = if stride.is_empty() { of(kernel) } else { of(stride) };
            let first = output * stride - of(padding);
            (0..of(kernel)).map(|tap| first + tap * of(dilation)).collect()
        }
    }
}

/// For each window: its place in the result, the places of its inputs, and how many places it has within the padding.
fn windows_of(case: &Case, result: &[i64]) -> Vec<(Vec<i64>, Vec<Vec<i64>>, i64)> {
    let (dims, rank) = (case.windows.dims, case.sizes.len());
    let mut all = Vec::new();
    for at in indices(result) {
        let mut inputs = vec![at[..rank - dims].to_vec()];
        let mut padded = 1;
        for dim in 0..dims {
            let (input, output) = (case.sizes[rank - dims + dim], at[rank - dims + dim]);
            let along = places(&case.windows, dim, input, result[rank - dims + dim], output);
            let padding = match &case.windows.size {
                Size::Fixed { padding, .. } => padding[dim.min(padding.len() - 1)],
                Size::Adaptive(_) => 0,
            };
            padded *= along.iter().filter(|&&place| place < input + padding).count() as i64;
            inputs = inputs
                .iter()
                .flat_map(|begin| {
                    let existing = along.iter().filter(|&&place| (0..input).contains(&place));
                    existing.map(|&place| [begin.clone(), vec![place]].concat())
                })
                .collect();
        }
        all.push((at, inputs, padded));
    }
    all
}

/// The number of an element within its plane.
fn number(at: &[i64], sizes: &[i64], dims: usize) -> i64 {
    let first = sizes.len() - dims;
    at[first..].iter().zip(&sizes[first..]).fold(0, |number, (at, size)| number * size + at)
}

/// The place of an index in a contiguous tensor.
fn place(at: &[i64], sizes: &[i64]) -> usize {
    at.iter().zip(sizes).fold(0, |place, (at, size)| place * size + at) as usize
}

fn assert_close(found: &[f64], expected: &[f64], dtype: i32, what: &str) {
    let within = match dtype {
        api::SCONCE_DTYPE_BF16 => 1e-2,
        api::SCONCE_DTYPE_F16 => 2e-3,
        _ => 1e-6,
    };
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found - expected).abs() <= within * expected.abs().max(1.0),
            "{what}: {found} for {expected}"
        );
    }
}

#[test]
fn the_largest_of_each_window_is_found_with_its_place() {
    let random = &mut Random(11);
    for round in 0..200 {
        let case = case(random, true);
        let dtype = if round % 5 == 4 { api::SCONCE_DTYPE_I32 } else { FLOATS[round % 4] };
        let given = random.values(case.sizes.iter().product(), 60);
        let input = scattered_tensor(&case.sizes, dtype, &given, random);
        let Ok((largest, numbers)) = max(input.handle(), &case.windows) else {
            // Windows that are too large for the dilation.
            continue;
        };
        let result = sizes_of(largest.handle()).unwrap();
        let (largest, numbers) = (values(largest.handle()), values(numbers.handle()));
        for ((_, inputs, _), (largest, found)) in
            windows_of(&case, &result).iter().zip(largest.iter().zip(numbers))
        {
            let value = |at: &Vec<i64>| given[place(at, &case.sizes)];
            let first = inputs.iter().fold(None::<&Vec<i64>>, |best, at| match best {
                Some(best) if value(best) >= value(at) => Some(best),
                _ => Some(at),
            });
            let first = first.unwrap();
            assert_eq!(*largest, value(first), "round {round}");
            assert_eq!(
                found as i64,
                number(first, &case.sizes, case.windows.dims),
                "round {round}"
            );
        }
    }
}

#[test]
fn the_last_nan_of_a_window_is_its_largest() {
    let nan = f64::NAN;
    let given =
        [1.0, nan, 3.0, 2.0, nan, 9.0, f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
    let size = |kernel: Vec<i64>| Size::Fixed {
        kernel,
        stride: vec![1],
        padding: vec![0],
        dilation: vec![1],
        ceil_mode: false,
    };
    let windows = |kernel: [i64; 2]| Windows {
        name: "pool",
        dims: 2,
        size: size(kernel.to_vec()),
        keeps_order: true,
    };
    let input = tensor(&[1, 3, 3], F32, &given);
    let (largest, numbers) = max(input.handle(), &windows([1, 3])).unwrap();
    let largest = values(largest.handle());
    assert!(largest[0].is_nan() && largest[1].is_nan());
    assert_eq!(largest[2], f64::NEG_INFINITY);
    assert_eq!(values(numbers.handle()), [1.0, 4.0, 6.0]);
    let (_, numbers) = max(input.handle(), &windows([3, 3])).unwrap();
    assert_eq!(values(numbers.handle()), [4.0]);
}

#[test]
fn means_divide_by_the_inputs_by_all_places_or_by_a_number() {
    let random = &mut Random(12);
    for round in 0..200 {
        let case = case(random, false);
        let dtype = FLOATS[round % 4];
        let given = random.values(case.sizes.iter().product(), 60);
        let input = scattered_tensor(&case.sizes, dtype, &given, random);
        let divisor = Divisor {
            count_padding: random.below(2) == 0,
            fixed: (random.below(3) == 0).then(|| random.size(1, 5)),
        };
        let means = mean(input.handle(), &case.windows, divisor).unwrap();
        let (result, means) = content(&means);
        let expected: Vec<f64> = windows_of(&case, &result)
            .iter()
            .map(|(_, inputs, padded)| {
                let sum: f64 = inputs.iter().map(|at| given[place(at, &case.sizes)]).sum();
                let counted = if divisor.count_padding { *padded } else { inputs.len() as i64 };
                sum / divisor.fixed.unwrap_or(counted) as f64
            })
            .collect();
        assert_close(&means, &expected, dtype, &format!("round {round}"));
    }
}

#[test]
fn gradients_go_to_the_inputs_of_the_windows() {
    let random = &mut Random(13);
    for round in 0..160 {
        let is_max = round % 2 == 0;
        let case = case(random, is_max);
        let dtype = FLOATS[(round / 2) % 2];
        let given = random.values(case.sizes.iter().product(), 9);
        let input = scattered_tensor(&case.sizes, dtype, &given, random);
        let mut expected = vec![0.0; given.len()];
        let (found, what) = if is_max {
            let Ok((largest, numbers)) = max(input.handle(), &case.windows) else { continue };
            let result = sizes_of(largest.handle()).unwrap();
            let gradient = random.values(result.iter().product(), 9);
            let dims = case.windows.dims;
            for (((at, inputs, _), number_of), gradient) in
                windows_of(&case, &result).iter().zip(values(numbers.handle())).zip(&gradient)
            {
                let chosen =
                    inputs.iter().find(|at| number(at, &case.sizes, dims) == number_of as i64);
                expected[place(chosen.unwrap_or(at), &case.sizes)] += gradient;
            }
            let gradient = scattered_tensor(&result, dtype, &gradient, random);
            (
                max_backward(gradient.handle(), input.handle(), numbers.handle(), &case.windows),
                "largest",
            )
        } else {
            let divisor = Divisor { count_padding: random.below(2) == 0, fixed: None };
            let result =
                sizes_of(mean(input.handle(), &case.windows, divisor).unwrap().handle()).unwrap();
            let gradient = random.values(result.iter().product(), 9);
            for ((_, inputs, padded), gradient) in windows_of(&case, &result).iter().zip(&gradient)
            {
                let counted = if divisor.count_padding { *padded } else { inputs.len() as i64 };
                for at in inputs {
                    expected[place(at, &case.sizes)] += gradient / counted as f64;
                }
            }
            let gradient = scattered_tensor(&result, dtype, &gradient, random);
            (mean_backward(gradient.handle(), input.handle(), &case.windows, divisor), "mean")
        };
        let found = found.unwrap();
        assert_eq!(sizes_of(found.handle()).unwrap(), case.sizes);
        assert_close(&values(found.handle()), &expected, dtype, &format!("{what}, round {round}"));
    }
}

#[test]
fn results_keep_the_order_of_dimensions_in_memory() {
    let input = tensor(&[2, 4, 4, 3], F32, &vec![1.0; 96]);
    let last = crate::sconce::operations::transpose(input.handle(), 1, 3).unwrap();
    let last = crate::sconce::operations::transpose(last.handle(), 2, 3).unwrap();
    let windows =
        |keeps_order| Windows { name: "pool", dims: 2, size: Size::Adaptive(vec![2]), keeps_order };
    let strides = |keeps_order| {
        let result = mean(last.handle(), &windows(keeps_order), Divisor::OF_INPUTS).unwrap();
        strides_of(result.handle()).unwrap()
    };
    assert_eq!(strides(true), [12, 1, 6, 3]);
    assert_eq!(strides(false), [12, 4, 2, 1]);
}

#[test]
fn a_single_volume_keeps_its_channels_innermost_if_it_is_dense() {
    let size = Size::Fixed {
        kernel: vec![2],
        stride: Vec::new(),
        padding: vec![0],
        dilation: vec![1],
        ceil_mode: false,
    };
    let windows = Windows { name: "pool", dims: 3, size, keeps_order: true };
    let strides = |channels: i64, narrow: bool| {
        let sizes = [4, 6, 8, channels];
        let dense = tensor(&sizes, F32, &vec![1.0; (4 * 6 * 8 * channels) as usize]);
        let dense = match narrow {
            true => operations::narrow(dense.handle(), 3, 0, channels - 1).unwrap(),
            false => dense,
        };
        let volume = operations::permute(dense.handle(), &[3, 0, 1, 2]).unwrap();
        let (result, _) = max(volume.handle(), &windows).unwrap();
        strides_of(result.handle()).unwrap().to_vec()
    };
    assert_eq!(strides(5, false), [1, 60, 20, 5]);
    assert_eq!(strides(5, true), [24, 12, 4, 1], "there are gaps");
    assert_eq!(strides(1, false), [24, 12, 4, 1], "contiguous as well");
}

#[test]
fn empty_batches_have_empty_results_and_inputs_without_windows_no_gradient() {
    let windows = |outputs: &[i64]| Windows {
        name: "pool",
        dims: 2,
        size: Size::Adaptive(outputs.to_vec()),
        keeps_order: true,
    };
    let none = tensor(&[0, 2, 3, 3], F32, &[]);
    let (largest, numbers) = max(none.handle(), &windows(&[2, 1])).unwrap();
    assert_eq!(sizes_of(largest.handle()).unwrap(), [0, 2, 2, 1]);
    assert_eq!(sizes_of(numbers.handle()).unwrap(), [0, 2, 2, 1]);
    let input = tensor(&[1, 2, 2], F32, &[1.0; 4]);
    let gradient = tensor(&[1, 0, 2], F32, &[]);
    let found =
        mean_backward(gradient.handle(), input.handle(), &windows(&[0, 2]), Divisor::OF_INPUTS)
            .unwrap();
    assert_eq!(content(&found), (vec![1, 2, 2], vec![0.0; 4]));
}

#[test]
fn what_cannot_be_pooled_is_refused_with_words() {
    let size = |kernel: Vec<i64>, padding: i64| Size::Fixed {
        kernel,
        stride: Vec::new(),
        padding: vec![padding],
        dilation: vec![1],
        ceil_mode: false,
    };
    let windows = |size| Windows { name: "max_pool2d", dims: 2, size, keeps_order: true };
    let input = tensor(&[1, 2, 4, 4], F32, &[1.0; 32]);
    let refused = |input: &crate::sconce::Tensor, size| {
        max(input.handle(), &windows(size)).map(|_| ()).unwrap_err().message
    };
    for (size, words) in [
        (size(vec![2, 2, 2], 0), "kernel_size must be one number, or 2 numbers"),
        (size(vec![2], 2), "pad should be at most half"),
        (size(vec![9], 0), "Output size is too small"),
        (Size::Adaptive(vec![-1]), "greater than or equal to 0"),
    ] {
        let text = refused(&input, size);
        assert!(text.contains(words), "{text}");
    }
    let flat = tensor(&[4, 4], F32, &[1.0; 16]);
    assert!(refused(&flat, size(vec![2], 0)).contains("Expected 3D or 4D"));
    let truths = tensor(&[1, 4, 4], api::SCONCE_DTYPE_BOOL, &[1.0; 16]);
    assert!(refused(&truths, size(vec![2], 0)).contains("not implemented for tensors of bool"));
    let whole = tensor(&[1, 4, 4], api::SCONCE_DTYPE_I64, &[1.0; 16]);
    let divisor = Divisor { count_padding: false, fixed: Some(0) };
    assert!(mean(whole.handle(), &windows(size(vec![2], 0)), Divisor::OF_INPUTS).is_err());
    assert!(
        mean(input.handle(), &windows(size(vec![2], 0)), divisor)
            .unwrap_err()
            .message
            .contains("not zero")
    );
    let gradient = tensor(&[1, 2, 3, 2], F32, &[1.0; 12]);
    let wrong = mean_backward(
        gradient.handle(),
        input.handle(),
        &windows(size(vec![2], 0)),
        Divisor::OF_INPUTS,
    );
    assert!(
        wrong.unwrap_err().message.contains("expected grad_output to have the sizes [1, 2, 2, 2]")
    );
}
