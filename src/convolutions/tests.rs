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
            let room = input as i64 + 2 * padding - reach;
            (room >= 0)
                .then(|| (input, filter, stride, padding, dilation, (room / stride + 1) as usize))
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
        let mut found = vec![f64::NAN; expected.len()];
        convolve(&problem, ChannelOrder::First, &input, &filter, &mut found).unwrap();
        prop_assert_eq!(&found, &expected);

        let input = turned(&input, problem.channels * problem.groups, problem.input_area());
        let filter = turned(&filter, problem.channels, problem.filter.iter().product());
        let expected = turned(&expected, features, problem.positions());
        let mut found = vec![f64::NAN; expected.len()];
        convolve(&problem, ChannelOrder::Last, &input, &filter, &mut found).unwrap();
        prop_assert_eq!(&found, &expected);
    }
}

#[test]
fn a_filter_of_many_channels_takes_several_blocks() {
    // 300 taps make blocks of 436 outputs, of 900.
    let problem = Geometry {
        images: 1,
        groups: 2,
        channels: 12,
        features: 3,
        input: [1, 30, 30],
        filter: [1, 5, 5],
        output: [1, 30, 30],
        stride: [1; 3],
        padding: [0, 2, 2],
        dilation: [1; 3],
    };
    let input = integers(problem.input_elements(), 3);
    let filter = integers(6 * problem.taps(), 4);
    let mut expected = vec![0.0; problem.output_elements()];
    forward_image(&problem, &input, &filter, &mut expected, |_, _| Ok(())).unwrap();
    let mut found = vec![f64::NAN; expected.len()];
    convolve(&problem, ChannelOrder::First, &input, &filter, &mut found).unwrap();
    assert_eq!(found, expected);
    let (input, filter) = (turned(&input, 24, 900), turned(&filter, 12, 25));
    convolve(&problem, ChannelOrder::Last, &input, &filter, &mut found).unwrap();
    assert_eq!(found, turned(&expected, 6, 900));
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
            let outcome =
                convolve(&problem, order, &integers(input, 1), &integers(filter, 2), &mut result);
            assert_eq!(outcome, if fits { Ok(()) } else { Err(Uncalculated::WrongLengths) });
        }
    }
}
