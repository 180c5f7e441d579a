//! A product as cuBLAS takes it: types, factors, and sizes of 32 bits or 64.

use std::ffi::{c_int, c_void};
use std::ptr::from_ref;

use cudarc::cublas::sys::cublasComputeType_t::{CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_64F};
use cudarc::cublas::sys::cublasGemmAlgo_t::{CUBLAS_GEMM_DEFAULT_TENSOR_OP, CUBLAS_GEMM_DFALT};
use cudarc::cublas::sys::cublasHandle_t;
use cudarc::cublas::sys::cublasOperation_t::{CUBLAS_OP_N, CUBLAS_OP_T};
use cudarc::cublas::sys::cublasStatus_t::CUBLAS_STATUS_NOT_SUPPORTED;
use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_driver::nvidia::blas_failure;
use sconce_driver::{Gemm, Matrix};

use super::functions::BlasFunctions;
use crate::data_types::{complex_type, real_type};
use crate::result::SUCCESS;

const NOT_SUPPORTED: i32 = CUBLAS_STATUS_NOT_SUPPORTED as i32;

/// The two factors, of the type that sums have. Those of complex products have an imaginary part, of 0.
enum Factors {
    F32([f32; 2]),
    F64([f64; 2]),
    C64([[f32; 2]; 2]),
    C128([[f64; 2]; 2]),
}

impl Factors {
    fn of(gemm: &Gemm) -> Factors {
        let factors = [gemm.alpha, gemm.beta];
        match gemm.element {
            Dtype::F64 => Factors::F64(factors),
            Dtype::C64 => Factors::C64(factors.map(|factor| [factor as f32, 0.0])),
            Dtype::C128 => Factors::C128(factors.map(|factor| [factor, 0.0])),
            _ => Factors::F32([gemm.alpha as f32, gemm.beta as f32]),
        }
    }

    fn addresses(&self) -> [*const c_void; 2] {
        match self {
            Factors::F32([alpha, beta]) => [from_ref(alpha).cast(), from_ref(beta).cast()],
            Factors::F64([alpha, beta]) => [from_ref(alpha).cast(), from_ref(beta).cast()],
            Factors::C64([alpha, beta]) => [from_ref(alpha).cast(), from_ref(beta).cast()],
            Factors::C128([alpha, beta]) => [from_ref(alpha).cast(), from_ref(beta).cast()],
        }
    }

    fn compute(&self) -> c_int {
        match self {
            Factors::F32(_) | Factors::C64(_) => CUBLAS_COMPUTE_32F as c_int,
            Factors::F64(_) | Factors::C128(_) => CUBLAS_COMPUTE_64F as c_int,
        }
    }
}

fn data_type(call: &str, element: Dtype) -> Result<c_int> {
    let found = match element {
        Dtype::C64 => complex_type(Dtype::F32),
        Dtype::C128 => complex_type(Dtype::F64),
        _ => real_type(element),
    };
    found.ok_or_else(|| blas_failure(call, NOT_SUPPORTED))
}

fn operation(transpose: bool) -> c_int {
    if transpose { CUBLAS_OP_T as c_int } else { CUBLAS_OP_N as c_int }
}

fn address(matrix: &Matrix) -> *mut c_void {
    matrix.address.0 as *mut c_void
}

/// Calls one of the two functions for batches, which take the same arguments, the sizes in types of
/// their own.
#[rustfmt::skip]
macro_rules! batched {
    ($call:expr, $function:expr, $handle:expr, $gemm:expr, $factors:expr, $sizes:expr) => {{
        let Gemm { a, b, c, .. } = $gemm;
        let (function, [m, n, k, a_column, b_column, c_column, batch]) = ($function, $sizes);
        let [op_a, op_b] = $gemm.transpose.map(operation);
        let [alpha, beta] = $factors.addresses();
        let (data, compute) = (data_type($call, $gemm.element)?, $factors.compute());
        let algorithm = CUBLAS_GEMM_DFALT as c_int;
        let (at_a, at_b, at_c) = (address(a), address(b), address(c));
        // SAFETY: the handle lives and is this thread's; both factors outlive the call, which reads
        // them at once; the caller of `BlasHandle::gemm` has checked the addresses.
        unsafe {
            function(
                $handle, op_a, op_b, m, n, k,
                alpha, at_a, data, a_column, a.batch, at_b, data, b_column, b.batch,
                beta, at_c, data, c_column, c.batch, batch, compute, algorithm,
            )
        }
    }};
}

/// Queues the product on the stream that the handle is set to; the device's context is current.
///
/// A single product, and a batch of complex ones, goes to the functions that PyTorch calls for it: they cost the host
/// less than the one for all types, and round alike.
pub(super) fn queue(functions: &BlasFunctions, handle: cublasHandle_t, gemm: &Gemm) -> Result<()> {
    // With a factor of 0 some of the library's kernels multiply what they read all the same, and a NaN stays one.
    let depth = if gemm.alpha == 0.0 { 0 } else { gemm.k };
    let (_, parts) = gemm.element.real();
    if depth == 0 && parts == 2 {
        return queue(functions, handle, &scaling_of_parts(gemm));
    }
    let Gemm { a, b, c, .. } = gemm;
    let sizes = [gemm.m, gemm.n, depth, a.column, b.column, c.column, gemm.batch];
    let factors = Factors::of(gemm);
    let (call, code) = match narrow(&sizes) {
        Some(sizes) if gemm.batch == 1 => single(functions, handle, gemm, &factors, sizes)?,
        Some(sizes) if parts == 2 => complex_batch(functions, handle, gemm, &factors, sizes)?,
        Some(sizes) => {
            let function = functions.cublasGemmStridedBatchedEx()?;
            let call = "cublasGemmStridedBatchedEx";
            (call, batched!(call, function, handle, gemm, factors, sizes))
        }
        None => {
            let function = functions.cublasGemmStridedBatchedEx_64();
            let function = function.map_err(|error| too_large(&sizes, error))?;
            let call = "cublasGemmStridedBatchedEx_64";
            (call, batched!(call, function, handle, gemm, factors, sizes))
        }
    };
    if code == SUCCESS { Ok(()) } else { Err(blas_failure(call, code)) }
}

