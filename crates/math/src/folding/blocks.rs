//! Reductions of real and whole numbers in fixed blocks, which threads share.
//!
//! The elements of a result are numbered along the reduced axes. Those of a block are accumulated one after another, or
//! in eight lanes if they lie side by side; then the lanes are joined, and the blocks, in their order. Blocks depend on
//! the sizes alone, so that the result has the same bits for any number of threads.
//!
//! If it is the elements of neighbouring results that lie side by side, these results are a tile, which is accumulated
//! together.

use std::ops::Range;

use sconce_base::strided::{SharedAxes, SharedAxis, each_run, join_axes};

use super::call::{ReduceCall, ReduceOp};
use super::memory::ElementMemory;
use super::number::Number;
use super::sum_type;
use super::tiles::{Tiles, axes_of};
use super::values::{FoldValue, ValueKind};
use crate::parallel::{GRAIN, for_elements, try_for_lines};

/// Elements of a result that are one block.
const BLOCK: u64 = 1 << 15;
/// The most results of a tile.
const WIDTH: usize = 256;
/// Elements that are read at once.
const PIECE: usize = 512;
/// Sums that are accumulated at the same time.
const LANES: usize = 8;
/// The bytes of the widest element.
const WIDEST: usize = 8;

/// Calculates a reduction on several threads, if it is of real or whole numbers that stay as they are; `None` if not.
pub(super) fn reduce_in_blocks<M>(
    call: &ReduceCall<'_>,
    memory: &M,
) -> Option<Result<(), M::Failure>>
where
    M: ElementMemory + Clone + Sync,
    M::Failure: Send,
{
    let kind = match call.op.is_logical() {
        true => ValueKind::of(call.input.dtype),
        false => ValueKind::of_unchanged(call.input.dtype, call.compute),
    };
    Some(match kind? {
        ValueKind::Real => of_values::<f64, M>(call, memory),
        ValueKind::Whole => of_values::<i64, M>(call, memory),
    })
}

/// Chooses what is accumulated, so that the loops over elements do not.
fn of_values<V: FoldValue, M>(call: &ReduceCall<'_>, memory: &M) -> Result<(), M::Failure>
where
    M: ElementMemory + Clone + Sync,
    M::Failure: Send,
{
    let plan = BlockPlan::of(call);
    let (count, sum) = (plan.count as i64, sum_type(call.compute));
    let best = |smallest| V::of(Number::extreme(call.compute, smallest));
    macro_rules! run {
        ($start:expr, $take:expr, $join:expr, $finish:expr) => {{
            let rules = FoldRules { start: $start, take: $take, join: $join, finish: $finish };
            run(call, &plan, &rules, memory)
        }};
    }
    macro_rules! extreme {
        ($smallest:literal) => {{
            let better = |a: V, b: V| if b.beats(a, $smallest) { b } else { a };
            run!(best($smallest), |a, b, _| better(a, b), better, &V::number)
        }};
    }
    macro_rules! place {
        ($smallest:literal) => {{
            // A place of -1 is that of nothing.
            let better = |a: (V, i64), b: (V, i64)| {
                let is_equal = || !a.0.beats(b.0, $smallest);
                let is_better = b.0.beats(a.0, $smallest) || (b.1 < a.1 && is_equal());
                if a.1 < 0 || (b.1 >= 0 && is_better) { b } else { a }
            };
            let take = |a: (V, i64), value: V, place: i64| {
                if a.1 < 0 || value.beats(a.0, $smallest) { (value, place) } else { a }
            };
            run!((V::default(), -1), take, better, &|a: (V, i64)| Number::Whole(a.1.max(0)))
        }};
    }
    match call.op {
        ReduceOp::Sum | ReduceOp::Mean => {
            let is_mean = call.op == ReduceOp::Mean;
            let finish = |all: V| match is_mean {
                true => all.number().over(count, sum),
                false => all.number(),
            };
            run!(V::default(), |a, b, _| V::plus(a, b), V::plus, &finish)
        }
        ReduceOp::Prod => run!(V::ONE, |a, b, _| V::times(a, b), V::times, &V::number),
        ReduceOp::Amax => extreme!(false),
        ReduceOp::Amin => extreme!(true),
        ReduceOp::Argmax => place!(false),
        ReduceOp::Argmin => place!(true),
        ReduceOp::All | ReduceOp::Any | ReduceOp::Count => {
            let finish = |found: i64| match call.op {
                ReduceOp::All => Number::Whole(i64::from(found == count)),
                ReduceOp::Any => Number::Whole(i64::from(found != 0)),
                _ => Number::Whole(found),
            };
            let take = |a: i64, value: V, _: i64| a + i64::from(value.is_nonzero());
            run!(0, take, |a: i64, b: i64| a + b, &finish)
        }
    }
}

/// Blocks whose results are kept at once. Few in unit tests, so that they come to the next ones.
const MOST_PARTS: u64 = if cfg!(test) { 3 } else { 1 << 16 };

/// What becomes of elements. `take` learns the number of the element, too.
struct FoldRules<'a, A, T, J> {
    start: A,
    take: T,
    join: J,
    finish: &'a (dyn Fn(A) -> Number + Sync),
}

