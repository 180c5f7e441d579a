//! Gradients of images that were resampled to another size.
//!
//! Along each dimension an element of the resampled image is a sum of the image's elements, with weights that a matrix
//! holds. The gradient is the product with this matrix, one dimension after another.

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of, strides_of};
use crate::error::{Error, Result};
use crate::operations::images::cubic::{CUBIC_FAR, CUBIC_NEAR, polynomial};
use crate::operations::layout::{format_of_images, has_channels_last};
use crate::operations::tensors::{check_floating, copy_in_format, in_format};
use crate::sconce::operations::{Operand, binary, clamped_from, unary, widened};
use crate::sconce::products::exact_matmul;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api, operations};

/// The largest size of a dimension, which a matrix of weights has rows or columns for.
pub(super) const MOST_LENGTH: i64 = i32::MAX as i64;

/// Between which elements an image was resampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResamplingKind {
    /// The two neighbours along each dimension.
    Linear,
    /// Four neighbours along each dimension, by a polynomial of the third degree.
    Cubic,
}

/// The sizes of `upsample_…_backward`, one entry for each dimension that was resampled.
pub struct Resampling<'a> {
    /// Between which elements.
    pub kind: ResamplingKind,
    /// The sizes of the resampled image.
    pub output: &'a [i64],
    /// The sizes of the gradient: batch, channels and dimensions of the image.
    pub input: &'a [i64],
    /// Whether the outermost elements of both images lie at the same places.
    pub align_corners: bool,
    /// How many times larger the image was to become, if that was said; the sizes say it otherwise.
    pub scales: &'a [Option<f64>],
}

impl Resampling<'_> {
    /// The gradient of the image.
    pub fn gradient(&self, gradient: TensorHandle) -> Result<Tensor> {
        let dtype = dtype_of_tensor(gradient)?;
        let sizes = sizes_of(gradient)?;
        self.check(&sizes, dtype)?;
        let batch = sizes[0] * sizes[1];
        let dims = self.output.len();
        let is_copy = self.output == &self.input[2..];
        let is_on_cpu = device_of_tensor(gradient)? == api::SCONCE_DEVICE_CPU;
        let mut made = widened(gradient)?;
        for dim in 0..dims {
            let (from, to) = (self.output[dim], self.input[2 + dim]);
            // Images that keep their size are copied, whatever the scales are. For linear ones PyTorch does so along
            // each dimension on the CPU.
            let is_kept = match self.kind {
                ResamplingKind::Linear if is_on_cpu => from == to,
                ResamplingKind::Linear | ResamplingKind::Cubic => is_copy,
            };
            if is_kept {
                continue;
            }
            let (wide, device) = (dtype_of_tensor(made.handle())?, device_of_tensor(gradient)?);
            let weights = self.weights(dim, wide, device)?;
            let outer = batch * self.input[2..2 + dim].iter().product::<i64>();
            let inner = self.output[dim + 1..].iter().product::<i64>();
            made = if inner == 1 {
                let lines = operations::reshape(made.handle(), &[outer, from])?;
                exact_matmul(lines.handle(), weights.handle())?
            } else {
                let planes = operations::reshape(made.handle(), &[outer, from, inner])?;
                let turned = operations::transpose(weights.handle(), 0, 1)?;
                exact_matmul(turned.handle(), planes.handle())?
            };
        }
        let made = operations::reshape(made.handle(), self.input)?;
        let made = operations::to_dtype(made.handle(), dtype)?;
        // Gradients of volumes keep channels innermost, as PyTorch's; others do not.
        let is_innermost = dims == 3 && has_channels_last(&sizes, &strides_of(gradient)?);
        let format = format_of_images(is_innermost, sizes.len());
        // A gradient that keeps its size would be the caller's own.
        if is_copy {
            copy_in_format(made.handle(), format)
        } else {
            in_format(made.handle(), format)
        }
    }

    fn check(&self, sizes: &[i64], dtype: i32) -> Result<()> {
        let dims = self.output.len();
        check_floating(dtype)?;
        if self.input.len() != dims + 2 {
            return Err(Error::invalid_argument(format!(
                "It is expected input_size equals to {}, but got size {}",
                dims + 2,
                self.input.len()
            )));
        }
        let whole = [&self.input[..2], self.output].concat();
        let is_length = |size: &i64| (1..=MOST_LENGTH).contains(size);
        if !self.output.iter().chain(&self.input[2..]).all(is_length) {
            return Err(Error::invalid_argument(format!(
                "Input and output sizes should be greater than 0 and at most {MOST_LENGTH}, but got input {:?} and \
                 output {:?}",
                &self.input[2..],
                self.output
            )));
        }
        if sizes != whole {
            return Err(Error::invalid_argument(format!(
                "Expected grad_output to have the sizes {whole:?}, but got {sizes:?}"
            )));
        }
        Ok(())
    }

    /// Where each element of the resampled image lies between those of the image, as a column.
    fn places(&self, dim: usize, dtype: i32, device: i32) -> Result<Tensor> {
        let (from, to) = (self.output[dim], self.input[2 + dim]);
        let numbers = operations::arange(0, from, 1, &options(dtype, device))?;
        let numbers = operations::reshape(numbers.handle(), &[from, 1])?;
        let scaled =
            |tensor: &Tensor, by| binary(api::SCONCE_BINARY_MUL, tensor, Operand::Number(by));
        let moved =
            |tensor: &Tensor, by| binary(api::SCONCE_BINARY_ADD, tensor, Operand::Number(by));
        if self.align_corners {
            let step = if from > 1 { (to - 1) as f64 / (from - 1) as f64 } else { 0.0 };
            return scaled(&numbers, step);
        }
        let step = match self.scales.get(dim).copied().flatten() {
            Some(scale) if scale > 0.0 => 1.0 / scale,
            _ => to as f64 / from as f64,
        };
        moved(&scaled(&moved(&numbers, 0.5)?, step)?, -0.5)
    }

    /// The share of each element of the image in each of the resampled one: a row for each of these.
    pub(super) fn weights(&self, dim: usize, dtype: i32, device: i32) -> Result<Tensor> {
        let to = self.input[2 + dim];
        let places = self.places(dim, dtype, device)?;
        let clamped = |least: f64, most: f64| {
            let tensor = clamped_from(&places, least)?;
            binary(api::SCONCE_BINARY_MINIMUM, &tensor, Operand::Number(most))
        };
        match self.kind {
            ResamplingKind::Linear => {
                let distance = distance(&clamped(0.0, (to - 1) as f64)?, 0, to)?;
                let near = binary(api::SCONCE_BINARY_MUL, &distance, Operand::Number(-1.0))?;
                let near = binary(api::SCONCE_BINARY_ADD, &near, Operand::Number(1.0))?;
                clamped_from(&near, 0.0)
            }
            ResamplingKind::Cubic => {
                // The four neighbours of a place beyond the edge by two are all beyond it, and so the edge itself.
                let distance = distance(&clamped(-2.0, (to + 1) as f64)?, -3, to + 4)?;
                folded(&cubic(&distance)?, to)
            }
        }
    }
}

