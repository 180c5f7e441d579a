//! The C API. Backward passes. See `docs/design/backward.md`.
//!
//! | file | idea |
//! |---|---|
//! | `function` | functions of the program that compute gradients |
//! | `graph` | graphs, their nodes, and passes over them |

mod function;
mod graph;

pub use function::*;
pub use graph::*;
