//! Simulated cuBLAS, cuDNN and cuFFT: calculations on the CPU, as operations of streams.
//!
//! | file | idea |
//! |---|---|
//! | `compute` | calculations and how they are queued |
//! | `reals` | elements of memory as numbers, and products of matrices of them |
//! | `blas`, `dnn/`, `fft/`, `collectives/` | the libraries' objects |
//! | `compiler` | sources of kernels, which stay as they are |

pub(super) mod blas;
pub(super) mod collectives;
mod compiler;
mod compute;
pub(super) mod dnn;
pub(super) mod fft;
mod reals;
