//! What the operations do, with their schemas.
//!
//! | file | family |
//! |---|---|
//! | `algebra/` | linear algebra, attention |
//! | `making` | new tensors |
//! | `files` | tensors over files |
//! | `views` | views |
//! | `copies` | copies, other types and devices, tensors joined, elements in another order |
//! | `reductions` | sums, largest elements, medians, sorting |
//! | `indexing` | elements that indices or masks choose |
//! | `transforms` | Fourier transforms, windows |
//! | `complex` | complex numbers, and what is called by name for tensors of them |
//! | `core` | some core operations |
//! | `lines` | elements along dimensions, values that differ |
//! | `resampling` | images of another size |
//! | `random` | random numbers |
//! | `scalars` | operations with numbers |
//! | `special` | special functions |
//! | `elementwise` | operations on elements |

pub mod algebra;
pub mod complex;
pub mod copies;
pub mod core;
pub mod elementwise;
pub mod files;
pub mod indexing;
pub mod lines;
pub mod making;
pub mod random;
pub mod reductions;
pub mod resampling;
pub mod scalars;
pub mod special;
pub mod transforms;
pub mod views;
