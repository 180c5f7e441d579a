//! Sizes and strides of one operand.

use smallvec::SmallVec;

/// Axes that are handled without memory of the heap.
const INLINE_AXES: usize = 8;

/// Sizes and strides, in elements, of axes in any order. Sizes are at least 0. The stride of an axis
/// of one element means nothing.
#[derive(Clone, Copy, Debug)]
pub struct StridedView<'a> {
    pub(crate) sizes: &'a [i64],
    pub(crate) strides: &'a [i64],
}

/// The bytes from the lowest to the highest of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteSpan {
    /// Where the lowest byte lies, from the element whose indices are 0: at most 0.
    pub low: i64,
    /// Bytes from the lowest to the end of the highest element.
    pub bytes: i64,
}

/// An axis that lies over the axes with smaller strides, or between their elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    pub axis: usize,
    /// How many elements those axes span, which is more than the axis' stride.
    pub span: u128,
}

impl<'a> StridedView<'a> {
    #[inline]
    pub fn new(sizes: &'a [i64], strides: &'a [i64]) -> StridedView<'a> {
        StridedView { sizes, strides }
    }

    fn axes(self) -> impl DoubleEndedIterator<Item = (i64, i64)> + 'a {
        self.sizes.iter().copied().zip(self.strides.iter().copied())
    }

    /// How many elements there are; `None` if the number does not fit.
    pub(crate) fn count(self) -> Option<i64> {
        self.sizes.iter().try_fold(1_i64, |all, size| all.checked_mul(*size))
    }

    /// The bytes that elements of `element` bytes reach; `None` if a number does not fit. Sizes are at
    /// least 1.
    #[inline]
    pub fn byte_span(self, element: i64) -> Option<ByteSpan> {
        let (mut low, mut bytes) = (0_i64, element);
        for (size, stride) in self.axes().filter(|(size, _)| *size > 1) {
            let reach = stride.checked_mul(size - 1)?.checked_mul(element)?;
            low = low.checked_add(reach.min(0))?;
            bytes = bytes.checked_add(reach.checked_abs()?)?;
        }
        Some(ByteSpan { low, bytes })
    }

    /// Whether there is exactly one element at each place from the first to the last, in any order of
    /// the axes. Sizes are at least 1.
    pub fn is_dense(self) -> bool {
        let span = self.byte_span(1);
        let fills = self.count().zip(span).is_some_and(|(count, span)| span.bytes == count);
        fills && self.overlap().is_none()
    }

    /// The first axis, from the smallest stride on, that lies over others or between their elements.
    /// Without one, each element has a place of its own.
    #[inline]
    pub fn overlap(self) -> Option<Overlap> {
        if self.is_nested() { None } else { self.first_overlap() }
    }

    /// Whether each axis' stride is at least what all axes behind it span, as in most operands.
    #[inline]
    fn is_nested(self) -> bool {
        let mut span = 1_u64;
        for (size, stride) in self.axes().rev().filter(|(size, _)| *size > 1) {
            let stride = stride.unsigned_abs();
            if stride < span {
                return false;
            }
            span = span.saturating_add(stride.saturating_mul(size as u64 - 1));
        }
        true
    }

    #[inline(never)]
    fn first_overlap(self) -> Option<Overlap> {
        let mut order: SmallVec<[usize; INLINE_AXES]> =
            (0..self.sizes.len()).filter(|axis| self.sizes[*axis] > 1).collect();
        order.sort_unstable_by_key(|axis| self.strides[*axis].unsigned_abs());
        let mut span = 1_u128;
        for axis in order {
            let stride = u128::from(self.strides[axis].unsigned_abs());
            if stride < span {
                return Some(Overlap { axis, span });
            }
            span = span.saturating_add(stride.saturating_mul(self.sizes[axis] as u128 - 1));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The place of each element.
    fn places(view: StridedView<'_>) -> Vec<i64> {
        let mut places = vec![0];
        for (size, stride) in view.axes() {
            places = places.iter().flat_map(|at| (0..size).map(move |i| at + i * stride)).collect();
        }
        places
    }

    fn overlap(sizes: &[i64], strides: &[i64]) -> Option<Overlap> {
        StridedView::new(sizes, strides).overlap()
    }

    fn cases() -> ProptestConfig {
        let cases = if cfg!(miri) { 16 } else { 3000 };
        ProptestConfig { cases, failure_persistence: None, ..Default::default() }
    }

    proptest! {
        #![proptest_config(cases())]

        #[test]
        fn a_view_is_what_its_places_are(
            axes in prop::collection::vec((1_i64..5, -15_i64..25), 0..5),
            element in 1_i64..9,
        ) {
            let (sizes, strides): (Vec<i64>, Vec<i64>) = axes.into_iter().unzip();
            let view = StridedView::new(&sizes, &strides);
            let mut places = places(view);
            prop_assert_eq!(view.count(), Some(places.len() as i64));
            places.sort_unstable();
            let (low, high) = (places[0], places[places.len() - 1]);
            let bytes = (high - low + 1) * element;
            prop_assert_eq!(view.byte_span(element), Some(ByteSpan { low: low * element, bytes }));
            let all = places.len();
            places.dedup();
            let is_unique = places.len() == all;
            prop_assert!(view.overlap().is_some() || is_unique);
            prop_assert_eq!(view.is_dense(), is_unique && all as i64 == high - low + 1);
            // The fast path says nothing else than the slow one.
            prop_assert_eq!(view.overlap(), view.first_overlap());
        }
    }

    #[test]
    fn views_of_one_tensor_do_not_overlap() {
        assert_eq!(overlap(&[2, 3, 4], &[0, 4, 1]), Some(Overlap { axis: 0, span: 1 }));
        assert_eq!(overlap(&[1, 3, 4], &[0, 3, 1]), Some(Overlap { axis: 1, span: 4 }));
        assert_eq!(overlap(&[1, 3, 4], &[0, 4, 1]), None);
        assert_eq!(overlap(&[2, 3, 4], &[-4, 8, -1]), None);
        assert_eq!(overlap(&[2, 3, 1], &[1, 2, 0]), None);
        let far = i64::MAX;
        assert_eq!(overlap(&[2, far, 3], &[1, far, i64::MIN]).map(|found| found.axis), Some(2));
        assert_eq!(overlap(&[3, far, 2], &[far, far, 1]).map(|found| found.axis), Some(1));
    }

    #[test]
    fn numbers_that_do_not_fit_are_none() {
        let far = i64::MAX;
        assert_eq!(StridedView::new(&[far, 2], &[1, 1]).count(), None);
        for (sizes, strides, element) in [
            (&[far, far][..], &[far, 1][..], 1),
            (&[2], &[far], 8),
            (&[2], &[i64::MIN], 1),
            (&[2, 2], &[far - 1, 1], 1),
        ] {
            assert_eq!(StridedView::new(sizes, strides).byte_span(element), None, "{sizes:?}");
        }
        assert!(!StridedView::new(&[far, 3], &[3, 1]).is_dense());
    }
}
