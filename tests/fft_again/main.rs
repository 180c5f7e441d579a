//! Transforms that a thread repeats, which go by what it found out before.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/fft.rs"]
mod fft;
#[path = "../common/fork.rs"]
mod fork;
#[path = "../common/places.rs"]
mod places;
#[path = "../common/repeats.rs"]
mod repeats;
#[path = "../common/simulated.rs"]
mod simulated;

mod addresses;
mod cache;
mod faults;
mod order;
mod short;
mod threads;
mod words;
