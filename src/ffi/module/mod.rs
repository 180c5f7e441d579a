//! The C API. The program's kernels. See `docs/design/module.md`.
//!
//! | file | idea |
//! |---|---|
//! | `load` | modules, and the kernels in them |
//! | `attributes` | what a kernel needs |
//! | `launch` | launches |

mod attributes;
mod launch;
mod load;

pub use attributes::*;
pub use launch::*;
pub use load::*;
