//! Sorts of short lines and of lines that a block holds, and counts and passes of sorts of long ones.
//!
//! A pass leaves in its memory what the one on a device leaves there, and refuses memory that was not
//! set to 0 before: on a device it would wait for ever, or sort wrongly.

use sconce_base::element::KeyOrder;
use sconce_base::types::DevicePtr;
use sconce_kernels::{
    BlockLaunch, CountLaunch, IS_WHOLE, LinesLaunch, PassLaunch, SORT_BINS, SORT_BLOCK, SORT_COUNT,
    SORT_LINES, SORT_PASS, SortSides, sort_tile, sort_tiles,
};

use super::lines::ElementLine;
use crate::codes;
use crate::kernels::kernel::Kernel;
use crate::memory::{DeviceMemoryView, Intent, MemoryAccess};

const INPUT: usize = 0;
const VALUES: usize = 1;
const INDICES: usize = 2;
/// Bytes of a count, a published number or a place.
const WORD: u64 = 4;
/// Bytes of an index.
const INDEX: usize = 8;

macro_rules! kernel {
    ($name:expr, $bytes:literal, $signature:ident, $accesses:ident, $run:ident) => {
        Kernel {
            name: $name,
            parameters: $signature.slots(),
            duration_ns: |_, latency| latency,
            accesses: |arguments| $accesses(arguments, $bytes).unwrap_or_default(),
            run: |memory, _, arguments| $run(memory, arguments, $bytes),
        }
    };
}

macro_rules! sorts {
    ($($width:literal),*; $($suffix:literal $bytes:literal),*) => {
        &[
            $(
                kernel!(concat!("sconce_sort_lines_", $width), $width, SORT_LINES, of_lines, lines),
                kernel!(concat!("sconce_sort_block_", $width), $width, SORT_BLOCK, of_block, block),
                kernel!(concat!("sconce_sort_count_", $width), $width, SORT_COUNT, of_count, count),
            )*
            $(
                kernel!(concat!("sconce_sort_pass_", $suffix), $bytes, SORT_PASS, of_pass, pass),
            )*
        ]
    };
}

pub(in crate::kernels) const KERNELS: &[Kernel] =
    sorts![1, 2, 4, 8; "1" 1, "2" 2, "i4" 4, "i8" 8, "f4" 4, "f8" 8];

/// The access to all lines of one operand.
fn access(
    sides: &SortSides,
    side: usize,
    intent: Intent,
    width: usize,
    length: u32,
) -> MemoryAccess {
    let axes = sides.axes.iter().map(|axis| (u64::from(axis.size), axis.strides[side]));
    let line = (u64::from(length), sides.steps[side]);
    let dimensions = axes.chain([line]);
    MemoryAccess::strided(intent, sides.addresses[side].0, width as u64, dimensions)
}

fn words(intent: Intent, address: DevicePtr, count: u64) -> MemoryAccess {
    MemoryAccess::range(intent, address.0, count.saturating_mul(WORD))
}

/// A line of one operand.
fn line_of(sides: &SortSides, side: usize, line: u32, width: usize) -> ElementLine {
    ElementLine { start: sides.start(line)[side], step: sides.steps[side], width }
}

/// 32-bit words, one after the other.
fn words_at(address: DevicePtr, first: u64) -> ElementLine {
    let width = WORD as usize;
    ElementLine { start: address.0.wrapping_add(first * WORD), step: WORD as i64, width }
}

fn of_whole_lines(sides: &SortSides, length: u32, bytes: usize) -> Vec<MemoryAccess> {
    vec![
        access(sides, INPUT, Intent::Read, bytes, length),
        access(sides, VALUES, Intent::Write, bytes, length),
        access(sides, INDICES, Intent::Write, INDEX, length),
    ]
}

fn of_lines(arguments: &[u64], bytes: usize) -> Option<Vec<MemoryAccess>> {
    let LinesLaunch { length, sides, .. } = LinesLaunch::read(arguments, bytes)?;
    Some(of_whole_lines(&sides, length, bytes))
}

