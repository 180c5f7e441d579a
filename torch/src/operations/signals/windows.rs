//! Windows of signals: one number for each place, from a formula of the place. As PyTorch's, a periodic one is a part of
//! one with the next number, too.

use crate::error::{Error, Result};
use crate::operations::layout::sum_of;
use crate::operations::tensors::{is_floating, name_of};
use crate::sconce::operations::{Operand, binary, unary};
use crate::sconce::values::integer;
use crate::sconce::{Tensor, api, operations};

/// A formula.
#[derive(Clone, Copy, Debug)]
pub enum Window {
    /// A triangle.
    Bartlett,
    /// `0.42 - 0.5 cos(x) + 0.08 cos(2 x)`.
    Blackman,
    /// `alpha - beta cos(x)`: Hann's window with a half for both, Hamming's with others.
    Cosine(f64, f64),
    /// Bessel's function of half a circle, of a height.
    Kaiser(f64),
}

fn add(tensor: &Tensor, by: f64) -> Result<Tensor> {
    binary(api::SCONCE_BINARY_ADD, tensor, Operand::Number(by))
}

fn scale(tensor: &Tensor, by: f64) -> Result<Tensor> {
    binary(api::SCONCE_BINARY_MUL, tensor, Operand::Number(by))
}

fn cosine(tensor: &Tensor, by: f64) -> Result<Tensor> {
    unary(api::SCONCE_UNARY_COS, &scale(tensor, by)?)
}

/// A window of so many numbers.
pub fn window(
    name: &str,
    of: Window,
    length: i64,
    is_periodic: bool,
    options: &api::sconce_tensor_options,
) -> Result<Tensor> {
    if length < 0 {
        return Err(Error::invalid_argument(format!(
            "{name} requires non-negative window_length, got window_length={length}"
        )));
    }
    if options.dtype != api::SCONCE_DTYPE_DEFAULT && !is_floating(options.dtype) {
        return Err(Error::invalid_argument(format!(
            "{name} expects floating point dtypes, got {}",
            name_of(options.dtype)
        )));
    }
    let mut options = *options;
    if options.dtype == api::SCONCE_DTYPE_DEFAULT {
        options.dtype = api::SCONCE_DTYPE_F32;
    }
    if length <= 1 {
        return operations::full(&[length], &integer(1), &options);
    }
    let count = if is_periodic { sum_of(length, 1, "window_length")? } else { length };
    let places = operations::arange(0, count, 1, &options)?;
    let last = (count - 1) as f64;
    let turn = std::f64::consts::TAU / last;
    let made = match of {
        Window::Bartlett => {
            let rising = scale(&places, 2.0 / last)?;
            let falling = add(&scale(&rising, -1.0)?, 2.0)?;
            binary(api::SCONCE_BINARY_MINIMUM, &rising, Operand::Tensor(&falling))?
        }
        Window::Blackman => {
            let slow = add(&scale(&cosine(&places, turn)?, -0.5)?, 0.42)?;
            let fast = scale(&cosine(&places, 2.0 * turn)?, 0.08)?;
            binary(api::SCONCE_BINARY_ADD, &slow, Operand::Tensor(&fast))?
        }
        Window::Cosine(alpha, beta) => add(&scale(&cosine(&places, turn)?, -beta)?, alpha)?,
        Window::Kaiser(height) => {
            let across = add(&scale(&places, 2.0 / last)?, -1.0)?;
            let square = binary(api::SCONCE_BINARY_MUL, &across, Operand::Tensor(&across))?;
            // Rounding must not leave a number below 0, whose root would be none.
            let rest = operations::clamped_from(&add(&scale(&square, -1.0)?, 1.0)?, 0.0)?;
            let bessel = bessel(&scale(&rest, height * height / 4.0)?, height)?;
            scale(&bessel, 1.0 / bessel_of(height * height / 4.0))?
        }
    };
    operations::narrow(made.handle(), 0, 0, length)
}

/// Terms of the series of I0 that count for numbers up to `height`. I0 of more than 714 is beyond the range of numbers.
fn terms(height: f64) -> i32 {
    20 + height.abs().min(1000.0).ceil() as i32 * 2
}

/// I0 of the doubled root of each element: the sum of powers, each divided by a squared factorial (Horner's scheme).
fn bessel(quarter_squares: &Tensor, height: f64) -> Result<Tensor> {
    let mut sum = add(&scale(quarter_squares, 0.0)?, 1.0)?;
    for term in (1..=terms(height)).rev() {
        let product = binary(api::SCONCE_BINARY_MUL, &sum, Operand::Tensor(quarter_squares))?;
        sum = add(&scale(&product, 1.0 / f64::from(term * term))?, 1.0)?;
    }
    Ok(sum)
}

/// The same of a number.
fn bessel_of(quarter_square: f64) -> f64 {
    let count = terms((quarter_square * 4.0).sqrt());
    (1..=count).rev().fold(1.0, |sum, term| 1.0 + sum * quarter_square / f64::from(term * term))
}
