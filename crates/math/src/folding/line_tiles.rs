//! Softmax and running sums of real and whole numbers, in tiles of lines that threads share.
//!
//! A tile is read to 64-bit numbers, calculated in place and written. It is one line, or lines whose elements lie side
//! by side. Each line is calculated in the order of its elements, whatever tile it is in.

use super::call::{LineCall, LineOp};
use super::memory::ElementMemory;
use super::tiles::{Tiles, axes_of};
use super::values::{FoldValue, ValueKind};
use crate::parallel::{GRAIN, for_elements};

/// Numbers of a tile of several lines: half a megabyte.
const TILE: u64 = 1 << 16;
/// The most numbers of a line.
const LONGEST: u64 = 1 << 20;
/// The most lines of a tile, and the least that are worth one.
const WIDTH: u64 = 64;
const LEAST_WIDTH: u64 = 4;
/// Bytes that are read or written at once.
const PIECE: usize = 4096;

/// Calculates lines on several threads, if they are of real or whole numbers that stay as they are; `None` if not.
pub(super) fn lines_in_tiles<M>(call: &LineCall<'_>, memory: &M) -> Option<Result<(), M::Failure>>
where
    M: ElementMemory + Clone + Sync,
    M::Failure: Send,
{
    let kind = ValueKind::of_unchanged(call.input.dtype, call.compute)?;
    let is_running = matches!(call.op, LineOp::Cumsum | LineOp::Cumprod);
    let plan = TilePlan::of(call)?;
    match kind {
        ValueKind::Real => Some(match call.op {
            LineOp::Softmax => run(call, &plan, memory, softmax::<false>),
            LineOp::LogSoftmax => run(call, &plan, memory, softmax::<true>),
            LineOp::Cumsum => run(call, &plan, memory, running::<f64, false>),
            LineOp::Cumprod => run(call, &plan, memory, running::<f64, true>),
        }),
        ValueKind::Whole => is_running.then(|| match call.op {
            LineOp::Cumprod => run(call, &plan, memory, running::<i64, true>),
            _ => run(call, &plan, memory, running::<i64, false>),
        }),
    }
}

/// The tiles of a call.
struct TilePlan {
    /// Elements of a line.
    length: usize,
    /// The lines, from the axis along which they are nearest to each other.
    tiles: Tiles,
}

impl TilePlan {
    fn of(call: &LineCall<'_>) -> Option<TilePlan> {
        let length = call.length.max(0) as u64;
        let mut lines = axes_of(call.lines);
        lines.sort_by_key(|axis| axis.strides.map(i64::unsigned_abs));
        let first = lines.first().map_or(1, |axis| axis.size);
        let is_apart = call.input_stride != 1 || call.output_stride != 1;
        let width = match lines.first() {
            Some(axis) if is_apart && axis.strides == [1, 1] => {
                let fitting = (TILE / length.max(1)).min(WIDTH).min(first);
                if fitting < LEAST_WIDTH.min(first) { return None } else { fitting }
            }
            _ => 1,
        };
        let length = usize::try_from(length).ok().filter(|_| length <= LONGEST)?;
        Some(TilePlan { length, tiles: Tiles::of(lines, width) })
    }
}

/// Calculates all tiles; `calculate` gets the numbers of a tile, the lines' first elements first, and the number of
/// lines.
fn run<V: FoldValue, M>(
    call: &LineCall<'_>,
    plan: &TilePlan,
    memory: &M,
    calculate: fn(&mut [V], usize),
) -> Result<(), M::Failure>
where
    M: ElementMemory + Clone + Sync,
    M::Failure: Send,
{
    let most = plan.length * plan.tiles.width;
    let grain = (GRAIN / 4).div_ceil(most.max(1) as u64);
    for_elements(plan.tiles.count, grain, &|part| {
        let mut memory = memory.clone();
        let mut values = vec![V::default(); most];
        for number in part {
            let ([from, to], width) = plan.tiles.place(number);
            let values = &mut values[..plan.length * width];
            let (input, output) = (call.input.at(from), call.output.at(to));
            // As many elements as lie side by side, and the distance from the first of them to the next such.
            let runs = |stride: i64| match stride == 1 && width == 1 {
                true => (PIECE / WIDEST, (PIECE / WIDEST) as i64),
                false => (width, stride),
            };
            let mut bytes = [0; PIECE];
            let (count, stride) = runs(call.input_stride);
            for (index, values) in values.chunks_mut(count).enumerate() {
                let bytes = &mut bytes[..values.len() * input.dtype.bytes()];
                memory.read(input.at(stride.wrapping_mul(index as i64)).address, bytes)?;
                V::load_all(input.dtype, bytes, values);
            }
            calculate(values, width);
            let (count, stride) = runs(call.output_stride);
            for (index, values) in values.chunks(count).enumerate() {
                let bytes = &mut bytes[..values.len() * output.dtype.bytes()];
                V::store_all(values, output.dtype, bytes);
                memory.write(output.at(stride.wrapping_mul(index as i64)).address, bytes)?;
            }
        }
        Ok(())
    })
}

/// Bytes of the widest element.
const WIDEST: usize = 16;

/// The largest number is subtracted first; a NaN anywhere makes all results of its line NaN, as does a line of nothing
/// but negative infinity.
fn softmax<const LOGARITHM: bool>(values: &mut [f64], width: usize) {
    let mut largest = [f64::NEG_INFINITY; WIDTH as usize];
    let mut sums = [0.0_f64; WIDTH as usize];
    let (largest, sums) = (&mut largest[..width], &mut sums[..width]);
    for values in values.chunks_exact(width) {
        for (largest, value) in largest.iter_mut().zip(values) {
            *largest = largest.max(*value);
        }
    }
    for values in values.chunks_exact_mut(width) {
        for ((value, largest), sum) in values.iter_mut().zip(&*largest).zip(&mut *sums) {
            *value -= largest;
            let power = value.exp();
            *sum += power;
            if !LOGARITHM {
                *value = power;
            }
        }
    }
    if LOGARITHM {
        sums.iter_mut().for_each(|sum| *sum = sum.ln());
    }
    for values in values.chunks_exact_mut(width) {
        for (value, sum) in values.iter_mut().zip(&*sums) {
            *value = if LOGARITHM { *value - sum } else { *value / sum };
        }
    }
}

/// The sum or the product of the numbers up to each.
fn running<V: FoldValue, const PRODUCT: bool>(values: &mut [V], width: usize) {
    let mut so_far = [if PRODUCT { V::ONE } else { V::default() }; WIDTH as usize];
    for values in values.chunks_exact_mut(width) {
        for (value, so_far) in values.iter_mut().zip(&mut so_far) {
            *so_far = if PRODUCT { so_far.times(*value) } else { so_far.plus(*value) };
            *value = *so_far;
        }
    }
}
