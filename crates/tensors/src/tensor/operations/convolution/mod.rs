//! Convolutions (`torch.nn.functional.conv1d` to `conv3d`), through cuDNN, or on the CPU.

mod host;

use sconce_base::error::{Error, Result};
use sconce_compute::dnn::{self, ConvolutionRequest};
use sconce_compute::pointwise::{ElementOperation, Scalar};
use sconce_driver::{ConvolutionOperation, MOST_SPATIAL};

use super::binary::binary;
use super::operand::{TensorOperand, same_place};
use crate::tensor::dims::strides_in_order;
use crate::tensor::transfer::{contiguous, strides_of_format, zero};
use crate::tensor::{Dims, MemoryFormat, Place, Tensor, TensorOptions, views};
use host::convolve;

/// How the filter moves over the input; an entry for each spatial dimension.
pub struct FilterSteps<'a> {
    pub stride: &'a [i64],
    pub padding: &'a [i64],
    pub dilation: &'a [i64],
    pub groups: i64,
}

/// The convolution of images (batch, channels, spatial dimensions) with a filter (output channels, input
/// channels of a group, spatial dimensions), and a bias for each output channel added.
pub fn convolution(
    input: &Tensor,
    filter: &Tensor,
    bias: Option<&Tensor>,
    steps: &FilterSteps<'_>,
) -> Result<Tensor> {
    let place = same_place([input, filter].into_iter().chain(bias))?;
    check(input, filter, bias, steps)?;
    let spatial = input.rank() - 2;
    let format = common_format(input, filter);
    let (input, filter) = (contiguous(input, format)?, contiguous(filter, format)?);
    let mut request = request(&input, &filter, steps)?;
    let mut sizes = Dims::from_slice(&[input.sizes()[0], filter.sizes()[0]]);
    sizes.extend_from_slice(&request.output_sizes()?[..spatial]);
    let options = TensorOptions::of(&input);
    // The result has its channels last in memory if one of the factors has, as torch's.
    let output = options.empty_strided(&sizes, &strides_of_format(&sizes, format)?)?;
    if output.numel() != 0 {
        request.output_strides = padded(output.strides());
        match place {
            Place::Cpu if input.numel() == 0 || filter.numel() == 0 => zero(&output)?,
            Place::Cpu => {
                let bias =
                    bias.map(|bias| contiguous(bias, MemoryFormat::Contiguous)).transpose()?;
                convolve(&request, format, [&input, &filter, &output], bias.as_ref())?;
                return Ok(output);
            }
            Place::Device(_) => {
                dnn::convolution(&request, input.address(), filter.address(), output.address())?;
            }
        }
    }
    let Some(bias) = bias else { return Ok(output) };
    let mut column = Dims::from_elem(1, output.rank() - 1);
    column[0] = bias.numel();
    let column = views::view(&contiguous(bias, MemoryFormat::Contiguous)?, &column)?;
    let operands = [TensorOperand::Tensor(&output), TensorOperand::Tensor(&column)];
    binary(ElementOperation::Add, operands, Scalar::Int(1), Some(&output))
}

/// The order of dimensions in which torch hands both to cuDNN, copied if they lie otherwise: cuDNN calculates with
/// filters in these two orders only, and repeats no elements.
fn common_format(input: &Tensor, filter: &Tensor) -> MemoryFormat {
    match input.rank() {
        _ if !is_channels_last(input) && !is_channels_last(filter) => MemoryFormat::Contiguous,
        4 => MemoryFormat::ChannelsLast,
        _ => MemoryFormat::ChannelsLast3d,
    }
}

fn is_channels_last(tensor: &Tensor) -> bool {
    let rank = tensor.rank();
    let order = std::iter::once(1).chain((2..rank).rev()).chain([0]);
    rank > 3
        && !tensor.is_contiguous()
        && *strides_in_order(tensor.sizes(), order) == *tensor.strides()
}

fn padded<const N: usize>(values: &[i64]) -> [i64; N] {
    std::array::from_fn(|index| values.get(index).copied().unwrap_or(0))
}

fn request(input: &Tensor, filter: &Tensor, steps: &FilterSteps<'_>) -> Result<ConvolutionRequest> {
    let spatial_of = |values: &[i64]| -> [i64; MOST_SPATIAL] {
        std::array::from_fn(|axis| values.get(axis).copied().unwrap_or(1))
    };
    Ok(ConvolutionRequest {
        operation: ConvolutionOperation::Forward,
        element: dnn::check_dtype(input.dtype())?,
        spatial: input.rank() - 2,
        batch: input.sizes()[0],
        in_channels: input.sizes()[1],
        out_channels: filter.sizes()[0],
        groups: steps.groups,
        input_sizes: spatial_of(&input.sizes()[2..]),
        filter_sizes: spatial_of(&filter.sizes()[2..]),
        stride: spatial_of(steps.stride),
        padding: padded(steps.padding),
        dilation: spatial_of(steps.dilation),
        input_strides: padded(input.strides()),
        filter_strides: padded(filter.strides()),
        output_strides: [0; 5],
    })
}

fn check(
    input: &Tensor,
    filter: &Tensor,
    bias: Option<&Tensor>,
    steps: &FilterSteps<'_>,
) -> Result<()> {
    if !(3..=2 + MOST_SPATIAL).contains(&input.rank()) || filter.rank() != input.rank() {
        return Err(Error::invalid_argument(format!(
            "Expected 3D to 5D input and filter of one rank to convolve, but got input of size {:?} and filter \
             of size {:?}",
            input.sizes(),
            filter.sizes()
        )));
    }
    let spatial = input.rank() - 2;
    for (name, values) in
        [("stride", steps.stride), ("padding", steps.padding), ("dilation", steps.dilation)]
    {
        if values.len() != spatial {
            return Err(Error::invalid_argument(format!(
                "{name} has {} entries, but there are {spatial} spatial dimensions",
                values.len()
            )));
        }
    }
    for tensor in [Some(filter), bias].into_iter().flatten() {
        if tensor.dtype() != input.dtype() {
            return Err(Error::invalid_argument(format!(
                "Input type ({}) and weight or bias type ({}) should be the same",
                input.dtype().c10_name(),
                tensor.dtype().c10_name()
            )));
        }
    }
    if steps.groups <= 0 {
        return Err(Error::invalid_argument("non-positive groups is not supported"));
    }
    let channels = filter.sizes()[1].saturating_mul(steps.groups);
    if input.sizes()[1] != channels {
        return Err(Error::invalid_argument(format!(
            "Given groups={}, weight of size {:?}, expected input{:?} to have {channels} channels, but got {} \
             channels instead",
            steps.groups,
            filter.sizes(),
            input.sizes(),
            input.sizes()[1]
        )));
    }
    match bias {
        Some(bias) if bias.rank() != 1 || bias.numel() != filter.sizes()[0] => {
            Err(Error::invalid_argument(format!(
                "Given weight of size {:?}, expected bias to be 1-dimensional with {} elements, but got bias of \
                 size {:?} instead",
                filter.sizes(),
                filter.sizes()[0],
                bias.sizes()
            )))
        }
        _ => Ok(()),
    }
}
