//! Backward passes: recorded nodes run in reverse order, each on the stream of its forward operation. See
//! `docs/design/backward.md`.
//!
//! Each file uses only files above it.
//!
//! | file | idea |
//! |---|---|
//! | `leaf` | a gradient that passes add to |
//! | `node` | a recorded operation, or a leaf |
//! | `graph` | the nodes, by number |
//! | `handle` | the slab behind the C API's handles |
//! | `scope` | the device and stream of a node, current for a while |
//! | `input` | a gradient on its way: sums, and which stream waits for which |
//! | `plan` | the nodes that a pass reaches, and what each waits for |
//! | `progress` | what a pass still has to do, and its first error |
//! | `queues` | ready nodes, and the thread of each device |
//! | `pass` | running a node, and handing on its gradients |
//! | `run` | a whole pass |

mod graph;
pub mod handle;
mod input;
mod leaf;
mod node;
mod pass;
mod plan;
mod progress;
mod queues;
pub mod run;
mod scope;

pub use graph::Graph;
pub use node::Edge;
pub use run::{Root, run};
