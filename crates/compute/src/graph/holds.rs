//! What a graph keeps alive. Its nodes have addresses of device memory, which is a pool's, of pinned memory, which
//! copies name, and of what libraries keep, such as the tables of plans. None of it may be used for anything else as
//! long as the graph may be launched, and until its last launch is done.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sconce_base::error::{Result, Status};
use sconce_base::lock::{Mutex, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::RelaxedCapture;
use sconce_runtime::context::Runtime;
use sconce_runtime::graph_shared::Share;
use sconce_runtime::host_memory;
use sconce_runtime::memory::pool::{self, AwaitLaunch, Key, PoolHold};
use sconce_runtime::stream::{KeptByCapture, Named};

use super::late;

/// The numbers of captures, by which pinned memory knows them.
static CAPTURES: AtomicU64 = AtomicU64::new(1);

/// A graph's part in the memory of a capture: its own, or that of a graph from which it was updated.
pub(super) struct Holds {
    memory: Arc<CaptureMemory>,
    hold: PoolHold,
    await_launch: AwaitLaunch,
}

/// The memory of a capture. It goes when the last graph lets go.
struct CaptureMemory {
    /// The pool that allocations of the capture come from.
    pool: Key,
    /// The graph made the pool, which is destroyed with the graph.
    is_own: bool,
    /// The number of the capture.
    number: u64,
    rest: Mutex<rank::CaptureUsers, CaptureRest>,
}

/// What becomes known of a capture after its beginning.
#[derive(Default)]
struct CaptureRest {
    /// Streams with launches of graphs that have let go.
    users: Vec<Named>,
    /// What the nodes use of libraries.
    kept: KeptByCapture,
}

impl Holds {
    /// Takes hold of a pool for a graph, or makes one. `await_launch` waits for launches of the graph that have begun.
    pub(super) fn new(given: Option<Key>, graph: Key, await_launch: AwaitLaunch) -> Result<Holds> {
        let pool = match given {
            Some(pool) => pool,
            None => pool::create()?,
        };
        let number = CAPTURES.fetch_add(1, Ordering::Relaxed);
        let rest = Mutex::new(CaptureRest::default());
        let memory = Arc::new(CaptureMemory { pool, is_own: given.is_none(), number, rest });
        match pool::hold(pool, graph, await_launch) {
            Ok(hold) => Ok(Holds { memory, hold, await_launch }),
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
        self.memory.number
    }

    /// The capture has ended, and its nodes use this.
    pub(super) fn keep(&self, mut kept: KeptByCapture) {
        self.memory.rest.lock().kept.append(&mut kept);
    }

    /// The nodes use this. The share is not among those that are kept.
    pub(super) fn keep_one(&self, share: Share) {
        let place = Arc::as_ptr(&share).cast::<()>().addr();
        self.memory.rest.lock().kept.insert(place, share);
    }

    /// Takes hold of the same memory for another graph.
    pub(super) fn share(&self, graph: Key) -> Holds {
        let Holds { memory, hold, await_launch } = self;
        let hold = hold.share(graph, *await_launch);
        Holds { memory: Arc::clone(memory), hold, await_launch: *await_launch }
    }

    /// The pool that allocations of the capture come from.
    pub(super) fn pool(&self) -> Key {
        self.memory.pool
    }

    /// From now on the calling thread's allocations on the device come from the pool, and pinned memory that its
    /// captured work uses is the graph's.
    pub(super) fn begin(&self, device: DeviceIndex) -> Result<()> {
        pool::begin(self.memory.pool, device.as_i32())?;
        host_memory::begin_capture(self.memory.number);
        Ok(())
    }

    /// Refuses a launch while the pool is asleep on the graph's device. The graph is locked.
    #[inline]
    pub(super) fn refuse_asleep(&self, device: DeviceIndex) -> Result<()> {
        self.hold.refuse_asleep(device)
    }

    /// Undoes [`begin`](Self::begin).
    pub(super) fn end(&self, device: DeviceIndex) -> Result<()> {
        host_memory::end_capture(self.memory.number);
        pool::end(self.memory.pool, device.as_i32())
    }

    /// Lets go. `launched` are the streams on which the graph was launched: they use all memory of the capture until
    /// their work is done. Memory that no other graph holds goes back then, and no call waits for it.
    pub(super) fn release(self, runtime: &Runtime, launched: &[Named]) -> Result<()> {
        // Captures of other threads are not affected. In any case: what is not released is lost.
        let _relaxed = RelaxedCapture::enter(runtime.driver());
        let Holds { memory, hold, .. } = self;
        let users = pool::busy(runtime, launched);
        memory.rest.lock().users.extend(&users);
        let destroyed = match Arc::into_inner(memory) {
            Some(memory) => memory.release(runtime),
            None => Ok(()),
        };
        // The program may have destroyed a graph's own pool through its handle.
        let released = hold.release(&users);
        late::give_back_all(runtime);
        match destroyed {
            Err(error) if error.status() != Status::InvalidHandle => Err(error),
            _ => released,
        }
    }
}

impl CaptureMemory {
    /// No graph holds it any more.
    fn release(mut self, runtime: &Runtime) -> Result<()> {
        let CaptureRest { users, kept } = std::mem::take(self.rest.get_mut());
        let users = pool::busy(runtime, &users);
        host_memory::release_capture(runtime, self.number, &users);
        late::let_go(runtime, kept, users);
        if self.is_own { pool::destroy_with_graph(self.pool) } else { Ok(()) }
    }
}
