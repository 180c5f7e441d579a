//! Convolutions as products of matrices, as pure arithmetic. See `docs/design/dnn.md`.
//!
//! Operations on tensors of the CPU and the simulated device calculate with it; where the numbers lie is their
//! concern.
//!
//! | file | idea |
//! |---|---|
//! | `geometry` | the sizes of a convolution |
//! | `unfold` | which element of an image meets which of the filter |
//! | `forward` | one image to one image |

mod forward;
mod geometry;
mod unfold;

pub use forward::{Uncalculated, forward_image, zeros};
pub use geometry::Geometry;
pub use unfold::{blocks, pairs};
