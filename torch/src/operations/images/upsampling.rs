//! Images of another size: along each dimension a product with the matrix of weights (`resampling`). With antialiasing
//! the weights of a smaller image reach as far as an element of it does in the image.

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of, strides_of};
use crate::error::{Error, Result};
use crate::operations::images::cubic::polynomial;
use crate::operations::images::resampling::{MOST_LENGTH, Resampling, ResamplingKind};
use crate::operations::layout::{format_of_images, has_channels_last};
use crate::operations::tensors::{check_floating, in_format};
use crate::sconce::operations::{Operand, binary, clamped_from, unary, widened};
use crate::sconce::products::exact_matmul;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api, operations};

/// What an image becomes.
#[derive(Clone, Copy, Debug)]
pub struct Upsampling<'a> {
    /// Between which elements.
    pub kind: ResamplingKind,
    /// The sizes of the result's dimensions.
    pub output: &'a [i64],
    /// Whether the outermost elements of both images lie at the same places.
    pub align_corners: bool,
    /// How many times larger the image is to become, if that was said.
    pub scales: &'a [Option<f64>],
    /// Whether weights of a smaller image reach further.
    pub antialias: bool,
}

impl Upsampling<'_> {
    /// The image of another size.
    pub fn of(&self, image: TensorHandle) -> Result<Tensor> {
        let (dtype, sizes) = (dtype_of_tensor(image)?, sizes_of(image)?);
        let dims = self.output.len();
        check_floating(dtype)?;
        if sizes.len() != dims + 2 || sizes[1..].contains(&0) {
            return Err(Error::invalid_argument(format!(
                "Non-empty {}D data tensor expected but got a tensor with sizes {sizes:?}",
                dims + 2
            )));
        }
        let is_length = |size: &i64| (1..=MOST_LENGTH).contains(size);
        if !self.output.iter().chain(&sizes[2..]).all(is_length) {
            return Err(Error::invalid_argument(format!(
                "Input and output sizes should be greater than 0 and at most {MOST_LENGTH}, but got input {:?} and \
                 output {:?}",
                &sizes[2..],
                self.output
            )));
        }
        let whole = [&sizes[..2], self.output].concat();
        let mut made = widened(image)?;
        let mut shape = sizes.clone();
        // With antialiasing PyTorch copies along a dimension of an unchanged size on the CPU, whatever its scale is.
        let is_on_cpu = device_of_tensor(image)? == api::SCONCE_DEVICE_CPU;
        let is_kept_alone = self.antialias && is_on_cpu;
        // The last dimension first, as PyTorch does it.
        for dim in (0..dims).rev() {
            let (from, to) = (sizes[2 + dim], self.output[dim]);
            if from == to && (is_kept_alone || self.is_kept(&sizes)) {
                continue;
            }
            let weights = self.weights(dim, &whole, &sizes, image)?;
            let weights = operations::to_dtype(weights.handle(), dtype_of_tensor(made.handle())?)?;
            let outer = shape[..2 + dim].iter().product::<i64>();
            let inner = shape[3 + dim..].iter().product::<i64>();
            made = if inner == 1 {
                let lines = operations::reshape(made.handle(), &[outer, from])?;
                let turned = operations::transpose(weights.handle(), 0, 1)?;
                exact_matmul(lines.handle(), turned.handle())?
            } else {
                let planes = operations::reshape(made.handle(), &[outer, from, inner])?;
                exact_matmul(weights.handle(), planes.handle())?
            };
            shape[2 + dim] = to;
        }
        let made = operations::reshape(made.handle(), &whole)?;
        let made = operations::to_dtype(made.handle(), dtype)?;
        let is_innermost = dims > 1 && has_channels_last(&sizes, &strides_of(image)?);
        let format = match dims {
            1 => api::SCONCE_MEMORY_FORMAT_CONTIGUOUS,
            _ => format_of_images(is_innermost, sizes.len()),
        };
        if made.handle() == image {
            return crate::operations::tensors::copy_in_format(image, format);
        }
        in_format(made.handle(), format)
    }

    /// Whether a dimension of an unchanged size is copied: where no scale moves places.
    fn is_kept(&self, sizes: &[i64]) -> bool {
        self.output == &sizes[2..] || self.scales.iter().all(Option::is_none)
    }

    /// The share of each element of the image, a column each, in each of the result, a row each; in F64.
    fn weights(
        &self,
        dim: usize,
        whole: &[i64],
        sizes: &[i64],
        image: TensorHandle,
    ) -> Result<Tensor> {
        let (wide, device) = (api::SCONCE_DTYPE_F64, device_of_tensor(image)?);
        let (from, to) = (sizes[2 + dim], whole[2 + dim]);
        if !self.antialias {
            let resampling = Resampling {
                kind: self.kind,
                output: self.output,
                input: sizes,
                align_corners: self.align_corners,
                scales: self.scales,
            };
            return resampling.weights(dim, wide, device);
        }
        let step = match self.scales.get(dim).copied().flatten() {
            _ if self.align_corners => {
                if to > 1 {
                    (from - 1) as f64 / (to - 1) as f64
                } else {
                    0.0
                }
            }
            Some(scale) if scale > 0.0 => 1.0 / scale,
            _ => from as f64 / to as f64,
        };
        let widest = step.max(1.0);
        let reach = match self.kind {
            ResamplingKind::Linear => widest,
            ResamplingKind::Cubic => 2.0 * widest,
        };
        let line = |count| operations::arange(0, count, 1, &options(wide, device));
        let add = |tensor: &Tensor, by| binary(api::SCONCE_BINARY_ADD, tensor, Operand::Number(by));
        let scale =
            |tensor: &Tensor, by| binary(api::SCONCE_BINARY_MUL, tensor, Operand::Number(by));
        let rows = operations::reshape(line(to)?.handle(), &[to, 1])?;
        let centers = scale(&add(&rows, 0.5)?, step)?;
        let elements = line(from)?;
        // Which elements count; the weights of others may not be 0, where they were rounded.
        let floor = |tensor: &Tensor| unary(api::SCONCE_UNARY_FLOOR, tensor);
        let begins = floor(&clamped_from(&add(&centers, 0.5 - reach)?, 0.0)?)?;
        let ends = floor(&add(&centers, 0.5 + reach)?)?;
        let compare = |operation, with: &Tensor| -> Result<Tensor> {
            binary(operation, &elements, Operand::Tensor(with))
        };
        let counts = binary(
            api::SCONCE_BINARY_LOGICAL_AND,
            &compare(api::SCONCE_BINARY_GE, &begins)?,
            Operand::Tensor(&compare(api::SCONCE_BINARY_LT, &ends)?),
        )?;
        let apart = binary(api::SCONCE_BINARY_SUB, &elements, Operand::Tensor(&centers))?;
        let distance = unary(api::SCONCE_UNARY_ABS, &scale(&add(&apart, 0.5)?, 1.0 / widest)?)?;
        let weights = match self.kind {
            ResamplingKind::Linear => clamped_from(&add(&scale(&distance, -1.0)?, 1.0)?, 0.0)?,
            ResamplingKind::Cubic => smooth(&distance)?,
        };
        let weights = operations::choose(&counts, Operand::Tensor(&weights), Operand::Number(0.0))?;
        let (sum, any) = (api::SCONCE_REDUCE_SUM, api::SCONCE_DTYPE_DEFAULT);
        let sums = operations::reduce(sum, weights.handle(), &[1], true, any)?;
        binary(api::SCONCE_BINARY_DIV, &weights, Operand::Tensor(&sums))
    }
}

/// Polynomials with the slope of antialiasing, -0.5, up to a distance of 1 and from there on.
const NEAR: [f64; 4] = [1.5, -2.5, 0.0, 1.0];
const FAR: [f64; 4] = [-0.5, 2.5, -4.0, 2.0];

/// The weights of elements at these distances; 0 from 2 on.
fn smooth(distance: &Tensor) -> Result<Tensor> {
    let (near, far) = (polynomial(distance, NEAR)?, polynomial(distance, FAR)?);
    let below = |bound| binary(api::SCONCE_BINARY_LT, distance, Operand::Number(bound));
    let far = operations::choose(&below(2.0)?, Operand::Tensor(&far), Operand::Number(0.0))?;
    operations::choose(&below(1.0)?, Operand::Tensor(&near), Operand::Tensor(&far))
}
