//! Kernels that move no data.
//!
//! | file | idea |
//! |---|---|
//! | `condition` | conditions of graphs |
//! | `probe` | a kernel that takes a time |

mod condition;
mod probe;

pub use condition::{SET_CONDITION_KERNEL, condition_launch};
pub use probe::{SLEEP_KERNEL, sleep_launch};
