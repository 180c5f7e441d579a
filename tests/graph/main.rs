//! CUDA graphs through the C API, on simulated devices.

mod faults;
mod lifetimes;
mod random;
mod support;
