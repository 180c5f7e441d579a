//! Communicators through the C API, on simulated devices.

mod captures;
mod faults;
mod life;
mod order;
mod processes;
mod staged;
mod support;
mod values;
mod works;
