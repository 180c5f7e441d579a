//! Transforms that a thread repeats, which go by what it found out before.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

mod addresses;
mod cache;
mod faults;
mod order;
mod short;
mod threads;
mod words;
