//! Sets of bytes: runs at regular distances, as strided operands have them, and whether two have a byte in common.
#![forbid(unsafe_code)]

use sconce_sim::MemoryAccess;

/// A dimension along which runs are repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    count: u64,
    stride: u64,
}

/// Runs of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    start: u64,
    run: u64,
    /// From the smallest stride to the largest.
    steps: Vec<Step>,
}

/// How many pairs of parts are looked at; two sets that need more count as apart, so that no report is wrong.
const MOST_LOOKS: u32 = 200_000;

impl Pattern {
    pub(crate) fn range(start: u64, bytes: u64) -> Pattern {
        Pattern { start, run: bytes, steps: Vec::new() }
    }

    pub(crate) fn of(access: &MemoryAccess) -> Pattern {
        let step = |step: &sconce_sim::AccessStep| Step { count: step.count, stride: step.stride };
        Pattern {
            start: access.address(),
            run: access.run_bytes(),
            steps: access.steps().iter().map(step).collect(),
        }
    }

    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// The address behind the last byte.
    pub(crate) fn end(&self) -> u64 {
        let reach = |step: &Step| step.stride.saturating_mul(step.count.saturating_sub(1));
        let last = self.steps.iter().map(reach).fold(self.run, u64::saturating_add);
        self.start.saturating_add(last)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.run == 0
    }

    /// The same bytes elsewhere.
    pub(crate) fn moved(&self, from: u64, to: u64) -> Pattern {
        Pattern { start: self.start.wrapping_sub(from).wrapping_add(to), ..self.clone() }
    }

    /// The part of it in a range of addresses, as patterns.
    pub(crate) fn within(&self, low: u64, high: u64) -> Vec<Pattern> {
        let mut parts = Vec::new();
        self.cut(low, high, &mut parts);
        parts
    }

    fn cut(&self, low: u64, high: u64, parts: &mut Vec<Pattern>) {
        let (start, end) = (self.start, self.end());
        if self.run == 0 || end <= low || start >= high {
            return;
        }
        if low <= start && end <= high {
            parts.push(self.clone());
            return;
        }
        let Some((outer, inner)) = self.steps.split_last() else {
            let start = start.max(low);
            parts.push(Pattern::range(start, end.min(high) - start));
            return;
        };
        let part = Pattern { start, run: self.run, steps: inner.to_vec() };
        let (length, stride) = (part.end() - start, outer.stride);
        // The parts that lie inside as a whole stay one pattern.
        let first = low.saturating_sub(start).div_ceil(stride).min(outer.count);
        let fits = high.saturating_sub(start).checked_sub(length);
        let last = fits.map_or(0, |room| (room / stride + 1).min(outer.count));
        let at = |index: u64| Pattern { start: start + index * stride, ..part.clone() };
        if first < last {
            let mut steps = inner.to_vec();
            if last - first > 1 {
                steps.push(Step { count: last - first, stride });
            }
            parts.push(Pattern { start: start + first * stride, run: self.run, steps });
        }
        // Those that reach over a border are cut on.
        let reaches_low = low.saturating_sub(start).saturating_sub(length.saturating_sub(1));
        for index in reaches_low.div_ceil(stride)..first {
            at(index).cut(low, high, parts);
        }
        let until = high.saturating_sub(start).div_ceil(stride).min(outer.count);
        for index in last.max(first)..until {
            at(index).cut(low, high, parts);
        }
    }

    /// Its runs of bytes, each from its first to behind its last; `None` if there are more than `most`.
    pub(crate) fn runs(&self, most: u64) -> Option<Vec<(u64, u64)>> {
        let count = self.steps.iter().try_fold(1_u64, |all, step| all.checked_mul(step.count));
        if count.is_none_or(|count| count > most) {
            return None;
        }
        let mut starts = vec![self.start];
        for step in &self.steps {
            let moved = |i: u64| starts.iter().map(move |start| start + i * step.stride);
            starts = (0..step.count).flat_map(moved).collect();
        }
        Some(starts.into_iter().map(|start| (start, start + self.run)).collect())
    }

    /// Whether it has all bytes of another one; `false` where that is not plain.
    pub(crate) fn covers(&self, other: &Pattern) -> bool {
        self == other
            || self.steps.is_empty() && self.start <= other.start && other.end() <= self.end()
    }

    /// A byte that both have.
    pub(crate) fn common(&self, other: &Pattern) -> Option<u64> {
        let mut looks = 0;
        common(
            (self.start, &self.steps, self.run),
            (other.start, &other.steps, other.run),
            &mut looks,
        )
    }
}

type Part<'a> = (u64, &'a [Step], u64);

fn end((start, steps, run): Part<'_>) -> u64 {
    let reach = |step: &Step| step.stride.saturating_mul(step.count.saturating_sub(1));
    start.saturating_add(steps.iter().map(reach).fold(run, u64::saturating_add))
}

