//! Random numbers of the CPU as pure arithmetic: a Mersenne Twister, and the conversion of its words to
//! elements.
//!
//! Nothing here knows a generator's handle or a tensor. The bits are those of PyTorch 2.11's CPU fills on
//! x86-64 processors with AVX2; `docs/design/random.md` says where they depend on the C library.
//!
//! | file | idea |
//! |---|---|
//! | `twister` | the state of 624 words, and the words drawn from it |
//! | `sequence` | the twister with the second half of a pair of normal numbers; its bytes |
//! | `single_functions` | logarithm, sine and cosine in single precision |
//! | `draw` | one element after the other |
//! | `normal` | normal numbers in blocks of 16 |

mod draw;
mod normal;
mod sequence;
mod single_functions;
#[cfg(test)]
mod tests;
mod twister;

pub use draw::{fill, permutation};
pub use sequence::{STATE_BYTES, Sequence};
