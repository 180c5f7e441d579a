//! Operations on elements that are made of those of libsconce.so.

use crate::abi::copies::cloned;
use crate::abi::tensors::{dtype_of_tensor, numel_of, sizes_of};
use crate::error::{Error, Result};
use crate::operations::layout::{broadcast, dimension, sum_of};
use crate::operations::tensors::{empty_in_order, is_floating, name_of};
use crate::operations::views::{as_real, complex_of, real_of};
use crate::sconce::operations::{Operand, binary, choose, combine, unary};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::{integer, truth};
use crate::sconce::{Tensor, api, operations};

/// `angle(self)`: that of complex numbers, the imaginary part of the logarithm; of real ones 0, or π below 0; a NaN
/// stays.
pub fn angle(tensor: TensorHandle) -> Result<Tensor> {
    let dtype = dtype_of_tensor(tensor)?;
    if real_of(dtype).is_some() {
        let logarithm = unary(api::SCONCE_UNARY_LOG, &Tensor::retained(tensor)?)?;
        let up = operations::select(as_real(logarithm.handle())?.handle(), -1, 1)?;
        return operations::contiguous_copy(up.handle());
    }
    // 0 of every number, in the type of the result; NaN of a NaN.
    let input = match operations::to_dtype(tensor, dtype)? {
        input if is_floating(dtype) => input,
        input => operations::to_dtype(input.handle(), api::SCONCE_DTYPE_DEFAULT)?,
    };
    let number = unary(api::SCONCE_UNARY_IS_NAN, &input)?;
    let below = binary(api::SCONCE_BINARY_LT, &input, Operand::Number(0.0))?;
    let below = operations::to_dtype(below.handle(), dtype_of_tensor(input.handle())?)?;
    let turned = binary(api::SCONCE_BINARY_MUL, &below, Operand::Number(std::f64::consts::PI))?;
    choose(&number, Operand::Tensor(&input), Operand::Tensor(&turned))
}

/// `isinf(self)`: whether a number, or a part of a complex one, is infinite.
pub fn is_infinite(tensor: TensorHandle) -> Result<Tensor> {
    let dtype = dtype_of_tensor(tensor)?;
    let infinity = Operand::Number(f64::INFINITY);
    if real_of(dtype).is_some() {
        let size = unary(api::SCONCE_UNARY_ABS, &as_real(tensor)?)?;
        let is_one = binary(api::SCONCE_BINARY_EQ, &size, infinity)?;
        let same = api::SCONCE_DTYPE_DEFAULT;
        let any = operations::reduce(api::SCONCE_REDUCE_ANY, is_one.handle(), &[-1], false, same)?;
        let result = operations::empty_like(tensor, api::SCONCE_DTYPE_BOOL)?;
        operations::copy(&result, any.handle())?;
        return Ok(result);
    }
    if !is_floating(dtype) {
        let result = operations::empty_like(tensor, api::SCONCE_DTYPE_BOOL)?;
        operations::fill(result.handle(), &truth(false))?;
        return Ok(result);
    }
    let size = unary(api::SCONCE_UNARY_ABS, &Tensor::retained(tensor)?)?;
    binary(api::SCONCE_BINARY_EQ, &size, infinity)
}

/// `div(self, other, rounding_mode)`: the quotient, which `floor` and `trunc` round. 16-bit types are divided in float32.
pub fn divided(first: TensorHandle, second: Operand<'_>, mode: Option<&str>) -> Result<Tensor> {
    let from = Operand::Handle(first);
    let operation = match mode {
        None => api::SCONCE_BINARY_DIV,
        Some("floor") => api::SCONCE_BINARY_FLOOR_DIVIDE,
        Some("trunc") => return divided_towards_zero(first, second),
        Some(other) => {
            return Err(Error::invalid_argument(format!(
                "div expected rounding_mode to be 'trunc' or 'floor', or left out, but found '{other}'"
            )));
        }
    };
    combine(operation, from, second, 1.0)
}

