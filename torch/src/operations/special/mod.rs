//! Special functions: Bessel's, Airy's, digamma and its derivatives, zeta, the incomplete gamma functions, the normal
//! quantile, orthogonal polynomials. Elements are calculated in F64 and rounded once, whatever their type is.
//!
//! | file | idea |
//! |---|---|
//! | `functions` | the functions of one element, and the names of their kernels |
//! | `functions.cc` | their code on the CPU, which is the source of the kernels (`torch/kernels/special`) |

#![allow(unsafe_code, reason = "reads and writes elements, and launches kernels")]

mod functions;
#[cfg(test)]
mod tests;

use std::ffi::c_void;

use crate::abi::tensors::dtype_of_tensor;
use crate::error::{Error, Result};
use crate::kernels::{Grid, launch};
use crate::operations::element::{Element, Number, read, write};
use crate::operations::layout::Layout;
use crate::operations::tensors::{is_floating, on_device, refused_type};
use crate::sconce::operations::{self, Operand, combine, copy, empty_like, to_dtype};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::{integer, options, real};
use crate::sconce::{Tensor, api};

pub use functions::Special;

// These are in `torch/kernels/special/launch.cuh` too.
const THREADS: u32 = 256;
const EACH: u32 = 4;

/// A function of each element. Whole numbers and truth values become F32 first.
pub fn of_each(function: Special, tensor: TensorHandle) -> Result<Tensor> {
    with_number(function, tensor, 0.0)
}

/// `polygamma(n, self)`: the derivative of digamma of order `n`.
pub fn polygamma(order: i64, tensor: TensorHandle) -> Result<Tensor> {
    if order < 0 {
        return Err(Error::invalid_argument(format!(
            "polygamma(n, x) does not support negative n, but n is {order}"
        )));
    }
    with_number(Special::POLYGAMMA, tensor, order as f64)
}

/// A function of elements of two operands, repeated to common sizes, in their common type. Whole numbers become F32, or
/// are refused.
pub fn of_pairs(
    function: Special,
    first: Operand<'_>,
    second: Operand<'_>,
    takes_integers: bool,
) -> Result<Tensor> {
    // A sum has the type, the sizes and the strides; its values are replaced.
    let sum = combine(api::SCONCE_BINARY_ADD, first, second, 1.0)?;
    let dtype = dtype_of_tensor(sum.handle())?;
    if !takes_integers && !is_floating(dtype) {
        return Err(refused_type(dtype));
    }
    let result = empty_like(sum.handle(), calculated(dtype)?)?;
    let to = Layout::of(result.handle())?;
    let (first, second) = (Source::of(first, &result, &to)?, Source::of(second, &result, &to)?);
    run(function, &first, Some(&second), 0.0, &to)?;
    Ok(result)
}

/// A function of each element and a number.
fn with_number(function: Special, tensor: TensorHandle, number: f64) -> Result<Tensor> {
    let result = empty_like(tensor, calculated(dtype_of_tensor(tensor)?)?)?;
    let to = Layout::of(result.handle())?;
    run(function, &Source::of(Operand::Handle(tensor), &result, &to)?, None, number, &to)?;
    Ok(result)
}

/// The type of the result for operands of a type.
fn calculated(dtype: i32) -> Result<i32> {
    match dtype {
        dtype if is_floating(dtype) => Ok(dtype),
        api::SCONCE_DTYPE_I8
        | api::SCONCE_DTYPE_I16
        | api::SCONCE_DTYPE_I32
        | api::SCONCE_DTYPE_I64
        | api::SCONCE_DTYPE_U8
        | api::SCONCE_DTYPE_BOOL => Ok(api::SCONCE_DTYPE_F32),
        dtype => Err(refused_type(dtype)),
    }
}

/// An operand in the type of the result, with elements in the order of the result's memory, or with one element.
struct Source {
    /// Keeps the memory.
    _tensor: Tensor,
    data: *mut c_void,
    step: i64,
}

