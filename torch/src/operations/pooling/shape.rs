//! Sizes and strides of what is pooled, and of results.

use std::ffi::c_void;

use super::window::PoolingAxis;
use crate::error::{Error, Result};
use crate::operations::layout::{Layout, format_of_images, has_channels_last};
use crate::operations::tensors::format_of;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api, operations};

/// The windows that a caller asks for.
#[derive(Clone, Debug)]
pub struct Windows {
    /// The operation's name, for messages.
    pub name: &'static str,
    /// How many of the last dimensions are pooled: 2 or 3.
    pub dims: usize,
    /// What a window is.
    pub size: Size,
    /// Whether results of a batch keep the order of the input's dimensions in memory. Otherwise they are contiguous.
    pub keeps_order: bool,
}

/// The sizes of windows, a number for each dimension, or one for all.
#[derive(Clone, Debug)]
pub enum Size {
    /// Windows of one size.
    Fixed {
        /// Inputs of a window.
        kernel: Vec<i64>,
        /// Inputs from one window to the next; empty for the kernel's size.
        stride: Vec<i64>,
        /// Places around the input.
        padding: Vec<i64>,
        /// Inputs from one of a window to the next.
        dilation: Vec<i64>,
        /// Whether windows that lie partly behind the input count.
        ceil_mode: bool,
    },
    /// So many windows, whose sizes follow.
    Adaptive(Vec<i64>),
}

/// A number for each of `dims` dimensions, of as many or one.
fn each(name: &str, what: &str, numbers: &[i64], dims: usize) -> Result<Vec<i64>> {
    match numbers {
        [one] => Ok(vec![*one; dims]),
        _ if numbers.len() == dims => Ok(numbers.to_vec()),
        _ => Err(Error::invalid_argument(format!(
            "{name}: {what} must be one number, or {dims} numbers, but is {numbers:?}"
        ))),
    }
}

impl Windows {
    /// The windows along each of three dimensions, the first of which has one input if two are pooled.
    fn axes(&self, spatial: &[i64]) -> Result<[PoolingAxis; 3]> {
        let mut axes =
            [PoolingAxis { input: 1, output: 1, kernel: 1, stride: 1, padding: 0, dilation: 1 }; 3];
        let name = self.name;
        let own = axes[3 - self.dims..].iter_mut().zip(spatial);
        match &self.size {
            Size::Adaptive(outputs) => {
                let outputs = each(name, "output_size", outputs, self.dims)?;
                for ((axis, &input), output) in own.zip(outputs) {
                    *axis = PoolingAxis::adaptive(input, output)?;
                }
            }
            Size::Fixed { kernel, stride, padding, dilation, ceil_mode } => {
                let kernel = each(name, "kernel_size", kernel, self.dims)?;
                let stride = match stride.is_empty() {
                    true => kernel.clone(),
                    false => each(name, "stride", stride, self.dims)?,
                };
                let padding = each(name, "padding", padding, self.dims)?;
                let dilation = each(name, "dilation", dilation, self.dims)?;
                for (at, (axis, &input)) in own.enumerate() {
                    let numbers = [kernel[at], stride[at], padding[at], dilation[at]];
                    *axis = PoolingAxis::new(input, numbers, *ceil_mode)
                        .map_err(|why| why.within(name))?;
                }
            }
        }
        Ok(axes)
    }
}

/// An input with its windows.
pub(super) struct Pooled {
    pub(super) layout: Layout,
    pub(super) axes: [PoolingAxis; 3],
    memory_format: i32,
    /// Whether results have their channels innermost in memory although they have no batch.
    is_single_last: bool,
    dims: usize,
}

impl Pooled {
    pub(super) fn new(input: TensorHandle, windows: &Windows) -> Result<Pooled> {
        let layout = Layout::of(input)?;
        let (rank, dims, name) = (layout.rank(), windows.dims, windows.name);
        // All dimensions but the batch have elements.
        let has_elements =
            layout.sizes.iter().skip(usize::from(rank == dims + 2)).all(|&size| size > 0);
        if !(rank == dims + 1 || rank == dims + 2) || !has_elements {
            return Err(Error::invalid_argument(format!(
                "{name}: Expected {}D or {}D (batch mode) tensor with optional 0 dim batch size for input, but got: \
                 {:?}",
                dims + 1,
                dims + 2,
                layout.sizes
            )));
        }
        let axes = windows.axes(&layout.sizes[rank - dims..])?;
        let is_last = windows.keeps_order
            && rank == dims + 2
            && has_channels_last(&layout.sizes, &layout.strides);
        let memory_format = format_of_images(is_last, dims + 2);
        // PyTorch keeps the order of a single volume only if it is dense.
        let may_keep_order = windows.keeps_order && rank == 4 && dims == 3;
        let is_single_last = may_keep_order
            && format_of(operations::unsqueeze(input, 0)?.handle())?
                == api::SCONCE_MEMORY_FORMAT_CHANNELS_LAST_3D;
        Ok(Pooled { layout, axes, memory_format, is_single_last, dims })
    }

    /// The sizes of what has an element a window.
    fn pooled_sizes(&self) -> Vec<i64> {
        let mut sizes = self.layout.sizes.clone();
        let first = sizes.len() - self.dims;
        for (size, axis) in sizes[first..].iter_mut().zip(&self.axes[3 - self.dims..]) {
            *size = axis.output.into();
        }
        sizes
    }

    /// Refuses a tensor that does not have an element a window.
    pub(super) fn check_pooled(&self, name: &str, layout: &Layout) -> Result<()> {
        let wanted = self.pooled_sizes();
        if layout.sizes == wanted {
            return Ok(());
        }
        Err(Error::invalid_argument(format!(
            "expected {name} to have the sizes {wanted:?}, but got {:?}",
            layout.sizes
        )))
    }

    /// A new tensor with an element a window.
    pub(super) fn result(&self, dtype: i32) -> Result<Tensor> {
        self.made(&self.pooled_sizes(), dtype)
    }

    /// A new tensor with the input's type and sizes.
    pub(super) fn like_input(&self) -> Result<Tensor> {
        self.made(&self.layout.sizes, self.layout.dtype)
    }

    fn made(&self, sizes: &[i64], dtype: i32) -> Result<Tensor> {
        let mut options = options(dtype, self.layout.device);
        if self.is_single_last {
            let mut last = sizes.to_vec();
            last.rotate_left(1);
            let made = operations::empty(&last, &options)?;
            return operations::permute(made.handle(), &[3, 0, 1, 2]);
        }
        options.memory_format = self.memory_format;
        operations::empty(sizes, &options)
    }
}

/// A batch of channels of planes with up to three dimensions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planes {
    pub(super) data: *mut c_void,
    /// Batch, channels, depth, height, width.
    pub(super) sizes: [i64; 5],
    pub(super) strides: [i64; 5],
}

impl Planes {
    /// A tensor whose last `dims` dimensions are a plane's.
    pub(super) fn new(layout: &Layout, dims: usize) -> Planes {
        let (mut sizes, mut strides) = ([1; 5], [0; 5]);
        let rank = layout.rank();
        for back in 1..=dims {
            sizes[5 - back] = layout.sizes[rank - back];
            strides[5 - back] = layout.strides[rank - back];
        }
        // Channels, and the batch if there is one.
        for (at, dim) in (0..rank - dims).rev().enumerate() {
            sizes[1 - at] = layout.sizes[dim];
            strides[1 - at] = layout.strides[dim];
        }
        Planes { data: layout.data, sizes, strides }
    }

    pub(super) fn numel(&self) -> i64 {
        self.sizes.iter().product()
    }
}
