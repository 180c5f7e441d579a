//! Which element of an image meets which of the filter.
//!
//! The unfolded input of a group has a column for each element of the filter (a *tap*) and a row for
//! each position of the output. It is made for a block of positions at a time, column by column.

use std::ops::Range;

use sconce_driver::MOST_SPATIAL;

use super::geometry::Geometry;

/// Elements of a block, unless one position takes more.
const BLOCK: usize = 1 << 17;

/// The positions of an output in blocks.
pub fn blocks(geometry: &Geometry) -> impl Iterator<Item = Range<usize>> + use<> {
    let positions = geometry.positions();
    let step = (BLOCK / geometry.taps()).clamp(1, positions);
    (0..positions).step_by(step).map(move |first| first..positions.min(first + step))
}

/// Shows each pair of an element of the block and one of the group's input that belong together.
/// Elements of the block that meet the padding are left out.
pub fn pairs(geometry: &Geometry, block: &Range<usize>, mut visit: impl FnMut(usize, usize)) {
    let Geometry { input, filter, output, .. } = *geometry;
    let start = split(block.start, output);
    let mut column = 0;
    for channel in 0..geometry.channels {
        let base = channel * geometry.input_area();
        for tap in 0..filter.iter().product() {
            let tap = split(tap, filter);
            let mut position = start;
            for row in 0..block.len() {
                if let Some(place) = place(geometry, position, tap) {
                    visit(
                        column + row,
                        base + (place[0] * input[1] + place[1]) * input[2] + place[2],
                    );
                }
                advance(&mut position, output);
            }
            column += block.len();
        }
    }
}

/// Where on the input an element of the filter lies; `None` on the padding.
fn place(
    geometry: &Geometry,
    position: [usize; MOST_SPATIAL],
    tap: [usize; MOST_SPATIAL],
) -> Option<[usize; MOST_SPATIAL]> {
    let mut place = [0; MOST_SPATIAL];
    for axis in 0..MOST_SPATIAL {
        let from = position[axis] as i64 * geometry.stride[axis] - geometry.padding[axis];
        let at = usize::try_from(from + tap[axis] as i64 * geometry.dilation[axis]).ok()?;
        place[axis] = (at < geometry.input[axis]).then_some(at)?;
    }
    Some(place)
}

fn split(index: usize, sizes: [usize; MOST_SPATIAL]) -> [usize; MOST_SPATIAL] {
    let rest = index / sizes[2];
    [rest / sizes[1], rest % sizes[1], index % sizes[2]]
}

fn advance(position: &mut [usize; MOST_SPATIAL], sizes: [usize; MOST_SPATIAL]) {
    for axis in (0..MOST_SPATIAL).rev() {
        position[axis] += 1;
        if position[axis] < sizes[axis] {
            return;
        }
        position[axis] = 0;
    }
}
