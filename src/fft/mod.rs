//! The C API. Fourier transforms. See `docs/design/fft.md`.
//!
//! | file | idea |
//! |---|---|
//! | `transform` | transforms |
//! | `cache` | the plan cache of a device |

mod cache;
mod transform;

pub use cache::*;
pub use transform::*;
pub(crate) use transform::{direction_of, kind_of, normalization_of};
