//! Fourier transforms of packed numbers as pure arithmetic. See `docs/design/fft.md`.
//!
//! Operations on tensors of the CPU and the simulated device calculate with it; where the numbers lie is their
//! concern.
//!
//! | file | idea |
//! |---|---|
//! | `stored` | numbers in memory, and the numbers that are calculated with |
//! | `packed` | one transform of up to three dimensions, from bytes to bytes |

mod packed;
mod stored;

pub use packed::{PackedTransform, packed_transform};
