//! Sums of a tile: some positions, and the features of a block.
//!
//! A tile of two vectors has 6 positions, and one of one vector 12: its sums, the vectors of the filter and an element
//! of the input fill the 16 registers of a processor with AVX2.

#![allow(
    unsafe_code,
    reason = "writes parts of the output, with instructions that the processor has"
)]

use super::OutputPart;
use super::padded::Padded;
use crate::convolutions::ChannelOrder;
use crate::parallel::Divided;
use crate::products::Real;
use crate::unfolding::Geometry;

/// What the tiles of a part have in common.
pub(super) struct TileTask<'a, T> {
    geometry: &'a Geometry,
    order: ChannelOrder,
    part: OutputPart,
    padded: Padded<T>,
    /// Where what each position reads begins.
    starts: Vec<usize>,
    /// The runs that each position reads, and their length.
    runs: Vec<usize>,
    length: usize,
    output: &'a Divided<'a, T>,
}

impl<'a, T: Real> TileTask<'a, T> {
    /// Copies the input of the part. `None` if there is no memory.
    pub(super) fn of(
        geometry: &'a Geometry,
        order: ChannelOrder,
        part: OutputPart,
        input: &[T],
        output: &'a Divided<'a, T>,
    ) -> Option<TileTask<'a, T>> {
        let padded = Padded::of(geometry, order, &part, input)?;
        let [_, rows, columns] = geometry.output;
        let place = |at: usize| [at / columns / rows, at / columns % rows, at % columns];
        let starts = part.positions(geometry).map(|at| padded.start(geometry, place(at)));
        let starts = starts.collect();
        let (runs, length) = padded.runs(geometry);
        Some(TileTask { geometry, order, part, padded, starts, runs, length, output })
    }

    /// Writes the outputs of the features of a block, from its filter.
    pub(super) fn calculate(&self, block: usize, lanes: usize, filter: &[T]) {
        match lanes {
            16 => of_lanes::<T, 16, 6>(self, block, filter),
            8 if size_of::<T>() == 4 => of_lanes::<T, 8, 12>(self, block, filter),
            8 => of_lanes::<T, 8, 6>(self, block, filter),
            _ => of_lanes::<T, 4, 12>(self, block, filter),
        }
    }
}

fn of_lanes<T: Real, const L: usize, const P: usize>(
    task: &TileTask<'_, T>,
    block: usize,
    filter: &[T],
) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has these instructions.
        return unsafe { with_avx2::<T, L, P>(task, block, filter) };
    }
    all_tiles::<T, L, P, { cfg!(target_arch = "aarch64") }>(task, block, filter);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<T: Real, const L: usize, const P: usize>(
    task: &TileTask<'_, T>,
    block: usize,
    filter: &[T],
) {
    all_tiles::<T, L, P, true>(task, block, filter);
}

/// `FUSED` says whether a product and a sum are one instruction.
#[inline(always)]
fn all_tiles<T: Real, const L: usize, const P: usize, const FUSED: bool>(
    task: &TileTask<'_, T>,
    block: usize,
    filter: &[T],
) {
    let (filter, _) = filter.as_chunks::<L>();
    for first in (0..task.starts.len()).step_by(P) {
        let count = P.min(task.starts.len() - first);
        // Where positions are missing the last is calculated again.
        let starts = std::array::from_fn(|at| task.starts[first + at.min(count - 1)]);
        let sums = tile::<T, L, P, FUSED>(task, filter, starts);
        write(task, block * L, first, &sums[..count]);
    }
}

#[inline(always)]
fn tile<T: Real, const L: usize, const P: usize, const FUSED: bool>(
    task: &TileTask<'_, T>,
    filter: &[[T; L]],
    starts: [usize; P],
) -> [[T; L]; P] {
    let mut sums = [[T::default(); L]; P];
    for (run, filter) in task.runs.iter().zip(filter.chunks_exact(task.length)) {
        let values: [&[T]; P] =
            std::array::from_fn(|at| &task.padded.values[starts[at] + run..][..filter.len()]);
        for (index, factors) in filter.iter().enumerate() {
            for at in 0..P {
                let value = values[at][index];
                for lane in 0..L {
                    let sum = &mut sums[at][lane];
                    *sum = if FUSED {
                        value.mul_add(factors[lane], *sum)
                    } else {
                        *sum + value * factors[lane]
                    };
                }
            }
        }
    }
    sums
}

/// Writes the sums of positions that follow one another, of which `first` is counted from the part's beginning.
#[inline(always)]
fn write<T: Real, const L: usize>(
    task: &TileTask<'_, T>,
    feature: usize,
    first: usize,
    sums: &[[T; L]],
) {
    let Geometry { features, groups, .. } = *task.geometry;
    let (all, positions) = (features * groups, task.geometry.positions());
    let first = task.part.positions(task.geometry).start + first;
    let count = L.min(features - feature);
    let feature = task.part.group * features + feature;
    if task.order == ChannelOrder::Last {
        for (at, sums) in sums.iter().enumerate() {
            let start = (task.part.image * positions + first + at) * all + feature;
            // SAFETY: no two parts, blocks and tiles have an output in common.
            let to = unsafe { task.output.take(start..start + count) };
            to.copy_from_slice(&sums[..count]);
        }
        return;
    }
    for lane in 0..count {
        let start = (task.part.image * all + feature + lane) * positions + first;
        // SAFETY: a feature's positions in a row; no two parts, blocks and tiles have an output in common.
        let to = unsafe { task.output.take(start..start + sums.len()) };
        for (to, sums) in to.iter_mut().zip(sums) {
            *to = sums[lane];
        }
    }
}
