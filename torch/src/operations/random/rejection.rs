//! Random numbers that are drawn until one fits: Poisson's, binomial and gamma distributions, Dirichlet's. On the CPU the
//! loops draw what PyTorch's draw, in the same order, so that results are the same bits. Kernels for devices draw other
//! numbers of the same distributions.
//!
//! Each number from 0 to 1, and each normally distributed one, is a fill of one element: how many are needed is known
//! only at the end, and numbers that were drawn cannot be given back to a generator that other threads use.

#![allow(unsafe_code, reason = "reads and writes elements, and calls the C library")]

use half::{bf16, f16};

use super::{Distribution, on_device};
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::operations::element::{Element, Number, read, write};
use crate::operations::layout::{Layout, broadcast};
use crate::operations::tensors::{check_device, check_floating, empty, name_of, refused_type};
use crate::sconce::generator::Generator;
use crate::sconce::operations::{Operand, binary, contiguous, expand, reduce_last, to_dtype};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

unsafe extern "C" {
    safe fn lgamma(x: f64) -> f64;
}

/// `poisson(self)`: numbers of events at these rates.
pub fn poisson(rates: TensorHandle, generator: Generator) -> Result<Tensor> {
    let dtype = dtype_of_tensor(rates)?;
    if !is_on_cpu(rates)? {
        return on_device::drawn("poisson", &[rates], 0.0, dtype, generator);
    }
    each(&[rates], dtype, generator, |draws, [rate, _]| {
        if rate >= 0.0 {
            return draws.events(rate);
        }
        Err(Error::invalid_argument("invalid Poisson rate, expected rate to be non-negative"))
    })
}

/// `binomial(count, prob)`: how many of `count` tries succeed. Where a number is NaN, or the count infinite, the result
/// is NaN.
pub fn binomial(
    counts: TensorHandle,
    chances: TensorHandle,
    generator: Generator,
) -> Result<Tensor> {
    let (dtype, other) = (dtype_of_tensor(counts)?, dtype_of_tensor(chances)?);
    if dtype != other {
        return Err(Error::invalid_argument(format!(
            "count and prob must have the same type, but are of {} and {}",
            name_of(dtype),
            name_of(other)
        )));
    }
    if !is_on_cpu(counts)? {
        return on_device::drawn("binomial", &[counts, chances], 0.0, dtype, generator);
    }
    check_wide(dtype)?;
    each(&[counts, chances], dtype, generator, |draws, [count, chance]| {
        draws.successes(count, chance)
    })
}

/// `_standard_gamma(self)`: of the gamma distribution with these shapes and a scale of 1, at least the smallest normal
/// number.
pub fn standard_gamma(shapes: TensorHandle, generator: Generator) -> Result<Tensor> {
    let dtype = dtype_of_tensor(shapes)?;
    let least = limits(dtype).0;
    if !is_on_cpu(shapes)? {
        return on_device::drawn("gamma", &[shapes], least, dtype, generator);
    }
    check_wide(dtype)?;
    each(&[shapes], dtype, generator, |draws, [shape, _]| {
        Ok(at_least(least, draws.gamma(shape, dtype == api::SCONCE_DTYPE_F32)?))
    })
}

