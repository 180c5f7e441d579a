//! The cuBLAS workspaces of each device: one for each stream, shared by the threads that use it.
//!
//! Work of one stream runs in order, so products on one stream can share a workspace, whichever
//! threads queue them. A product may be several kernels, so the workspace is locked while one is
//! queued. A thread that was given its `cublasHandle_t` queues work without that lock; its handle owns
//! the workspace of the stream that it is set to. The graph that a capture makes runs whenever it is
//! launched, so captures have workspaces of their own, which stay while a graph may name them.
//!
//! Lock order: the table of a device, then a workspace. Memory is allocated and freed with no lock
//! held, because both may call functions of the user.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::lock::{Mutex, MutexGuard};

use super::table::{Figures, Table, table};
use crate::error::Result;
use crate::stream::{Maker, Stream};
use crate::types::{DeviceIndex, DevicePtr};
use crate::{log, memory};

/// A handle, as the number that the library gives it; never 0.
pub(super) type HandleId = u64;

/// No handle.
pub(super) const NOBODY: HandleId = 0;

/// What a workspace is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Purpose {
    /// The id of the stream.
    pub(super) stream: i64,
    /// Which of the streams that had this id.
    pub(super) maker: Maker,
    /// Where the thread's allocations go; 0 is the default pool.
    pub(super) pool: u64,
    /// Whether the stream is being captured.
    pub(super) captured: bool,
}

impl Purpose {
    /// Whether a graph may use the workspace at any later time. The memory of a private pool stays
    /// with the pool, so its workspaces can be freed.
    pub(super) fn is_named_by_graph(&self) -> bool {
        self.captured && self.pool == 0
    }
}

/// A block of the caching allocator that products of one stream pass through.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) purpose: Purpose,
    address: usize,
    pub(super) bytes: usize,
    /// The handle that alone may use it, or [`NOBODY`]. Changes under the lock of the table.
    pub(super) owner: AtomicU64,
    /// The handle that used it last.
    pub(super) last_user: AtomicU64,
    /// The time of the last use, by the clock of the table.
    pub(super) used_at: AtomicU64,
    /// Locked while a product is queued. True once the workspace was taken out of the table.
    pub(super) gone: Mutex<bool>,
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
    pub(super) fn enter(&self, handle: HandleId) -> Option<MutexGuard<'_, bool>> {
        let gone = self.gone.lock();
        let owner = self.owner.load(Ordering::Acquire);
        if *gone || (owner != NOBODY && owner != handle) {
            return None;
        }
        self.last_user.store(handle, Ordering::Relaxed);
        self.used_at.store(super::table::now(), Ordering::Relaxed);
        Some(gone)
    }
}

/// Workspaces that were taken out of a table. Dropping this frees them, which must not happen under a
/// lock.
#[derive(Default)]
#[must_use = "dropping this frees the workspaces, which must not happen under a lock"]
pub(super) struct Outdated(pub(super) Vec<Arc<Workspace>>);

impl Outdated {
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(|workspace| workspace.bytes).sum()
    }
}

impl Drop for Outdated {
    fn drop(&mut self) {
        for workspace in &self.0 {
            // Work that is queued on the stream may still use the memory. The allocator hands it out
            // again for later work of that stream only, or after the device has finished.
            if let Err(error) = memory::free(workspace.address) {
                log::warn(format_args!("a workspace of cuBLAS was not freed: {error}"));
            }
        }
    }
}