fn lines(memory: &DeviceMemoryView<'_>, arguments: &[u64], bytes: usize) -> Result<(), i32> {
    let launch = LinesLaunch::read(arguments, bytes).ok_or(codes::INVALID_VALUE)?;
    whole_lines(memory, &launch.order, launch.length, &launch.sides)
}

fn of_block(arguments: &[u64], bytes: usize) -> Option<Vec<MemoryAccess>> {
    let BlockLaunch { length, sides, .. } = BlockLaunch::read(arguments, bytes)?;
    Some(of_whole_lines(&sides, length, bytes))
}

fn block(memory: &DeviceMemoryView<'_>, arguments: &[u64], bytes: usize) -> Result<(), i32> {
    let launch = BlockLaunch::read(arguments, bytes).ok_or(codes::INVALID_VALUE)?;
    whole_lines(memory, &launch.order, launch.length, &launch.sides)
}

fn whole_lines(
    memory: &DeviceMemoryView<'_>,
    order: &KeyOrder,
    length: u32,
    sides: &SortSides,
) -> Result<(), i32> {
    for line in 0..sides.lines() {
        let elements = line_of(sides, INPUT, line, order.bytes).read(memory, length)?;
        let places: Vec<u64> = order.sort(&elements).into_iter().map(u64::from).collect();
        let sorted: Vec<u64> = places.iter().map(|place| elements[*place as usize]).collect();
        line_of(sides, VALUES, line, order.bytes).write(memory, &sorted)?;
        line_of(sides, INDICES, line, INDEX).write(memory, &places)?;
    }
    Ok(())
}

/// Counts of a line.
fn counts_of_line(bytes: usize) -> u64 {
    (bytes * SORT_BINS) as u64
}

fn of_count(arguments: &[u64], bytes: usize) -> Option<Vec<MemoryAccess>> {
    let CountLaunch { length, histogram, sides, .. } = CountLaunch::read(arguments, bytes)?;
    let counts = u64::from(sides.lines()) * counts_of_line(bytes);
    Some(vec![
        access(&sides, INPUT, Intent::Read, bytes, length),
        words(Intent::Read, histogram, counts),
        words(Intent::Write, histogram, counts),
    ])
}

fn digit(key: u64, pass: u32) -> usize {
    (key >> (8 * pass)) as usize % SORT_BINS
}

fn count(memory: &DeviceMemoryView<'_>, arguments: &[u64], bytes: usize) -> Result<(), i32> {
    let launch = CountLaunch::read(arguments, bytes).ok_or(codes::INVALID_VALUE)?;
    let CountLaunch { order, length, histogram, sides } = launch;
    for line in 0..sides.lines() {
        let elements = line_of(&sides, INPUT, line, bytes).read(memory, length)?;
        let of_line = words_at(histogram, u64::from(line) * counts_of_line(bytes));
        let mut counts = of_line.read(memory, counts_of_line(bytes) as u32)?;
        for bits in elements {
            for pass in 0..bytes as u32 {
                counts[pass as usize * SORT_BINS + digit(order.key(bits), pass)] += 1;
            }
        }
        of_line.write(memory, &counts)?;
    }
    Ok(())
}

/// Bytes of an index of a pass.
fn index_bytes(launch: &PassLaunch) -> usize {
    if launch.wide { INDEX } else { WORD as usize }
}