impl Source {
    fn of(operand: Operand<'_>, result: &Tensor, to: &Layout) -> Result<Source> {
        let given = match operand {
            Operand::Tensor(tensor) => Tensor::retained(tensor.handle())?,
            Operand::Handle(handle) => Tensor::retained(handle)?,
            Operand::Number(number) => one_number(&real(number), to)?,
            Operand::Whole(number) => one_number(&integer(number), to)?,
            Operand::Scalar(number) => one_number(&number, to)?,
        };
        let layout = Layout::of(given.handle())?;
        let (tensor, step) = if layout.numel() == 1 {
            let converted = to_dtype(given.handle(), to.dtype)?;
            (on_device(converted.handle(), to.device)?, 0)
        } else if layout.dtype == to.dtype
            && layout.sizes == to.sizes
            && layout.strides == to.strides
        {
            (given, 1)
        } else {
            let own = empty_like(result.handle(), to.dtype)?;
            copy(&own, given.handle())?;
            (own, 1)
        };
        let data = Layout::of(tensor.handle())?.data;
        Ok(Source { _tensor: tensor, data, step })
    }
}

/// A number in the type of the result.
fn one_number(number: &api::sconce_scalar, to: &Layout) -> Result<Tensor> {
    operations::full(&[], number, &options(to.dtype, to.device))
}

/// The largest degree of a polynomial on the CPU: values are calculated from those of all lower degrees.
const MOST_DEGREE: f64 = 1_048_576.0;

/// Refuses degrees with which a call would not end.
fn check_degrees(function: Special, degrees: &Source, to: &Layout) -> Result<()> {
    let count = if degrees.step == 0 { 1.min(to.numel()) } else { to.numel() };
    let largest: f64 = with_floating!(to.dtype, T => {
        // SAFETY: the operand has an element of the type at each place of the result, or one.
        let degree = |place| unsafe { read::<T>(degrees.data, place) }.widen().to_f64();
        Ok((0..count).map(degree).fold(0.0, f64::max))
    })?;
    if largest <= MOST_DEGREE {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "special_{}: the degree {largest} is too large: at most {MOST_DEGREE} is calculated on the CPU",
        function.name
    )))
}

/// Sets the elements of the result. Without a second operand `number` is its value.
fn run(
    function: Special,
    first: &Source,
    second: Option<&Source>,
    number: f64,
    to: &Layout,
) -> Result<()> {
    let count = to.numel();
    let (data, step) = second.map_or((std::ptr::null_mut(), 0), |one| (one.data, one.step));
    if to.is_on_cpu() {
        if let Some(degrees) = second.filter(|_| function.is_polynomial()) {
            check_degrees(function, degrees, to)?;
        }
        let value = |place: i64, read: &dyn Fn(*const c_void, i64) -> f64| {
            let x = read(first.data, place * first.step);
            let y = if data.is_null() { number } else { read(data, place * step) };
            function.value(x, y, to.dtype == api::SCONCE_DTYPE_F64)
        };
        return with_floating!(to.dtype, T => {
            // SAFETY: the operands have an element of the type at each place of the result.
            let read = |data, place| unsafe { read::<T>(data, place) }.widen().to_f64();
            for place in 0..count {
                let rounded = T::narrow(Number::from_f64(value(place, &read)));
                // SAFETY: the result has as many elements.
                unsafe { write(to.data, place, rounded) };
            }
            Ok(())
        });
    }
    let kernel = format!("sconce_torch_special_{}", function.name);
    let dtype = to.dtype as u32;
    let grid = Grid::of(count, THREADS, EACH);
    // SAFETY: the kernel has these parameters; the operands have an element for each of the result, or one.
    unsafe {
        launch(
            to.device,
            function.image,
            &kernel,
            grid,
            &[&first.data, &first.step, &data, &step, &number, &to.data, &count, &dtype],
        )
    }
}
