//! The kernels that copy elements with strides, launched as copies launch them.

use sconce_base::types::DeviceIndex;
use sconce_kernels::images::COPY_STRIDED;
use sconce_kernels::{StridedAxis, strided_kernel_name, strided_launch};

use crate::support::host::Pageable;
use crate::support::stage::{Outcome, Stage, pattern};

crate::support::runner::tests![
    every_width_and_many_shapes,
    large_shapes_use_every_block,
    strides_may_go_backwards_and_repeat_the_source,
];

const ZERO: DeviceIndex = DeviceIndex::ZERO;
const WIDTHS: [u32; 5] = [1, 2, 4, 8, 16];

/// An axis in elements: size, and strides of both sides.
type Axis = (u32, i64, i64);

/// Copies `axes` (innermost first) from element `src_start` to element `dst_start` of two arrays, on
/// a device and here, and compares all of the destination.
fn check(
    stage: &Stage<'_>,
    width: u32,
    (dst_elements, dst_start): (usize, i64),
    (src_elements, src_start): (usize, i64),
    axes: &[Axis],
) -> Outcome {
    let bytes = width as usize;
    let (before, content) = (pattern(dst_elements * bytes, 1), pattern(src_elements * bytes, 0x80));
    let mut expected = before.clone();
    let total: u64 = axes.iter().map(|axis| u64::from(axis.0)).product();
    for index in 0..total {
        let (mut rest, mut to, mut from) = (index, dst_start, src_start);
        for (size, dst_stride, src_stride) in axes {
            let here = (rest % u64::from(*size)) as i64;
            (to, from) = (to + here * dst_stride, from + here * src_stride);
            rest /= u64::from(*size);
        }
        let (to, from) = (to as usize * bytes, from as usize * bytes);
        expected[to..to + bytes].copy_from_slice(&content[from..from + bytes]);
    }

    let (driver, stream) = (stage.driver, stage.stream(ZERO)?);
    let (dst, src) = (stage.memory(ZERO, before.len())?, stage.memory(ZERO, content.len())?);
    for (memory, data) in [(&dst, &before), (&src, &content)] {
        let staged = Pageable::holding(data);
        driver.copy_async(memory.ptr.into(), staged.raw(), data.len(), stream.at)?;
    }
    let module = driver.module_load(ZERO, &COPY_STRIDED)?;
    let kernel = driver.kernel_find(ZERO, module, strided_kernel_name(width))?;
    let unit = i64::from(width);
    let in_bytes: Vec<StridedAxis> = axes
        .iter()
        .map(|&(size, dst_stride, src_stride)| StridedAxis {
            size,
            dst_stride: dst_stride * unit,
            src_stride: src_stride * unit,
        })
        .collect();
    let (shape, arguments) = strided_launch(
        dst.ptr.offset((dst_start * unit) as u64),
        src.ptr.offset((src_start * unit) as u64),
        &in_bytes,
    );
    driver.kernel_launch(kernel, shape, &arguments, stream.at)?;
    stream.synchronize()?;
    let seen = stage.read(ZERO, dst.ptr, before.len())?;
    assert!(seen == expected, "width {width}, axes {axes:?}");
    driver.module_unload(ZERO, module)?;
    Ok(())
}

fn every_width_and_many_shapes(stage: &Stage<'_>) -> Outcome {
    let shapes: [&[Axis]; 6] = [
        &[],
        &[(1000, 1, 2)],
        &[(40, 1, 33), (33, 40, 1)],
        &[(7, 2, 1), (5, 14, 7), (3, 70, 35)],
        &[(2, 1, 256), (2, 2, 128), (2, 4, 64), (2, 8, 32), (2, 16, 16), (2, 32, 8), (2, 64, 4)],
        // All axes that there can be.
        &[
            (2, 1, 1),
            (3, 2, 3),
            (1, 7, 7),
            (2, 6, 9),
            (2, 12, 18),
            (2, 24, 36),
            (2, 48, 72),
            (2, 96, 144),
            (3, 192, 288),
        ],
    ];
    for width in WIDTHS {
        for axes in shapes {
            check(stage, width, (4000, 3), (4000, 5), axes)?;
        }
    }
    Ok(())
}

fn large_shapes_use_every_block(stage: &Stage<'_>) -> Outcome {
    for width in WIDTHS {
        for (rows, columns) in [(1, 512), (1, 513), (3, 171), (129, 501)] {
            let axes = [(columns, 1, i64::from(rows)), (rows, i64::from(columns), 1)];
            let elements = (rows * columns) as usize;
            check(stage, width, (elements, 0), (elements, 0), &axes)?;
        }
    }
    Ok(())
}

fn strides_may_go_backwards_and_repeat_the_source(stage: &Stage<'_>) -> Outcome {
    for width in WIDTHS {
        check(stage, width, (100, 99), (100, 0), &[(100, -1, 1)])?;
        check(stage, width, (100, 0), (1, 0), &[(100, 1, 0)])?;
        check(stage, width, (120, 110), (12, 11), &[(10, 1, 0), (12, -10, -1)])?;
    }
    Ok(())
}
