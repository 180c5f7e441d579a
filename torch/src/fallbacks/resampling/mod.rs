//! Images that are resampled.
//!
//! | file | family |
//! |---|---|
//! | `sizes` | gradients of images of another size |
//! | `grids` | images at the places of a grid, and their gradients |

pub mod grids;
pub mod sizes;