fn of_pass(arguments: &[u64], bytes: usize) -> Option<Vec<MemoryAccess>> {
    let launch = PassLaunch::read(arguments, bytes)?;
    let PassLaunch { order, length, work, ref sides, .. } = launch;
    let lines = u64::from(sides.lines());
    let states = lines * u64::from(sort_tiles(&order, length)) * SORT_BINS as u64;
    let mut accesses = vec![
        access(sides, INPUT, Intent::Read, bytes, length),
        access(sides, VALUES, Intent::Write, bytes, length),
        access(sides, INDICES, Intent::Write, index_bytes(&launch), length),
        words(Intent::Read, work.histogram, lines * counts_of_line(bytes)),
    ];
    for intent in [Intent::Read, Intent::Write] {
        accesses.push(words(intent, work.states, states));
        accesses.push(words(intent, work.counter, 1));
    }
    if work.places.0 != 0 {
        accesses.push(words(Intent::Read, work.places, lines * u64::from(length)));
    }
    Some(accesses)
}

/// Refuses words that are not 0.
fn require_zeros(memory: &DeviceMemoryView<'_>, words: ElementLine, n: u32) -> Result<(), i32> {
    let found = words.read(memory, n)?;
    if found.iter().all(|word| *word == 0) { Ok(()) } else { Err(codes::LAUNCH_FAILED) }
}

fn pass(memory: &DeviceMemoryView<'_>, arguments: &[u64], bytes: usize) -> Result<(), i32> {
    let launch = PassLaunch::read(arguments, bytes).ok_or(codes::INVALID_VALUE)?;
    let PassLaunch { order, length, number, work, ref sides, .. } = launch;
    let tiles = sort_tiles(&order, length);
    require_zeros(memory, words_at(work.counter, 0), 1)?;
    words_at(work.counter, 0).write(memory, &[u64::from(tiles * sides.lines())])?;
    for line in 0..sides.lines() {
        let elements = line_of(sides, INPUT, line, bytes).read(memory, length)?;
        let places: Vec<u64> = if work.places.0 == 0 {
            (0..u64::from(length)).collect()
        } else {
            words_at(work.places, u64::from(line) * u64::from(length)).read(memory, length)?
        };
        // Where the next element of each digit goes.
        let of_pass =
            u64::from(line) * counts_of_line(bytes) + u64::from(number) * SORT_BINS as u64;
        let mut next = words_at(work.histogram, of_pass).read(memory, SORT_BINS as u32)?;
        let mut begin = 0;
        for next in &mut next {
            begin += std::mem::replace(next, begin);
        }
        let mut sorted = [elements.clone(), places.clone()];
        let tile = sort_tile(&order) as usize;
        let pairs = elements.chunks(tile).zip(places.chunks(tile));
        for (number_of_tile, (elements, places)) in (u64::from(line * tiles)..).zip(pairs) {
            for (bits, place) in elements.iter().zip(places) {
                let next = &mut next[digit(order.key(*bits), number)];
                for (sorted, given) in sorted.iter_mut().zip([bits, place]) {
                    *sorted.get_mut(*next as usize).ok_or(codes::ILLEGAL_ADDRESS)? = *given;
                }
                *next += 1;
            }
            let states = words_at(work.states, number_of_tile * SORT_BINS as u64);
            require_zeros(memory, states, SORT_BINS as u32)?;
            let whole: Vec<u64> = next.iter().map(|next| next | u64::from(IS_WHOLE)).collect();
            states.write(memory, &whole)?;
        }
        line_of(sides, VALUES, line, bytes).write(memory, &sorted[0])?;
        line_of(sides, INDICES, line, index_bytes(&launch)).write(memory, &sorted[1])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use sconce_base::element::Dtype;
    use sconce_kernels::{sort_block_name, sort_count_name, sort_lines_name, sort_pass_name};

    use super::*;

    #[test]
    fn every_type_with_an_order_has_kernels_of_its_width() {
        for order in Dtype::ALL.into_iter().filter_map(|dtype| KeyOrder::of(dtype, false)) {
            for name in [sort_lines_name, sort_block_name, sort_count_name, sort_pass_name]
                .map(|name| name(&order))
            {
                assert!(KERNELS.iter().any(|kernel| kernel.name == name), "{name}");
                assert!(name.ends_with(&order.bytes.to_string()), "{name}");
            }
        }
    }
}
