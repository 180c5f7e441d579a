//! Sconce: PyTorch's CUDA runtime layer without PyTorch, behind a C API.
//!
//! The C API is the product (`include/sconce/sconce.h`, made from [`ffi`]); this crate's Rust
//! surface exists for its own tests and benchmarks and may change at any time.
//!
//! # The map
//!
//! Dependencies point one way: `ffi → nouns → context → driver ← cuda | sim`, with the ground floor
//! below all of them (`tests/layering.rs` checks it).
//!
//! | room | what it is for |
//! |---|---|
//! | [`error`], [`types`], [`log`], [`config`], `sync`, `dynlib` | the ground floor |
//! | [`driver`] | what is asked of a GPU driver, and the two that answer |
//! | [`nvtx`] | profiling marks |

#[allow(unsafe_code, reason = "dlopen and dlsym")]
mod dynlib;

pub mod config;
pub mod driver;
pub mod error;
pub mod log;
pub mod nvtx;
mod sync;
pub mod types;
