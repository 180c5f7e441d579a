#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;

use super::*;
use crate::unfolding::forward_image;

/// Small problems with one to three spatial dimensions, some of which read nothing but padding.
fn problems() -> impl Strategy<Value = Geometry> {
    let axis = (1..7_usize, 1..4_usize, 1..4_i64, 0..4_i64, 1..4_i64).prop_filter_map(
        "the filter does not fit",
        |(input, filter, stride, padding, dilation)| {
            let reach = dilation * (filter as i64 - 1) + 1;
            let span = input as i64 + 2 * padding - reach;
            (span >= 0)
                .then(|| (input, filter, stride, padding, dilation, (span / stride + 1) as usize))
        },
    );
    let single = Just((1, 1, 1, 0, 1, 1));
    let axes = prop_oneof![
        (single, single, axis.clone()).prop_map(|(z, y, x)| [z, y, x]),
        (single, axis.clone(), axis.clone()).prop_map(|(z, y, x)| [z, y, x]),
        (axis.clone(), axis.clone(), axis).prop_map(|(z, y, x)| [z, y, x]),
    ];
    (1..4_usize, 1..20_usize, 1..4_usize, 1..4_usize, axes).prop_map(
        |(images, groups, channels, features, axes)| Geometry {
            images,
            groups,
            channels,
            features,
            input: axes.map(|axis| axis.0),
            filter: axes.map(|axis| axis.1),
            stride: axes.map(|axis| axis.2),
            padding: axes.map(|axis| axis.3),
            dilation: axes.map(|axis| axis.4),
            output: axes.map(|axis| axis.5),
        },
    )
}

/// Small integers, whose sums are exact.
fn integers(count: usize, seed: usize) -> Vec<f64> {
    (0..count).map(|index| ((index * 7 + seed) * 13 % 17) as f64 - 8.0).collect()
}

/// Images of `channels` and `places`, channels first, with the channels last.
fn turned(values: &[f64], channels: usize, places: usize) -> Vec<f64> {
    let image = channels * places;
    let from = |index: usize| {
        let (image_index, rest) = (index / image, index % image);
        image_index * image + rest % channels * places + rest / channels
    };
    (0..values.len()).map(|index| values[from(index)]).collect()
}

proptest! {
    #[test]
    fn both_orders_agree_with_one_image_at_a_time(problem in problems(), seed in 0..1000_usize) {
        let features = problem.features * problem.groups;
        let input = integers(problem.images * problem.input_elements(), seed);
        let filter = integers(features * problem.taps(), seed + 5);
        let mut expected = vec![0.0; problem.images * problem.output_elements()];
        let images = input.chunks_exact(problem.input_elements());
        for (image, expected) in images.zip(expected.chunks_exact_mut(problem.output_elements())) {
            forward_image(&problem, image, &filter, expected, |_, _| Ok(())).unwrap();
        }
        let bias = integers(features, seed + 9);
        for (index, value) in expected.iter_mut().enumerate() {
            *value += bias[index / problem.positions() % features];
        }
        let mut found = vec![f64::NAN; expected.len()];
        convolve(&problem, ChannelOrder::First, &input, &filter, Some(&bias), &mut found).unwrap();
        prop_assert_eq!(&found, &expected);

        let input = turned(&input, problem.channels * problem.groups, problem.input_area());
        let filter = turned(&filter, problem.channels, problem.filter.iter().product());
        let expected = turned(&expected, features, problem.positions());
        let mut found = vec![f64::NAN; expected.len()];
        convolve(&problem, ChannelOrder::Last, &input, &filter, Some(&bias), &mut found).unwrap();
        prop_assert_eq!(&found, &expected);
    }
}

#[test]
fn a_large_image_takes_several_parts() {
    // A line of the padded input has 34 places of 12 channels, so that 40 fit.
    let problem = Geometry {
        images: 1,
        groups: 2,
        channels: 12,
        features: 3,
        input: [1, 60, 30],
        filter: [1, 5, 5],
        output: [1, 60, 30],
        stride: [1; 3],
        padding: [0, 2, 2],
        dilation: [1; 3],
    };
    let input = integers(problem.input_elements(), 3);
    let filter = integers(6 * problem.taps(), 4);
    let mut expected = vec![0.0; problem.output_elements()];
    forward_image(&problem, &input, &filter, &mut expected, |_, _| Ok(())).unwrap();
    let mut found = vec![f64::NAN; expected.len()];
    convolve(&problem, ChannelOrder::First, &input, &filter, None, &mut found).unwrap();
    assert_eq!(found, expected);
    let (input, filter) = (turned(&input, 24, 1800), turned(&filter, 12, 25));
    convolve(&problem, ChannelOrder::Last, &input, &filter, None, &mut found).unwrap();
    assert_eq!(found, turned(&expected, 6, 1800));
}

#[test]
fn slices_of_other_lengths_are_refused() {
    let problem = Geometry {
        images: 2,
        groups: 1,
        channels: 3,
        features: 4,
        input: [1, 1, 5],
        filter: [1, 1, 2],
        output: [1, 1, 4],
        stride: [1; 3],
        padding: [0; 3],
        dilation: [1; 3],
    };
    for order in [ChannelOrder::First, ChannelOrder::Last] {
        for (input, filter, output, fits) in
            [(30, 24, 32, true), (29, 24, 32, false), (30, 25, 32, false), (30, 24, 31, false)]
        {
            let mut result = vec![0.0; output];
            let outcome = convolve(
                &problem,
                order,
                &integers(input, 1),
                &integers(filter, 2),
                None,
                &mut result,
            );
            assert_eq!(outcome, if fits { Ok(()) } else { Err(Uncalculated::WrongLengths) });
        }
    }
}

