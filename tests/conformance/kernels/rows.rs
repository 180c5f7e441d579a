//! The kernels that copy rows, launched as copies launch them.

use sconce_base::types::DeviceIndex;
use sconce_kernels::images::COPY_ROWS;
use sconce_kernels::{rows_cell_shift, rows_kernel_name, rows_launch};

use crate::support::host::Pageable;
use crate::support::stage::{Outcome, Stage, pattern};

crate::support::runner::tests![
    every_cell_and_alignment,
    cells_follow_along_rows_and_down,
    more_rows_than_a_grid_is_high,
    single_rows_and_single_columns,
];

const ZERO: DeviceIndex = DeviceIndex::ZERO;
const SHIFTS: [u32; 5] = [0, 1, 2, 3, 4];

/// Width and height, and of each side where rows begin and how far apart.
#[derive(Clone, Copy, Debug)]
struct Case {
    width: usize,
    height: usize,
    dst: (usize, usize),
    src: (usize, usize),
}

/// Copies rows by cells of `1 << shift` bytes (or by the widest, as copies do) on a device and here,
/// and compares all of the destination.
fn check(stage: &Stage<'_>, shift: Option<u32>, case: Case) -> Outcome {
    let Case { width, height, dst: (dst_start, dst_pitch), src: (src_start, src_pitch) } = case;
    // Bytes behind the last row show what is written too far.
    let before = pattern(dst_start + dst_pitch * height + 32, 1);
    let content = pattern(src_start + src_pitch * height + 32, 0x80);
    let mut expected = before.clone();
    for row in 0..height {
        let line = &content[src_start + row * src_pitch..][..width];
        expected[dst_start + row * dst_pitch..][..width].copy_from_slice(line);
    }
    let (driver, stream) = (stage.driver, stage.stream(ZERO)?);
    let (dst, src) = (stage.memory(ZERO, before.len())?, stage.memory(ZERO, content.len())?);
    for (memory, data) in [(&dst, &before), (&src, &content)] {
        let staged = Pageable::holding(data);
        driver.copy_async(memory.ptr.into(), staged.raw(), data.len(), stream.at)?;
    }
    let to = (dst.ptr.offset(dst_start as u64), dst_pitch as u64);
    let from = (src.ptr.offset(src_start as u64), src_pitch as u64);
    let shift = shift.unwrap_or_else(|| rows_cell_shift(to, from, width as u64));
    let module = driver.module_load(ZERO, &COPY_ROWS)?;
    let kernel = driver.kernel_find(ZERO, module, rows_kernel_name(1 << shift))?;
    let (shape, arguments) = rows_launch(shift, to, from, width as u64, height as u64);
    driver.kernel_launch(kernel, shape, &arguments, stream.at)?;
    stream.synchronize()?;
    let seen = stage.read(ZERO, dst.ptr, before.len())?;
    assert!(seen == expected, "cells of {} bytes, {case:?}", 1 << shift);
    driver.module_unload(ZERO, module)?;
    Ok(())
}

fn every_cell_and_alignment(stage: &Stage<'_>) -> Outcome {
    for shift in SHIFTS {
        let cell = 1 << shift;
        for width in [1, 7, 16, 33, 100, 255, 1000] {
            for (start, more) in [(0, 0), (0, 5), (1, 16), (13, 3), (15, 1)] {
                // The two sides are equally far from a cell in every row.
                let (dst, src) = ((start + cell, width + more), (start, width + more + 2 * cell));
                check(stage, Some(shift), Case { width, height: 9, dst, src })?;
                check(stage, Some(shift), Case { width, height: 9, dst: src, src: dst })?;
            }
        }
    }
    for (dst, src) in [(0, 0), (0, 1), (2, 4), (4, 8), (8, 16), (3, 3), (5, 12)] {
        for (width, dst_pitch, src_pitch) in
            [(300, 300, 301), (1024, 1024, 2048), (1020, 1020, 1024), (24, 24, 64), (3, 3, 4)]
        {
            let (dst, src) = ((dst, dst_pitch), (src, src_pitch));
            check(stage, None, Case { width, height: 21, dst, src })?;
        }
    }
    Ok(())
}

fn cells_follow_along_rows_and_down(stage: &Stage<'_>) -> Outcome {
    for shift in SHIFTS {
        let cell = 1 << shift;
        for cells in [1, 2, 3, 4, 31, 32, 33, 127, 128, 129, 511, 512, 513, 1025] {
            for height in [2, 3, 4, 5, 130, 515] {
                let width = cells * cell;
                let (dst, src) = ((0, width), (cell, width + 3 * cell));
                check(stage, Some(shift), Case { width, height, dst, src })?;
            }
        }
    }
    Ok(())
}

fn more_rows_than_a_grid_is_high(stage: &Stage<'_>) -> Outcome {
    let narrow = Case { width: 5, height: 70_000, dst: (1, 6), src: (2, 9) };
    check(stage, None, narrow)?;
    // Each block row is one row of the copy here.
    let (dst, src) = ((3, 513), (0, 512));
    check(stage, None, Case { width: 512, height: 65_535 + 70, dst, src })
}

fn single_rows_and_single_columns(stage: &Stage<'_>) -> Outcome {
    for shift in SHIFTS {
        let cell = 1 << shift;
        for width in [1, cell, 4097, 1 << 20] {
            check(stage, Some(shift), Case { width, height: 1, dst: (3, width), src: (3, width) })?;
        }
        let (dst, src) = ((5, cell), (5, 64 + cell));
        check(stage, Some(shift), Case { width: 1, height: 3000, dst, src })?;
    }
    Ok(())
}
