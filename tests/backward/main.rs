//! Backward passes: order, streams, sums, failures, threads.

mod faults;
mod on;
mod order;
mod patterns;
mod sums;
mod support;
mod threads;
