//! The program's own kernels: modules of code, the kernels in them, and their launches. See
//! `docs/design/module.md`.
//!
//! A module is code that belongs to no device. A device loads it when a kernel of it is first used there. A
//! kernel belongs to its module and ends with it.
//!
//! Each file uses only files above it.
//!
//! | file | idea |
//! |---|---|
//! | `table` | the live modules and kernels |
//! | `modules` | load and unload modules |
//! | `source` | modules that are compiled at run time |
//! | `kernels` | find kernels, and what they need |
//! | `launch` | launch kernels |

mod kernels;
mod launch;
mod modules;
pub mod source;
mod table;

pub use kernels::{allow_shared, attributes, best_block, kernel, occupancy};
pub use launch::{launch, launch_on};
pub use modules::{load, load_file, unload};

pub use sconce_base::collections::slab::Key;
