//! One axis: which outputs an element of the filter takes part in, and where it reads.

use std::ops::Range;

use crate::unfolding::Geometry;

/// How a filter moves along an axis.
#[derive(Clone, Copy)]
pub(super) struct FilterAxis {
    input: i64,
    output: i64,
    stride: i64,
    padding: i64,
    dilation: i64,
}

impl FilterAxis {
    pub(super) fn of(geometry: &Geometry, axis: usize) -> FilterAxis {
        FilterAxis {
            input: geometry.input[axis] as i64,
            output: geometry.output[axis] as i64,
            stride: geometry.stride[axis],
            padding: geometry.padding[axis],
            dilation: geometry.dilation[axis],
        }
    }

    /// Where an element of the filter reads for an output; `None` on the padding.
    pub(super) fn place(&self, output: usize, tap: usize) -> Option<usize> {
        let place = output as i64 * self.stride - self.padding + tap as i64 * self.dilation;
        usize::try_from(place).ok().filter(|_| place < self.input)
    }

    /// The outputs for which an element of the filter does not read the padding.
    pub(super) fn outputs(&self, tap: usize) -> Range<usize> {
        let first = self.padding - tap as i64 * self.dilation;
        // Strides may be as large as any number.
        let until = |place: i64| place.max(0).cast_unsigned().div_ceil(self.stride.cast_unsigned());
        let output = self.output.cast_unsigned();
        let start = until(first).min(output);
        let end = until(self.input + first).clamp(start, output);
        start as usize..end as usize
    }

    pub(super) fn stride(&self) -> usize {
        self.stride as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_exactly_what_has_a_place() {
        for input in 1..6 {
            for (stride, padding, dilation) in
                [(1, 0, 1), (2, 1, 1), (1, 3, 2), (3, 2, 2), (2, 7, 3)]
            {
                let axis = FilterAxis { input, output: 9, stride, padding, dilation };
                for tap in 0..5 {
                    let expected: Vec<usize> =
                        (0..9).filter(|output| axis.place(*output, tap).is_some()).collect();
                    assert_eq!(axis.outputs(tap).collect::<Vec<_>>(), expected);
                }
            }
        }
    }
}
