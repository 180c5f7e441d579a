//! The filter, in blocks of features that fill vectors.

#![allow(unsafe_code, reason = "threads write parts of the filter")]

use super::turned::{SIDE, turn};
use crate::convolutions::ChannelOrder;
use crate::parallel::{self, Divided};
use crate::products::Real;
use crate::unfolding::{Geometry, Uncalculated, zeros};

/// Elements of a filter that one thread puts in order before it is worth to wake another.
const FEW: usize = 1 << 16;

/// How a filter is divided into blocks. A block has, for each element of the filter and each channel, the features of
/// the block, and zeros where the group has no more.
#[derive(Clone, Copy)]
pub(super) struct Blocks<'a, T> {
    geometry: &'a Geometry,
    order: ChannelOrder,
    filter: &'a [T],
    /// Features of a block.
    pub(super) lanes: usize,
    /// Blocks of a group.
    pub(super) count: usize,
    /// Elements of a block.
    pub(super) size: usize,
}

impl<'a, T: Real> Blocks<'a, T> {
    pub(super) fn of(
        geometry: &'a Geometry,
        order: ChannelOrder,
        filter: &'a [T],
    ) -> Blocks<'a, T> {
        // Vectors of 32 bytes, two for each position if there are features for both.
        let vector = 32 / size_of::<T>();
        let lanes = if geometry.features > vector { 2 * vector } else { vector };
        let (count, size) = (geometry.features.div_ceil(lanes), geometry.taps() * lanes);
        Blocks { geometry, order, filter, lanes, count, size }
    }

    /// Writes a block. Zeros that it has stay where they are.
    pub(super) fn write(&self, group: usize, block: usize, values: &mut [T]) {
        const { assert!(64 / size_of::<T>() <= SIDE) };
        let &Geometry { features, channels, .. } = self.geometry;
        let (taps, lanes, first) = (self.geometry.taps(), self.lanes, block * self.lanes);
        let count = lanes.min(features - first);
        let from = &self.filter[(group * features + first) * taps..][..count * taps];
        match self.order {
            ChannelOrder::Last => turn(from, taps, [count, taps], values, |tap| tap * lanes),
            ChannelOrder::First => {
                let places = taps / channels;
                let (mut channel, mut place) = (0, 0);
                turn(from, taps, [count, taps], values, |_| {
                    let start = (place * channels + channel) * lanes;
                    place += 1;
                    if place == places {
                        (channel, place) = (channel + 1, 0);
                    }
                    start
                });
            }
        }
    }

    /// The whole filter.
    pub(super) fn all(&self) -> Result<Weights<T>, Uncalculated> {
        let (count, size) = (self.geometry.groups * self.count, self.size);
        let mut values = zeros::<T>(count * size)?;
        let write = |at: usize, values: &mut [T]| {
            self.write(at / self.count, at % self.count, values);
        };
        if values.len() < FEW {
            values.chunks_exact_mut(size).enumerate().for_each(|(at, part)| write(at, part));
        } else {
            let divided = Divided::new(&mut values);
            parallel::for_each(count, &|at| {
                // SAFETY: each block is taken once.
                write(at, unsafe { divided.take(at * size..(at + 1) * size) });
            });
        }
        Ok(Weights { values, blocks: self.count, size })
    }
}

/// All blocks of all groups.
pub(super) struct Weights<T> {
    values: Vec<T>,
    blocks: usize,
    size: usize,
}

impl<T: Real> Weights<T> {
    pub(super) fn block(&self, group: usize, block: usize) -> &[T] {
        &self.values[(group * self.blocks + block) * self.size..][..self.size]
    }
}
