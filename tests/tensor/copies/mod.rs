//! Copies of tensors between the CPU, pinned memory and two devices, and where results live.

mod convert;
mod devices;
mod order;
mod pairs;
mod refusals;
mod spot;