/// `c = beta * c` of complex numbers as a product of real ones: each number is two, one after the other in a column.
/// Programs do not call the library's complex functions for a sum over nothing, so neither does this.
fn scaling_of_parts(gemm: &Gemm) -> Gemm {
    let (element, _) = gemm.element.real();
    let twice = |number: i64| number.saturating_mul(2);
    let c = Matrix { column: twice(gemm.c.column), batch: twice(gemm.c.batch), ..gemm.c };
    // Nothing is read of the factors, but the library checks their columns.
    let a = Matrix { batch: 0, ..c };
    let b = Matrix { column: 1, batch: 0, ..c };
    Gemm { element, transpose: [false; 2], m: twice(gemm.m), k: 0, a, b, c, ..*gemm }
}

/// Queues a batch of products of complex numbers. Gives the function that was called, and its status.
fn complex_batch(
    functions: &BlasFunctions,
    handle: cublasHandle_t,
    gemm: &Gemm,
    factors: &Factors,
    [m, n, k, a_column, b_column, c_column, batch]: [c_int; 7],
) -> Result<(&'static str, i32)> {
    let (call, function) = match gemm.element {
        Dtype::C64 => ("cublasCgemmStridedBatched", functions.cublasCgemmStridedBatched()?),
        _ => ("cublasZgemmStridedBatched", functions.cublasZgemmStridedBatched()?),
    };
    let [op_a, op_b] = gemm.transpose.map(operation);
    let [alpha, beta] = factors.addresses();
    let Gemm { a, b, c, .. } = gemm;
    let (at_a, at_b, at_c) = (address(a), address(b), address(c));
    // SAFETY: the handle lives and is this thread's; both factors outlive the call, which reads them at once, and are
    // of the function's type, as the matrices are; the caller of `BlasHandle::gemm` has checked the addresses.
    let code = unsafe {
        function(
            handle, op_a, op_b, m, n, k, alpha, at_a, a_column, a.batch, at_b, b_column, b.batch,
            beta, at_c, c_column, c.batch, batch,
        )
    };
    Ok((call, code))
}

/// Queues one product. Gives the function that was called, and its status.
fn single(
    functions: &BlasFunctions,
    handle: cublasHandle_t,
    gemm: &Gemm,
    factors: &Factors,
    [m, n, k, a_column, b_column, c_column, _]: [c_int; 7],
) -> Result<(&'static str, i32)> {
    let [op_a, op_b] = gemm.transpose.map(operation);
    let [alpha, beta] = factors.addresses();
    let (at_a, at_b, at_c) = (address(&gemm.a), address(&gemm.b), address(&gemm.c));
    let (call, function) = match gemm.element {
        Dtype::F32 => ("cublasSgemm_v2", functions.cublasSgemm_v2()?),
        Dtype::F64 => ("cublasDgemm_v2", functions.cublasDgemm_v2()?),
        Dtype::C64 => ("cublasCgemm_v2", functions.cublasCgemm_v2()?),
        Dtype::C128 => ("cublasZgemm_v2", functions.cublasZgemm_v2()?),
        _ => {
            let (data, compute) = (data_type("cublasGemmEx", gemm.element)?, factors.compute());
            let algorithm = CUBLAS_GEMM_DEFAULT_TENSOR_OP as c_int;
            let function = functions.cublasGemmEx()?;
            // SAFETY: the handle lives and is this thread's; both factors outlive the call, which
            // reads them at once; the caller of `BlasHandle::gemm` has checked the addresses.
            let code = unsafe {
                function(
                    handle, op_a, op_b, m, n, k, alpha, at_a, data, a_column, at_b, data, b_column,
                    beta, at_c, data, c_column, compute, algorithm,
                )
            };
            return Ok(("cublasGemmEx", code));
        }
    };
    // SAFETY: the handle lives and is this thread's; both factors outlive the call, which reads them at once; the
    // function was chosen by the type of the factors and matrices, whose addresses `BlasHandle::gemm` checks.
    let code = unsafe {
        function(
            handle, op_a, op_b, m, n, k, alpha, at_a, a_column, at_b, b_column, beta, at_c,
            c_column,
        )
    };
    Ok((call, code))
}

/// The sizes as 32-bit numbers, if all are.
fn narrow(sizes: &[i64; 7]) -> Option<[c_int; 7]> {
    let mut narrow = [0; 7];
    for (narrow, size) in narrow.iter_mut().zip(sizes) {
        *narrow = c_int::try_from(*size).ok()?;
    }
    Some(narrow)
}

#[cold]
fn too_large(sizes: &[i64; 7], error: Error) -> Error {
    let largest = sizes.iter().copied().max().unwrap_or(0);
    error.context(format_args!("a size, stride or count of {largest} takes more than 32 bits"))
}
