//! Simulated cuBLAS, cuDNN and cuFFT: calculations on the CPU, as operations of streams.
//!
//! | file | idea |
//! |---|---|
//! | `compute` | queueing a calculation |
//! | `numbers`, `products` | elements of memory as numbers, and products of matrices of them |
//! | `blas`, `dnn/`, `fft/` | the libraries' objects |

mod blas;
pub(super) mod compute;
pub(super) mod dnn;
pub(super) mod fft;
mod numbers;
#[allow(unsafe_code, reason = "hands slices to the kernels of a crate")]
mod products;
