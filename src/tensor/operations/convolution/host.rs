//! Convolutions on the CPU, by the calling thread.

use crate::dnn::ConvolutionRequest;
use crate::driver::MOST_SPATIAL;
use crate::element::Dtype;
use crate::error::{Error, Result, Status};
use crate::products::{Real, bytes_of, bytes_of_mut};
use crate::tensor::transfer::{copy_into, read_bytes, write_bytes, zero};
use crate::tensor::{Tensor, TensorOptions};
use crate::unfolding::{Geometry, Uncalculated, forward_image, zeros};

/// The convolution by the calling thread. 16-bit types are calculated in single precision and rounded once.
pub(super) fn convolve(
    request: &ConvolutionRequest,
    input: &Tensor,
    filter: &Tensor,
    output: &Tensor,
) -> Result<()> {
    if output.dtype() == Dtype::F64 {
        calculate::<f64>(request, Dtype::F64, [input, filter, output])
    } else {
        calculate::<f32>(request, Dtype::F32, [input, filter, output])
    }
}

/// As [`convolve`], in a type.
fn calculate<T: Real + From<f32>>(
    request: &ConvolutionRequest,
    dtype: Dtype,
    [input, filter, output]: [&Tensor; 3],
) -> Result<()> {
    let packed = |like: &Tensor| TensorOptions::of(like).with(dtype).empty(like.sizes());
    let [images, weights, results] = [packed(input)?, packed(filter)?, packed(output)?];
    copy_into(&images, input, false)?;
    copy_into(&weights, filter, false)?;
    let outputs = request.output_sizes()?;
    let spatial = |sizes: [i64; MOST_SPATIAL]| sizes.map(|size| size as usize);
    let geometry = Geometry {
        images: request.batch as usize,
        groups: request.groups as usize,
        channels: (request.in_channels / request.groups) as usize,
        features: (request.out_channels / request.groups) as usize,
        input: spatial(request.input_sizes),
        filter: spatial(request.filter_sizes),
        output: spatial(outputs),
        stride: request.stride,
        padding: request.padding,
        dilation: request.dilation,
    };
    if geometry.taps() == 0 {
        return zero(&results).and_then(|()| copy_into(output, &results, false));
    }
    let mut filter = zeros::<T>(weights.numel() as usize).map_err(refused)?;
    read_bytes(&weights, 0, bytes_of_mut(&mut filter))?;
    let mut image = zeros::<T>(geometry.input_elements()).map_err(refused)?;
    let mut result = zeros::<T>(geometry.output_elements()).map_err(refused)?;
    for index in 0..geometry.images {
        read_bytes(&images, index * size_of_val(&image[..]), bytes_of_mut(&mut image))?;
        forward_image(&geometry, &image, &filter, &mut result, |_, _| Ok(())).map_err(refused)?;
        write_bytes(&results, index * size_of_val(&result[..]), bytes_of(&result))?;
    }
    copy_into(output, &results, false)
}

#[cold]
fn refused(reason: Uncalculated) -> Error {
    match reason {
        Uncalculated::NoMemory => Error::new(
            Status::OutOfMemory,
            "no host memory for the unfolded input of a convolution",
        ),
        other => {
            Error::new(Status::Internal, format!("a convolution was not calculated: {other:?}"))
        }
    }
}
