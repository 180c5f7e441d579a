//! Random numbers, with torch's bits: what the ABI's functions and operations by name share. Those that are drawn until
//! one fits are in `rejection`, and their kernels' launches in `on_device`.

#![allow(unsafe_code, reason = "calls libsconce.so")]

mod on_device;
pub mod rejection;

use crate::abi::copies::cloned;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, numel_of, sizes_of};
use crate::error::{Error, Result};
use crate::operations::ordering::topk;
use crate::operations::search::{Search, search_sorted};
use crate::operations::tensors::{empty, is_floating};
use crate::sconce::generator::Generator;
use crate::sconce::operations::{self, Operand, all_true, binary, copy, empty_like, expand, fill};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::truth;
use crate::sconce::{Tensor, api, check};

/// What numbers are drawn.
#[derive(Clone, Copy, Debug)]
pub enum Distribution {
    /// From the first to the second, which is left out.
    Uniform(f64, f64),
    /// Normally distributed, with a mean and a deviation.
    Normal(f64, f64),
    /// Whole numbers from the first to the second, which is left out.
    Whole(i64, i64),
    /// The exponential of normally distributed ones, with a mean and a deviation.
    LogNormal(f64, f64),
    /// Exponentially distributed, with a rate.
    Exponential(f64),
    /// Cauchy's distribution, with a median and a scale.
    Cauchy(f64, f64),
    /// The number of tries until one of a probability succeeds.
    Geometric(f64),
    /// Ones of a probability, else zeros.
    Bernoulli(f64),
    /// Whole numbers of the whole range of the type.
    FullRange,
}

impl Distribution {
    /// Distribution from 0 to 1, excluding 1.
    pub const FROM_0_TO_1: Distribution = Distribution::Uniform(0.0, 1.0);
    /// Normally distributed numbers with a mean of 0 and a deviation of 1.
    pub const NORMAL: Distribution = Distribution::Normal(0.0, 1.0);

    /// Refuses a range without a number.
    pub fn check(self) -> Result<()> {
        match self {
            Distribution::Whole(low, high) if low >= high => Err(Error::invalid_argument(format!(
                "there is no number from low, {low}, up to high, {high}; high must be greater"
            ))),
            _ => Ok(()),
        }
    }

    /// Fills a tensor from a generator.
    pub fn fill(self, tensor: TensorHandle, generator: Generator) -> Result<()> {
        let generator = generator.handle_on(device_of_tensor(tensor)?)?;
        check(match self {
            Distribution::Uniform(from, to) => {
                api::sconce_tensor_uniform(tensor, from, to, generator)
            }
            Distribution::Normal(mean, deviation) => {
                api::sconce_tensor_normal(tensor, mean, deviation, generator)
            }
            Distribution::Whole(low, high) => {
                api::sconce_tensor_random_integers(tensor, low, high, generator)
            }
            Distribution::LogNormal(mean, deviation) => {
                api::sconce_tensor_log_normal(tensor, mean, deviation, generator)
            }
            Distribution::Exponential(rate) => {
                api::sconce_tensor_exponential(tensor, rate, generator)
            }
            Distribution::Cauchy(median, scale) => {
                api::sconce_tensor_cauchy(tensor, median, scale, generator)
            }
            Distribution::Geometric(p) => api::sconce_tensor_geometric(tensor, p, generator),
            Distribution::Bernoulli(p) => api::sconce_tensor_bernoulli(tensor, p, generator),
            Distribution::FullRange => api::sconce_tensor_random(tensor, generator),
        })
    }
}

/// Fills a tensor with ones whose probabilities are elements of another one, else zeros. Each element draws a number
/// from 0 to 1, of 24 bits, or of 53 where the probabilities are F64, and is one where that is below its probability.
/// These are torch's bits on the CPU; its kernel for devices draws others.
pub fn bernoulli(
    tensor: TensorHandle,
    probabilities: TensorHandle,
    generator: Generator,
) -> Result<()> {
    let dtype = match dtype_of_tensor(probabilities)? {
        api::SCONCE_DTYPE_F64 => api::SCONCE_DTYPE_F64,
        api::SCONCE_DTYPE_F32 | api::SCONCE_DTYPE_F16 | api::SCONCE_DTYPE_BF16 => {
            api::SCONCE_DTYPE_F32
        }
        _ => return Err(Error::invalid_argument("p has no floating-point numbers")),
    };
    // On a device the host cannot know the values without waiting.
    if device_of_tensor(probabilities)? == api::SCONCE_DEVICE_CPU {
        check_probabilities(probabilities)?;
    }
    let wanted = expand(probabilities, &sizes_of(tensor)?)?;
    let drawn = empty_like(tensor, dtype)?;
    Distribution::FROM_0_TO_1.fill(drawn.handle(), generator)?;
    let ones = binary(api::SCONCE_BINARY_LT, &drawn, Operand::Tensor(&wanted))?;
    copy(&Tensor::retained(tensor)?, ones.handle())
}