/// `_sample_dirichlet(self)`: lines of shares that add up to 1.
pub fn dirichlet(shapes: TensorHandle, generator: Generator) -> Result<Tensor> {
    let dtype = dtype_of_tensor(shapes)?;
    let (double, smallest) = (api::SCONCE_DTYPE_F64, f64::MIN_POSITIVE);
    let (least, most) = limits(dtype);
    if !is_on_cpu(shapes)? {
        check_floating(dtype)?;
        let wide = on_device::drawn("gamma", &[shapes], smallest, double, generator)?;
        let sums = reduce_last(api::SCONCE_REDUCE_SUM, &wide)?;
        let shares = binary(api::SCONCE_BINARY_DIV, &wide, Operand::Tensor(&sums))?;
        let shares = to_dtype(shares.handle(), dtype)?;
        let shares = binary(api::SCONCE_BINARY_MAXIMUM, &shares, Operand::Number(least))?;
        return binary(api::SCONCE_BINARY_MINIMUM, &shares, Operand::Number(most));
    }
    check_wide(dtype)?;
    let wide = each(&[shapes], double, generator, |draws, [shape, _]| {
        Ok(at_least(smallest, draws.gamma(shape, false)?))
    })?;
    let sums = reduce_last(api::SCONCE_REDUCE_SUM, &wide)?;
    let sums = contiguous(expand(sums.handle(), &sizes_of(shapes)?)?.handle())?;
    let result = empty(&sizes_of(shapes)?, dtype, api::SCONCE_DEVICE_CPU)?;
    let [from, by, to] =
        [Layout::of(wide.handle())?, Layout::of(sums.handle())?, Layout::of(result.handle())?];
    with_floating!(dtype, T => {
        for place in 0..to.numel() {
            // SAFETY: this has as many elements of F64.
            let own: f64 = unsafe { read(from.data, place) };
            // SAFETY: the sums were expanded to the sizes of the shapes, so there are as many elements of F64.
            let whole: f64 = unsafe { read(by.data, place) };
            let share = T::narrow(Number::from_f64(own / whole)).widen().to_f64();
            let share = T::narrow(Number::from_f64(at_least(least, share).min(most)));
            // SAFETY: the result has as many elements of the type.
            unsafe { write(to.data, place, share) };
        }
        Ok(result)
    })
}

fn is_on_cpu(tensor: TensorHandle) -> Result<bool> {
    Ok(device_of_tensor(tensor)? == api::SCONCE_DEVICE_CPU)
}

/// PyTorch's functions that have no 16-bit types on the CPU refuse them here, too.
fn check_wide(dtype: i32) -> Result<()> {
    match dtype {
        api::SCONCE_DTYPE_F32 | api::SCONCE_DTYPE_F64 => Ok(()),
        other => Err(refused_type(other)),
    }
}

/// The smallest normal number of a type, and the largest one below 1.
fn limits(dtype: i32) -> (f64, f64) {
    match dtype {
        api::SCONCE_DTYPE_F64 => (f64::MIN_POSITIVE, 1.0_f64.next_down()),
        api::SCONCE_DTYPE_F16 => (f16::MIN_POSITIVE.into(), 1.0 - f64::from(f16::EPSILON) / 2.0),
        api::SCONCE_DTYPE_BF16 => (bf16::MIN_POSITIVE.into(), 1.0 - f64::from(bf16::EPSILON) / 2.0),
        _ => (f32::MIN_POSITIVE.into(), 1.0_f32.next_down().into()),
    }
}

/// The larger number; the least one of NaN.
fn at_least(least: f64, value: f64) -> f64 {
    if least < value { value } else { least }
}

/// A tensor of numbers that are drawn one after another in the order of its dimensions, from parameters that are
/// repeated to common sizes.
fn each(
    parameters: &[TensorHandle],
    dtype: i32,
    generator: Generator,
    mut draw: impl FnMut(&mut Draws, [f64; 2]) -> Result<f64>,
) -> Result<Tensor> {
    let mut sizes = Vec::new();
    for &parameter in parameters {
        check_device("another parameter", device_of_tensor(parameter)?, api::SCONCE_DEVICE_CPU)?;
        sizes = broadcast(&[&sizes, &sizes_of(parameter)?])?;
    }
    let result = empty(&sizes, dtype, api::SCONCE_DEVICE_CPU)?;
    let wide = |&parameter: &TensorHandle| {
        let given = contiguous(expand(parameter, &sizes)?.handle())?;
        match dtype_of_tensor(parameter)? {
            api::SCONCE_DTYPE_F64 => Ok(given),
            api::SCONCE_DTYPE_F32 | api::SCONCE_DTYPE_F16 | api::SCONCE_DTYPE_BF16 => {
                to_dtype(given.handle(), api::SCONCE_DTYPE_F64)
            }
            other => Err(refused_type(other)),
        }
    };
    let wide = parameters.iter().map(wide).collect::<Result<Vec<Tensor>>>()?;
    let from = wide.iter().map(|one| Layout::of(one.handle())).collect::<Result<Vec<_>>>()?;
    let to = Layout::of(result.handle())?;
    let mut draws = Draws::of(generator)?;
    for place in 0..to.numel() {
        let mut values = [0.0; 2];
        for (value, layout) in values.iter_mut().zip(&from) {
            // SAFETY: the parameters have as many elements of F64 as the result.
            *value = unsafe { read::<f64>(layout.data, place) };
        }
        let drawn = draw(&mut draws, values)?;
        with_floating!(dtype, T => {
            // SAFETY: the result has as many elements of the type.
            unsafe { write(to.data, place, T::narrow(Number::from_f64(drawn))) };
            Ok(())
        })?;
    }
    Ok(result)
}

