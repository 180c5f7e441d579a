//! Pooling over the last two or three dimensions: the largest or the mean of each window, and the gradients of both.
//!
//! | file | idea |
//! |---|---|
//! | `window` | windows along one dimension |
//! | `shape` | sizes and strides of inputs and results, and what is refused |
//! | `cpu` | the loops on the CPU |
//! | `device` | the launches on a device |
//! | `fractional` | windows that begin at random places |

#![allow(unsafe_code, reason = "calls libsconce.so")]

mod cpu;
mod device;
pub mod fractional;
mod shape;
#[cfg(test)]
mod tests;
mod window;

use shape::{Planes, Pooled};
pub use shape::{Size, Windows};
use window::PoolingAxis;

use super::layout::Layout;
use super::tensors::check_device;
use crate::error::{Error, Result};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::integer;
use crate::sconce::{Tensor, api, operations};

/// What is computed. The numbers are in `torch/kernels/pooling.cu`, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PoolingKind {
    /// The largest element of each window, and its place in the plane.
    Max,
    /// The mean of each window.
    Mean,
    /// For each input the sum of the gradients of the outputs that it was the largest of.
    MaxBackward,
    /// For each input the sum of its parts of the gradients of all outputs whose windows have it.
    MeanBackward,
}

/// How a mean divides.
#[derive(Clone, Copy, Debug)]
pub struct Divisor {
    /// Whether padding counts.
    pub count_padding: bool,
    /// Divides all sums, if it is set.
    pub fixed: Option<i64>,
}

impl Divisor {
    /// By the inputs of each window.
    pub const OF_INPUTS: Divisor = Divisor { count_padding: false, fixed: None };
}

/// The operation on memory. `large` has the inputs of windows, or their gradients, `small` an element a window; both
/// are a batch and channels of planes.
struct Pool {
    kind: PoolingKind,
    device: i32,
    dtype: i32,
    axes: [PoolingAxis; 3],
    large: Planes,
    small: Planes,
    /// The place of each window's largest element; means do not read it.
    indices: Planes,
    divisor: Divisor,
}

impl Pool {
    fn run(&self) -> Result<()> {
        if self.large.numel() == 0 || self.small.numel() == 0 {
            return Ok(());
        }
        if self.device == api::SCONCE_DEVICE_CPU { cpu::run(self) } else { device::run(self) }
    }
}

/// The largest element of each window, and its place within the plane of its channel, I64.
pub fn max(input: TensorHandle, windows: &Windows) -> Result<(Tensor, Tensor)> {
    let pooled = Pooled::new(input, windows)?;
    let result = pooled.result(pooled.layout.dtype)?;
    let indices = pooled.result(api::SCONCE_DTYPE_I64)?;
    let places = Layout::of(indices.handle())?;
    Pool {
        kind: PoolingKind::Max,
        device: pooled.layout.device,
        dtype: pooled.layout.dtype,
        axes: pooled.axes,
        large: Planes::new(&pooled.layout, windows.dims),
        small: Planes::new(&Layout::of(result.handle())?, windows.dims),
        indices: Planes::new(&places, windows.dims),
        divisor: Divisor::OF_INPUTS,
    }
    .run()?;
    Ok((result, indices))
}

/// The mean of each window.
pub fn mean(input: TensorHandle, windows: &Windows, divisor: Divisor) -> Result<Tensor> {
    check_divisor(divisor)?;
    let pooled = Pooled::new(input, windows)?;
    let result = pooled.result(pooled.layout.dtype)?;
    let small = Planes::new(&Layout::of(result.handle())?, windows.dims);
    Pool {
        kind: PoolingKind::Mean,
        device: pooled.layout.device,
        dtype: pooled.layout.dtype,
        axes: pooled.axes,
        large: Planes::new(&pooled.layout, windows.dims),
        small,
        indices: small,
        divisor,
    }
    .run()?;
    Ok(result)
}

/// The gradient of [`max`] for the input.
pub fn max_backward(
    gradient: TensorHandle,
    input: TensorHandle,
    indices: TensorHandle,
    windows: &Windows,
) -> Result<Tensor> {
    let pooled = Pooled::new(input, windows)?;
    let places = Layout::of(indices)?;
    if places.dtype != api::SCONCE_DTYPE_I64 {
        return Err(Error::invalid_argument("expected indices of int64"));
    }
    pooled.check_pooled("indices", &places)?;
    check_device("indices", places.device, pooled.layout.device)?;
    backward(
        &pooled,
        gradient,
        PoolingKind::MaxBackward,
        windows,
        Divisor::OF_INPUTS,
        Some(&places),
    )
}

/// The gradient of [`mean`] for the input.
pub fn mean_backward(
    gradient: TensorHandle,
    input: TensorHandle,
    windows: &Windows,
    divisor: Divisor,
) -> Result<Tensor> {
    check_divisor(divisor)?;
    let pooled = Pooled::new(input, windows)?;
    backward(&pooled, gradient, PoolingKind::MeanBackward, windows, divisor, None)
}

fn backward(
    pooled: &Pooled,
    gradient: TensorHandle,
    kind: PoolingKind,
    windows: &Windows,
    divisor: Divisor,
    places: Option<&Layout>,
) -> Result<Tensor> {
    let gradient = Layout::of(gradient)?;
    pooled.check_pooled("grad_output", &gradient)?;
    check_device("grad_output", gradient.device, pooled.layout.device)?;
    if gradient.dtype != pooled.layout.dtype {
        return Err(Error::invalid_argument("expected dtype of grad_output to be that of input"));
    }
    let result = pooled.like_input()?;
    let small = Planes::new(&gradient, windows.dims);
    let pool = Pool {
        kind,
        device: gradient.device,
        dtype: gradient.dtype,
        axes: pooled.axes,
        large: Planes::new(&Layout::of(result.handle())?, windows.dims),
        small,
        indices: places.map_or(small, |places| Planes::new(places, windows.dims)),
        divisor,
    };
    pool.zero_without_windows(&result)?;
    pool.run()?;
    Ok(result)
}

impl Pool {
    /// Without windows no input has a gradient.
    fn zero_without_windows(&self, result: &Tensor) -> Result<()> {
        if self.small.numel() != 0 {
            return Ok(());
        }
        operations::fill(result.handle(), &integer(0))
    }
}

fn check_divisor(divisor: Divisor) -> Result<()> {
    if divisor.fixed == Some(0) {
        return Err(Error::invalid_argument("divisor must be not zero"));
    }
    Ok(())
}