/// The tiles and blocks of a reduction.
struct BlockPlan {
    /// The results, from the axis whose elements are nearest to each other.
    tiles: Tiles,
    /// The reduced axes, the fastest first. Their order numbers the elements.
    reduced: SharedAxes<1>,
    /// Elements of a result.
    count: u64,
    /// Blocks of a result.
    blocks: u64,
}

impl BlockPlan {
    fn of(call: &ReduceCall<'_>) -> BlockPlan {
        let size = |size: i64| size.max(0) as u64;
        let mut kept = axes_of(call.kept);
        kept.sort_by_key(|axis| axis.strides[0].unsigned_abs());
        let mut reduced: SharedAxes<1> = call
            .reduced
            .iter()
            .rev()
            .map(|axis| SharedAxis { size: size(axis.size), strides: [axis.input_stride] })
            .filter(|axis| axis.size != 1)
            .collect();
        if !call.op.is_index() {
            reduced.sort_by_key(|axis| axis.strides[0].unsigned_abs());
        }
        join_axes(&mut reduced);
        let lies_side_by_side = reduced.first().is_none_or(|axis| axis.strides == [1]);
        let width = match kept.first() {
            Some(axis) if !lies_side_by_side && axis.strides[0] == 1 => axis.size.min(WIDTH as u64),
            _ => 1,
        };
        let count = reduced.iter().map(|axis| axis.size).product::<u64>();
        let blocks = count.div_ceil(BLOCK).max(1);
        BlockPlan { tiles: Tiles::of(kept, width), reduced, count, blocks }
    }

    /// The numbers of the elements of a block.
    fn block(&self, number: u64) -> Range<u64> {
        number * BLOCK..self.count.min((number + 1) * BLOCK)
    }
}

fn run<V, A, T, J, M>(
    call: &ReduceCall<'_>,
    plan: &BlockPlan,
    rules: &FoldRules<'_, A, T, J>,
    memory: &M,
) -> Result<(), M::Failure>
where
    V: FoldValue,
    A: Copy + Send + Sync,
    T: Fn(A, V, i64) -> A + Sync,
    J: Fn(A, A) -> A + Sync,
    M: ElementMemory + Clone + Sync,
    M::Failure: Send,
{
    let (width, blocks) = (plan.tiles.width, plan.blocks);
    let work = (width as u64).saturating_mul(plan.count.min(BLOCK)).max(1);
    let grain = (2 * GRAIN).div_ceil(work);
    let write = |tile: u64, results: &[A], memory: &mut M| {
        let ([_, to], count) = plan.tiles.place(tile);
        let stride = plan.tiles.axes.first().map_or(0, |axis| axis.strides[1]);
        let mut bytes = [0; 16];
        let bytes = &mut bytes[..call.output.dtype.bytes()];
        for (index, result) in results[..count].iter().enumerate() {
            (rules.finish)(*result).store(call.output.dtype, bytes);
            let place = to.wrapping_add(stride.wrapping_mul(index as i64));
            memory.write(call.output.at(place).address, bytes)?;
        }
        Ok(())
    };
    if blocks == 1 {
        return for_elements(plan.tiles.count, grain, &|part| {
            let mut memory = memory.clone();
            let mut results = [rules.start; WIDTH];
            for tile in part {
                let results = &mut results[..width];
                accumulate(call, plan, rules, (tile, 0), results, &mut memory)?;
                write(tile, results, &mut memory)?;
            }
            Ok(())
        });
    }
    // Blocks of all tiles in their order, some at a time: a tensor may repeat its elements without end.
    let all = plan.tiles.count * blocks;
    let (mut results, mut parts) = ([rules.start; WIDTH], Vec::new());
    let mut begin = 0;
    while begin < all {
        let count = (all - begin).min(MOST_PARTS) as usize;
        parts.clear();
        parts.resize(count * width, rules.start);
        try_for_lines(&mut parts, width, grain, &|first, parts| {
            let mut memory = memory.clone();
            for (index, part) in parts.chunks_exact_mut(width).enumerate() {
                let number = begin + (first + index) as u64;
                let place = (number / blocks, number % blocks);
                accumulate(call, plan, rules, place, part, &mut memory)?;
            }
            Ok(())
        })?;
        let mut memory = memory.clone();
        for (number, part) in (begin..).zip(parts.chunks_exact(width)) {
            let results = &mut results[..width];
            if number % blocks == 0 {
                results.copy_from_slice(part);
            } else {
                for (result, part) in results.iter_mut().zip(part) {
                    *result = (rules.join)(*result, *part);
                }
            }
            if number % blocks == blocks - 1 {
                write(number / blocks, results, &mut memory)?;
            }
        }
        begin += count as u64;
    }
    Ok(())
}

