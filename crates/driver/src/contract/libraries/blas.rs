//! Matrix products, as a library such as cuBLAS calculates them.
//!
//! A thread queues products through a handle, which one thread uses at a time. Matrices are stored
//! column by column.
//!
//! | method | precondition | postcondition | blocks? | thread |
//! |---|---|---|---|---|
//! | `blas_create` | – | a handle of the device, on the default stream; it queues work on a stream | while the library is opened and the object made; other devices are not waited for | any; the object's methods by one thread at a time |
//!
//! The library is opened at the first call that needs it; a failure is not remembered. A library that
//! is not installed is `LibraryNotFound`.
//!
//! A handle's methods do not wait for the device once a product of the same kind has run: the first one
//! may load code.

use sconce_base::element::Dtype;
use sconce_base::error::Result;
use sconce_base::types::{DeviceIndex, DevicePtr};

use crate::StreamRef;
use crate::contract::lacks;

/// The precision of products of F32 and C64 matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MathMode {
    /// As exact as F32 is.
    Ieee,
    /// Factors may be rounded to the ten bits of mantissa of TF32. Products of other types are not
    /// concerned.
    Tf32,
}

/// A matrix of a batch, column by column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Matrix {
    /// Its first element, or the first one's of a batch.
    pub address: DevicePtr,
    /// Elements from one column to the next, at least as many as a column has.
    pub column: i64,
    /// Elements from one matrix of the batch to the next; 0 if all products use the same factor.
    pub batch: i64,
}

/// `c = alpha * op(a) * op(b) + beta * c`, for each of a batch. Sizes are at least 1, except `k`, which
/// may be 0. With a `beta` of 0 nothing is read of `c`, with an `alpha` of 0 nothing of the factors: a NaN
/// there has no effect. Memory between columns and matrices is not written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gemm {
    /// The type of all three: F16, BF16, F32, F64, C64 or C128; `NotSupported` for others. Sums of F16 and BF16
    /// products are kept in F32.
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

/// The matrix products of a driver.
#[allow(unused_variables, reason = "most defaults use no argument")]
pub trait Blas: Send + Sync {
    /// A new handle for matrix products.
    fn blas_create(&self, device: DeviceIndex) -> Result<Box<dyn BlasHandle>> {
        lacks("blas_create", "library of products")
    }
}

/// A handle of the library on one device, used by one thread at a time. A new one calculates as
/// [`MathMode::Ieee`] says. Dropping it does not destroy the library's own handle, since the library may
/// be gone by then, at the process's end; queued products still run.
pub trait BlasHandle: Send {
    /// The library's own handle as a number, for programs that call the library themselves.
    fn native(&self) -> usize;
    /// Later products run on the stream, which is of the handle's device; those queued before stay where
    /// they are. The workspace is the library's own again.
    fn set_stream(&mut self, stream: StreamRef) -> Result<()>;
    /// Later products use this memory of the device for intermediate results, and no other. It must
    /// live until the last of them is done. Its address is a multiple of 256, or it is an
    /// `InvalidArgument`. No bytes: none.
    fn set_workspace(&mut self, workspace: DevicePtr, bytes: usize) -> Result<()>;
    /// Sets the precision of later products of F32 and C64 matrices; those queued before keep theirs.
    fn set_math_mode(&mut self, mode: MathMode) -> Result<()>;
    /// Whether the handle is still on this stream and in this mode. A program that has the library's
    /// own handle can have set it otherwise. `false` if the library does not report it.
    fn is_set_to(&self, stream: StreamRef, mode: MathMode) -> bool;
    /// Queues a product on the stream. The caller has checked the addresses. A size below 0, or fewer
    /// elements between columns than a column has, is an `InvalidArgument`. A product that is refused
    /// writes nothing. After a failure the mode may be another one.
    fn gemm(&mut self, gemm: &Gemm) -> Result<()>;
}
