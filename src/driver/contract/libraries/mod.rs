//! The libraries beside a driver, each with its trait.
//!
//! | file | trait | library |
//! |---|---|---|
//! | `blas` | [`Blas`] | products of matrices |
//! | `dnn` | [`Dnn`] | convolutions |
//! | `fft` | [`Fft`] | Fourier transforms |

mod blas;
mod dnn;
mod fft;

pub use blas::{Blas, BlasHandle, Gemm, MathMode, Matrix};
pub use dnn::{
    Convolution, ConvolutionEngines, ConvolutionOperation, ConvolutionPlan, ConvolutionTensor, Dnn,
    DnnHandle, EngineChoice, MOST_ALIGNMENT, MOST_SPATIAL, alignment_of,
};
pub use fft::{Fft, FftCall, FftDirection, FftKind, FftLayout, FftPlan, FftShape, MOST_FFT_RANK};
