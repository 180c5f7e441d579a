//! Lines that become columns.

/// Lines and columns of a tile, which is read and written in whole lines of a cache.
pub(super) const SIDE: usize = 16;

/// Copies lines that are `apart` to columns: the elements of a column lie side by side from `start(column)` on, which
/// is called once for each column, in their order. There are at most [`SIDE`] lines.
#[inline(always)]
pub(super) fn turn<T: Copy + Default>(
    from: &[T],
    apart: usize,
    [lines, columns]: [usize; 2],
    to: &mut [T],
    mut start: impl FnMut(usize) -> usize,
) {
    let mut tile = [[T::default(); SIDE]; SIDE];
    for first in (0..columns).step_by(SIDE) {
        let count = SIDE.min(columns - first);
        for (line, tile) in tile.iter_mut().enumerate().take(lines) {
            let from = &from[line * apart + first..][..count];
            match from.first_chunk::<SIDE>() {
                Some(from) => *tile = *from,
                None => tile[..count].copy_from_slice(from),
            }
        }
        for column in 0..count {
            let to = &mut to[start(first + column)..][..lines];
            match to.first_chunk_mut::<SIDE>() {
                Some(to) => *to = std::array::from_fn(|line| tile[line][column]),
                None => to.iter_mut().zip(&tile).for_each(|(to, line)| *to = line[column]),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_element_gets_to_its_place() {
        for (lines, columns) in [(1, 1), (3, 40), (16, 16), (16, 37), (5, 15), (16, 0), (0, 7)] {
            let apart = columns + 3;
            let from: Vec<u32> = (1..=(lines * apart) as u32).collect();
            let mut to = vec![0; columns * (lines + 2)];
            turn(&from, apart, [lines, columns], &mut to, |column| column * (lines + 2));
            for (index, value) in to.into_iter().enumerate() {
                let (column, line) = (index / (lines + 2), index % (lines + 2));
                let expected = if line < lines { from[line * apart + column] } else { 0 };
                assert_eq!(value, expected, "{lines} lines, column {column}, line {line}");
            }
        }
    }
}
