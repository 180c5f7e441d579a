//! One workspace: the memory that products of a stream use, and which handle may use it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use sconce_base::lock::{Mutex, MutexGuard, rank};
use sconce_base::log;
use sconce_base::types::DevicePtr;
use sconce_runtime::memory;
use sconce_runtime::stream::Maker;

/// Advances whenever a handle goes to another workspace. Uses between two advances count as equally
/// old.
static CLOCK: AtomicU64 = AtomicU64::new(1);

/// The time of a use.
#[inline]
pub(super) fn now() -> u64 {
    CLOCK.load(Ordering::Relaxed)
}

/// Advances the clock.
pub(super) fn tick() -> u64 {
    CLOCK.fetch_add(1, Ordering::Relaxed) + 1
}

/// A handle of the library, as a number; never 0.
pub(super) type HandleId = u64;

/// No handle.
pub(super) const NOBODY: HandleId = 0;

/// Whether the work that a workspace is used for is captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WorkspaceUse {
    No,
    /// Its graph keeps the memory of the private pool that the workspace is in.
    InPool,
    /// Into the graph of this capture of this library, without a private pool.
    ByGraph(u64),
    /// Into a graph of other code, without a private pool. Nobody says when it is gone.
    ByOthers,
}

/// What a workspace is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Purpose {
    /// The id of the stream.
    pub(super) stream: i64,
    /// Which of the streams that had this id.
    pub(super) maker: Maker,
    /// Where the thread's allocations go; 0 is the default pool.
    pub(super) pool: u64,
    pub(super) captured: WorkspaceUse,
}

/// A block of the caching allocator that products of one stream pass through.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) purpose: Purpose,
    pub(super) address: usize,
    pub(super) bytes: usize,
    /// The handle that alone may use it, or [`NOBODY`]. Changes under the lock of the table.
    pub(super) owner: AtomicU64,
    /// The handle that used it last.
    pub(super) last_user: AtomicU64,
    /// The time of the last use, by the clock of the table.
    pub(super) used_at: AtomicU64,
    /// The graph that keeps it may not be launched any more, and no launch is queued.
    pub(super) graph_gone: AtomicBool,
    /// Locked while a product is queued. True once the workspace was taken out of the table.
    pub(super) gone: Mutex<rank::BlasWorkspace, bool>,
}

impl Workspace {
    /// The place that the library is given.
    pub(super) fn place(&self) -> (DevicePtr, usize) {
        (DevicePtr(self.address as u64), self.bytes)
    }

    /// Whether only this handle may use it.
    pub(super) fn is_owned_by(&self, handle: HandleId) -> bool {
        self.owner.load(Ordering::Acquire) == handle
    }

    /// Keeps it in place, and other threads from queuing products with it, until the guard is
    /// dropped. `None` if it was taken out of the table or belongs to another handle.
    #[inline]
    pub(super) fn enter(
        &self,
        handle: HandleId,
    ) -> Option<MutexGuard<'_, rank::BlasWorkspace, bool>> {
        let gone = self.gone.lock();
        let owner = self.owner.load(Ordering::Acquire);
        if *gone || (owner != NOBODY && owner != handle) {
            return None;
        }
        self.last_user.store(handle, Ordering::Relaxed);
        self.used_at.store(now(), Ordering::Relaxed);
        Some(gone)
    }

    /// Whether a graph of this library may use it at any later time.
    pub(super) fn is_kept(&self) -> bool {
        matches!(self.purpose.captured, WorkspaceUse::ByGraph(_))
            && !self.graph_gone.load(Ordering::Acquire)
    }

    /// Whether any graph may use it at any later time. The memory of a private pool stays with the pool,
    /// so its workspaces can be freed.
    pub(super) fn is_named_by_graph(&self) -> bool {
        self.purpose.captured == WorkspaceUse::ByOthers || self.is_kept()
    }

    /// Whether nobody has a use for it once its owner has left it.
    pub(super) fn is_of_the_moment(&self) -> bool {
        self.purpose.pool != 0 || self.graph_gone.load(Ordering::Acquire)
    }

    /// Whether the allocator may take it back.
    pub(super) fn is_idle(&self) -> bool {
        self.is_owned_by(NOBODY) && !self.is_named_by_graph()
    }
}

/// Workspaces that were taken out of a table. Dropping this frees them, which must not happen under
/// a lock.
#[derive(Default)]
#[must_use = "dropping this frees the workspaces, which must not happen under a lock"]
pub(super) struct TakenWorkspaces(pub(super) Vec<Arc<Workspace>>);

impl TakenWorkspaces {
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(|workspace| workspace.bytes).sum()
    }
}

impl Drop for TakenWorkspaces {
    fn drop(&mut self) {
        for workspace in &self.0 {
            // Work that is queued on the stream may still use the memory. The allocator hands it
            // out again for later work of that stream only, or after the device has finished.
            if let Err(error) = memory::free(workspace.address) {
                log::warn(format_args!("a workspace of cuBLAS was not freed: {error}"));
            }
        }
    }
}
