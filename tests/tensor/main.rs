//! Tensors, through the C API.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

mod api;
mod convolutions;
mod copies;
mod cpu_random;
mod create;
mod every;
mod everywhere;
mod faults;
mod golden;
mod items;
mod many_parts;
mod misuse;
mod on;
mod operations;
mod outputs;
mod products;
mod random;
mod rare_operands;
mod storage;
mod transforms;
mod views;
mod without_backend;