/// The workspace for a purpose, whose stream is `stream`; a new one if there is none that `handle` may
/// use. With `alone` no other handle may use it until [`release`]. `None` if the limit of the device
/// leaves no room for it.
pub(super) fn obtain(
    bytes: usize,
    purpose: Purpose,
    stream: Stream,
    handle: HandleId,
    alone: bool,
) -> Result<Option<Arc<Workspace>>> {
    let device = stream.device();
    if let Some(found) = find(&mut table(device).lock(), purpose, handle, alone) {
        return Ok(Some(settled(found, alone)));
    }
    let (has_room, evicted) = table(device).lock().reserve(bytes);
    drop(evicted);
    if !has_room {
        return Ok(None);
    }
    let address =
        memory::alloc_on(bytes, stream).inspect_err(|_| table(device).lock().cancel(bytes))?;
    let made = Arc::new(Workspace {
        purpose,
        address,
        bytes,
        owner: AtomicU64::new(if alone { handle } else { NOBODY }),
        last_user: AtomicU64::new(handle),
        used_at: AtomicU64::new(super::table::tick()),
        gone: Mutex::new(false),
    });
    let (found, spare) = {
        let mut table = table(device).lock();
        match find(&mut table, purpose, handle, alone) {
            // Another thread was faster.
            Some(found) => {
                table.cancel(bytes);
                (found, Outdated(vec![made]))
            }
            None => {
                table.insert(&made);
                (made, Outdated::default())
            }
        }
    };
    drop(spare);
    Ok(Some(settled(found, alone)))
}

fn find(
    table: &mut Table,
    purpose: Purpose,
    handle: HandleId,
    alone: bool,
) -> Option<Arc<Workspace>> {
    let usable = |workspace: &&Arc<Workspace>| {
        workspace.purpose == purpose
            && (workspace.is_owned_by(NOBODY) || workspace.is_owned_by(handle))
    };
    let found = table.kept().iter().find(usable)?;
    found.used_at.store(super::table::tick(), Ordering::Relaxed);
    if alone {
        found.owner.store(handle, Ordering::Release);
    }
    Some(Arc::clone(found))
}

/// Waits until no other thread is queuing a product with a workspace that one handle owns now.
fn settled(workspace: Arc<Workspace>, alone: bool) -> Arc<Workspace> {
    if alone {
        drop(workspace.gone.lock());
    }
    workspace
}

/// Ends the ownership of a workspace, after the handle has been set to another one or to none. Gives
/// what is not worth keeping: memory of private pools, and a second workspace of a stream.
pub(super) fn release(
    device: DeviceIndex,
    workspace: &Arc<Workspace>,
    handle: HandleId,
) -> Outdated {
    let mut table = table(device).lock();
    if !workspace.is_owned_by(handle) {
        return Outdated::default();
    }
    let purpose = workspace.purpose;
    let is_second = |other: &Arc<Workspace>| {
        other.purpose == purpose && other.is_owned_by(NOBODY) && !Arc::ptr_eq(other, workspace)
    };
    let second = !purpose.captured && table.kept().iter().any(is_second);
    if purpose.pool != 0 || second {
        return table.take_out(|it| Arc::ptr_eq(it, workspace));
    }
    workspace.owner.store(NOBODY, Ordering::Release);
    // The limit may have been lowered meanwhile.
    table.evict_for(0)
}

/// Takes out what a handle owns or used last, because its thread has ended or its workspaces were
/// asked back. What a graph may name stays, without an owner.
pub(super) fn leave(device: DeviceIndex, handle: HandleId) -> Outdated {
    let mut table = table(device).lock();
    for workspace in table.kept() {
        if workspace.is_owned_by(handle) {
            workspace.owner.store(NOBODY, Ordering::Release);
            workspace.last_user.store(handle, Ordering::Relaxed);
        }
    }
    table.take_out(|it| {
        it.is_owned_by(NOBODY)
            && it.last_user.load(Ordering::Relaxed) == handle
            && !it.purpose.is_named_by_graph()
    })
}

/// Frees the workspaces of a device that nobody is using and no graph names. Gives their bytes.
pub(super) fn give_back_idle(device: DeviceIndex) -> usize {
    let idle = table(device).lock().give_back_idle();
    idle.bytes()
}

/// Takes out all workspaces of a device that no handle owns, also those that graphs may name.
pub(super) fn take_unowned(device: DeviceIndex) -> Outdated {
    table(device).lock().take_out(|it| it.is_owned_by(NOBODY))
}

/// The figures of a device.
pub(super) fn figures(device: DeviceIndex) -> Figures {
    table(device).lock().figures()
}

/// Bounds the sum of a device's workspaces, and frees idle ones beyond it.
pub(super) fn set_max_bytes(device: DeviceIndex, max_bytes: u64) {
    let beyond = table(device).lock().set_max_bytes(max_bytes);
    drop(beyond);
}