/// Refuses numbers below 0 or above 1, and NaN.
fn check_probabilities(probabilities: TensorHandle) -> Result<()> {
    let given = Tensor::retained(probabilities)?;
    let bounds = |comparison, bound| binary(comparison, &given, Operand::Number(bound));
    let (low, high) = (bounds(api::SCONCE_BINARY_GE, 0.0)?, bounds(api::SCONCE_BINARY_LE, 1.0)?);
    let within = binary(api::SCONCE_BINARY_MUL, &low, Operand::Tensor(&high))?;
    if all_true(&within)? {
        return Ok(());
    }
    Err(Error::invalid_argument("p must have numbers from 0 to 1"))
}

/// Elements that are zero with probability `p` and else divided by `1 - p`, and a mask that is true where they stayed;
/// all stay where nothing is trained. On the CPU the mask has the bits of torch; on a device it is drawn as
/// [`Distribution::Bernoulli`] draws, while the kernel of PyTorch that does all in one pass draws others.
pub fn dropout(input: TensorHandle, p: f64, train: bool) -> Result<(Tensor, Tensor)> {
    if !(0.0..=1.0).contains(&p) {
        return Err(Error::invalid_argument(format!("p must be from 0 to 1, but is {p}")));
    }
    let mask = empty_like(input, api::SCONCE_DTYPE_BOOL)?;
    if !train || numel_of(input)? == 0 {
        fill(mask.handle(), &truth(true))?;
        return Ok((cloned(input)?, mask));
    }
    let kept = 1.0 - p;
    let scale = if kept == 0.0 { 0.0 } else { 1.0 / kept };
    Distribution::Bernoulli(kept).fill(mask.handle(), Generator::DEFAULT)?;
    let input = Tensor::retained(input)?;
    let masked = binary(api::SCONCE_BINARY_MUL, &input, Operand::Tensor(&mask))?;
    Ok((binary(api::SCONCE_BINARY_MUL, &masked, Operand::Number(scale))?, mask))
}

/// `multinomial(self, num_samples, replacement)`: indices of elements of each line, which are the chances. Without
/// replacement each chance is divided by an exponentially distributed number, and the largest are taken, as torch does.
/// With it a number from 0 to 1 is looked up in the running sums, as torch does on the CPU; its kernel for devices
/// draws other numbers.
pub fn multinomial(
    chances: TensorHandle,
    count: i64,
    with_replacement: bool,
    generator: Generator,
) -> Result<Tensor> {
    let (sizes, dtype) = (sizes_of(chances)?, dtype_of_tensor(chances)?);
    let device = device_of_tensor(chances)?;
    if !is_floating(dtype) {
        return Err(Error::invalid_argument(
            "multinomial only supports floating-point dtypes for input",
        ));
    }
    let (1 | 2, Some(&length)) = (sizes.len(), sizes.last()) else {
        return Err(Error::invalid_argument("prob_dist must be 1 or 2 dim"));
    };
    if count <= 0 {
        return Err(Error::invalid_argument("cannot sample n_sample <= 0 samples"));
    }
    if !with_replacement && count > length {
        return Err(Error::invalid_argument(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement",
        ));
    }
    if device == api::SCONCE_DEVICE_CPU {
        check_chances(chances)?;
    }
    let given = Tensor::retained(chances)?;
    if !with_replacement || count == 1 {
        let drawn = empty_like(chances, dtype)?;
        Distribution::Exponential(1.0).fill(drawn.handle(), generator)?;
        let ratios = binary(api::SCONCE_BINARY_DIV, &given, Operand::Tensor(&drawn))?;
        if count == 1 {
            let (largest, any) = (api::SCONCE_REDUCE_ARGMAX, api::SCONCE_DTYPE_DEFAULT);
            return operations::reduce(largest, ratios.handle(), &[-1], true, any);
        }
        return topk(ratios.handle(), count, -1, true, true).map(|found| found.indices);
    }
    let wide = operations::widened(chances)?;
    let sums =
        operations::along(api::SCONCE_LINE_CUMSUM, wide.handle(), -1, api::SCONCE_DTYPE_DEFAULT)?;
    let last = operations::narrow(sums.handle(), -1, length - 1, 1)?;
    let shares = binary(api::SCONCE_BINARY_DIV, &sums, Operand::Tensor(&last))?;
    // The last share counts as 1, so that each number has a place.
    let inner = operations::narrow(shares.handle(), -1, 0, length - 1)?;
    let inner = operations::contiguous(inner.handle())?;
    let inner = operations::to_dtype(inner.handle(), api::SCONCE_DTYPE_F64)?;
    let lines = [&sizes[..sizes.len() - 1], &[count]].concat();
    let drawn = empty(&lines, api::SCONCE_DTYPE_F64, device)?;
    Distribution::FROM_0_TO_1.fill(drawn.handle(), generator)?;
    search_sorted(inner.handle(), drawn.handle(), None, Search::default())
}

