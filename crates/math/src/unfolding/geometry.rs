//! The sizes of a convolution.

use sconce_driver::MOST_SPATIAL;

/// Sizes of a convolution, each at least 1. What is past the spatial dimensions is 1. All products of sizes have been
/// checked: they can be calculated without care.
#[derive(Clone, Copy, Debug)]
pub struct Geometry {
    pub images: usize,
    pub groups: usize,
    /// Input channels of a group.
    pub channels: usize,
    /// Output channels of a group.
    pub features: usize,
    pub input: [usize; MOST_SPATIAL],
    pub filter: [usize; MOST_SPATIAL],
    pub output: [usize; MOST_SPATIAL],
    pub stride: [i64; MOST_SPATIAL],
    pub padding: [i64; MOST_SPATIAL],
    pub dilation: [i64; MOST_SPATIAL],
}

impl Geometry {
    /// Elements of the filter that make one element of the output.
    pub fn taps(&self) -> usize {
        self.channels * self.filter.iter().product::<usize>()
    }

    /// Elements of one channel of the output.
    pub fn positions(&self) -> usize {
        self.output.iter().product()
    }

    /// Elements of one channel of the input.
    pub fn input_area(&self) -> usize {
        self.input.iter().product()
    }

    /// Elements of an image of the input.
    pub(crate) fn input_elements(&self) -> usize {
        self.input_area() * self.channels * self.groups
    }

    /// Elements of an image of the output.
    pub fn output_elements(&self) -> usize {
        self.positions() * self.features * self.groups
    }
}
