//! Matrix products: what is asked of a library such as cuBLAS.
//!
//! A handle is what a thread works with; the room `blas` lends each to one thread at a time. Matrices
//! are stored column by column, as these libraries count.

use super::StreamRef;
use crate::element::Dtype;
use crate::error::{Error, Result, Status};
use crate::types::DevicePtr;

/// How exact products of F32 matrices are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MathMode {
    /// As exact as F32 is.
    Ieee,
    /// Factors are rounded to the ten bits of mantissa of TF32.
    Tf32,
}

/// A matrix of a batch, column by column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Matrix {
    /// Its first element, or the first one's of a batch.
    pub address: DevicePtr,
    /// Elements from one column to the next.
    pub column: i64,
    /// Elements from one matrix of the batch to the next.
    pub batch: i64,
}

/// `c = alpha * op(a) * op(b) + beta * c`, for each of a batch. Sizes are at least 1, but `k`, which
/// may be 0. With a `beta` of 0 nothing is read of `c`, with an `alpha` of 0 nothing of the factors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gemm {
    /// The type of all three. Sums of F16 and BF16 products are kept in F32.
    pub element: Dtype,
    /// Whether `op` transposes `a`, and `b`.
    pub transpose: [bool; 2],
    /// Rows of `op(a)` and `c`.
    pub m: i64,
    /// Columns of `op(b)` and `c`.
    pub n: i64,
    /// Columns of `op(a)`, rows of `op(b)`.
    pub k: i64,
    /// How many products.
    pub batch: i64,
    /// What the product is multiplied by.
    pub alpha: f64,
    /// What `c` is multiplied by before.
    pub beta: f64,
    /// The first factor.
    pub a: Matrix,
    /// The second factor.
    pub b: Matrix,
    /// The result.
    pub c: Matrix,
}

/// A handle of the library on one device. Used by one thread at a time. Whoever drops it loses it
/// without destroying it: the library may be gone by then, at the process's end.
pub trait BlasHandle: Send {
    /// The library's own handle, a `cublasHandle_t`.
    fn native(&self) -> usize;
    /// Later products run on the stream, which is of the handle's device. The workspace is the
    /// library's own again.
    fn set_stream(&mut self, stream: StreamRef) -> Result<()>;
    /// Later products use this memory of the device for intermediate results, and no other. It must
    /// live until the last of them is done. No bytes: none.
    fn set_workspace(&mut self, workspace: DevicePtr, bytes: usize) -> Result<()>;
    /// Sets how exact products of F32 matrices are.
    fn set_math_mode(&mut self, mode: MathMode) -> Result<()>;
    /// Whether it is still on this stream and in this mode, to which it was set: whoever has the
    /// library's own handle can set it otherwise. `false` if the library does not tell.
    fn is_set_to(&self, stream: StreamRef, mode: MathMode) -> bool;
    /// Queues a product on the stream. Whoever calls has checked the addresses. After a failure the
    /// mode may be another one.
    fn gemm(&mut self, gemm: &Gemm) -> Result<()>;
}

/// `cublasStatus_t`: number, spelling, and what it means to a caller.
const CODES: &[(i32, &str, Status)] = &[
    (1, "CUBLAS_STATUS_NOT_INITIALIZED", Status::Driver),
    (3, "CUBLAS_STATUS_ALLOC_FAILED", Status::OutOfMemory),
    (7, "CUBLAS_STATUS_INVALID_VALUE", Status::InvalidArgument),
    (8, "CUBLAS_STATUS_ARCH_MISMATCH", Status::NotSupported),
    (11, "CUBLAS_STATUS_MAPPING_ERROR", Status::Driver),
    (13, "CUBLAS_STATUS_EXECUTION_FAILED", Status::Driver),
    (14, "CUBLAS_STATUS_INTERNAL_ERROR", Status::Driver),
    (15, "CUBLAS_STATUS_NOT_SUPPORTED", Status::NotSupported),
    (16, "CUBLAS_STATUS_LICENSE_ERROR", Status::Driver),
];

/// The failure of a call with the library's number `code`, which is not 0.
pub fn blas_failure(call: &str, code: i32) -> Error {
    super::library_failure(CODES, call, code)
}