/// Numbers of a generator of the CPU, one at a time.
struct Draws {
    place: Tensor,
    generator: Generator,
}

impl Draws {
    fn of(generator: Generator) -> Result<Draws> {
        let place = empty(&[1], api::SCONCE_DTYPE_F64, api::SCONCE_DEVICE_CPU)?;
        Ok(Draws { place, generator })
    }

    fn one(&self, distribution: Distribution) -> Result<f64> {
        distribution.fill(self.place.handle(), self.generator)?;
        // SAFETY: the tensor has one element of F64.
        Ok(unsafe { read(Layout::of(self.place.handle())?.data, 0) })
    }

    /// From 0 to 1, without 1.
    fn uniform(&self) -> Result<f64> {
        self.one(Distribution::FROM_0_TO_1)
    }

    /// Normally distributed.
    fn normal(&self) -> Result<f64> {
        self.one(Distribution::NORMAL)
    }

    /// Events at a rate: products of numbers from 0 to 1 for small rates, else Hörmann's transformed rejection (PTRS).
    fn events(&self, rate: f64) -> Result<f64> {
        if rate == 0.0 {
            return Ok(0.0);
        }
        if rate < 10.0 {
            let (end, mut product, mut count) = ((-rate).exp(), 1.0, 0.0);
            loop {
                product *= self.uniform()?;
                if product <= end {
                    return Ok(count);
                }
                count += 1.0;
            }
        }
        let (root, logarithm) = (rate.sqrt(), rate.ln());
        let b = 0.931 + 2.53 * root;
        let a = -0.059 + 0.02483 * b;
        let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
        let accepted = 0.9277 - 3.6224 / (b - 2.0);
        loop {
            let u = self.uniform()? - 0.5;
            let v = self.uniform()?;
            let distance = 0.5 - u.abs();
            let count = ((2.0 * a / distance + b) * u + rate + 0.43).floor();
            if distance >= 0.07 && v <= accepted {
                return Ok(as_whole(count));
            }
            if count < 0.0 || (distance < 0.013 && v > distance) {
                continue;
            }
            let factorial = lgamma(count + 1.0);
            let density = -rate + count * logarithm - factorial;
            if v.ln() + inverse_alpha.ln() - (a / (distance * distance) + b).ln() <= density {
                return Ok(as_whole(count));
            }
        }
    }

    /// Successes among tries.
    fn successes(&self, count: f64, chance: f64) -> Result<f64> {
        if count <= 0.0 || chance <= 0.0 {
            return Ok(0.0);
        }
        if count.is_nan() || chance.is_nan() {
            return Ok(f64::NAN);
        }
        if chance >= 1.0 {
            return Ok(count);
        }
        if count.is_infinite() {
            return Ok(f64::NAN);
        }
        if chance <= 0.5 {
            self.few(count, chance)
        } else {
            Ok(count - self.few(count, 1.0 - chance)?)
        }
    }

