//! Whole-simulator tests, a file a subject.

mod captures;
mod convolutions;
mod damaged_handles;
mod declared;
mod errors;
mod external;
mod fft;
mod fft_plans;
mod listener;
mod memory;
mod numbers;
mod order;
mod problems;
mod processes;
mod products;
mod scale;
#[allow(unsafe_code, reason = "makes host functions and host addresses for the tests")]
mod support;
mod time;
mod virtual_memory;
