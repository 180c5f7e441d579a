//! The input of a part: channels innermost, with zeros where the padding is.

use sconce_driver::MOST_SPATIAL;

use super::OutputPart;
use super::turned::{SIDE, turn};
use crate::convolutions::ChannelOrder;
use crate::products::Real;
use crate::unfolding::Geometry;

/// Places of the input, with padding, that so many neighbouring outputs reach along an axis.
pub(super) fn places(geometry: &Geometry, axis: usize, outputs: usize) -> usize {
    (outputs - 1) * geometry.stride[axis] as usize
        + (geometry.filter[axis] - 1) * geometry.dilation[axis] as usize
        + 1
}

pub(super) struct Padded<T> {
    pub(super) values: Vec<T>,
    /// Places along each axis.
    sizes: [usize; MOST_SPATIAL],
    channels: usize,
    /// The first output of the part along each axis.
    first: [usize; MOST_SPATIAL],
}

impl<T: Real> Padded<T> {
    /// Copies what the part reads. `None` if there is no memory.
    pub(super) fn of(
        geometry: &Geometry,
        order: ChannelOrder,
        part: &OutputPart,
        input: &[T],
    ) -> Option<Padded<T>> {
        let outputs: [_; MOST_SPATIAL] = std::array::from_fn(|axis| part.along(geometry, axis));
        let sizes = std::array::from_fn(|axis| places(geometry, axis, outputs[axis].len()));
        let first = std::array::from_fn(|axis| outputs[axis].start);
        let channels = geometry.channels;
        let mut padded = Padded { values: Vec::new(), sizes, channels, first };
        let [depth, height, width] = sizes;
        let count = depth.checked_mul(height)?.checked_mul(width)?.checked_mul(channels)?;
        padded.values.try_reserve_exact(count).ok()?;
        let image = &input[part.image * geometry.input_elements()..][..geometry.input_elements()];
        // Where a place of this lies in the input; `None` in the padding.
        let place = |axis: usize, at: usize| {
            let first = first[axis] as i64 * geometry.stride[axis] - geometry.padding[axis];
            let place = usize::try_from(first + at as i64).ok();
            place.filter(|place| *place < geometry.input[axis])
        };
        // Places of a line that lie in the input, and the first that they are.
        let before = (geometry.padding[2] as usize).min(width);
        let inside = geometry.input[2].min(width - before);
        for z in 0..depth {
            for y in 0..height {
                let Some((z, y)) = place(0, z).zip(place(1, y)) else {
                    padded.zeros(width);
                    continue;
                };
                padded.zeros(before);
                let line = (z * geometry.input[1] + y) * geometry.input[2];
                match order {
                    ChannelOrder::First => {
                        let group = part.group * channels * geometry.input_area();
                        padded.turn(&image[group + line..], geometry.input_area(), inside);
                    }
                    ChannelOrder::Last => {
                        let all = channels * geometry.groups;
                        padded.copy(&image[line * all + part.group * channels..], all, inside);
                    }
                }
                padded.zeros(width - before - inside);
            }
        }
        Some(padded)
    }

    fn zeros(&mut self, places: usize) {
        self.values.resize(self.values.len() + places * self.channels, T::default());
    }

    /// Appends places whose channels lie side by side, so far apart.
    fn copy(&mut self, from: &[T], apart: usize, places: usize) {
        if apart == self.channels {
            return self.values.extend_from_slice(&from[..places * apart]);
        }
        for place in 0..places {
            self.values.extend_from_slice(&from[place * apart..][..self.channels]);
        }
    }

    /// Appends places that lie side by side, whose channels are so far apart.
    fn turn(&mut self, from: &[T], apart: usize, places: usize) {
        let start = self.values.len();
        self.zeros(places);
        if places == 0 {
            return; // The part lies in the padding, and perhaps beyond the input.
        }
        let (all, to) = (self.channels, &mut self.values[start..]);
        for first in (0..all).step_by(SIDE) {
            let channels = SIDE.min(all - first);
            let from = &from[first * apart..];
            turn(from, apart, [channels, places], &mut to[first..], |place| place * all);
        }
    }

    /// Where what an output reads begins; the output is one of the part.
    pub(super) fn start(&self, geometry: &Geometry, output: [usize; MOST_SPATIAL]) -> usize {
        let at = |axis: usize| (output[axis] - self.first[axis]) * geometry.stride[axis] as usize;
        self.offset([at(0), at(1), at(2)])
    }

    /// The runs of elements that each output reads, in the order of the filter, counted from its start, and the length
    /// of all: elements of the filter that lie side by side here are one.
    pub(super) fn runs(&self, geometry: &Geometry) -> (Vec<usize>, usize) {
        let [depth, height, width] = geometry.filter;
        let is_dense = geometry.dilation[2] == 1;
        let (lines, length) = if is_dense { (1, width) } else { (width, 1) };
        let mut runs = Vec::with_capacity(depth * height * lines);
        for z in 0..depth {
            for y in 0..height {
                for x in 0..lines {
                    let steps = [z, y, x].into_iter().zip(geometry.dilation);
                    let mut place = steps.map(|(tap, dilation)| tap * dilation as usize);
                    let mut next = || place.next().unwrap_or_default();
                    runs.push(self.offset([next(), next(), next()]));
                }
            }
        }
        (runs, length * self.channels)
    }

    fn offset(&self, [z, y, x]: [usize; MOST_SPATIAL]) -> usize {
        ((z * self.sizes[1] + y) * self.sizes[2] + x) * self.channels
    }
}
