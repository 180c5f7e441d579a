//! `grid_sampler_…`: an image, or a volume, read at the places that a grid names.
//!
//! A place reads some elements along each dimension, each with a share (`axis`); what it reads of the image are their
//! combinations, whose share is the product. Everything is made of operations of libsconce.so and of `gather` and
//! `scatter`, where the image is.

mod axis;
#[cfg(test)]
mod tests;

use self::axis::{ImageAxis, Tap};
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::operations::indexed::{gather, scatter_reduce};
use crate::operations::tensors::{check_device, check_floating, filled_like, name_of};
use crate::sconce::operations::{
    self, Operand, binary, expand, narrow, reshape, to_dtype, unsqueeze, widened,
};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// Between which elements an image is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// The two neighbours along each dimension.
    Linear,
    /// The nearest element.
    Nearest,
    /// Four neighbours along each dimension, by a polynomial of the third degree.
    Cubic,
}

/// What is read outside of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// Zeros.
    Zeros,
    /// The nearest element of the edge.
    Border,
    /// The image, reflected at its edges.
    Reflection,
}

/// How an image is read.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    dims: usize,
    interpolation: Interpolation,
    padding: Padding,
    align_corners: bool,
}

/// The gradients that were wanted.
#[derive(Debug)]
pub struct SamplingGradients {
    /// For the image.
    pub image: Option<Tensor>,
    /// For the grid.
    pub grid: Option<Tensor>,
}

/// An image and a grid in the type of the calculation.
struct Operands {
    /// Batch, channels, elements.
    image: Tensor,
    /// Batch, channels, and the sizes of the image.
    sizes: Vec<i64>,
    /// The sizes of the grid without its last dimension.
    places: Vec<i64>,
    /// The elements that are read along each dimension of the image.
    taps: Vec<Vec<Tap>>,
}

/// Which of its taps each dimension takes.
type TapChoice = Vec<usize>;

impl Sampling {
    /// From PyTorch's numbers, for so many dimensions.
    pub fn new(
        dims: usize,
        interpolation: i64,
        padding: i64,
        align_corners: bool,
    ) -> Result<Sampling> {
        let interpolation = match interpolation {
            0 => Interpolation::Linear,
            1 => Interpolation::Nearest,
            2 if dims == 2 => Interpolation::Cubic,
            2 => {
                return Err(Error::invalid_argument(
                    "grid_sampler(): bicubic interpolation only supports 4D input",
                ));
            }
            other => {
                return Err(Error::invalid_argument(format!(
                    "interpolation_mode is {other}; it is 0 (linear), 1 (nearest) or 2 (cubic)"
                )));
            }
        };
        let padding = match padding {
            0 => Padding::Zeros,
            1 => Padding::Border,
            2 => Padding::Reflection,
            other => {
                return Err(Error::invalid_argument(format!(
                    "padding_mode is {other}; it is 0 (zeros), 1 (border) or 2 (reflection)"
                )));
            }
        };
        Ok(Sampling { dims, interpolation, padding, align_corners })
    }

    /// The image at the grid's places.
    pub fn sample(self, image: TensorHandle, grid: TensorHandle) -> Result<Tensor> {
        let operands = self.operands(image, grid)?;
        let mut sampled: Option<Tensor> = None;
        for choice in operands.choices() {
            let read = product(&operands.read(&choice)?, &operands.weight(&choice, None)?)?;
            sampled = Some(match sampled {
                Some(sum) => binary(api::SCONCE_BINARY_ADD, &sum, Operand::Tensor(&read))?,
                None => read,
            });
        }
        let sampled = sampled.map_or_else(operations::undefined, Ok)?;
        let sampled = to_dtype(sampled.handle(), dtype_of_tensor(image)?)?;
        let sizes = [&operands.sizes[..2], &operands.places[1..]].concat();
        reshape(sampled.handle(), &sizes)
    }

