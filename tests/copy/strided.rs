//! Strided copies between all kinds of memory against a copy element by element.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::places::{KINDS, Kind, Place, alone, calls, pattern};
use testkit::shapes::{Axis, strided};

const MOST_AXES: usize = SCONCE_COPY_MOST_AXES;
const ELEMENTS: [usize; 11] = [1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32];
/// Bytes on both sides of what is copied, which stay as they are.
const MARGIN: usize = 40;

/// Bytes that a side takes, and where among them the element with all indices 0 lies.
fn extent(axes: &[Axis], element: usize, stride: fn(&Axis) -> i64) -> (usize, usize) {
    let (mut low, mut high) = (0, 0);
    for axis in axes {
        let reach = (axis.0 - 1).max(0) * stride(axis);
        (low, high) = (low + reach.min(0), high + reach.max(0));
    }
    ((high - low + 1) as usize * element, -low as usize * element)
}

/// One copy with all that matters to it.
#[derive(Clone, Debug)]
struct Case {
    axes: Vec<Axis>,
    element: usize,
    /// Indices of [`KINDS`].
    kinds: (usize, usize),
    /// How far from an aligned address both sides begin.
    skews: (usize, usize),
    non_blocking: bool,
    peers: bool,
}

/// Copies and compares all of the destination with what one element after the other gives.
fn check(case: &Case) -> Result<(), TestCaseError> {
    let Case { axes, element, kinds, skews, non_blocking, peers } = case;
    for (device, peer) in [(0, 1), (1, 0)] {
        assert_eq!(sconce_sim_set_peer_access(device, peer, (*peers).into()), SCONCE_OK);
    }
    let (dst_bytes, dst_zero) = extent(axes, *element, |axis| axis.1);
    let (src_bytes, src_zero) = extent(axes, *element, |axis| axis.2);
    let (dst_zero, src_zero) = (MARGIN + skews.0 + dst_zero, MARGIN + skews.1 + src_zero);
    let before = pattern(1, dst_bytes + 2 * MARGIN + skews.0);
    let content: Vec<u8> =
        (0..src_bytes + 2 * MARGIN + skews.1).map(|i| (i as u8 ^ (i >> 8) as u8) | 0x80).collect();

    let mut expected = before.clone();
    let total: i64 = axes.iter().map(|axis| axis.0).product();
    for index in 0..total {
        let (mut rest, mut to, mut from) = (index, dst_zero as i64, src_zero as i64);
        for (size, dst_stride, src_stride) in axes.iter().rev() {
            let here = rest % size * *element as i64;
            (to, from) = (to + here * dst_stride, from + here * src_stride);
            rest /= size;
        }
        let (to, from) = (to as usize, from as usize);
        expected[to..to + element].copy_from_slice(&content[from..from + element]);
    }

    let dst = Place::holding(KINDS[kinds.0], &before);
    let src = Place::holding(KINDS[kinds.1], &content);
    let status = strided(axes, *element, dst.at(dst_zero), src.at(src_zero), *non_blocking);
    prop_assert_eq!(status, SCONCE_OK, "{}", last_message());
    if *non_blocking || (kinds.0 >= 2 && kinds.1 >= 2) {
        // A copy between devices is in both streams; one stream is enough.
        let index = if kinds.1 >= 2 { kinds.1 } else { kinds.0 };
        if let Kind::Device(device) = KINDS[index] {
            assert_eq!(sconce_device_synchronize(device), SCONCE_OK);
        }
    }
    prop_assert!(dst.read() == expected, "the destination is not what it should be");
    prop_assert!(src.read() == content, "the source changed");
    Ok(())
}

/// Strides of a layout without overlap, made from packed ones: in some order, with gaps, signs.
fn strides_of(sizes: &[i64], order: &[usize], gaps: &[i64], signs: u8) -> Vec<i64> {
    let mut strides = vec![0; sizes.len()];
    let mut next = 1;
    for &axis in order.iter().filter(|axis| **axis < sizes.len()) {
        strides[axis] = if signs >> axis & 1 == 1 { -next } else { next };
        next = (next + gaps[axis]) * sizes[axis].max(1);
    }
    strides
}

fn cases() -> impl Strategy<Value = Case> {
    let order = || Just((0..MOST_AXES).collect::<Vec<usize>>()).prop_shuffle();
    let gaps = || prop_oneof![Just(vec![0; MOST_AXES]), prop::collection::vec(0..3_i64, MOST_AXES)];
    let signs = || prop_oneof![3 => Just(0_u8), 1 => any::<u8>()];
    let sizes = (0..=MOST_AXES).prop_flat_map(|rank| {
        let most = [9_i64, 60, 20, 9, 6, 5, 4, 3, 3][rank];
        let size = prop_oneof![30 => 1..=most, 1 => Just(0_i64), 6 => Just(1_i64)];
        prop::collection::vec(size, rank)
    });
    let src = prop_oneof![
        // Like the destination; some other layout; whatever strides, repetitions among them.
        2 => Just(None),
        3 => (order(), gaps(), signs()).prop_map(|it| Some((it, None))),
        2 => (order(), gaps(), signs(), prop::collection::vec(-4..=4_i64, MOST_AXES))
            .prop_map(|(order, gaps, signs, free)| Some(((order, gaps, signs), Some(free)))),
    ];
    let dst = (order(), gaps(), signs());
    let rest = (0..4_usize, 0..4_usize, 0..17_usize, 0..17_usize, any::<bool>(), any::<bool>());
    (sizes, dst, src, prop::sample::select(&ELEMENTS[..]), rest).prop_map(
        |(sizes, dst, src, element, (to, from, dst_skew, src_skew, non_blocking, peers))| {
            let dst_strides = strides_of(&sizes, &dst.0, &dst.1, dst.2);
            let src_strides = match src {
                None => dst_strides.clone(),
                Some(((order, gaps, signs), None)) => strides_of(&sizes, &order, &gaps, signs),
                Some((_, Some(free))) => free,
            };
            let axes = (0..sizes.len()).map(|i| (sizes[i], dst_strides[i], src_strides[i]));
            let skew = |skew: usize| if skew > 8 { 0 } else { skew };
            Case {
                axes: axes.collect(),
                element,
                kinds: (to, from),
                skews: (skew(dst_skew), skew(src_skew)),
                non_blocking,
                peers,
            }
        },
    )
}

#[test]
fn every_shape_between_all_kinds_of_memory_is_what_one_element_after_the_other_gives() {
    let _alone = alone();
    let config = ProptestConfig { cases: 3000, failure_persistence: None, ..Default::default() };
    let result = TestRunner::new(config).run(&cases(), |case| check(&case));
    result.unwrap_or_else(|failure| panic!("{failure}"));
    for kind in ["kernel_launch", "copy_2d_async", "copy_peer_async"] {
        assert!(calls(kind) > 10, "the cases leave out {kind}");
    }
}
