//! The C API. The program's kernels. See `docs/design/module.md`.
//!
//! | file | idea |
//! |---|---|
//! | `load` | modules, and the kernels in them |
//! | `source` | modules that are compiled at run time |
//! | `attributes` | what a kernel needs |
//! | `launch` | launches |

mod attributes;
mod launch;
mod load;
mod source;

pub use attributes::*;
pub use launch::*;
pub use load::*;
pub use source::*;
