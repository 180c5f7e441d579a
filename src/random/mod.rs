//! Random numbers: generators, and fills with PyTorch's bits. See `docs/design/random.md`.
//!
//! A generator is a seed and an offset into the sequence of the seed. A fill reserves a piece of the sequence
//! and launches a kernel that computes elements from the counters of that piece. The arithmetic is in
//! `philox`, which the simulator's kernels also use.
//!
//! | file | idea |
//! |---|---|
//! | `generator` | the state of a generator, and the functions of its handle |
//! | `reserve` | pieces of a sequence for kernels of the caller |
//! | `cpu_generator`, `cpu_fill` | generators of the CPU, and fills of host memory |
//! | `registry` | a default generator for each device and the CPU; seeding the whole process |
//! | `request` | a caller's distribution and parameters, checked with torch's messages |
//! | `fill` | from a request to launches |
//! | `permute` | a random order for equal keys |
//! | `capture` | generators whose offset is on the device, for CUDA graphs |
//! | `arena` | device memory for such offsets |
//! | `device_work` | the device behind fills and generators: kernels, memory, two numbers read and written |
//! | `entropy` | seeds from the operating system |
//! | `graph_tests` | tests with a device that replays graphs |

mod arena;
mod capture;
mod cpu_fill;
mod cpu_generator;
mod device_work;
mod entropy;
mod fill;
mod generator;
mod permute;
mod registry;
mod request;
mod reserve;

#[cfg(test)]
mod graph_tests;

pub use cpu_fill::cpu_state;
pub(crate) use cpu_fill::{fill_pieces, permuted_numbers};
pub use fill::fill;
pub(crate) use fill::fill_on;
pub use generator::{
    Draw, clone, create, destroy, device_number, device_of, initial_seed, offset,
    seed_from_entropy, set_offset, set_seed, set_state, state,
};
pub(crate) use permute::{SortedKeys, permute_equal_keys};
pub use registry::{
    default_generator, manual_seed, manual_seed_all, manual_seed_everywhere, seed, seed_all,
};
pub use request::FillRequest;
pub use reserve::{prepare_capture, reserve, reserve_for_launch};

pub use crate::collections::slab::Key;