    /// Successes of a chance of at most a half: sums of geometric numbers for few of them, else Hörmann's transformed
    /// rejection (BTRS).
    fn few(&self, count: f64, chance: f64) -> Result<f64> {
        if count * chance < 10.0 {
            let (logarithm, mut tries, mut successes) = ((-chance).ln_1p(), 0.0, 0.0);
            loop {
                tries += (self.uniform()?.ln() / logarithm).ceil();
                if tries > count {
                    return Ok(successes);
                }
                successes += 1.0;
            }
        }
        let deviation = (count * chance * (1.0 - chance)).sqrt();
        let b = 1.15 + 2.53 * deviation;
        let a = -0.0873 + 0.0248 * b + 0.01 * chance;
        let centre = count * chance + 0.5;
        let accepted = 0.92 - 4.2 / b;
        let odds = chance / (1.0 - chance);
        let alpha = (2.83 + 5.1 / b) * deviation;
        let mode = ((count + 1.0) * chance).floor();
        loop {
            let u = self.uniform()? - 0.5;
            let v = self.uniform()?;
            let distance = 0.5 - u.abs();
            let found = ((2.0 * a / distance + b) * u + centre).floor();
            if found < 0.0 || found > count {
                continue;
            }
            if distance >= 0.07 && v <= accepted {
                return Ok(found);
            }
            let v = (v * alpha / (a / (distance * distance) + b)).ln();
            let bound = (mode + 0.5) * ((mode + 1.0) / (odds * (count - mode + 1.0))).ln()
                + (count + 1.0) * ((count - mode + 1.0) / (count - found + 1.0)).ln()
                + (found + 0.5) * (odds * (count - found + 1.0) / (found + 1.0)).ln()
                + stirling_rest(mode)
                + stirling_rest(count - mode)
                - stirling_rest(found)
                - stirling_rest(count - found);
            if v <= bound {
                return Ok(found);
            }
        }
    }

    /// Of the gamma distribution of a shape (Marsaglia and Tsang). Constants that torch has in F32 are rounded to it, and
    /// so is what is calculated of the shape alone if that is F32.
    fn gamma(&self, shape: f64, is_f32: bool) -> Result<f64> {
        const THIRD: f32 = 1.0 / 3.0;
        const SQUEEZE: f32 = 0.0331;
        let rounded = |value: f64| if is_f32 { f64::from(value as f32) } else { value };
        let (mut scale, mut shape) = (1.0, shape);
        if shape < 1.0 {
            if shape == 0.0 {
                return Ok(0.0);
            }
            scale = (1.0 - self.uniform()?).powf(rounded(1.0 / shape));
            shape = rounded(shape + 1.0);
        }
        let d = rounded(shape - f64::from(THIRD));
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let (x, y) = loop {
                let x = self.normal()?;
                let y = 1.0 + c * x;
                // A NaN ends the loop, too.
                if y > 0.0 || y.is_nan() {
                    break (x, y);
                }
            };
            let v = y * y * y;
            let u = 1.0 - self.uniform()?;
            let square = x * x;
            let is_inside = u < 1.0 - f64::from(SQUEEZE) * square * square;
            if is_inside || u.ln() < 0.5 * square + d * (1.0 - v + v.ln()) {
                return Ok(scale * d * v);
            }
        }
    }
}

/// What a processor's conversion to 64 bits and back makes of a whole number: the smallest one of what does not fit.
fn as_whole(value: f64) -> f64 {
    const END: f64 = 9_223_372_036_854_775_808.0;
    if value.abs() < END { value } else { -END }
}

/// The difference of log(k!) and Stirling's formula.
fn stirling_rest(k: f64) -> f64 {
    const FIRST: [f64; 10] = [
        0.0810614667953272,
        0.0413406959554092,
        0.0276779256849983,
        0.02079067210376509,
        0.0166446911898211,
        0.0138761288230707,
        0.0118967099458917,
        0.0104112652619720,
        0.00925546218271273,
        0.00833056343336287,
    ];
    if let Some(&rest) = FIRST.get(k as usize) {
        return rest;
    }
    let square = (k + 1.0) * (k + 1.0);
    (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / (k + 1.0)
}
