//! Tensors, through the C API.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

mod api;
mod copies;
mod create;
mod every;
mod everywhere;
mod faults;
mod golden;
mod misuse;
mod operations;
mod random;
mod storage;
mod views;
mod without_backend;
