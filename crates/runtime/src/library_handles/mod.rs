//! Handles of libraries such as cuBLAS: one per thread and device, taken from a pool.
//!
//! Such a handle costs milliseconds and tens of megabytes to make, and only one thread at a time may use it.
//! So each thread keeps the handles that it asked for, and returns them to the pool when it ends. Handles
//! are never destroyed: the library may be gone by the time that the process ends.
//!
//! | file | idea |
//! |---|---|
//! | `pool` | the interface of a handle, and the handles that no thread holds |
//! | `held` | the handles that a thread holds |
//!
//! The module of a library has one [`HandlePool`] in a static and one [`ThreadHandles`] in a `thread_local`,
//! made with `const { ThreadHandles::new() }`, and implements [`PooledHandle`] for its handle.

mod held;
mod pool;

pub use held::{ThreadHandles, each_held, with};
pub use pool::{HandlePool, PooledHandle};
