//! The caching allocator, from outside.
//!
//! | module | what it holds |
//! |---|---|
//! | `structure`, `figures` | what holds of the allocator's snapshots and figures |
//! | `golden` | PyTorch's recording |
//! | `calls` | sequences of C calls |

pub mod calls;
pub mod figures;
pub mod golden;
pub mod structure;
