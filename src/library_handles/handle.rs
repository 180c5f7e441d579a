//! The interface of a library's handle for this room.

use super::pool::HandlePool;
use crate::types::DeviceIndex;

/// A library's handle of one device.
pub(crate) trait PooledHandle: Send + Sized + 'static {
    /// What a returned handle drops when the pool is unlocked again.
    type Rest;
    /// The library's name, for messages.
    const LIBRARY: &'static str;
    /// The library's pool.
    fn pool() -> &'static HandlePool<Self>;
    /// Called with the pool locked, when the thread that held the handle ends. Takes out what must not stay
    /// in the pool.
    fn returned(&mut self) -> Self::Rest;
    /// Called when a thread takes the handle from the pool.
    fn taken(&mut self, device: DeviceIndex);
}
