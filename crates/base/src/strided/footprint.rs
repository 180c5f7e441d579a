//! Whether two operands share a byte.

use super::view::StridedView;

/// Where the elements of an operand lie. Sizes are at least 1, and all is within what addresses reach.
#[derive(Clone, Copy, Debug)]
pub struct Footprint<'a> {
    /// The address of the element whose indices are 0.
    pub address: usize,
    /// Bytes of an element, at least 1.
    pub element: usize,
    pub view: StridedView<'a>,
}

/// How many partial sums are computed before two operands are taken to share a byte. Slices of one
/// tensor need a few.
const MOST_SUMS: usize = 256;

impl Footprint<'_> {
    /// Whether the two operands share a byte. True, too, if that is not decided after `MOST_SUMS`.
    #[inline]
    pub fn meets(&self, other: &Footprint<'_>) -> bool {
        let ([low, high], [other_low, other_high]) = (self.ends(), other.ends());
        low < other_high + other.element as i128
            && other_low < high + self.element as i128
            && self.meets_within(other)
    }

    /// Sizes, and strides in bytes.
    fn lines(&self) -> impl Iterator<Item = (i128, i128)> {
        let StridedView { sizes, strides } = self.view;
        let lines = sizes.iter().zip(strides).filter(|(size, _)| **size > 1);
        lines.map(|(size, stride)| (i128::from(*size), i128::from(*stride) * self.element as i128))
    }

    /// Addresses of the lowest and the highest element.
    #[inline]
    fn ends(&self) -> [i128; 2] {
        let mut ends = [self.address as i128; 2];
        for (size, stride) in self.lines() {
            ends[usize::from(stride > 0)] += (size - 1) * stride;
        }
        ends
    }

    /// Whether steps up from the lowest element of the one operand and down from the highest of the
    /// other can end less than an element from each other.
    #[cold]
    fn meets_within(&self, other: &Footprint<'_>) -> bool {
        let lines = self.lines().chain(other.lines()).filter(|(_, stride)| *stride != 0);
        let mut steps: Vec<Steps> =
            lines.map(|(size, stride)| Steps { stride: stride.abs(), most: size - 1 }).collect();
        steps.sort_unstable_by_key(|steps| std::cmp::Reverse(steps.stride));
        steps.dedup_by(|again, first| {
            let same = again.stride == first.stride;
            first.most += if same { again.most } else { 0 };
            same
        });
        let ([low, _], [_, high]) = (self.ends(), other.ends());
        let distance = high - low;
        let range = [distance - self.element as i128 + 1, distance + other.element as i128 - 1];
        is_a_sum(&steps, range, &mut MOST_SUMS.clone())
    }
}

/// A stride, and how often it can be taken.
#[derive(Clone, Copy)]
struct Steps {
    stride: i128,
    most: i128,
}

fn reach(steps: &[Steps]) -> i128 {
    steps.iter().map(|steps| steps.stride * steps.most).sum()
}

/// Whether steps, from the largest to the smallest, have a sum from `low` to `high`.
fn is_a_sum(steps: &[Steps], [low, high]: [i128; 2], sums: &mut usize) -> bool {
    if *sums == 0 {
        return true;
    }
    *sums -= 1;
    // The larger strides make multiples of their common period only, which the rest has to fill up.
    let mut period = 0;
    for (at, next) in steps.iter().map(Some).chain([None]).enumerate() {
        let lowest = low - reach(&steps[at..]);
        let multiple = if period == 0 { 0 } else { high.div_euclid(period) * period };
        if !(lowest..=high).contains(&multiple) {
            return false;
        }
        period = next.map_or(period, |next| greatest_divisor(next.stride, period));
    }
    let Some((Steps { stride, most }, rest)) = steps.split_first() else { return true };
    let least = (low - reach(rest) + stride - 1).div_euclid(*stride).max(0);
    let most = high.div_euclid(*stride).min(*most);
    (least..=most).any(|times| {
        let taken = times * stride;
        is_a_sum(rest, [low - taken, high - taken], sums)
    })
}

fn greatest_divisor(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Sizes and strides of a set, how many bytes an element has, and where the first is.
    type Set = ([i64; 3], [i64; 3], usize, usize);

    fn footprint((sizes, strides, element, address): &Set) -> Footprint<'_> {
        Footprint { address: *address, element: *element, view: StridedView::new(sizes, strides) }
    }

    /// The first byte of each element.
    fn places((sizes, strides, element, address): &Set) -> Vec<usize> {
        let mut places = vec![*address];
        for (size, stride) in sizes.iter().zip(strides) {
            let step = |at: usize, i: i64| (at as i64 + i * stride * *element as i64) as usize;
            places = places.iter().flat_map(|at| (0..*size).map(move |i| step(*at, i))).collect();
        }
        places
    }

    fn bytes(set: &Set) -> BTreeSet<usize> {
        places(set).iter().flat_map(|at| *at..at + set.2).collect()
    }

    fn sets(element: usize) -> impl Strategy<Value = Set> {
        let any_strides = prop::array::uniform3(-15_i64..25);
        // Slices and their like: each stride is a multiple of the next.
        let nested = (1_i64..4, 1_i64..6, 1_i64..4).prop_map(|(a, b, c)| [a * b * c, b * c, c]);
        let sizes = prop::array::uniform3(1_i64..5);
        (sizes, prop_oneof![any_strides, nested.boxed()], Just(element), 4000_usize..4100)
    }

    fn cases() -> ProptestConfig {
        let cases = if cfg!(miri) { 16 } else { 3000 };
        ProptestConfig { cases, failure_persistence: None, ..Default::default() }
    }

    proptest! {
        #![proptest_config(cases())]

        #[test]
        fn sets_meet_where_their_bytes_do(
            (a, b) in (1_usize..5).prop_flat_map(|element| (sets(element), sets(element)))
        ) {
            let meet = !bytes(&a).is_disjoint(&bytes(&b));
            prop_assert_eq!(footprint(&a).meets(&footprint(&b)), meet);
            prop_assert_eq!(footprint(&b).meets(&footprint(&a)), meet);
        }
    }

    #[test]
    fn slices_of_a_large_tensor_are_told_apart() {
        // 64 and 32 of 96 channels, of 32 images with 224 * 224 points, channels last and first.
        let points = 224 * 224;
        for strides in [[96 * points, 1, 96 * 224, 96], [96 * points, points, 224, 1]] {
            let slice = |channels: i64, sizes: &'static [i64; 4]| Footprint {
                address: 4096 + 2 * (channels * strides[1]) as usize,
                element: 2,
                view: StridedView::new(sizes, &strides),
            };
            let (first, second) = (&[32, 64, 224, 224], &[32, 32, 224, 224]);
            assert!(!slice(0, first).meets(&slice(64, second)));
            assert!(!slice(32, first).meets(&slice(0, second)));
            assert!(slice(0, first).meets(&slice(63, second)));
            assert!(slice(31, first).meets(&slice(0, second)));
            assert!(slice(0, first).meets(&slice(0, second)));
        }
    }

    #[test]
    fn what_takes_too_long_to_tell_counts_as_meeting() {
        // The strides of the two are prime to each other, and no early step decides.
        let sizes = [1000; 4];
        let many = |address, strides| Footprint {
            address,
            element: 2,
            view: StridedView::new(&sizes, strides),
        };
        let [a, b] = [[1009, 10_007, 100_003, 1_000_003], [1013, 10_009, 100_019, 1_000_033]];
        assert!(many(4096, &a).meets(&many(4099, &b)));
    }
}