fn divided_towards_zero(first: TensorHandle, second: Operand<'_>) -> Result<Tensor> {
    let from = Operand::Handle(first);
    let down = combine(api::SCONCE_BINARY_FLOOR_DIVIDE, from, second, 1.0)?;
    let dtype = dtype_of_tensor(down.handle())?;
    if is_floating(dtype) {
        let wide = operations::widened(first)?;
        let quotient = match second {
            Operand::Handle(other) => {
                let other = operations::widened(other)?;
                binary(api::SCONCE_BINARY_DIV, &wide, Operand::Tensor(&other))?
            }
            number => binary(api::SCONCE_BINARY_DIV, &wide, number)?,
        };
        let cut = unary(api::SCONCE_UNARY_TRUNC, &quotient)?;
        return operations::to_dtype(cut.handle(), dtype);
    }
    // The next larger number, where a quotient below 0 was rounded.
    let rest = combine(api::SCONCE_BINARY_REMAINDER, from, second, 1.0)?;
    let is_below = binary(api::SCONCE_BINARY_LT, &down, Operand::Whole(0))?;
    let has_rest = binary(api::SCONCE_BINARY_NE, &rest, Operand::Whole(0))?;
    let both = binary(api::SCONCE_BINARY_LOGICAL_AND, &is_below, Operand::Tensor(&has_rest))?;
    let step = operations::to_dtype(both.handle(), dtype)?;
    binary(api::SCONCE_BINARY_ADD, &down, Operand::Tensor(&step))
}

/// `exp2(self)`: 2 to the power of each number.
pub fn power_of_two(tensor: TensorHandle) -> Result<Tensor> {
    if real_of(dtype_of_tensor(tensor)?).is_some() {
        let tensor = Tensor::retained(tensor)?;
        let scaled =
            binary(api::SCONCE_BINARY_MUL, &tensor, Operand::Number(std::f64::consts::LN_2))?;
        return unary(api::SCONCE_UNARY_EXP, &scaled);
    }
    combine(api::SCONCE_BINARY_POW, Operand::Number(2.0), Operand::Handle(tensor), 1.0)
}

/// One period of `0.5 - 0.5 cos(2 pi n / length)`. As PyTorch's it is a part of one with the next number, too.
pub fn hann_window(length: i64, options: &api::sconce_tensor_options) -> Result<Tensor> {
    if length < 0 {
        return Err(Error::invalid_argument(format!(
            "hann_window requires non-negative window_length, got window_length={length}"
        )));
    }
    if length <= 1 {
        return operations::full(&[length], &integer(1), options);
    }
    let places = operations::arange(0, sum_of(length, 1, "window_length")?, 1, options)?;
    let turn = Operand::Number(std::f64::consts::TAU / length as f64);
    let turned = binary(api::SCONCE_BINARY_MUL, &places, turn)?;
    let cosine = unary(api::SCONCE_UNARY_COS, &turned)?;
    let half = binary(api::SCONCE_BINARY_MUL, &cosine, Operand::Number(-0.5))?;
    let window = binary(api::SCONCE_BINARY_ADD, &half, Operand::Number(0.5))?;
    operations::narrow(window.handle(), 0, 0, length)
}

/// `polar(abs, angle)`: complex numbers of these sizes and angles.
pub fn polar(abs: TensorHandle, angle: TensorHandle) -> Result<Tensor> {
    let (dtype, other) = (dtype_of_tensor(abs)?, dtype_of_tensor(angle)?);
    let complex = match complex_of(dtype) {
        Some(complex) if dtype == other && dtype != api::SCONCE_DTYPE_F16 => complex,
        _ => {
            return Err(Error::invalid_argument(format!(
                "abs and angle must both be of float32 or of float64, but are of {} and {}",
                name_of(dtype),
                name_of(other)
            )));
        }
    };
    let angle = Tensor::retained(angle)?;
    let of = |operation| {
        let turned = unary(operation, &angle)?;
        combine(api::SCONCE_BINARY_MUL, Operand::Handle(abs), Operand::Tensor(&turned), 1.0)
    };
    joined(&of(api::SCONCE_UNARY_COS)?, &of(api::SCONCE_UNARY_SIN)?, complex)
}

