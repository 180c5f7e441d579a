//! Products of matrices (`torch.matmul`, `bmm`, `addmm`), on devices through cuBLAS, small ones by
//! kernels of this library.

#[allow(unsafe_code, reason = "calls a library with addresses")]
mod host;

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_compute::blas::{self, Matmul};

use super::operand::same_place;
use super::output::{Destination, InPlace, Output};
use super::unary::not_implemented;
use crate::tensor::iteration::broadcast;
use crate::tensor::launch;
use crate::tensor::transfer::{contiguous, copy_into, reshape};
use crate::tensor::{Dims, MemoryFormat, Place, Tensor, TensorOptions, views};

fn check_types(first: &Tensor, second: &Tensor, name: &str) -> Result<()> {
    if first.dtype() != second.dtype() {
        return Err(Error::invalid_argument(format!(
            "expected m1 and m2 to have the same dtype, but got: {} != {}",
            first.dtype().c10_name(),
            second.dtype().c10_name()
        )));
    }
    match first.dtype() {
        Dtype::F16 | Dtype::Bf16 | Dtype::F32 | Dtype::F64 | Dtype::C64 | Dtype::C128 => Ok(()),
        other => Err(not_implemented(name, other)),
    }
}

/// `c = alpha * a @ b + beta * c` for matrices, or batches of matrices of one size: all have 2 or all have 3
/// dimensions, `c` is contiguous.
fn multiply(a: &Tensor, b: &Tensor, c: &Tensor, alpha: f64, beta: f64) -> Result<()> {
    if c.numel() == 0 {
        return Ok(());
    }
    let request = request(a, b, c, [alpha, beta])?;
    match c.place() {
        Place::Device(device) if blas::is_small(&request) => {
            launch::small_product(device, &request, [a, b, c].map(Tensor::address))
        }
        _ => multiply_large(request, a, b, c),
    }
}

/// The product of all matrices of a batch, or of two matrices.
fn request(a: &Tensor, b: &Tensor, c: &Tensor, [alpha, beta]: [f64; 2]) -> Result<Matmul> {
    let of_three = |values: &[i64], none: i64| match *values {
        [rows, columns] => [none, rows, columns],
        [batch, rows, columns] => [batch, rows, columns],
        _ => [none; 3],
    };
    let ([batch, m, n], [_, _, k]) = (of_three(c.sizes(), 1), of_three(a.sizes(), 1));
    let strides = |tensor: &Tensor| of_three(tensor.strides(), 0);
    Ok(Matmul {
        element: blas::check_dtype(a.dtype())?,
        m,
        n,
        k,
        batch,
        alpha,
        beta,
        transpose: [false, false],
        a_strides: strides(a),
        b_strides: strides(b),
        c_strides: strides(c),
    })
}

/// [`multiply`] through cuBLAS, and on the CPU.
fn multiply_large(request: Matmul, a: &Tensor, b: &Tensor, c: &Tensor) -> Result<()> {
    let raise = |tensor: &Tensor| {
        // Strides that are all 0 stand for packed matrices below: one repeated element is written out.
        if tensor.numel() > 1 && tensor.strides().iter().all(|stride| *stride == 0) {
            let packed = contiguous(tensor, MemoryFormat::Contiguous)?;
            return if packed.rank() == 2 { views::unsqueeze(&packed, 0) } else { Ok(packed) };
        }
        match tensor.rank() {
            2 => views::unsqueeze(tensor, 0),
            _ => Ok(tensor.clone()),
        }
    };
    let (a, b, c) = (raise(a)?, raise(b)?, raise(c)?);
    let strides = |tensor: &Tensor| {
        let strides = tensor.strides();
        [strides[0], strides[1], strides[2]]
    };
    let request = Matmul {
        a_strides: strides(&a),
        b_strides: strides(&b),
        c_strides: strides(&c),
        ..request
    };
    match c.place() {
        Place::Device(_) => blas::matmul(&request, a.address(), b.address(), c.address()),
        Place::Cpu => host::multiply(&request, &a, &b, &c),
    }
}

/// A packed output of the factors' product.
fn product_output(
    [first, second]: [&Tensor; 2],
    sizes: &[i64],
    into: Option<&Tensor>,
) -> Result<Output> {
    let options = TensorOptions::of(first);
    Destination::at(first.place(), into)?
        .exactly(first.dtype())?
        .reads(first, InPlace::Copies)?
        .reads(second, InPlace::Copies)?
        .packed(options, sizes)?
        .packed_as(first.dtype())
}

/// The product of two batches of matrices, in a new tensor or in `into`.
pub fn bmm(first: &Tensor, second: &Tensor, into: Option<&Tensor>) -> Result<Tensor> {
    same_place([first, second])?;
    for (name, tensor) in [("batch1", first), ("batch2", second)] {
        if tensor.rank() != 3 {
            return Err(Error::invalid_argument(format!("{name} must be a 3D tensor")));
        }
    }
    check_types(first, second, "bmm")?;
    let ([batch, rows, inner], [other_batch, other_inner, columns]) =
        (sizes_of(first), sizes_of(second));
    if batch != other_batch || inner != other_inner {
        return Err(Error::invalid_argument(format!(
            "Expected size for first two dimensions of batch2 tensor to be: [{batch}, {inner}] but got: \
             [{other_batch}, {other_inner}]."
        )));
    }
    let output = product_output([first, second], &[batch, rows, columns], into)?;
    multiply(first, second, output.tensor(), 1.0, 0.0)?;
    output.finish()
}

