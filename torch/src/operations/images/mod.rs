//! Images of another size.
//!
//! | file | idea |
//! |---|---|
//! | `cubic` | polynomials that images are resampled with |
//! | `resampling` | gradients of images of another size |
//! | `upsampling` | images of another size |

pub mod cubic;
pub mod resampling;
pub mod upsampling;