/// The distance of each place and each of the elements from `begin` to `end`.
fn distance(places: &Tensor, begin: i64, end: i64) -> Result<Tensor> {
    let (dtype, device) = (dtype_of_tensor(places.handle())?, device_of_tensor(places.handle())?);
    let elements = operations::arange(begin, end, 1, &options(dtype, device))?;
    let difference = binary(api::SCONCE_BINARY_SUB, places, Operand::Tensor(&elements))?;
    unary(api::SCONCE_UNARY_ABS, &difference)
}

/// The weights of elements at these distances; 0 from 2 on.
fn cubic(distance: &Tensor) -> Result<Tensor> {
    let near = polynomial(distance, CUBIC_NEAR)?;
    let far = polynomial(distance, CUBIC_FAR)?;
    let is_near = binary(api::SCONCE_BINARY_LE, distance, Operand::Number(1.0))?;
    let is_far = binary(api::SCONCE_BINARY_LT, distance, Operand::Number(2.0))?;
    let far = operations::choose(&is_far, Operand::Tensor(&far), Operand::Number(0.0))?;
    operations::choose(&is_near, Operand::Tensor(&near), Operand::Tensor(&far))
}

/// Weights of elements from -3 to `count + 4`, of which those beyond an edge are added to the edge's.
fn folded(weights: &Tensor, count: i64) -> Result<Tensor> {
    let sum = |begin, length| {
        let part = operations::narrow(weights.handle(), 1, begin, length)?;
        let (sum, same) = (api::SCONCE_REDUCE_SUM, api::SCONCE_DTYPE_DEFAULT);
        operations::reduce(sum, part.handle(), &[1], true, same)
    };
    if count == 1 {
        return sum(0, 8);
    }
    let (first, last) = (sum(0, 4)?, sum(count + 2, 5)?);
    let inner = operations::narrow(weights.handle(), 1, 4, count - 2)?;
    operations::cat(&[first.handle(), inner.handle(), last.handle()], 1)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::testing::{Cases, Dense, live};

    /// The share of an element in a place between elements, written out as in the definition of interpolation.
    fn share(kind: ResamplingKind, place: f64, element: i64, count: i64) -> f64 {
        let base = place.floor();
        let part = place - base;
        let (weights, first): (Vec<f64>, i64) = match kind {
            ResamplingKind::Linear => (vec![1.0 - part, part], base as i64),
            ResamplingKind::Cubic => {
                let near = |d: f64| ((1.25 * d) - 2.25) * d * d + 1.0;
                let far = |d: f64| ((-0.75 * d + 3.75) * d - 6.0) * d + 3.0;
                (
                    vec![far(1.0 + part), near(part), near(1.0 - part), far(2.0 - part)],
                    base as i64 - 1,
                )
            }
        };
        let at = |number: usize| (first + number as i64).clamp(0, count - 1);
        (0..weights.len())
            .filter(|&number| at(number) == element)
            .map(|number| weights[number])
            .sum()
    }

    #[test]
    fn gradients_are_the_shares_of_elements() {
        let before = live();
        let mut cases = Cases::new(17);
        for _ in 0..120 {
            let kind = cases.one(&[ResamplingKind::Linear, ResamplingKind::Cubic]);
            let dims = if kind == ResamplingKind::Cubic { 2 } else { cases.int(1, 2) };
            let input: Vec<i64> = (0..dims).map(|_| cases.int(1, 6)).collect();
            let output: Vec<i64> = (0..dims).map(|_| cases.int(1, 9)).collect();
            let align_corners = cases.int(0, 1) == 1;
            let scales: Vec<Option<f64>> =
                (0..dims).map(|_| cases.one(&[None, Some(1.5), Some(0.5), Some(3.0)])).collect();
            let of_output = [&[2, 1], &output[..]].concat();
            let gradient = Dense::quarters(&mut cases, &of_output);
            let tensor = gradient.either(&mut cases, api::SCONCE_DTYPE_F64);
            let whole = [&[2, 1], &input[..]].concat();
            let resampling =
                Resampling { kind, output: &output, input: &whole, align_corners, scales: &scales };
            let found = resampling.gradient(tensor.handle()).unwrap();
            let is_copy = input == output;
            let of_dim = |dim: usize, from: i64, to: i64| -> f64 {
                let (count, size) = (input[dim], output[dim]);
                if (kind == ResamplingKind::Linear && count == size) || is_copy {
                    return f64::from(from == to);
                }
                let step = match scales[dim] {
                    _ if align_corners && size > 1 => (count - 1) as f64 / (size - 1) as f64,
                    _ if align_corners => 0.0,
                    Some(scale) => 1.0 / scale,
                    None => count as f64 / size as f64,
                };
                let mut place = from as f64 * step;
                if !align_corners {
                    place = (from as f64 + 0.5) * step - 0.5;
                }
                if kind == ResamplingKind::Linear {
                    place = place.max(0.0);
                }
                share(kind, place, to, count)
            };
            let expected = Dense::build(&whole, |at| {
                let mut sum = 0.0;
                Dense::build(&output, |from| {
                    let shares: f64 =
                        (0..output.len()).map(|dim| of_dim(dim, from[dim], at[2 + dim])).product();
                    sum += shares * gradient.at(&[&at[..2], from].concat());
                    0.0
                });
                sum
            });
            expected.assert_near(found.handle(), 1e-10, "gradient");
        }
        assert_eq!(live(), before);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let gradient = Dense::build(&[1, 1, 4], |_| 1.0);
        let real = gradient.tensor(api::SCONCE_DTYPE_F32);
        let refused = |tensor: &Tensor, output: &[i64], input: &[i64], words: &str| {
            let resampling = Resampling {
                kind: ResamplingKind::Linear,
                output,
                input,
                align_corners: false,
                scales: &[],
            };
            let error = resampling.gradient(tensor.handle()).err().unwrap();
            assert!(error.message.contains(words), "{}", error.message);
        };
        refused(&real, &[4], &[1, 2], "input_size equals to 3");
        refused(&real, &[4], &[1, 1, 0], "greater than 0");
        refused(&real, &[5], &[1, 1, 2], "[1, 1, 5]");
        refused(&gradient.tensor(api::SCONCE_DTYPE_I64), &[4], &[1, 1, 2], "int64");
    }
}
