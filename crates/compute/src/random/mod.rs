//! Random numbers: generators, and fills with PyTorch's bits. See `docs/design/random.md`.
//!
//! A generator is a seed and an offset into the sequence of the seed. A fill reserves a piece of the sequence
//! and launches a kernel that computes elements from the counters of that piece. The arithmetic is in
//! `philox`, which the simulator's kernels also use.
//!
//! Each file uses only files above it.
//!
//! | file | idea |
//! |---|---|
//! | `entropy` | seeds from the operating system |
//! | `request` | a caller's distribution and parameters, checked with torch's messages |
//! | `device/` | what fills and generators use of a device |
//! | `cpu_generator` | the state of a generator of the CPU |
//! | `generator` | a generator, and its handle |
//! | `pieces` | pieces of a sequence, wherever the state is |
//! | `numbers` | the seed, the offset and the state, read and set |
//! | `registry` | a default generator for each device and the CPU; seeding the whole process |
//! | `cpu_fill` | fills of host memory |
//! | `graph_draws` | what a graph draws, and what its launches reserve |
//! | `stream_capture` | the capture that a fill becomes a part of |
//! | `draw` | from a generator to the piece that a launch draws from |
//! | `reserve` | pieces of a sequence for kernels of the caller |
//! | `fill` | from a request to launches |
//! | `permute` | a random order for equal keys |
//! | `graph_tests/` | tests with a device that replays graphs |

mod cpu_fill;
mod cpu_generator;
mod device;
mod draw;
mod entropy;
mod fill;
mod generator;
mod graph_draws;
mod numbers;
mod permute;
mod pieces;
mod registry;
mod request;
mod reserve;
mod stream_capture;

#[cfg(test)]
mod graph_tests;

pub use cpu_fill::cpu_state;
pub use cpu_fill::{fill_pieces, permuted_numbers};
pub use fill::fill;
pub use fill::fill_on;
pub use generator::{create, destroy, device_number, device_of};
pub use numbers::{
    clone, initial_seed, offset, seed_from_entropy, set_offset, set_seed, set_state, state,
};
pub use permute::{SortedKeys, permute_equal_keys};
pub use registry::{
    default_generator, default_seed, manual_seed, manual_seed_all, manual_seed_everywhere, seed,
    seed_all,
};
pub use request::FillRequest;
pub use reserve::{LaunchPiece, prepare_capture, reserve, reserve_for_launch};

pub use sconce_base::collections::slab::Key;