#[test]
fn a_bias_of_another_length_is_refused() {
    let problem = Geometry {
        images: 1,
        groups: 1,
        channels: 1,
        features: 2,
        input: [1; 3],
        filter: [1; 3],
        output: [1; 3],
        stride: [1; 3],
        padding: [0; 3],
        dilation: [1; 3],
    };
    let mut result = [0.0; 2];
    for (bias, outcome) in [(1, Err(Uncalculated::WrongLengths)), (2, Ok(()))] {
        let bias = vec![0.5; bias];
        let order = ChannelOrder::First;
        assert_eq!(
            convolve(&problem, order, &[2.0], &[3.0, 4.0], Some(&bias), &mut result),
            outcome
        );
    }
    assert_eq!(result, [6.5, 8.5]);
}

/// Parts have blocks of features where images are small, whose last one is not full.
#[test]
fn small_images_with_many_features_agree_with_one_image_at_a_time() {
    let problem = Geometry {
        images: 3,
        groups: 2,
        channels: 20,
        features: 37,
        input: [1, 7, 6],
        filter: [1, 3, 2],
        output: [1, 4, 7],
        stride: [1, 2, 1],
        padding: [0, 1, 1],
        dilation: [1; 3],
    };
    let features = 2 * problem.features;
    let input = integers(problem.images * problem.input_elements(), 3);
    let filter = integers(features * problem.taps(), 4);
    let mut expected = vec![0.0; problem.images * problem.output_elements()];
    let images = input.chunks_exact(problem.input_elements());
    for (image, expected) in images.zip(expected.chunks_exact_mut(problem.output_elements())) {
        forward_image(&problem, image, &filter, expected, |_, _| Ok(())).unwrap();
    }
    let turned_input = turned(&input, 40, problem.input_area());
    let turned_filter = turned(&filter, problem.channels, 6);
    for threads in [1, 2, 5] {
        crate::parallel::set_count(threads).unwrap();
        let mut found = vec![f64::NAN; expected.len()];
        convolve(&problem, ChannelOrder::First, &input, &filter, None, &mut found).unwrap();
        assert_eq!(found, expected, "{threads} threads");
        let order = ChannelOrder::Last;
        convolve(&problem, order, &turned_input, &turned_filter, None, &mut found).unwrap();
        assert_eq!(found, turned(&expected, features, problem.positions()), "{threads} threads");
    }
}

/// Single precision, whose tiles have other sizes, on one thread and on several.
#[test]
fn bits_depend_neither_on_threads_nor_on_the_order_of_memory() {
    let shapes = [
        (1, 3, 9, 3, [80, 70]),
        (2, 4, 5, 1, [80, 70]),
        (1, 1, 1, 3, [80, 70]),
        (30, 1, 1, 5, [80, 70]),
        (1, 20, 40, 1, [80, 70]),
        (1, 40, 100, 3, [6, 5]),
    ];
    for (groups, channels, features, side, [height, width]) in shapes {
        let problem = Geometry {
            images: 2,
            groups,
            channels,
            features,
            input: [1, height, width],
            filter: [1, side, side],
            output: [1, height, width],
            stride: [1; 3],
            padding: [0, side as i64 / 2, side as i64 / 2],
            dilation: [1; 3],
        };
        let floats = |values: Vec<f64>| -> Vec<f32> {
            values.into_iter().map(|value| value as f32 * 0.371 + 0.13).collect()
        };
        let all = features * groups;
        let input = integers(problem.images * problem.input_elements(), 3);
        let filter = integers(all * problem.taps(), 4);
        let turned_input = floats(turned(&input, channels * groups, problem.input_area()));
        let turned_filter = floats(turned(&filter, channels, side * side));
        let (input, filter) = (floats(input), floats(filter));
        let convolved = |order, threads| {
            crate::parallel::set_count(threads).unwrap();
            let mut found = vec![f32::NAN; problem.images * problem.output_elements()];
            let (input, filter) = match order {
                ChannelOrder::First => (&input, &filter),
                ChannelOrder::Last => (&turned_input, &turned_filter),
            };
            let bias: Vec<f32> = (0..all).map(|feature| feature as f32 * 0.77 - 1.3).collect();
            convolve(&problem, order, input, filter, Some(&bias), &mut found).unwrap();
            found
        };
        for order in [ChannelOrder::First, ChannelOrder::Last] {
            let alone = convolved(order, 1);
            for threads in [2, 3, 16] {
                assert!(convolved(order, threads) == alone, "{order:?}, {threads} threads");
            }
        }
        if side > 1 && channels * features > 1 {
            let doubles =
                |order| -> Vec<f64> { convolved(order, 1).into_iter().map(f64::from).collect() };
            let last = turned(&doubles(ChannelOrder::First), all, problem.positions());
            let expected = doubles(ChannelOrder::Last);
            assert!(last == expected, "{problem:?}");
        }
    }
}
