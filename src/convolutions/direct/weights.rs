//! The filter, in blocks of features that fill vectors.

#![allow(unsafe_code, reason = "threads write parts of the filter")]

use crate::convolutions::ChannelOrder;
use crate::parallel::{self, Divided};
use crate::products::Real;
use crate::unfolding::{Geometry, Uncalculated, zeros};

/// Elements of a filter that one thread puts in order before it is worth to wake another.
const FEW: usize = 1 << 16;

/// For each group, for each block of its features, for each element of the filter and each channel: the features of the
/// block, and zeros where the group has no more.
pub(super) struct Weights<T> {
    values: Vec<T>,
    /// Features of a block.
    pub(super) lanes: usize,
    /// Blocks of a group.
    pub(super) blocks: usize,
    /// Elements of a block.
    size: usize,
}

impl<T: Real> Weights<T> {
    pub(super) fn of(
        geometry: &Geometry,
        order: ChannelOrder,
        filter: &[T],
    ) -> Result<Weights<T>, Uncalculated> {
        let (features, taps, channels) = (geometry.features, geometry.taps(), geometry.channels);
        // Vectors of 32 bytes, two for each position if there are features for both.
        let vector = 32 / size_of::<T>();
        let lanes = if features > vector { 2 * vector } else { vector };
        let (blocks, size) = (features.div_ceil(lanes), taps * lanes);
        let mut values = zeros::<T>(geometry.groups * blocks * size)?;
        let places = taps / channels;
        let fill = |block: usize, values: &mut [T]| {
            let (group, first) = (block / blocks, block % blocks * lanes);
            for lane in 0..lanes.min(features - first) {
                let from = &filter[(group * features + first + lane) * taps..][..taps];
                let to = values[lane..].iter_mut().step_by(lanes);
                match order {
                    ChannelOrder::Last => to.zip(from).for_each(|(to, from)| *to = *from),
                    ChannelOrder::First => {
                        let from = (0..taps).map(|at| from[at % channels * places + at / channels]);
                        to.zip(from).for_each(|(to, from)| *to = from);
                    }
                }
            }
        };
        if values.len() < FEW {
            values.chunks_exact_mut(size).enumerate().for_each(|(block, part)| fill(block, part));
        } else {
            let divided = Divided::new(&mut values);
            parallel::for_each(geometry.groups * blocks, &|block| {
                // SAFETY: each block is taken once.
                fill(block, unsafe { divided.take(block * size..(block + 1) * size) });
            });
        }
        Ok(Weights { values, lanes, blocks, size })
    }

    pub(super) fn block(&self, group: usize, block: usize) -> &[T] {
        &self.values[(group * self.blocks + block) * self.size..][..self.size]
    }
}
