//! Tensors, through the C API.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]
#![allow(dead_code, reason = "modules that use the rest follow")]

mod api;
mod golden;
mod operations;
mod views;
