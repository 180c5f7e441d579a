//! Eigenvalues and eigenvectors of square matrices that need not be Hermitian: Schur's form by shifted QR steps, on the
//! CPU, in float64 for all types. A device's matrices are copied to the host and results back.
//!
//! | file | idea |
//! |---|---|
//! | `balance` | rows and columns of about the same size |
//! | `real` | Schur's form of real matrices |
//! | `real_vectors` | vectors of real matrices from it |
//! | `complex` | both for complex matrices |

#![allow(unsafe_code, reason = "reads elements")]

mod balance;
mod complex;
mod real;
mod real_vectors;

use super::checks;
use super::field::{Complex, Field};
use super::matrices::{check_field, real_type};
use crate::abi::devices::{current_stream, is_capturing};
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, numel_of, sizes_of};
use crate::error::{Error, Result};
use crate::operations::tensors::on_device;
use crate::operations::views::complex_of;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api, check, operations};

/// A complex number.
type ComplexNumber = Complex<f64>;

/// The absolute value.
fn size(number: ComplexNumber) -> f64 {
    number.re.hypot(number.im)
}

/// A square matrix, row by row.
#[derive(Clone, Debug)]
struct Square<T> {
    order: usize,
    values: Vec<T>,
}

impl<T: Field> Square<T> {
    fn of(order: usize, values: &[T]) -> Square<T> {
        Square { order, values: values.to_vec() }
    }

    fn identity(order: usize) -> Square<T> {
        let mut made = Square { order, values: vec![T::ZERO; order * order] };
        for at in 0..order {
            made.set(at, at, T::ONE);
        }
        made
    }

    fn get(&self, row: usize, column: usize) -> T {
        self.values[row * self.order + column]
    }

    fn set(&mut self, row: usize, column: usize, value: T) {
        self.values[row * self.order + column] = value;
    }
}

/// A Schur form did not converge.
struct NotConverged;

/// Eigenvalues of a matrix, and vectors one after another if they were asked for.
struct Spectrum {
    values: Vec<ComplexNumber>,
    vectors: Vec<ComplexNumber>,
}

/// Eigenvalues, and vectors, a column each.
#[derive(Debug)]
pub struct GeneralEigen {
    /// The values.
    pub values: Tensor,
    /// The vectors, of length 1; none if they are not wanted.
    pub vectors: Option<Tensor>,
}

/// `linalg_eig(a)`, or `linalg_eigvals(a)` without vectors.
pub fn eig(name: &str, a: TensorHandle, has_vectors: bool) -> Result<GeneralEigen> {
    let batch = checks::squares(name, "A", a)?;
    let (dtype, device) = (dtype_of_tensor(a)?, device_of_tensor(a)?);
    check_field(dtype)?;
    if device != api::SCONCE_DEVICE_CPU && is_capturing(current_stream(device)?)? {
        return Err(Error::not_supported(format!(
            "{name} of a device's matrices is calculated on the host, which cannot wait for a stream that is captured: \
             calculate it before the capture"
        )));
    }
    let sizes = sizes_of(a)?;
    let order = sizes[sizes.len() - 1] as usize;
    let found = match real_type(dtype) == dtype {
        true => each(name, &read::<f64>(a, api::SCONCE_DTYPE_F64)?, order, |matrix| {
            real::eigen(matrix, has_vectors)
        }),
        false => each(name, &read::<ComplexNumber>(a, api::SCONCE_DTYPE_C128)?, order, |matrix| {
            complex::eigen(matrix, has_vectors)
        }),
    }?;
    let wanted = complex_of(dtype).unwrap_or(dtype);
    let whole = |values: &[ComplexNumber], sizes: &[i64]| -> Result<Tensor> {
        let wide = options(api::SCONCE_DTYPE_C128, api::SCONCE_DEVICE_CPU);
        let flat = operations::from_values(values, &wide)?;
        let rounded = operations::to_dtype(flat.handle(), wanted)?;
        let shaped = operations::reshape(rounded.handle(), sizes)?;
        on_device(shaped.handle(), device)
    };
    let values = whole(&found.values, &sizes[..sizes.len() - 1])?;
    if !has_vectors {
        return Ok(GeneralEigen { values, vectors: None });
    }
    // Vectors lie one after another, so that the matrix of columns is the transposed one.
    let rows = whole(&found.vectors, &[&batch[..], &[order as i64; 2]].concat())?;
    let vectors = operations::transpose(rows.handle(), -2, -1)?;
    // Column by column on the CPU and row by row on devices, as PyTorch's.
    let vectors = match device {
        api::SCONCE_DEVICE_CPU => vectors,
        _ => operations::contiguous(vectors.handle())?,
    };
    Ok(GeneralEigen { values, vectors: Some(vectors) })
}

/// The elements of a tensor in a wide type, for which the host waits.
fn read<T: Field>(tensor: TensorHandle, dtype: i32) -> Result<Vec<T>> {
    let wide = operations::to_dtype(tensor, dtype)?;
    let mut values = vec![T::ZERO; numel_of(tensor)? as usize];
    let bytes = size_of_val(values.as_slice());
    // SAFETY: the tensor has memory for the elements, which have this type.
    check(unsafe {
        api::sconce_tensor_to_values(wide.handle(), values.as_mut_ptr().cast(), bytes)
    })?;
    let finite = |value: &T| value.real().is_finite() && value.imaginary().is_finite();
    if values.iter().all(finite) {
        return Ok(values);
    }
    Err(Error::invalid_argument("linalg.eig: input tensor should not contain infs or NaNs."))
}

/// The results of all matrices, one after another.
fn each<T: Field>(
    name: &str,
    values: &[T],
    order: usize,
    solve: impl Fn(Square<T>) -> std::result::Result<Spectrum, NotConverged>,
) -> Result<Spectrum> {
    let mut all = Spectrum { values: Vec::new(), vectors: Vec::new() };
    if order == 0 {
        return Ok(all);
    }
    for (entry, matrix) in values.chunks_exact(order * order).enumerate() {
        let found = solve(Square::of(order, matrix)).map_err(|NotConverged| {
            Error::internal(format!(
                "{name}: (Batch element {entry}): The algorithm failed to converge because the input matrix is \
                 ill-conditioned or has too many repeated eigenvalues."
            ))
        })?;
        all.values.extend(found.values);
        all.vectors.extend(found.vectors);
    }
    Ok(all)
}

/// Scales a vector to length 1. One of complex numbers is turned so that its largest element is real.
fn normalize(vector: &mut [ComplexNumber]) {
    // By the largest element first, so that no square overflows.
    let Some(largest) =
        vector.iter().copied().max_by(|one, other| size(*one).total_cmp(&size(*other)))
    else {
        return;
    };
    let most = size(largest);
    if most == 0.0 {
        return;
    }
    let is_complex = vector.iter().any(|number| number.im != 0.0);
    let length = vector.iter().map(|number| (size(*number) / most).powi(2)).sum::<f64>().sqrt();
    let turn = match is_complex {
        true => Complex { re: largest.re / most, im: -largest.im / most },
        false => Complex::ONE,
    };
    for number in vector.iter_mut() {
        let scaled = Complex { re: number.re / most / length, im: number.im / most / length };
        *number = scaled * turn;
    }
    if is_complex {
        for number in vector.iter_mut().filter(|number| size(**number) * length >= 1.0 - 1e-14) {
            // What is left of the imaginary part is rounding.
            if number.im.abs() < 1e-15 {
                number.im = 0.0;
            }
        }
    }
}
