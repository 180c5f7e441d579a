//! Products of small blocks of float32 matrices in memory, on the calling thread.

#![allow(unsafe_code, reason = "reads and writes memory of the caller")]

/// Rows and columns whose sums are in registers at the same time.
const ROWS: usize = 4;
const COLUMNS: usize = 16;

/// A matrix of float32 in memory: the first element, and the distance of its rows.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// The first element.
    pub data: *const f32,
    /// Elements from one row to the next.
    pub stride: usize,
}

impl Block {
    /// The block that begins at a row and a column of this one.
    fn at(self, row: usize, column: usize) -> Block {
        Block { data: self.data.wrapping_add(row * self.stride + column), ..self }
    }

    /// # Safety
    /// The element may be read.
    #[inline(always)]
    unsafe fn read(self, row: usize, column: usize) -> f32 {
        // SAFETY: `read` demands that the element at this row and column may be read.
        unsafe { self.data.wrapping_add(row * self.stride + column).read_unaligned() }
    }
}

/// Writes the product of `first` (rows times inner) and `second` (inner times columns) to `into`, or adds it.
///
/// # Safety
/// The blocks have these sizes; `into` may be written, and is not part of the others.
pub unsafe fn multiply(
    [rows, columns, inner]: [usize; 3],
    first: Block,
    second: Block,
    into: Block,
    adds: bool,
) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has these instructions, and this function demands of the blocks what `wide` does.
        unsafe { wide([rows, columns, inner], first, second, into, adds) };
        return;
    }
    // SAFETY: this function demands of the blocks what `tiles` does.
    unsafe { tiles([rows, columns, inner], first, second, into, adds, |a, b, sum| a * b + sum) };
}

/// # Safety
/// As for [`multiply`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn wide(sizes: [usize; 3], first: Block, second: Block, into: Block, adds: bool) {
    // SAFETY: this function demands of the blocks what `tiles` does.
    unsafe { tiles(sizes, first, second, into, adds, f32::mul_add) };
}

/// # Safety
/// As for [`multiply`].
#[inline(always)]
unsafe fn tiles(
    [rows, columns, inner]: [usize; 3],
    first: Block,
    second: Block,
    into: Block,
    adds: bool,
    combine: impl Fn(f32, f32, f32) -> f32 + Copy,
) {
    for column in (0..columns).step_by(COLUMNS) {
        let width = COLUMNS.min(columns - column);
        for row in (0..rows).step_by(ROWS) {
            let height = ROWS.min(rows - row);
            let (a, b, c) = (first.at(row, 0), second.at(0, column), into.at(row, column));
            if height == ROWS && width == COLUMNS {
                // SAFETY: the tile lies within the blocks, because its first row and column and its height and width
                // do, and it has the most rows and columns that `tile` takes.
                unsafe { tile([ROWS, COLUMNS, inner], a, b, c, adds, combine) };
            } else {
                // SAFETY: the tile lies within the blocks, and `height` and `width` are at most the rows and columns
                // that `tile` takes.
                unsafe { tile([height, width, inner], a, b, c, adds, combine) };
            }
        }
    }
}

/// # Safety
/// As for [`multiply`]; there are at most [`ROWS`] rows and [`COLUMNS`] columns.
#[inline(always)]
unsafe fn tile(
    [rows, columns, inner]: [usize; 3],
    first: Block,
    second: Block,
    into: Block,
    adds: bool,
    combine: impl Fn(f32, f32, f32) -> f32 + Copy,
) {
    let mut sums = [[0.0_f32; COLUMNS]; ROWS];
    for at in 0..inner {
        let mut line = [0.0_f32; COLUMNS];
        for (column, number) in line.iter_mut().enumerate().take(columns) {
            // SAFETY: `second` has `inner` rows and `columns` columns, which `at` and `column` are below.
            *number = unsafe { second.read(at, column) };
        }
        for (row, sums) in sums.iter_mut().enumerate().take(rows) {
            // SAFETY: `first` has `rows` rows and `inner` columns, which `row` and `at` are below.
            let factor = unsafe { first.read(row, at) };
            for (sum, number) in sums.iter_mut().zip(line) {
                *sum = combine(factor, number, *sum);
            }
        }
    }
    for (row, sums) in sums.iter().enumerate().take(rows) {
        for (column, sum) in sums.iter().enumerate().take(columns) {
            let place = into.at(row, column).data.cast_mut();
            // SAFETY: `into` has `rows` rows and `columns` columns, which `row` and `column` are below, and may be
            // written.
            let before = if adds { unsafe { place.read_unaligned() } } else { 0.0 };
            // SAFETY: `into` has `rows` rows and `columns` columns, which `row` and `column` are below, and is no part
            // of the others.
            unsafe { place.write_unaligned(before + sum) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Cases, Dense};

    #[test]
    fn blocks_are_multiplied_within_their_rows() {
        let mut cases = Cases::new(77);
        for turn in 0..200 {
            let [rows, columns] = [0; 2].map(|_| cases.int(0, 37));
            let inner = cases.int(0, 21);
            let adds = cases.int(0, 1) == 1;
            let gaps = [0; 3].map(|_| cases.int(0, 3));
            let a = Dense::quarters(&mut cases, &[rows, inner + gaps[0]]);
            let b = Dense::quarters(&mut cases, &[inner, columns + gaps[1]]);
            let c = Dense::quarters(&mut cases, &[rows, columns + gaps[2]]);
            let expected = Dense::build(&[rows, columns + gaps[2]], |at| {
                let before = c.at(at);
                if at[1] >= columns {
                    return before;
                }
                let sum: f64 = (0..inner).map(|k| a.at(&[at[0], k]) * b.at(&[k, at[1]])).sum();
                sum + if adds { before } else { 0.0 }
            });
            let numbers =
                |of: &Dense| of.values.iter().map(|value| *value as f32).collect::<Vec<f32>>();
            let (a, b, mut c) = (numbers(&a), numbers(&b), numbers(&c));
            let block = |data, width| Block { data, stride: width as usize };
            let into = block(c.as_mut_ptr().cast_const(), columns + gaps[2]);
            let sizes = [rows as usize, columns as usize, inner as usize];
            let (first, second) =
                (block(a.as_ptr(), inner + gaps[0]), block(b.as_ptr(), columns + gaps[1]));
            if turn % 2 == 0 {
                // SAFETY: the vectors have the sizes of the blocks.
                unsafe { multiply(sizes, first, second, into, adds) };
            } else {
                // SAFETY: the vectors have the sizes of the blocks.
                unsafe { tiles(sizes, first, second, into, adds, |a, b, sum| a * b + sum) };
            }
            let found: Vec<f64> = c.iter().map(|value| f64::from(*value)).collect();
            // Sums of products of quarters are exact.
            assert_eq!(found, expected.values, "turn {turn}: {sizes:?}");
        }
    }
}
