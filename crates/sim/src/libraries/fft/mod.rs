//! Fourier transforms on the CPU, as operations of streams.
//!
//! | file | idea |
//! |---|---|
//! | `demand` | which shapes are refused, and how much memory the others take |
//! | `side` | where the numbers of a layout lie, read and written in runs |
//! | `transform` | one transform after the other, from input to output |
//! | `plan` | plans: made, executed, dropped |

mod demand;
pub(crate) mod plan;
mod side;
pub(crate) mod transform;
