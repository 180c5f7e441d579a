//! Calls that threads share have the same results on any number of threads.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use sconce_base::element::Dtype;
use sconce_math::parallel::set_count;

use super::host::of_test;
use super::*;

const ROWS: usize = 300;
const COLUMNS: usize = 700;

/// Numbers that repeat in many places.
fn numbers() -> Vec<i32> {
    (0..ROWS * COLUMNS).map(|at| (at * 7919 % 1009) as i32 - 300).collect()
}

/// What a call writes on one thread, which is the same on several.
fn on_threads(call: impl Fn(&mut Vec<i32>, &mut Vec<i64>)) -> (Vec<i32>, Vec<i64>) {
    let mut found = None;
    for threads in [1, 2, 3, 8] {
        set_count(threads).unwrap();
        let mut results = (vec![-1; ROWS * COLUMNS], vec![-1; ROWS * COLUMNS]);
        call(&mut results.0, &mut results.1);
        assert!(found.as_ref().is_none_or(|found| *found == results), "{threads} threads");
        found = Some(results);
    }
    found.unwrap()
}

const SIZES: [i64; 2] = [ROWS as i64, COLUMNS as i64];
const PACKED: [i64; 2] = [COLUMNS as i64, 1];
const TURNED: [i64; 2] = [1, ROWS as i64];

#[test]
fn lines_are_sorted() {
    let mut input = numbers();
    for (axis, strides) in [(0, PACKED), (1, PACKED), (1, TURNED)] {
        let address = of_test(&mut input);
        let (values, indices) = on_threads(|values, indices| {
            sort_on_host(&SortCall {
                dtype: Dtype::I32,
                sizes: &SIZES,
                axis,
                descending: false,
                input: PlacedOperand { address, strides: &strides },
                values: PlacedOperand { address: of_test(values), strides: &PACKED },
                indices: PlacedOperand { address: of_test(indices), strides: &PACKED },
            })
            .unwrap();
        });
        for line in 0..ROWS * COLUMNS / SIZES[axis] as usize {
            let at = |along: usize| if axis == 0 { (along, line) } else { (line, along) };
            let all = |strides: [i64; 2], along: usize| {
                let (row, column) = at(along);
                row * strides[0] as usize + column * strides[1] as usize
            };
            let mut expected: Vec<(i32, i64)> = (0..SIZES[axis])
                .map(|along| (input[all(strides, along as usize)], along))
                .collect();
            expected.sort();
            for (along, expected) in expected.into_iter().enumerate() {
                let to = all(PACKED, along);
                assert_eq!((values[to], indices[to]), expected, "axis {axis}, line {line}");
            }
        }
    }
}

#[test]
fn elements_are_selected_along_each_axis() {
    let mut input = numbers();
    for (axis, strides) in [(0, PACKED), (1, PACKED), (0, TURNED), (1, TURNED)] {
        let size = SIZES[axis] as usize;
        let mut index: Vec<i64> = (0..size).map(|at| (at * 31 % size) as i64).collect();
        let (address, places) = (of_test(&mut input), of_test(&mut index));
        let (selected, _) = on_threads(|output, _| {
            select_on_host(&SelectCall {
                dtype: Dtype::I32,
                sizes: &SIZES,
                axis,
                input_size: SIZES[axis],
                input: PlacedOperand { address, strides: &strides },
                output: PlacedOperand { address: of_test(output), strides: &PACKED },
                index: SelectIndex { address: places, dtype: Dtype::I64, stride: 1 },
            })
            .unwrap();
        });
        for (at, found) in selected.into_iter().enumerate() {
            let mut place = [at / COLUMNS, at % COLUMNS];
            place[axis] = index[place[axis]] as usize;
            let from = place[0] * strides[0] as usize + place[1] * strides[1] as usize;
            assert_eq!(found, input[from], "axis {axis}, {place:?}");
        }
    }
}

#[test]
fn parts_are_joined() {
    let mut input = numbers();
    for strides in [PACKED, TURNED] {
        let address = of_test(&mut input);
        let half = |at: i64| {
            let bytes = at * strides[1] * 4;
            PlacedOperand { address: address.offset(bytes as usize), strides: &strides }
        };
        // The second half of the columns first.
        let parts =
            [JoinPart { size: 350, operand: half(350) }, JoinPart { size: 350, operand: half(0) }];
        let (joined, _) = on_threads(|output, _| {
            join_on_host(&JoinCall {
                dtype: Dtype::I32,
                sizes: &SIZES,
                axis: 1,
                output: PlacedOperand { address: of_test(output), strides: &PACKED },
                parts: &parts,
            })
            .unwrap();
        });
        for (at, found) in joined.into_iter().enumerate() {
            let (row, column) = (at / COLUMNS, (at % COLUMNS + 350) % COLUMNS);
            let from = row * strides[0] as usize + column * strides[1] as usize;
            assert_eq!(found, input[from], "row {row}, column {column}");
        }
    }
}
