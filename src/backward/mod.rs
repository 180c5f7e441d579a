//! The C API. Backward passes. See `docs/design/backward.md`.
//!
//! | file | idea |
//! |---|---|
//! | `function` | functions of the program that compute gradients |
//! | `graph` | graphs, their nodes, and passes over them |
//! | `on` | nodes and passes on a stream that the call names |

mod function;
mod graph;
mod on;

pub use function::*;
pub use graph::*;
pub use on::*;
