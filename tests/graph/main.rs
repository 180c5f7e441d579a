//! CUDA graphs through the C API, on simulated devices.

mod faults;
mod give_back;
mod lifetimes;
mod objects;
mod program;
mod random;
mod support;
mod turns;
