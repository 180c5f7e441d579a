//! Random numbers: generators, and fills that give PyTorch's bits.
//!
//! A generator is a seed and an offset into the sequence that the seed names. A fill reserves a
//! piece of the sequence and launches a kernel that computes elements from counters of that piece;
//! the arithmetic is in `philox`, which the simulator's kernels share.
//!
//! | file | idea |
//! |---|---|
//! | `generator` | the state behind a handle, and what is asked of it |
//! | `registry` | a default generator for each device; seeding the whole process |
//! | `request` | what a caller asks for, checked in torch's words |
//! | `fill` | from a request to launches |
//! | `capture` | generators whose place in the sequence lives on the device, for CUDA graphs |
//! | `arena` | device memory for those places |
//! | `device_work` | the device behind fills and generators: kernels, memory, two numbers read and written |
//! | `entropy` | seeds from the operating system |

mod arena;
mod capture;
mod device_work;
mod entropy;
mod fill;
mod generator;
mod registry;
mod request;

#[cfg(test)]
mod graph_tests;

pub use fill::fill;
pub use generator::{
    Draw, clone, create, destroy, device_of, initial_seed, offset, prepare_capture, reserve,
    reserve_for_launch, seed_from_entropy, set_offset, set_seed, set_state, state,
};
pub use registry::{default_generator, manual_seed, manual_seed_all, seed, seed_all};
pub use request::Request;

pub use crate::slab::Key;
