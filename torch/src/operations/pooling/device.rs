//! Pooling on a device: `torch/kernels/pooling.cu`.

#![allow(unsafe_code, reason = "launches kernels")]

use super::shape::Planes;
use super::window::PoolingAxis;
use super::{Pool, PoolingKind};
use crate::error::{Error, Result};
use crate::kernels::{Grid, KernelArgument, images, launch};
use crate::operations::tensors::{bytes_of, refused_type};
use crate::sconce::api;

// These are in `torch/kernels/pooling.cu` too.
const THREADS: u32 = 128;

/// Bytes of an index.
const INDEX_BYTES: i64 = 8;

/// Elements of one launch.
const MOST_ELEMENTS: i64 = 1 << 30;

#[derive(Clone, Copy)]
#[repr(C)]
struct PoolingOperand {
    data: u64,
    strides: [i64; 5],
}

#[derive(Clone, Copy)]
#[repr(C)]
struct PoolingArguments {
    large: PoolingOperand,
    small: PoolingOperand,
    indices: PoolingOperand,
    /// 0 for a divisor of each window.
    divisor: i64,
    axes: [PoolingAxis; 3],
    /// Dimensions of the result from the innermost in memory to the outermost, and their sizes in that order.
    order: [u32; 5],
    sizes: [u32; 5],
    count: u32,
    count_padding: u32,
}

impl KernelArgument for PoolingArguments {}

pub(super) fn run(pool: &Pool) -> Result<()> {
    let kind = match pool.kind {
        PoolingKind::Max => "max_pool",
        PoolingKind::Mean => "mean_pool",
        PoolingKind::MaxBackward => "max_pool_backward",
        PoolingKind::MeanBackward => "mean_pool_backward",
    };
    let dtype = match pool.dtype {
        api::SCONCE_DTYPE_F32 => "f32",
        api::SCONCE_DTYPE_F64 => "f64",
        api::SCONCE_DTYPE_F16 => "f16",
        api::SCONCE_DTYPE_BF16 => "bf16",
        other => return Err(refused_type(other)),
    };
    let kernel = format!("sconce_torch_{kind}_{dtype}");
    // An element a thread: of the windows, or of the inputs for gradients.
    let result = match pool.kind {
        PoolingKind::Max | PoolingKind::Mean => &pool.small,
        PoolingKind::MaxBackward | PoolingKind::MeanBackward => &pool.large,
    };
    let mut order: [u32; 5] = [4, 3, 2, 1, 0];
    order.sort_by_key(|&dim| {
        let dim = dim as usize;
        // Dimensions of one element come last: they have no place.
        (result.sizes[dim] == 1, result.strides[dim])
    });
    let of_batch: i64 = result.sizes[1..].iter().product();
    if of_batch > i64::from(u32::MAX) {
        return Err(Error::not_supported(format!(
            "{of_batch} elements of one image; at most {} are pooled on a device",
            u32::MAX
        )));
    }
    let most = (MOST_ELEMENTS / of_batch).max(1);
    let bytes = bytes_of(pool.dtype)? as i64;
    let mut done = 0;
    while done < result.sizes[0] {
        let batches = most.min(result.sizes[0] - done);
        let sizes = order.map(|dim| match dim {
            0 => batches as u32,
            dim => result.sizes[dim as usize] as u32,
        });
        let part = |planes: &Planes, bytes: i64| {
            let data = planes.data.expose_provenance() as u64;
            let data = data.wrapping_add_signed(done * planes.strides[0] * bytes);
            PoolingOperand { data, strides: planes.strides }
        };
        let arguments = PoolingArguments {
            large: part(&pool.large, bytes),
            small: part(&pool.small, bytes),
            indices: part(&pool.indices, INDEX_BYTES),
            divisor: pool.divisor.fixed.unwrap_or(0),
            axes: pool.axes,
            order,
            sizes,
            count: (batches * of_batch) as u32,
            count_padding: u32::from(pool.divisor.count_padding),
        };
        let grid = Grid::of(arguments.count.into(), THREADS, 1);
        // SAFETY: the kernel has this parameter; operands have the sizes of the axes, and results are new.
        unsafe { launch(pool.device, &images::POOLING, &kernel, grid, &[&arguments]) }?;
        done += batches;
    }
    Ok(())
}