fn common(a: Part<'_>, b: Part<'_>, looks: &mut u32) -> Option<u64> {
    *looks += 1;
    if *looks > MOST_LOOKS || a.2 == 0 || b.2 == 0 || a.0 >= end(b) || b.0 >= end(a) {
        return None;
    }
    let (outer_a, outer_b) = (a.1.last(), b.1.last());
    match (outer_a, outer_b) {
        (None, None) => Some(a.0.max(b.0)),
        // Both are repeated at one distance: part i of the one meets part i + k of the other for few k.
        (Some(one), Some(other)) if one.stride == other.stride => {
            let (inner_a, inner_b) = (&a.1[..a.1.len() - 1], &b.1[..b.1.len() - 1]);
            let stride = i128::from(one.stride);
            let length_a = i128::from(end((a.0, inner_a, a.2)) - a.0);
            let length_b = i128::from(end((b.0, inner_b, b.2)) - b.0);
            let apart = i128::from(a.0) - i128::from(b.0);
            // a + i s and b + j s with k = j - i: they meet if b - a + k s lies in (-length_b, length_a).
            let low = (apart - length_b + 1).div_euclid(stride);
            let high = (apart + length_a - 1).div_euclid(stride);
            (low..=high).find_map(|k| {
                let first = (-k).max(0);
                let last = (i128::from(one.count) - 1).min(i128::from(other.count) - 1 - k);
                if first > last {
                    return None;
                }
                let at_a = a.0 + u64::try_from(first).ok()? * one.stride;
                let at_b = b.0 + u64::try_from(first + k).ok()? * one.stride;
                common((at_a, inner_a, a.2), (at_b, inner_b, b.2), looks)
            })
        }
        _ => {
            // The one with the longer distance is taken apart.
            let of = |step: Option<&Step>| step.map_or(0, |step| step.stride);
            let (whole, parts) = if of(outer_a) >= of(outer_b) { (b, a) } else { (a, b) };
            let (outer, inner) = parts.1.split_last()?;
            let length = end((parts.0, inner, parts.2)) - parts.0;
            let first =
                whole.0.saturating_sub(parts.0).saturating_sub(length - 1).div_ceil(outer.stride);
            let until = end(whole).saturating_sub(parts.0).div_ceil(outer.stride).min(outer.count);
            (first..until).find_map(|index| {
                common((parts.0 + index * outer.stride, inner, parts.2), whole, looks)
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn bytes(pattern: &Pattern) -> BTreeSet<u64> {
        let mut starts = vec![pattern.start];
        for step in &pattern.steps {
            let all = (0..step.count).flat_map(|i| starts.iter().map(move |s| s + i * step.stride));
            starts = all.collect();
        }
        starts.into_iter().flat_map(|start| start..start + pattern.run).collect()
    }

    fn patterns() -> impl Strategy<Value = Pattern> {
        let step = (2_u64..5, 1_u64..40).prop_map(|(count, stride)| Step { count, stride });
        (100_u64..200, 0_u64..7, prop::collection::vec(step, 0..3)).prop_map(
            |(start, run, mut steps)| {
                steps.sort_by_key(|step| step.stride);
                Pattern { start, run, steps }
            },
        )
    }

    proptest! {
        #[test]
        fn a_common_byte_is_found_if_there_is_one(a in patterns(), b in patterns()) {
            let (of_a, of_b) = (bytes(&a), bytes(&b));
            let both: BTreeSet<_> = of_a.intersection(&of_b).copied().collect();
            match a.common(&b) {
                Some(byte) => prop_assert!(both.contains(&byte), "{byte} of {a:?} and {b:?}"),
                None => prop_assert!(both.is_empty(), "{both:?} of {a:?} and {b:?}"),
            }
            if a.covers(&b) {
                prop_assert!(of_b.is_subset(&of_a));
            }
        }

        #[test]
        fn parts_are_what_lies_in_the_range(a in patterns(), low in 90_u64..260, length in 0_u64..120) {
            let parts: BTreeSet<u64> = a.within(low, low + length).iter().flat_map(bytes).collect();
            let wanted = bytes(&a).into_iter().filter(|byte| (low..low + length).contains(byte)).collect();
            prop_assert_eq!(parts, wanted);
        }
    }

    #[test]
    fn columns_of_a_large_matrix_are_apart() {
        let column =
            |at| Pattern { start: at, run: 4, steps: vec![Step { count: 1 << 30, stride: 8 }] };
        assert_eq!(column(1000).common(&column(1004)), None);
        assert_eq!(column(1000).common(&column(1007)), Some(1008));
        assert_eq!(column(1 << 34).common(&column((1 << 34) - 8 * 7)), Some(1 << 34));
    }
}
