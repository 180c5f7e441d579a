//! Fourier transforms of packed numbers as pure arithmetic. See `docs/design/fft.md`.
//!
//! Operations on tensors of the CPU and the simulated device calculate with it; where the numbers lie is their
//! concern.
//!
//! | file | idea |
//! |---|---|
//! | `kind` | from what to what, in which direction |
//! | `stored` | numbers in memory, and the numbers that are calculated with |
//! | `complex`, `roots` | complex numbers, and roots of unity |
//! | `mixed_radix`, `chirp` | transforms of lengths with small prime factors, and of all others |
//! | `line`, `real_line` | one dimension, of complex numbers and of real ones |
//! | `packed` | one transform of up to three dimensions, from bytes to bytes |

mod chirp;
mod complex;
mod kind;
mod line;
mod mixed_radix;
mod packed;
mod real_line;
mod roots;
mod stored;

pub use kind::{FftDirection, FftKind};
pub(crate) use packed::{PackedTransform, packed_transform};
