//! The sizes of a convolution.

use crate::driver::MOST_SPATIAL;

/// Sizes of a convolution, each at least 1. What is past the spatial dimensions is 1. All products of sizes have been
/// checked: they can be calculated without care.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    pub(crate) images: usize,
    pub(crate) groups: usize,
    /// Input channels of a group.
    pub(crate) channels: usize,
    /// Output channels of a group.
    pub(crate) features: usize,
    pub(crate) input: [usize; MOST_SPATIAL],
    pub(crate) filter: [usize; MOST_SPATIAL],
    pub(crate) output: [usize; MOST_SPATIAL],
    pub(crate) stride: [i64; MOST_SPATIAL],
    pub(crate) padding: [i64; MOST_SPATIAL],
    pub(crate) dilation: [i64; MOST_SPATIAL],
}

impl Geometry {
    /// Elements of the filter that make one element of the output.
    pub(crate) fn taps(&self) -> usize {
        self.channels * self.filter.iter().product::<usize>()
    }

    /// Elements of one channel of the output.
    pub(crate) fn positions(&self) -> usize {
        self.output.iter().product()
    }

    /// Elements of one channel of the input.
    pub(crate) fn input_area(&self) -> usize {
        self.input.iter().product()
    }

    /// Elements of an image of the input.
    pub(crate) fn input_elements(&self) -> usize {
        self.input_area() * self.channels * self.groups
    }

    /// Elements of an image of the output.
    pub(crate) fn output_elements(&self) -> usize {
        self.positions() * self.features * self.groups
    }
}