fn sizes_of<const N: usize>(tensor: &Tensor) -> [i64; N] {
    std::array::from_fn(|dim| tensor.sizes()[dim])
}

fn check_inner(first: &Tensor, second: &Tensor) -> Result<()> {
    let ([rows, inner], [other, columns]) = (sizes_of(first), sizes_of(second));
    if inner == other {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "mat1 and mat2 shapes cannot be multiplied ({rows}x{inner} and {other}x{columns})"
    )))
}

/// `beta * input + alpha * (first @ second)`, the input repeated to the product's shape, in a new tensor or in `into`.
pub fn addmm(
    input: &Tensor,
    first: &Tensor,
    second: &Tensor,
    beta: f64,
    alpha: f64,
    into: Option<&Tensor>,
) -> Result<Tensor> {
    same_place([input, first, second])?;
    for (name, tensor) in [("mat1", first), ("mat2", second)] {
        if tensor.rank() != 2 {
            return Err(Error::invalid_argument(format!(
                "{name} must be a matrix, got {}-D tensor",
                tensor.rank()
            )));
        }
    }
    check_types(first, second, "addmm_cuda")?;
    check_inner(first, second)?;
    if input.dtype() != first.dtype() {
        return Err(Error::invalid_argument(format!(
            "self and mat2 must have the same dtype, but got {} and {}",
            input.dtype().c10_name(),
            second.dtype().c10_name()
        )));
    }
    let sizes = [first.sizes()[0], second.sizes()[1]];
    let repeated = views::expand(input, &sizes)?;
    let options = TensorOptions::of(first);
    let mut destination = Destination::at(first.place(), into)?
        .exactly(first.dtype())?
        .reads(first, InPlace::Copies)?
        .reads(second, InPlace::Copies)?;
    // The input is copied to the output first, unless it is the output.
    destination = destination.reads(&repeated, InPlace::Works)?;
    let output = destination.packed(options, &sizes)?.packed_as(first.dtype())?;
    // What is multiplied by 0 is not even read, so that a NaN in it does not count.
    if beta != 0.0 {
        copy_into(output.tensor(), &repeated, true)?;
    }
    multiply(first, second, output.tensor(), alpha, beta)?;
    output.finish()
}

/// torch's product of vectors, matrices and batches of matrices, in a new tensor or in `into`.
pub fn matmul(first: &Tensor, second: &Tensor, into: Option<&Tensor>) -> Result<Tensor> {
    same_place([first, second])?;
    if first.rank() == 0 || second.rank() == 0 {
        return Err(Error::invalid_argument(format!(
            "both arguments to matmul need to be at least 1D, but they are {}D and {}D",
            first.rank(),
            second.rank()
        )));
    }
    check_types(first, second, "addmm_cuda")?;
    if let ([rows, inner], [other, columns]) = (first.sizes(), second.sizes()) {
        if inner != other {
            return Err(mismatch(first, second));
        }
        let output = product_output([first, second], &[*rows, *columns], into)?;
        multiply(first, second, output.tensor(), 1.0, 0.0)?;
        return output.finish();
    }
    let left = if first.rank() == 1 { views::unsqueeze(first, 0)? } else { first.clone() };
    let right = if second.rank() == 1 { views::unsqueeze(second, 1)? } else { second.clone() };
    let (rows, inner) = (left.sizes()[left.rank() - 2], left.sizes()[left.rank() - 1]);
    let (other, columns) = (right.sizes()[right.rank() - 2], right.sizes()[right.rank() - 1]);
    if inner != other {
        return Err(mismatch(first, second));
    }
    let batch = broadcast(&left.sizes()[..left.rank() - 2], &right.sizes()[..right.rank() - 2])?;
    // One factor repeated for all: its rows can be those of one tall matrix.
    let folds = right.rank() == 2 && left.rank() > 2;
    let count: i64 = batch.iter().product();
    let mut sizes = batch.clone();
    if first.rank() > 1 {
        sizes.push(rows);
    }
    if second.rank() > 1 {
        sizes.push(columns);
    }
    let output = product_output([first, second], &sizes, into)?;
    if folds {
        let tall = reshape(&left, &[count * rows, inner])?;
        let result = views::view(output.tensor(), &[count * rows, columns])?;
        multiply(&tall, &right, &result, 1.0, 0.0)?;
    } else {
        let flat = |tensor: &Tensor, height: i64, width: i64| {
            let mut sizes = Dims::from_slice(&batch);
            sizes.extend_from_slice(&[height, width]);
            let expanded = views::expand(tensor, &sizes)?;
            reshape(&expanded, &[count, height, width])
        };
        let result = views::view(output.tensor(), &[count, rows, columns])?;
        multiply(&flat(&left, rows, inner)?, &flat(&right, inner, columns)?, &result, 1.0, 0.0)?;
    }
    output.finish()
}

#[cold]
fn mismatch(first: &Tensor, second: &Tensor) -> Error {
    Error::invalid_argument(match (first.rank(), second.rank()) {
        (1, 1) => format!(
            "inconsistent tensor size, expected tensor {:?} and src {:?} to have the same number of elements, \
             but got {} and {} elements respectively",
            first.sizes(),
            second.sizes(),
            first.numel(),
            second.numel()
        ),
        _ => format!(
            "mat1 and mat2 shapes cannot be multiplied ({:?} and {:?})",
            first.sizes(),
            second.sizes()
        ),
    })
}
