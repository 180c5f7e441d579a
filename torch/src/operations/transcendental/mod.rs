//! Functions of single elements that libsconce.so does not have: inverse functions of angles, hyperbolic ones,
//! logarithms. Compilers generate code for them; models call them by name for complex numbers.
//!
//! | file | idea |
//! |---|---|
//! | `complex` | the functions of complex numbers |

#![allow(unsafe_code, reason = "reads and writes elements, and launches kernels")]

mod complex;
#[cfg(test)]
mod tests;

use std::ffi::c_void;

use crate::abi::tensors::{data_of, device_of_tensor, dtype_of_tensor, numel_of};
use crate::error::Result;
use crate::kernels::{Grid, images, launch};
use crate::operations::element::{read, write};
use crate::operations::solvers::steps::suffix;
use crate::operations::tensors::is_floating;
use crate::operations::views::real_of;
use crate::sconce::operations::{copy, empty_like, to_dtype};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};
use complex::of_complex;

// These are in `torch/kernels/transcendental.cu` too.
const THREADS: u32 = 256;
const EACH: u32 = 4;

/// A function. The numbers are those of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transcendental {
    /// The inverse cosine.
    Acos,
    /// The inverse hyperbolic cosine.
    Acosh,
    /// The inverse sine.
    Asin,
    /// The inverse hyperbolic sine.
    Asinh,
    /// The inverse tangent.
    Atan,
    /// The inverse hyperbolic tangent.
    Atanh,
    /// The hyperbolic cosine.
    Cosh,
    /// The exponential, less 1.
    Expm1,
    /// The logarithm to base 10.
    Log10,
    /// The logarithm of the number plus 1.
    Log1p,
    /// The logarithm to base 2.
    Log2,
    /// The hyperbolic sine.
    Sinh,
    /// The tangent.
    Tan,
}

/// The function of a real number.
fn of_real(function: Transcendental, x: f64) -> f64 {
    match function {
        Transcendental::Acos => x.acos(),
        Transcendental::Acosh if x < 1.0 => f64::NAN,
        Transcendental::Acosh if x < 2.0 => {
            let above = x - 1.0;
            (above + (above * (above + 2.0)).sqrt()).ln_1p()
        }
        Transcendental::Acosh => x.acosh(),
        Transcendental::Asin => x.asin(),
        Transcendental::Asinh => x.asinh(),
        Transcendental::Atan => x.atan(),
        Transcendental::Atanh => x.atanh(),
        Transcendental::Cosh => x.cosh(),
        Transcendental::Expm1 => x.exp_m1(),
        Transcendental::Log10 => x.log10(),
        Transcendental::Log1p => x.ln_1p(),
        Transcendental::Log2 => x.log2(),
        Transcendental::Sinh => x.sinh(),
        Transcendental::Tan => x.tan(),
    }
}

/// A function of each element, calculated in F64 and rounded once. Integers and truth values have results of F32.
pub fn transcendental(function: Transcendental, tensor: TensorHandle) -> Result<Tensor> {
    let dtype = dtype_of_tensor(tensor)?;
    let wide = match dtype {
        api::SCONCE_DTYPE_F16 | api::SCONCE_DTYPE_BF16 => api::SCONCE_DTYPE_F32,
        other if is_floating(other) || real_of(other).is_some() => other,
        _ => api::SCONCE_DTYPE_F32,
    };
    let result = empty_like(tensor, wide)?;
    copy(&result, tensor)?;
    replace(function, &result)?;
    if is_floating(dtype) { to_dtype(result.handle(), dtype) } else { Ok(result) }
}

/// Replaces elements, which lie one after another.
fn replace(function: Transcendental, tensor: &Tensor) -> Result<()> {
    let (data, count) = (data_of(tensor.handle())?, numel_of(tensor.handle())?);
    let (dtype, device) = (dtype_of_tensor(tensor.handle())?, device_of_tensor(tensor.handle())?);
    let (name, _) = suffix(dtype)?;
    if device != api::SCONCE_DEVICE_CPU {
        let kernel = format!("sconce_torch_transcendental_{name}");
        let grid = Grid::of(count, THREADS, EACH);
        let number = function as u32;
        // SAFETY: the kernel has these parameters; the tensor has so many elements, which lie one after another.
        return unsafe {
            launch(device, &images::TRANSCENDENTAL, &kernel, grid, &[&data, &count, &number])
        };
    }
    match dtype {
        api::SCONCE_DTYPE_F32 => {
            let of = |x: f32| of_real(function, x.into()) as f32;
            // SAFETY: the tensor has so many elements of the type, which lie one after another.
            unsafe { each(data, count, of) };
        }
        api::SCONCE_DTYPE_F64 => {
            // SAFETY: the tensor has so many elements of the type, which lie one after another.
            unsafe { each(data, count, |x: f64| of_real(function, x)) };
        }
        api::SCONCE_DTYPE_C64 => {
            let of = |z: [f32; 2]| of_complex(function, z.map(f64::from)).map(|part| part as f32);
            // SAFETY: the tensor has so many elements of the type, which lie one after another.
            unsafe { each(data, count, of) };
        }
        _ => {
            // SAFETY: the tensor has so many elements of the type, which lie one after another.
            unsafe { each(data, count, |z: [f64; 2]| of_complex(function, z)) };
        }
    }
    Ok(())
}

/// # Safety
/// There are so many elements of the type.
unsafe fn each<T: Copy>(data: *mut c_void, count: i64, of: impl Fn(T) -> T) {
    for at in 0..count {
        // SAFETY: this function demands `count` elements of the type, one after another.
        let value: T = unsafe { read(data, at) };
        // SAFETY: this function demands `count` elements of the type, one after another, and this one was read before.
        unsafe { write(data, at, of(value)) };
    }
}
