//! Convolutions. Being built.

use crate::driver::{ConvolutionOperation, Element, MOST_SPATIAL};
use crate::error::{Error, Result};
use crate::philox::Dtype;

/// A convolution as a caller describes it; see `sconce_convolution_desc`.
#[derive(Clone, Copy, Debug)]
pub struct ConvolutionRequest {
    /// What is calculated.
    pub operation: ConvolutionOperation,
    /// The type of all three.
    pub element: Element,
    /// Spatial dimensions, 1 to 3.
    pub spatial: usize,
    /// Images.
    pub batch: i64,
    /// Channels of the input.
    pub in_channels: i64,
    /// Channels of the output.
    pub out_channels: i64,
    /// Groups of channels.
    pub groups: i64,
    /// Spatial sizes of the input.
    pub input_sizes: [i64; MOST_SPATIAL],
    /// Spatial sizes of the filter.
    pub filter_sizes: [i64; MOST_SPATIAL],
    /// How far the filter moves.
    pub stride: [i64; MOST_SPATIAL],
    /// Zeros on each side of the input.
    pub padding: [i64; MOST_SPATIAL],
    /// How far apart the filter's elements lie.
    pub dilation: [i64; MOST_SPATIAL],
    /// Batch, channels, spatial; all 0 is packed.
    pub input_strides: [i64; 5],
    /// Output channels, input channels of a group, spatial; all 0 is packed.
    pub filter_strides: [i64; 5],
    /// As of the input.
    pub output_strides: [i64; 5],
}

impl ConvolutionRequest {
    /// Spatial sizes of the output.
    pub fn output_sizes(&self) -> Result<[i64; MOST_SPATIAL]> {
        Err(Error::not_supported("being built"))
    }
}

/// The types that can be convolved.
pub fn element(dtype: Dtype) -> Result<Element> {
    match dtype {
        Dtype::F16 => Ok(Element::F16),
        Dtype::Bf16 => Ok(Element::Bf16),
        Dtype::F32 => Ok(Element::F32),
        Dtype::F64 => Ok(Element::F64),
        _ => Err(Error::not_supported(
            "desc.dtype must be SCONCE_DTYPE_F16, _BF16, _F32 or _F64 for a convolution",
        )),
    }
}

/// The operation with a number of the C API.
pub fn operation(value: i32) -> Result<ConvolutionOperation> {
    match value {
        0 => Ok(ConvolutionOperation::Forward),
        1 => Ok(ConvolutionOperation::Data),
        2 => Ok(ConvolutionOperation::Filter),
        _ => Err(Error::invalid_argument(format!(
            "desc.operation is {value}; it must be one of SCONCE_CONVOLUTION_… (0 to 2)"
        ))),
    }
}

/// The calling thread's handle for the current device.
pub fn handle() -> Result<usize> {
    Err(Error::not_supported("being built"))
}

/// The library's version.
pub fn version() -> Result<i64> {
    Err(Error::not_supported("being built"))
}

/// Convolves.
pub fn convolution(
    _request: &ConvolutionRequest,
    _a: usize,
    _b: usize,
    _result: usize,
) -> Result<()> {
    Err(Error::not_supported("being built"))
}

/// Forgets plans and choices.
pub fn clear_plans() -> Result<()> {
    Err(Error::not_supported("being built"))
}
