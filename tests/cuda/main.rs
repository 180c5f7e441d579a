//! The CUDA backend, on fake libraries.

mod blas;
mod calls;
mod collectives;
mod compiler;
mod contexts;
mod copies;
mod dnn;
mod early_launches;
mod fft;
mod host_functions;
mod libraries;
mod loader;
mod modules;
mod rdma;
mod rows;
