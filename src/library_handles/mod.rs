//! Handles of libraries such as cuBLAS: one a thread and device, lent from a pool.
//!
//! Such a handle costs milliseconds and tens of megabytes to make, and one thread at a time may use
//! it. So each thread keeps those it asked for, and its end gives them to whoever comes next. They are
//! never destroyed: the library may be gone by the time that the process ends.
//!
//! | file | idea |
//! |---|---|
//! | `pool` | handles that no thread holds |
//! | `held` | those that a thread holds |
//!
//! A library's room has one [`Pool`] in a static, and one [`Held`] in a `thread_local`, made with
//! `const { Held::new() }`; both by way of [`Lent`], its kind of handle.

mod held;
mod pool;

pub(crate) use held::{Held, each_held, with};
pub(crate) use pool::Pool;

use crate::types::DeviceIndex;

/// A library's handle on one device, with what its room knows of it.
pub(crate) trait Lent: Send + Sized + 'static {
    /// What a returned handle has to get rid of.
    type Rest;
    /// The library's name, for messages.
    const LIBRARY: &'static str;
    /// The library's pool.
    fn pool() -> &'static Pool<Self>;
    /// Called when the thread that held it ends, while the pool is locked: takes out what must not
    /// wait for the next thread. It is dropped once the pool is open again.
    fn returned(&mut self) -> Self::Rest;
    /// Called when a thread takes it from the pool, where another one left it.
    fn taken(&mut self, device: DeviceIndex);
}
