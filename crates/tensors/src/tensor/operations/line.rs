//! Softmax, and running sums and products, along a dimension.

use sconce_base::element::Dtype;
use sconce_base::error::Result;
use sconce_compute::reduction::{KeptAxis, LineCall, LineOp};
use smallvec::SmallVec;

use super::output::{Destination, InPlace};
use super::unary::not_implemented;
use crate::tensor::dims::wrap_dim;
use crate::tensor::launch;
use crate::tensor::promotion::is_integral;
use crate::tensor::{Tensor, TensorOptions};

/// The operation along a dimension, into a new tensor or `into`; `dtype` is the type that elements are converted to
/// first, by default that of `into` for running sums and products.
pub fn along(
    operation: LineOp,
    input: &Tensor,
    dim: i64,
    dtype: Option<Dtype>,
    into: Option<&Tensor>,
) -> Result<Tensor> {
    let at = wrap_dim(dim, input.rank())?;
    let destination = Destination::at(input.place(), into)?;
    let dtype = match operation {
        LineOp::Softmax | LineOp::LogSoftmax => {
            let dtype = dtype.unwrap_or(input.dtype());
            // torch refuses types only where there is something to calculate.
            if input.numel() != 0 && (!dtype.is_floating() || dtype.bytes() == 1) {
                return Err(not_implemented("host_softmax", dtype));
            }
            dtype
        }
        LineOp::Cumsum | LineOp::Cumprod => match dtype.or(destination.dtype()) {
            Some(dtype) => dtype,
            None if is_integral(input.dtype()) => Dtype::I64,
            None => input.dtype(),
        },
    };
    let destination = destination.exactly(dtype)?.reads(input, InPlace::Copies)?;
    let result = destination.packed(TensorOptions::of(input).with(dtype), input.sizes())?;
    let output = result.tensor();
    if output.numel() == 0 {
        return result.finish();
    }
    let lines: SmallVec<[KeptAxis; 8]> = (0..input.rank())
        .filter(|dim| *dim != at)
        .map(|dim| KeptAxis {
            size: input.sizes()[dim],
            input_stride: input.strides()[dim],
            output_stride: output.strides()[dim],
        })
        .collect();
    let of = |values: &[i64]| values.get(at).copied().unwrap_or(1);
    launch::lines(
        output,
        input,
        &LineCall {
            op: operation,
            input: launch::element_operand(input),
            compute: dtype,
            output: launch::element_operand(output),
            lines: &lines,
            length: of(input.sizes()),
            input_stride: of(input.strides()),
            output_stride: of(output.strides()),
        },
    )?;
    result.finish()
}
