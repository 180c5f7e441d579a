//! Backward passes: order, streams, sums, failures, threads.

mod faults;
mod order;
mod patterns;
mod sums;
mod support;
mod threads;