/// Accumulates a block of the results of a tile.
#[inline(never)]
fn accumulate<V, A, T, J, M>(
    call: &ReduceCall<'_>,
    plan: &BlockPlan,
    rules: &FoldRules<'_, A, T, J>,
    (tile, block): (u64, u64),
    results: &mut [A],
    memory: &mut M,
) -> Result<(), M::Failure>
where
    V: FoldValue,
    A: Copy,
    T: Fn(A, V, i64) -> A,
    J: Fn(A, A) -> A,
    M: ElementMemory,
{
    let ([from, _], count) = plan.tiles.place(tile);
    let input = call.input.at(from);
    let (dtype, width) = (input.dtype, input.dtype.bytes());
    let mut bytes = [0; PIECE * WIDEST];
    let mut values = [V::default(); PIECE];
    let stride = plan.reduced.first().map_or(0, |axis| axis.strides[0]);
    let elements = plan.block(block);
    let results = &mut results[..count];
    if plan.tiles.width > 1 {
        results.fill(rules.start);
        return each_run(&plan.reduced, elements, |number, [place], run| {
            for index in 0..run as i64 {
                let bytes = &mut bytes[..count * width];
                let place = place.wrapping_add(stride.wrapping_mul(index));
                memory.read(input.at(place).address, bytes)?;
                V::load_all(dtype, bytes, &mut values[..count]);
                for (result, value) in results.iter_mut().zip(&values) {
                    *result = (rules.take)(*result, *value, number as i64 + index);
                }
            }
            Ok(())
        });
    }
    let mut lanes = [rules.start; LANES];
    each_run(&plan.reduced, elements, |number, [place], run| {
        for begin in (0..run).step_by(PIECE) {
            let now = (run - begin).min(PIECE as u64) as usize;
            let first = input.at(place.wrapping_add(stride.wrapping_mul(begin as i64)));
            if stride == 1 || now == 1 {
                memory.read(first.address, &mut bytes[..now * width])?;
            } else {
                for (index, element) in bytes[..now * width].chunks_exact_mut(width).enumerate() {
                    memory.read(first.at(stride.wrapping_mul(index as i64)).address, element)?;
                }
            }
            V::load_all(dtype, &bytes[..now * width], &mut values[..now]);
            fold_piece(rules, &mut lanes, &values[..now], (number + begin) as i64);
        }
        Ok(())
    })?;
    // Few elements are in the first lane alone.
    let (first, others) = (lanes[0], &lanes[1..]);
    results[0] = others.iter().fold(first, |all, lane| (rules.join)(all, *lane));
    Ok(())
}

/// Folds elements that follow each other, the number of whose first is given, into lanes.
fn fold_piece<V: FoldValue, A: Copy, T: Fn(A, V, i64) -> A, J>(
    rules: &FoldRules<'_, A, T, J>,
    lanes: &mut [A; LANES],
    values: &[V],
    number: i64,
) {
    let (whole, rest) = values.as_chunks::<LANES>();
    let mut own = *lanes;
    for (index, values) in whole.iter().enumerate() {
        let number = number + (index * LANES) as i64;
        for (place, (lane, value)) in own.iter_mut().zip(values).enumerate() {
            *lane = (rules.take)(*lane, *value, number + place as i64);
        }
    }
    let number = number + (whole.len() * LANES) as i64;
    for (place, value) in rest.iter().enumerate() {
        own[0] = (rules.take)(own[0], *value, number + place as i64);
    }
    *lanes = own;
}