/// `complex(real, imag)`: complex numbers of these parts.
pub fn complex(real: TensorHandle, imaginary: TensorHandle) -> Result<Tensor> {
    let (dtype, other) = (dtype_of_tensor(real)?, dtype_of_tensor(imaginary)?);
    let Some(complex) = complex_of(dtype).filter(|_| dtype == other) else {
        return Err(Error::invalid_argument(format!(
            "Expected both inputs to be Half, Float or Double tensors of one type, but got {} and {}",
            name_of(dtype),
            name_of(other)
        )));
    };
    let sizes = broadcast(&[&sizes_of(real)?, &sizes_of(imaginary)?])?;
    let part = |tensor| operations::expand(tensor, &sizes);
    joined(&part(real)?, &part(imaginary)?, complex)
}

/// The conjugates of complex numbers; real ones as they are. A new tensor.
pub fn conjugate(tensor: TensorHandle) -> Result<Tensor> {
    let copy = cloned(tensor)?;
    if real_of(dtype_of_tensor(tensor)?).is_some() {
        let parts = as_real(copy.handle())?;
        let imaginary = operations::narrow(parts.handle(), -1, 1, 1)?;
        let negated = unary(api::SCONCE_UNARY_NEG, &imaginary)?;
        operations::copy(&imaginary, negated.handle())?;
    }
    Ok(copy)
}

/// Complex numbers of two parts with the same sizes.
fn joined(across: &Tensor, up: &Tensor, complex: i32) -> Result<Tensor> {
    let layout = super::layout::Layout::of(across.handle())?;
    let result = empty_in_order(&layout.sizes, &layout.strides, complex, layout.device)?;
    let parts = as_real(result.handle())?;
    for (at, part) in [(0, across), (1, up)] {
        let place = operations::narrow(parts.handle(), -1, at, 1)?;
        operations::copy(&place, operations::unsqueeze(part.handle(), -1)?.handle())?;
    }
    Ok(result)
}

/// `soft_margin_loss_backward(gradient, self, target, reduction)`; the reductions are none, mean and sum.
pub fn soft_margin_backward(
    gradient: TensorHandle,
    input: TensorHandle,
    target: TensorHandle,
    reduction: i64,
) -> Result<Tensor> {
    let factor = match reduction {
        0 | 2 => -1.0,
        1 => -1.0 / numel_of(input)? as f64,
        other => {
            return Err(Error::invalid_argument(format!(
                "reduction is {other}; the reductions are 0 (none), 1 (mean) and 2 (sum)"
            )));
        }
    };
    let (target, input) = (Tensor::retained(target)?, Tensor::retained(input)?);
    let multiplied = |first: &Tensor, second| binary(api::SCONCE_BINARY_MUL, first, second);
    let product = multiplied(&unary(api::SCONCE_UNARY_NEG, &target)?, Operand::Tensor(&input))?;
    let power = unary(api::SCONCE_UNARY_EXP, &product)?;
    let top = multiplied(&target, Operand::Tensor(&power))?;
    let top = multiplied(&top, Operand::Number(factor))?;
    let bottom = binary(api::SCONCE_BINARY_ADD, &power, Operand::Number(1.0))?;
    let share = binary(api::SCONCE_BINARY_DIV, &top, Operand::Tensor(&bottom))?;
    multiplied(&share, Operand::Tensor(&Tensor::retained(gradient)?))
}

