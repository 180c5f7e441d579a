//! The libraries beside a driver, each with its trait.
//!
//! | file | trait | library |
//! |---|---|---|
//! | `blas` | [`Blas`] | products of matrices |
//! | `dnn` | [`Dnn`] | convolutions |
//! | `fft` | [`Fft`] | Fourier transforms |
//! | `collectives` | [`Collectives`] | calls of several ranks |
//! | `compiler` | [`Compiler`] | compilation of kernels at run time |
//!
//! By default every method is `NotSupported`, except `fft_most_plans`, which names no limit, and `comm_pending`, which
//! is 0.

mod blas;
mod collectives;
mod compiler;
mod dnn;
mod fft;

pub use blas::{Blas, BlasHandle, Gemm, MathMode, Matrix};
pub use collectives::{
    Collectives, CommAbort, CommCall, CommEndpoint, CommId, CommMember, CommOp, CommOptions,
    CommParts,
};
pub use compiler::{
    Compilation, CompiledCode, CompiledForm, Compiler, DEVICE_HEADER, DEVICE_HEADER_NAME,
    SourceCode,
};
pub use dnn::{
    Convolution, ConvolutionEngines, ConvolutionOperation, ConvolutionPlan, ConvolutionTensor, Dnn,
    DnnHandle, EngineChoice, MOST_ALIGNMENT, MOST_SPATIAL, alignment_of,
};
pub use fft::{Fft, FftCall, FftDirection, FftKind, FftLayout, FftPlan, FftShape, MOST_FFT_RANK};
