//! The program's own kernels on simulated devices, through the C API.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

mod addresses;
mod faults;
mod launches;
mod lifetimes;
mod source;
mod support;
mod threads;