/// What [`trilinear`] does to its operands.
pub struct Trilinear<'a> {
    /// Where dimensions of one element are put into each operand.
    pub expand: [&'a [i64]; 3],
    /// The dimensions that are summed.
    pub sum: &'a [i64],
    /// The dimension along which the product is made part by part.
    pub unroll: i64,
}

/// `_trilinear(i1, i2, i3, …)`: the sum over dimensions of the product of three tensors. Work memory is one part of
/// the product along `unroll`.
pub fn trilinear(inputs: [TensorHandle; 3], how: &Trilinear<'_>) -> Result<Tensor> {
    let [first, second, third] = inputs;
    let all = [
        expanded(first, how.expand[0])?,
        expanded(second, how.expand[1])?,
        expanded(third, how.expand[2])?,
    ];
    let sizes =
        [sizes_of(all[0].handle())?, sizes_of(all[1].handle())?, sizes_of(all[2].handle())?];
    let ranks = [sizes[0].len(), sizes[1].len(), sizes[2].len()];
    if ranks[0] != ranks[1] || ranks[0] != ranks[2] {
        return Err(Error::invalid_argument(format!(
            "i1, i2 and i3 must have as many dimensions as each other after those of expand1, expand2 and expand3 are \
             added, but have {ranks:?}"
        )));
    }
    let whole = broadcast(&[&sizes[0], &sizes[1], &sizes[2]])?;
    let unroll = usize::try_from(how.unroll).ok().filter(|unroll| *unroll < whole.len());
    let Some(unroll) = unroll else {
        return Err(Error::invalid_argument(format!(
            "unroll_dim must be in [0,{}], but is {}",
            whole.len() as i64 - 1,
            how.unroll
        )));
    };
    let summed =
        how.sum.iter().map(|&dim| dimension(dim, whole.len())).collect::<Result<Vec<_>>>()?;
    let part = |at: i64| -> Result<Tensor> {
        let piece = |tensor: &Tensor, sizes: &[i64]| {
            let is_repeated = sizes[unroll] == 1;
            operations::narrow(tensor.handle(), unroll as i64, if is_repeated { 0 } else { at }, 1)
        };
        let [a, b, c] =
            [piece(&all[0], &sizes[0])?, piece(&all[1], &sizes[1])?, piece(&all[2], &sizes[2])?];
        let product = binary(api::SCONCE_BINARY_MUL, &a, Operand::Tensor(&b))?;
        let product = binary(api::SCONCE_BINARY_MUL, &product, Operand::Tensor(&c))?;
        sum(&product, how.sum)
    };
    let parts = (0..whole[unroll]).map(part).collect::<Result<Vec<_>>>()?;
    let handles: Vec<TensorHandle> = parts.iter().map(Tensor::handle).collect();
    if handles.is_empty() {
        return Err(Error::invalid_argument("unroll_dim has no elements"));
    }
    let mut result = operations::cat(&handles, unroll as i64)?;
    if summed.contains(&unroll) {
        result = sum(&result, &[unroll as i64])?;
    }
    let kept: Vec<i64> =
        (0..whole.len()).filter(|dim| !summed.contains(dim)).map(|dim| whole[dim]).collect();
    operations::reshape(result.handle(), &kept)
}

/// A tensor with dimensions of one element at these places.
fn expanded(tensor: TensorHandle, places: &[i64]) -> Result<Tensor> {
    let mut places = places.to_vec();
    places.sort_unstable();
    places.iter().try_fold(Tensor::retained(tensor)?, |tensor, &place| {
        operations::unsqueeze(tensor.handle(), place)
    })
}

/// The sum over dimensions, which stay with one element.
fn sum(tensor: &Tensor, dims: &[i64]) -> Result<Tensor> {
    if dims.is_empty() {
        return Tensor::retained(tensor.handle());
    }
    let (operation, dtype) = (api::SCONCE_REDUCE_SUM, api::SCONCE_DTYPE_DEFAULT);
    operations::reduce(operation, tensor.handle(), dims, true, dtype)
}