/// Refuses chances that are no finite numbers or below 0, and lines without one above 0.
fn check_chances(chances: TensorHandle) -> Result<()> {
    let given = Tensor::retained(chances)?;
    let finite = operations::unary(api::SCONCE_UNARY_IS_FINITE, &given)?;
    let positive = binary(api::SCONCE_BINARY_GE, &given, Operand::Number(0.0))?;
    if !all_true(&finite)? || !all_true(&positive)? {
        return Err(Error::invalid_argument(
            "probability tensor contains either `inf`, `nan` or element < 0",
        ));
    }
    let sums = operations::reduce_last(api::SCONCE_REDUCE_SUM, &given)?;
    if !all_true(&binary(api::SCONCE_BINARY_NE, &sums, Operand::Number(0.0))?)? {
        return Err(Error::invalid_argument(
            "invalid multinomial distribution (sum of probabilities <= 0)",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::sconce::generator::without_drawing;
    use crate::sconce::values::options;
    use crate::testing::Dense;

    fn seed() {
        check(api::sconce_random_manual_seed_everywhere(42)).unwrap();
    }

    /// Numbers of every distribution, and numbers that are drawn until one fits, of the device's default generator.
    fn numbers(device: i32) -> Vec<Vec<f64>> {
        let mut all = Vec::new();
        for distribution in [
            Distribution::FROM_0_TO_1,
            Distribution::NORMAL,
            Distribution::Whole(0, 1000),
            Distribution::LogNormal(0.0, 1.0),
            Distribution::Exponential(1.0),
            Distribution::Cauchy(0.0, 1.0),
            Distribution::Geometric(0.5),
            Distribution::Bernoulli(0.5),
        ] {
            let tensor = operations::empty(&[33], &options(api::SCONCE_DTYPE_F32, device)).unwrap();
            distribution.fill(tensor.handle(), Generator::DEFAULT).unwrap();
            all.push(Dense::of(tensor.handle()).values);
        }
        if device == api::SCONCE_DEVICE_CPU {
            let rates = Dense { sizes: vec![5], values: vec![1.0, 2.0, 3.0, 4.0, 50.0] };
            let rates = rates.tensor(api::SCONCE_DTYPE_F32);
            let drawn = rejection::poisson(rates.handle(), Generator::DEFAULT).unwrap();
            all.push(Dense::of(drawn.handle()).values);
        }
        all
    }

    #[test]
    fn runs_that_draw_nothing_leave_the_default_generators_as_they_are() {
        crate::testing::simulate();
        for device in [api::SCONCE_DEVICE_CPU, 0] {
            seed();
            let (first, second) = (numbers(device), numbers(device));
            seed();
            let rehearsed = without_drawing(|| [numbers(device), numbers(device)]);
            assert_ne!(rehearsed[0], rehearsed[1], "they are numbers all the same");
            assert_eq!(numbers(device), first, "device {device}");
            // Within others, and after a panic.
            without_drawing(|| {
                without_drawing(|| numbers(device));
                numbers(device);
            });
            let panics = std::panic::catch_unwind(|| without_drawing(|| panic!("in a run")));
            assert!(panics.is_err());
            // Other threads draw as ever.
            let other = without_drawing(|| {
                std::thread::scope(|scope| scope.spawn(|| numbers(device)).join().unwrap())
            });
            assert_eq!(other, second, "device {device}");
        }
    }
}
