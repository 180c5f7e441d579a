//! Joins of many tensors: short and long parts, of every alignment.

use sconce::*;
use testkit::places::alone;

use crate::api::{Handle, bytes_of};
use crate::create::from_bytes;
use crate::operations;

/// Bytes that differ from part to part.
fn content(part: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at * 7 + part * 131 + at / 251) as u8).collect()
}

/// Joins parts of so many elements along the first dimension, each with `width` columns, and compares all bytes.
#[track_caller]
fn check(dtype: i32, width: usize, rows: &[usize]) {
    let row = width * bytes_of(dtype);
    let contents: Vec<Vec<u8>> =
        rows.iter().enumerate().map(|(part, rows)| content(part, rows * row)).collect();
    let parts: Vec<Handle> = contents
        .iter()
        .zip(rows)
        .map(|(bytes, rows)| from_bytes(bytes, &[*rows as i64, width as i64], dtype, 0).unwrap())
        .collect();
    let joined = operations::cat(&parts.iter().collect::<Vec<_>>(), 0).unwrap();
    assert_eq!(joined.sizes(), [rows.iter().sum::<usize>() as i64, width as i64]);
    assert!(joined.bytes().unwrap() == contents.concat(), "dtype {dtype}, {width} columns");
}

#[test]
fn hundreds_of_parts_are_joined_in_their_order() {
    let _one = alone();
    // More than three launches, and parts of all lengths around a block's.
    let rows: Vec<usize> = (0..800).map(|part| [1, 3, 64, 0, 127, 2][part % 6]).collect();
    check(SCONCE_DTYPE_F32, 1, &rows);
    check(SCONCE_DTYPE_U8, 1, &rows);
    check(SCONCE_DTYPE_BF16, 3, &rows);
    check(SCONCE_DTYPE_C128, 1, &rows);
}

#[test]
fn long_parts_stand_among_short_ones() {
    let _one = alone();
    // 64 KiB is the longest that goes with others.
    let rows = [5, 16 << 10, 1, (16 << 10) + 1, 40_000, 2, 16_383, 7, 9];
    check(SCONCE_DTYPE_F32, 1, &rows);
    check(SCONCE_DTYPE_U8, 4, &rows);
}

#[test]
fn parts_that_do_not_lie_together_go_their_own_way() {
    let _one = alone();
    let (rows, columns) = (3, 10);
    let whole = content(1, 4 * rows * columns);
    let source = from_bytes(&whole, &[rows as i64, columns as i64], SCONCE_DTYPE_F32, 0).unwrap();
    // Columns are joined along the second dimension: each part is a column with a step.
    let parts: Vec<Handle> =
        (0..columns as i64).rev().map(|column| source.narrow(1, column, 1).unwrap()).collect();
    let joined = operations::cat(&parts.iter().collect::<Vec<_>>(), 1).unwrap();
    let reversed: Vec<u8> = whole
        .chunks_exact(4 * columns)
        .flat_map(|row| row.chunks_exact(4).rev().flatten().copied().collect::<Vec<u8>>())
        .collect();
    assert!(joined.bytes().unwrap() == reversed);
}
