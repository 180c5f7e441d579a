//! What a graph keeps alive. Its nodes have addresses of device memory, which is a pool's, and of pinned memory, which
//! copies name. Neither may be used for anything else as long as the graph may be launched, and until its last launch
//! is done.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::context::Runtime;
use crate::error::{Result, Status};
use crate::host_memory;
use crate::memory::pool::{self, AwaitLaunch, Key, PoolHold};
use crate::stream::Stream;
use crate::types::DeviceIndex;

/// The numbers of captures, by which pinned memory knows them.
static CAPTURES: AtomicU64 = AtomicU64::new(1);

/// The memory of a graph.
pub(super) struct Holds {
    /// The pool that allocations of the capture come from.
    pub(super) pool: Key,
    /// The graph made the pool, and destroys it.
    is_own: bool,
    hold: PoolHold,
    /// The number of the capture.
    number: u64,
}

impl Holds {
    /// Takes hold of a pool for a graph, or makes one. `await_launch` waits for launches of the graph that have begun.
    pub(super) fn new(given: Option<Key>, graph: Key, await_launch: AwaitLaunch) -> Result<Holds> {
        let pool = match given {
            Some(pool) => pool,
            None => pool::create()?,
        };
        let number = CAPTURES.fetch_add(1, Ordering::Relaxed);
        match pool::hold(pool, graph, await_launch) {
            Ok(hold) => Ok(Holds { pool, is_own: given.is_none(), hold, number }),
            Err(error) => {
                if given.is_none() {
                    pool::destroy(pool)?;
                }
                Err(error)
            }
        }
    }

    /// The number of the capture.
    pub(super) fn capture_number(&self) -> u64 {
        self.number
    }

    /// From now on the calling thread's allocations on the device come from the pool, and pinned memory that its
    /// captured work uses is the graph's.
    pub(super) fn begin(&self, device: DeviceIndex) -> Result<()> {
        pool::begin(self.pool, device.as_i32())?;
        host_memory::begin_capture(self.number);
        Ok(())
    }

    /// Refuses a launch while the pool is asleep on the graph's device. The graph is locked.
    #[inline]
    pub(super) fn refuse_asleep(&self, device: DeviceIndex) -> Result<()> {
        self.hold.refuse_asleep(device)
    }

    /// Undoes [`begin`](Self::begin).
    pub(super) fn end(&self, device: DeviceIndex) -> Result<()> {
        host_memory::end_capture(self.number);
        pool::end(self.pool, device.as_i32())
    }

    /// Lets go. `launched` are the streams on which the graph was launched: pinned memory stays until their work is
    /// done. Memory of the pool goes back to the driver, which waits for it, when nothing else holds the pool.
    pub(super) fn release(self, runtime: &Runtime, launched: &[Stream]) -> Result<()> {
        host_memory::release_capture(runtime, self.number, launched);
        let destroyed = if self.is_own { pool::destroy(self.pool) } else { Ok(()) };
        // The program may have destroyed a graph's own pool through its handle.
        let released = self.hold.release();
        match destroyed {
            Err(error) if error.status() != Status::InvalidHandle => Err(error),
            _ => released,
        }
    }
}
