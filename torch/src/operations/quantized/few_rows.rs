//! Products of few rows with weights of 4 bits, without unpacked weights in memory: a line of packed weights is read once
//! for all rows. For many rows the product of unpacked weights is faster.

use super::packing::Packing;

/// As many rows as share the lines.
pub const MOST_ROWS: usize = 16;
/// The most bytes of a line.
const LINE: usize = 32;

/// Packed weights with the scale and the zero of each group and output.
#[derive(Clone, Copy)]
pub struct PackedWeights<'a> {
    /// The weights, two a byte.
    pub bytes: &'a [u8],
    /// Scales and zeros: groups, outputs, two.
    pub scales: &'a [f32],
    /// Inputs of a group.
    pub group: usize,
    /// How many inputs there are.
    pub inputs: usize,
    /// How many outputs there are.
    pub outputs: usize,
    /// The order of the weights.
    pub packing: Packing,
}

/// Writes the product of at most [`MOST_ROWS`] rows. The zeros of a group count once for the sum of its inputs.
pub fn product(rows: &[f32], weights: PackedWeights<'_>, into: &mut [f32]) {
    let PackedWeights { inputs, outputs, packing, .. } = weights;
    into.fill(0.0);
    for begin in (0..outputs).step_by(packing.block) {
        let count = packing.block.min(outputs - begin);
        let bytes = &weights.bytes[begin * inputs / 2..][..count * inputs / 2];
        for group in 0..inputs / weights.group {
            let (sums, totals) = group_sums(rows, weights, bytes, group, count);
            let scales = &weights.scales[(group * outputs + begin) * 2..][..count * 2];
            for (row, line) in into.chunks_exact_mut(outputs).enumerate() {
                for (output, place) in line[begin..begin + count].iter_mut().enumerate() {
                    let (byte, is_upper) = packing.within(output, count);
                    let sum = sums[row][usize::from(is_upper)][byte];
                    *place += scales[2 * output] * sum + scales[2 * output + 1] * totals[row];
                }
            }
        }
    }
}

/// Sums for the lower and the upper weights of each byte.
type Sums = [[[f32; LINE]; 2]; MOST_ROWS];

/// Sums of a group's inputs times weights of a block, and of the inputs alone, by row.
fn group_sums(
    rows: &[f32],
    weights: PackedWeights<'_>,
    bytes: &[u8],
    group: usize,
    count: usize,
) -> (Sums, [f32; MOST_ROWS]) {
    let (mut sums, mut totals) = ([[[0.0; LINE]; 2]; MOST_ROWS], [0.0; MOST_ROWS]);
    let first = group * weights.group;
    let lines = bytes.chunks_exact(count / 2).enumerate().skip(first).take(weights.group);
    for (input, line) in lines {
        let (mut lower, mut upper) = ([0.0; LINE], [0.0; LINE]);
        for ((low, high), byte) in lower.iter_mut().zip(&mut upper).zip(line) {
            (*low, *high) = (f32::from(byte & 15) - 8.0, f32::from(byte >> 4) - 8.0);
        }
        for (row, numbers) in rows.chunks_exact(weights.inputs).enumerate() {
            let number = numbers[input];
            totals[row] += number;
            for (sums, weights) in sums[row].iter_mut().zip([&lower, &upper]) {
                for (sum, weight) in sums.iter_mut().zip(weights) {
                    *sum += number * weight;
                }
            }
        }
    }
    (sums, totals)
}
