//! CUDA graphs through the C API, on simulated devices.

mod faults;
mod give_back;
mod kept;
mod launch_ends;
mod lifetimes;
mod objects;
mod program;
mod random;
mod support;
mod turns;
mod updates;
mod users;
