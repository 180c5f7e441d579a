//! The largest elements of windows that begin at random places (`fractional_max_pool…`).
//!
//! Along each dimension the windows of a plane begin at places that follow from one random number, so that neighbouring
//! windows are as far apart as the sizes want on average. The elements of all windows are gathered, and the largest of
//! each is found, with operations that are there.

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::operations::indexed::{gather, scatter_reduce};
use crate::operations::tensors::{check_device, check_floating, filled_like, name_of};
use crate::sconce::operations::{
    self, Operand, arange, binary, expand, narrow, reshape, to_dtype, unary, widened,
};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api};

/// Windows of fixed sizes, and how many there are along each dimension.
#[derive(Clone, Copy, Debug)]
pub struct Fractional<'a> {
    kernel: &'a [i64],
    output: &'a [i64],
}

/// The sizes of an input, cut before its planes.
struct PlaneSizes {
    outer: Vec<i64>,
    spatial: Vec<i64>,
}

impl PlaneSizes {
    /// How many planes there are.
    fn count(&self) -> i64 {
        self.outer.iter().product()
    }

    /// Elements of a plane.
    fn area(&self) -> i64 {
        self.spatial.iter().product()
    }
}

impl<'a> Fractional<'a> {
    /// Windows over so many dimensions.
    pub fn new(dims: usize, kernel: &'a [i64], output: &'a [i64]) -> Result<Fractional<'a>> {
        for (name, sizes) in [("kernel_size", kernel), ("output_size", output)] {
            if sizes.len() != dims || sizes.iter().any(|&size| size < 1) {
                return Err(Error::invalid_argument(format!(
                    "fractional_max_pool{dims}d: {name} must have {dims} entries of at least 1, but is {sizes:?}"
                )));
            }
        }
        Ok(Fractional { kernel, output })
    }

    fn dims(&self) -> usize {
        self.kernel.len()
    }

    fn refused(&self, words: &str) -> Error {
        Error::invalid_argument(format!("fractional_max_pool{}d: {words}", self.dims()))
    }

    fn planes(&self, tensor: TensorHandle) -> Result<PlaneSizes> {
        let (mut outer, dims) = (sizes_of(tensor)?, self.dims());
        let rank = outer.len();
        let fits = (dims + 1..=dims + 2).contains(&rank)
            && !outer[rank.saturating_sub(dims + 1)..].contains(&0);
        if !fits {
            return Err(self.refused(&format!(
                "self has the sizes {outer:?}; it needs {} or {} dimensions, and elements in all but the batch",
                dims + 1,
                dims + 2
            )));
        }
        let spatial = outer.split_off(rank - dims);
        let sizes = spatial.iter().zip(self.kernel.iter().zip(self.output));
        for (input, (kernel, output)) in sizes {
            // `output + kernel - 1 > input`, without a sum that may be too large.
            if *output > *input || *kernel > *input - *output + 1 {
                return Err(self.refused(&format!(
                    "pool size {kernel} is too large for {output} windows of a dimension of {input}"
                )));
            }
        }
        Ok(PlaneSizes { outer, spatial })
    }

    /// The largest element of each window, and its place in the plane.
    pub fn largest(self, tensor: TensorHandle, samples: TensorHandle) -> Result<(Tensor, Tensor)> {
        let planes = self.planes(tensor)?;
        let samples = self.samples(&planes, tensor, samples)?;
        let index = self.elements_of_windows(&planes, &samples)?;
        let flat = reshape(tensor, &[planes.count(), planes.area()])?;
        let elements = gather(flat.handle(), 1, index.handle())?;
        let of_window = self.kernel.iter().product();
        let windows = planes.count() * self.output.iter().product::<i64>();
        let elements = reshape(elements.handle(), &[windows, of_window])?;
        let index = reshape(index.handle(), &[windows, of_window])?;
        let (most, same) = (api::SCONCE_REDUCE_ARGMAX, api::SCONCE_DTYPE_DEFAULT);
        let place = operations::reduce(most, elements.handle(), &[1], true, same)?;
        let shape = [&planes.outer[..], self.output].concat();
        let of = |from: &Tensor| {
            let found = gather(from.handle(), 1, place.handle())?;
            reshape(found.handle(), &shape)
        };
        Ok((of(&elements)?, of(&index)?))
    }

    /// The random numbers of each plane, a column for each dimension, in the type of the calculation.
    fn samples(
        &self,
        planes: &PlaneSizes,
        tensor: TensorHandle,
        samples: TensorHandle,
    ) -> Result<Tensor> {
        let (dtype, dims) = (dtype_of_tensor(tensor)?, self.dims() as i64);
        check_floating(dtype)?;
        check_device("random_samples", device_of_tensor(samples)?, device_of_tensor(tensor)?)?;
        let found = dtype_of_tensor(samples)?;
        if found != dtype {
            return Err(self.refused(&format!(
                "Expect _random_samples to have the same dtype as input, but they are {} and {}",
                name_of(found),
                name_of(dtype)
            )));
        }
        // An input without a batch is a batch of one.
        let batch = if planes.outer.len() == 2 { planes.outer[0] } else { 1 };
        let channels = planes.outer[planes.outer.len() - 1];
        let (sizes, wanted) = (sizes_of(samples)?, [batch, channels, dims]);
        if sizes != wanted {
            return Err(self.refused(&format!(
                "random_samples must have the sizes {wanted:?}, but has {sizes:?}"
            )));
        }
        reshape(widened(samples)?.handle(), &[planes.count(), dims])
    }

    /// Where the windows of each plane begin along a dimension: a row for each plane.
    fn begins(&self, planes: &PlaneSizes, samples: &Tensor, dim: usize) -> Result<Tensor> {
        let (count, output) = (planes.count(), self.output[dim]);
        let (dtype, device) =
            (dtype_of_tensor(samples.handle())?, device_of_tensor(samples.handle())?);
        // PyTorch's order of the numbers: the last of two dimensions first, the first of three first.
        let column = if self.dims() == 2 { 1 - dim } else { dim };
        let sample = narrow(samples.handle(), 1, column as i64, 1)?;
        let last = planes.spatial[dim] - self.kernel[dim];
        let zeros = binary(api::SCONCE_BINARY_MUL, &sample, Operand::Number(0.0))?;
        let end = binary(api::SCONCE_BINARY_ADD, &zeros, Operand::Number(last as f64))?;
        let mut parts = Vec::new();
        if output > 1 {
            let step = match dtype {
                api::SCONCE_DTYPE_F64 => last as f64 / (output - 1) as f64,
                _ => f64::from(last as f32 / (output - 1) as f32),
            };
            let scaled = |tensor: &Tensor| {
                let scaled = binary(api::SCONCE_BINARY_MUL, tensor, Operand::Number(step))?;
                unary(api::SCONCE_UNARY_TRUNC, &scaled)
            };
            let numbers = arange(0, output - 1, 1, &options(dtype, device))?;
            let moved = binary(api::SCONCE_BINARY_ADD, &sample, Operand::Tensor(&numbers))?;
            let first = scaled(&sample)?;
            parts.push(binary(api::SCONCE_BINARY_SUB, &scaled(&moved)?, Operand::Tensor(&first))?);
        }
        parts.push(end);
        let parts: Vec<TensorHandle> = parts.iter().map(Tensor::handle).collect();
        let begins = to_dtype(operations::cat(&parts, 1)?.handle(), api::SCONCE_DTYPE_I64)?;
        expand(begins.handle(), &[count, output])
    }

    /// The places in its plane of the elements of each window: a row for each plane, window by window.
    fn elements_of_windows(&self, planes: &PlaneSizes, samples: &Tensor) -> Result<Tensor> {
        let (dims, count) = (self.dims(), planes.count());
        let of_window: i64 = self.kernel.iter().product();
        let whole = options(api::SCONCE_DTYPE_I64, device_of_tensor(samples.handle())?);
        let mut index: Option<Tensor> = None;
        // Elements of a window behind one of this dimension.
        let mut behind = of_window;
        for dim in 0..dims {
            behind /= self.kernel[dim];
            let coordinates: Vec<i64> =
                (0..of_window).map(|element| element / behind % self.kernel[dim]).collect();
            let coordinates = operations::from_values(&coordinates, &whole)?;
            let mut shape = vec![1; dims + 2];
            (shape[0], shape[1 + dim]) = (count, self.output[dim]);
            let begins = reshape(self.begins(planes, samples, dim)?.handle(), &shape)?;
            let places = binary(api::SCONCE_BINARY_ADD, &begins, Operand::Tensor(&coordinates))?;
            index = Some(match index {
                Some(outer) => {
                    let size = Operand::Whole(planes.spatial[dim]);
                    let outer = binary(api::SCONCE_BINARY_MUL, &outer, size)?;
                    binary(api::SCONCE_BINARY_ADD, &outer, Operand::Tensor(&places))?
                }
                None => places,
            });
        }
        let index = index.map_or_else(operations::undefined, Ok)?;
        let windows: i64 = self.output.iter().product();
        reshape(index.handle(), &[count, windows * of_window])
    }

    /// The gradient of the input.
    pub fn gradient(
        self,
        gradient: TensorHandle,
        tensor: TensorHandle,
        indices: TensorHandle,
    ) -> Result<Tensor> {
        let planes = self.planes(tensor)?;
        let wanted = [&planes.outer[..], self.output].concat();
        for (name, given) in [("grad_output", gradient), ("indices", indices)] {
            let sizes = sizes_of(given)?;
            if sizes != wanted {
                return Err(self.refused(&format!(
                    "{name} must have the sizes {wanted:?}, but has {sizes:?}"
                )));
            }
        }
        let dtype = dtype_of_tensor(tensor)?;
        let windows = self.output.iter().product();
        let flat = [planes.count(), windows];
        let gradient = reshape(widened(gradient)?.handle(), &flat)?;
        let places = reshape(indices, &flat)?;
        let sizes = [planes.count(), planes.area()];
        let sum = filled_like(gradient.handle(), &sizes, 0.0)?;
        let operands = [places.handle(), gradient.handle()];
        scatter_reduce(sum.handle(), sum.handle(), operands, 1, "sum", true)?;
        let sum = to_dtype(sum.handle(), dtype)?;
        reshape(sum.handle(), &sizes_of(tensor)?)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::testing::{Cases, Dense, live};

    const F64: i32 = api::SCONCE_DTYPE_F64;

    fn begin(sample: f64, window: i64, input: i64, kernel: i64, output: i64) -> i64 {
        if window == output - 1 {
            return input - kernel;
        }
        let step = (input - kernel) as f64 / (output - 1) as f64;
        ((window as f64 + sample) * step) as i64 - (sample * step) as i64
    }

    #[test]
    fn windows_have_their_largest_elements_and_gradients_go_there() {
        let before = live();
        let mut cases = Cases::new(47);
        for _ in 0..80 {
            let dims = cases.int(2, 3) as usize;
            let kernel: Vec<i64> = (0..dims).map(|_| cases.int(1, 3)).collect();
            let output: Vec<i64> = (0..dims).map(|_| cases.int(1, 4)).collect();
            let (batch, channels) = (cases.int(1, 2), cases.int(1, 3));
            let mut sizes = vec![batch, channels];
            sizes.extend(
                kernel.iter().zip(&output).map(|(one, two)| one + two - 1 + cases.int(0, 3)),
            );
            let values = Dense::quarters(&mut cases, &sizes);
            let samples = Dense::build(&[batch, channels, dims as i64], |_| {
                cases.int(0, 999) as f64 / 1000.0
            });
            let tensor = values.either(&mut cases, F64);
            let random = samples.either(&mut cases, F64);
            let windows = Fractional::new(dims, &kernel, &output).unwrap();
            let (largest, places) = windows.largest(tensor.handle(), random.handle()).unwrap();
            let found_places = Dense::of(places.handle());
            let mut expected_gradient = Dense::build(&sizes, |_| 0.0);
            let of_result = [&sizes[..2], &output[..]].concat();
            let gradient = Dense::quarters(&mut cases, &of_result);
            let expected = Dense::build(&of_result, |at| {
                let begins: Vec<i64> = (0..dims)
                    .map(|dim| {
                        let column = if dims == 2 { 1 - dim } else { dim } as i64;
                        let sample = samples.at(&[at[0], at[1], column]);
                        begin(sample, at[2 + dim], sizes[2 + dim], kernel[dim], output[dim])
                    })
                    .collect();
                let (mut best, mut best_place) = (f64::NEG_INFINITY, 0);
                Dense::build(&kernel, |inside| {
                    let place: Vec<i64> =
                        begins.iter().zip(inside).map(|(begin, step)| begin + step).collect();
                    let value = values.at(&[&at[..2], &place].concat());
                    if value > best {
                        best = value;
                        best_place = place
                            .iter()
                            .zip(&sizes[2..])
                            .fold(0, |flat, (at, size)| flat * size + at);
                    }
                    0.0
                });
                assert_eq!(found_places.at(at), best_place as f64);
                let area: i64 = sizes[2..].iter().product();
                let plane = at[0] * channels + at[1];
                expected_gradient.values[(plane * area + best_place) as usize] += gradient.at(at);
                best
            });
            expected.assert_near(largest.handle(), 0.0, "largest");
            let back = gradient.either(&mut cases, F64);
            let found = windows.gradient(back.handle(), tensor.handle(), places.handle()).unwrap();
            expected_gradient.assert_near(found.handle(), 1e-12, "gradient");
        }
        assert_eq!(live(), before);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let of = |sizes: &[i64]| Dense::build(sizes, |_| 0.5).tensor(F64);
        let windows = Fractional::new(2, &[2, 2], &[3, 3]).unwrap();
        let refused = |tensor: &Tensor, samples: &Tensor, words: &str| {
            let error = windows.largest(tensor.handle(), samples.handle());
            let message = error.err().unwrap().message;
            assert!(message.contains(words), "{message}");
        };
        refused(&of(&[2, 3, 4]), &of(&[1, 2, 2]), "too large for 3 windows of a dimension of 3");
        refused(&of(&[4, 4]), &of(&[1, 2, 2]), "3 or 4 dimensions");
        refused(&of(&[2, 4, 4]), &of(&[1, 3, 2]), "must have the sizes [1, 2, 2]");
        let single = operations::to_dtype(of(&[1, 2, 2]).handle(), api::SCONCE_DTYPE_F32).unwrap();
        refused(&of(&[2, 4, 4]), &single, "same dtype as input");
        let whole = operations::to_dtype(of(&[2, 4, 4]).handle(), api::SCONCE_DTYPE_I64).unwrap();
        refused(&whole, &of(&[1, 2, 2]), "int64");
        let places = Dense::build(&[2, 3, 3], |_| 0.0).tensor(api::SCONCE_DTYPE_I64);
        let error =
            windows.gradient(of(&[2, 3, 2]).handle(), of(&[2, 4, 4]).handle(), places.handle());
        assert!(error.err().unwrap().message.contains("grad_output must have the sizes [2, 3, 3]"));
        for (kernel, output) in [(&[2][..], &[3, 3][..]), (&[2, 2], &[3, 0])] {
            assert!(Fractional::new(2, kernel, output).is_err());
        }
    }
}