    /// The gradients of what [`sample`](Self::sample) returned: for the image, and for the grid.
    pub fn gradients(
        self,
        gradient: TensorHandle,
        image: TensorHandle,
        grid: TensorHandle,
        wanted: [bool; 2],
    ) -> Result<SamplingGradients> {
        let operands = self.operands(image, grid)?;
        let dtype = dtype_of_tensor(image)?;
        operands.check_gradient(gradient, dtype)?;
        let gradient = widened(gradient)?;
        let [batch, channels] = [operands.sizes[0], operands.sizes[1]];
        let gradient = reshape(gradient.handle(), &[batch, channels, operands.count()])?;
        let narrowed = |tensor: Tensor, sizes: &[i64]| -> Result<Tensor> {
            let tensor = to_dtype(tensor.handle(), dtype)?;
            reshape(tensor.handle(), sizes)
        };
        let mut of_image = None;
        if wanted[0] {
            of_image = Some(narrowed(operands.image_gradient(&gradient)?, &operands.sizes)?);
        }
        let mut of_grid = None;
        if wanted[1] {
            of_grid = Some(narrowed(operands.grid_gradient(&gradient)?, &sizes_of(grid)?)?);
        }
        Ok(SamplingGradients { image: of_image, grid: of_grid })
    }

    fn check(self, image: TensorHandle, grid: TensorHandle) -> Result<()> {
        let (sizes, places, rank) = (sizes_of(image)?, sizes_of(grid)?, self.dims + 2);
        let dtype = dtype_of_tensor(image)?;
        check_floating(dtype)?;
        let other = dtype_of_tensor(grid)?;
        if other != dtype {
            return Err(Error::invalid_argument(format!(
                "grid_sampler(): expected input and grid to have the same dtype, but input has {} and grid has {}",
                name_of(dtype),
                name_of(other)
            )));
        }
        check_device("grid", device_of_tensor(grid)?, device_of_tensor(image)?)?;
        let words = if sizes.len() != rank || places.len() != rank {
            format!("expected {rank}D input and grid with same number of dimensions")
        } else if places[0] != sizes[0] {
            "expected grid and input to have same batch size".to_owned()
        } else if places[rank - 1] != self.dims as i64 {
            format!("expected grid to have size {} in last dimension", self.dims)
        } else if sizes[2..].contains(&0) {
            "expected input to have non-empty spatial dimensions".to_owned()
        } else {
            return Ok(());
        };
        Err(Error::invalid_argument(format!(
            "grid_sampler(): {words}, but got input with sizes {sizes:?} and grid with sizes {places:?}"
        )))
    }

    fn operands(self, image: TensorHandle, grid: TensorHandle) -> Result<Operands> {
        self.check(image, grid)?;
        let (sizes, mut places) = (sizes_of(image)?, sizes_of(grid)?);
        places.pop();
        let count: i64 = places[1..].iter().product();
        let grid = widened(grid)?;
        let grid = reshape(grid.handle(), &[sizes[0], count, self.dims as i64])?;
        let mut taps = Vec::new();
        for (dim, &size) in sizes[2..].iter().enumerate() {
            // The last dimension's coordinate comes first.
            let coordinate = (self.dims - 1 - dim) as i64;
            let coordinates = narrow(grid.handle(), 2, coordinate, 1)?;
            let coordinates = reshape(coordinates.handle(), &[sizes[0], 1, count])?;
            let Sampling { interpolation, padding, align_corners, .. } = self;
            taps.push(
                ImageAxis { size, interpolation, padding, align_corners }.taps(&coordinates)?,
            );
        }
        let elements = sizes[2..].iter().product();
        let image = reshape(widened(image)?.handle(), &[sizes[0], sizes[1], elements])?;
        Ok(Operands { image, sizes, places, taps })
    }
}

fn product(first: &Tensor, second: &Tensor) -> Result<Tensor> {
    binary(api::SCONCE_BINARY_MUL, first, Operand::Tensor(second))
}

impl Operands {
    /// The number of places of an image.
    fn count(&self) -> i64 {
        self.places[1..].iter().product()
    }

    fn check_gradient(&self, gradient: TensorHandle, dtype: i32) -> Result<()> {
        let sizes = [&self.sizes[..2], &self.places[1..]].concat();
        let found = sizes_of(gradient)?;
        if found != sizes || dtype_of_tensor(gradient)? != dtype {
            return Err(Error::invalid_argument(format!(
                "grad_output must have the sizes {sizes:?} and the type of input, {}, but has {found:?} and {}",
                name_of(dtype),
                name_of(dtype_of_tensor(gradient)?)
            )));
        }
        check_device(
            "grad_output",
            device_of_tensor(gradient)?,
            device_of_tensor(self.image.handle())?,
        )
    }

    /// All combinations of the taps of the dimensions.
    fn choices(&self) -> Vec<TapChoice> {
        let mut choices = vec![TapChoice::new()];
        for taps in &self.taps {
            choices = choices
                .iter()
                .flat_map(|choice| (0..taps.len()).map(move |tap| [&choice[..], &[tap]].concat()))
                .collect();
        }
        choices
    }

    /// The places of the elements among those of the image, for each channel.
    fn index(&self, choice: &TapChoice) -> Result<Tensor> {
        let mut index: Option<Tensor> = None;
        for (dim, (&tap, taps)) in choice.iter().zip(&self.taps).enumerate() {
            let place = &taps[tap].place;
            index = Some(match index {
                Some(outer) => {
                    let size = Operand::Whole(self.sizes[2 + dim]);
                    let outer = binary(api::SCONCE_BINARY_MUL, &outer, size)?;
                    binary(api::SCONCE_BINARY_ADD, &outer, Operand::Tensor(place))?
                }
                None => Tensor::retained(place.handle())?,
            });
        }
        let index = index.map_or_else(operations::undefined, Ok)?;
        expand(index.handle(), &[self.sizes[0], self.sizes[1], self.count()])
    }

    /// The elements of the image.
    fn read(&self, choice: &TapChoice) -> Result<Tensor> {
        gather(self.image.handle(), 2, self.index(choice)?.handle())
    }

    /// The shares of the elements, with the slope along one dimension instead of its share.
    fn weight(&self, choice: &TapChoice, slope_along: Option<usize>) -> Result<Tensor> {
        let mut weight: Option<Tensor> = None;
        for (dim, (&tap, taps)) in choice.iter().zip(&self.taps).enumerate() {
            let tap = &taps[tap];
            let factor = if slope_along == Some(dim) { &tap.slope } else { &tap.weight };
            weight = Some(match weight {
                Some(weight) => product(&weight, factor)?,
                None => Tensor::retained(factor.handle())?,
            });
        }
        weight.map_or_else(operations::undefined, Ok)
    }

    fn image_gradient(&self, gradient: &Tensor) -> Result<Tensor> {
        let image = self.image.handle();
        let sum = filled_like(image, &sizes_of(image)?, 0.0)?;
        for choice in self.choices() {
            let share = product(gradient, &self.weight(&choice, None)?)?;
            let index = self.index(&choice)?;
            let operands = [index.handle(), share.handle()];
            scatter_reduce(sum.handle(), sum.handle(), operands, 2, "sum", true)?;
        }
        Ok(sum)
    }

    /// The gradient for the grid: batch, places, coordinates.
    fn grid_gradient(&self, gradient: &Tensor) -> Result<Tensor> {
        let mut sums: Vec<Option<Tensor>> = self.taps.iter().map(|_| None).collect();
        for choice in self.choices() {
            let of_channels = product(gradient, &self.read(&choice)?)?;
            let whole = operations::reduce(
                api::SCONCE_REDUCE_SUM,
                of_channels.handle(),
                &[1],
                true,
                api::SCONCE_DTYPE_DEFAULT,
            )?;
            for (dim, sum) in sums.iter_mut().enumerate() {
                let share = product(&whole, &self.weight(&choice, Some(dim))?)?;
                *sum = Some(match sum.take() {
                    Some(sum) => binary(api::SCONCE_BINARY_ADD, &sum, Operand::Tensor(&share))?,
                    None => share,
                });
            }
        }
        let mut columns = Vec::new();
        // The last dimension's coordinate comes first.
        for sum in sums.iter().rev().flatten() {
            let flat = reshape(sum.handle(), &[self.sizes[0], self.count()])?;
            columns.push(unsqueeze(flat.handle(), 2)?);
        }
        let handles: Vec<TensorHandle> = columns.iter().map(Tensor::handle).collect();
        operations::cat(&handles, 2)
    }
}
