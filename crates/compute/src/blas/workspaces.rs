//! The cuBLAS workspaces of each device: one for each stream, shared by the threads that use it.
//!
//! Work of one stream runs in order, so products on one stream can share a workspace, whichever
//! threads queue them. A product may be several kernels, so the workspace is locked while one is
//! queued. A thread that was given its `cublasHandle_t` queues work without that lock; its handle
//! owns the workspace of the stream that it is set to. The graph that a capture makes runs whenever
//! it is launched, so captures have workspaces of their own, which stay while a graph may name
//! them: as memory of the graph's pool, which keeps it, or as something that the graph itself keeps.
//!
//! Lock order: the table of a device, then a workspace. Memory is allocated and freed with no lock
//! held, because both may call functions of the user.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use sconce_base::collections::per_device::PerDevice;
use sconce_base::config::Config;
use sconce_base::error::Result;
use sconce_base::lock::{Lazy, Mutex, rank};
use sconce_base::types::DeviceIndex;
use sconce_runtime::memory::{self, reclaim};
use sconce_runtime::stream::{self, CaptureSeen, Stream};

use super::stream_workspace::{
    HandleId, NOBODY, Purpose, TakenWorkspaces, Workspace, WorkspaceUse, tick,
};
use super::workspace_table::{WorkspaceFigures, WorkspaceTable};

static TABLES: Lazy<rank::BlasTables, PerDevice<Mutex<rank::BlasTable, WorkspaceTable>>> =
    Lazy::new(|| {
        static HOLDER: reclaim::BlockHolder =
            reclaim::BlockHolder { give_back: give_back_idle, describe };
        reclaim::register_holder(&HOLDER);
        let max_bytes = Config::get().blas_workspace_max.unwrap_or(i64::MAX as u64);
        PerDevice::from_fn(|_| Mutex::new(WorkspaceTable::new(max_bytes)))
    });

/// The table of a device.
fn table(device: DeviceIndex) -> &'static Mutex<rank::BlasTable, WorkspaceTable> {
    &TABLES[device]
}

/// What the out-of-memory message says about the workspaces of a device.
fn describe(device: DeviceIndex) -> Option<String> {
    let WorkspaceFigures { count, bytes, .. } = table(device).lock().figures();
    (count > 0).then(|| {
        format!(
            "{bytes} bytes of it are {count} cuBLAS workspaces that handles or graphs hold; \
             sconce_blas_clear_workspaces frees them, and SCONCE_BLAS_WORKSPACE_MAX limits them"
        )
    })
}

/// The workspace for a purpose, whose stream is `stream`; a new one if there is none that `handle`
/// may use. With `alone` no other handle may use it until [`release`]. `None` if the limit of the
/// device leaves no room for it.
pub(super) fn obtain(
    bytes: usize,
    purpose: Purpose,
    stream: Stream,
    handle: HandleId,
    alone: bool,
) -> Result<Option<Arc<Workspace>>> {
    let device = stream.device();
    if let Some(found) = find(&mut table(device).lock(), purpose, handle, alone) {
        return Ok(Some(wait_for_other_threads(found, alone)));
    }
    let (fits, evicted) = table(device).lock().reserve(bytes);
    drop(evicted);
    if !fits {
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
        used_at: AtomicU64::new(tick()),
        graph_gone: AtomicBool::new(false),
        gone: Mutex::new(false),
    });
    let (found, spare, is_new) = {
        let mut table = table(device).lock();
        match find(&mut table, purpose, handle, alone) {
            // Another thread was faster.
            Some(found) => {
                table.cancel(bytes);
                (found, TakenWorkspaces(vec![made]), false)
            }
            None => {
                table.insert(&made);
                (made, TakenWorkspaces::default(), true)
            }
        }
    };
    drop(spare);
    if let WorkspaceUse::ByGraph(capture) = purpose.captured
        && is_new
    {
        let kept = Arc::new(GraphWorkspace { device, workspace: Arc::clone(&found) });
        stream::keep_for_capture(&CaptureSeen::Own { capture, is_body: false }, kept);
    }
    Ok(Some(wait_for_other_threads(found, alone)))
}

/// A graph's part in a workspace. Dropped when neither a launch nor a later one uses it.
struct GraphWorkspace {
    device: DeviceIndex,
    workspace: Arc<Workspace>,
}

impl Drop for GraphWorkspace {
    fn drop(&mut self) {
        let GraphWorkspace { device, workspace } = self;
        let mut table = table(*device).lock();
        workspace.graph_gone.store(true, Ordering::Release);
        // One that a handle is still set to goes when the handle leaves it.
        let taken = table.take_out(|it| Arc::ptr_eq(it, workspace) && it.is_idle());
        drop(table);
        drop(taken);
    }
}

fn find(
    table: &mut WorkspaceTable,
    purpose: Purpose,
    handle: HandleId,
    alone: bool,
) -> Option<Arc<Workspace>> {
    let usable = |workspace: &&Arc<Workspace>| {
        workspace.purpose == purpose
            && (workspace.is_owned_by(NOBODY) || workspace.is_owned_by(handle))
    };
    let found = table.kept().iter().find(usable)?;
    found.used_at.store(tick(), Ordering::Relaxed);
    if alone {
        found.owner.store(handle, Ordering::Release);
    }
    Some(Arc::clone(found))
}

/// Waits until no other thread is queuing a product with a workspace that one handle owns now.
fn wait_for_other_threads(workspace: Arc<Workspace>, alone: bool) -> Arc<Workspace> {
    if alone {
        drop(workspace.gone.lock());
    }
    workspace
}

/// Ends the ownership of a workspace, after the handle has been set to another one or to none.
/// Gives what is not worth keeping: memory of private pools and for graphs that are gone, and a second workspace of a
/// stream.
pub(super) fn release(
    device: DeviceIndex,
    workspace: &Arc<Workspace>,
    handle: HandleId,
) -> TakenWorkspaces {
    let mut table = table(device).lock();
    if !workspace.is_owned_by(handle) {
        return TakenWorkspaces::default();
    }
    let purpose = workspace.purpose;
    let is_second = |other: &Arc<Workspace>| {
        other.purpose == purpose && other.is_owned_by(NOBODY) && !Arc::ptr_eq(other, workspace)
    };
    let second = purpose.captured == WorkspaceUse::No && table.kept().iter().any(is_second);
    if workspace.is_of_the_moment() || second {
        return table.take_out(|it| Arc::ptr_eq(it, workspace));
    }
    workspace.owner.store(NOBODY, Ordering::Release);
    // The limit may have been lowered meanwhile.
    table.evict_for(0)
}

/// Takes out what a handle owns or used last, because its thread has ended or its workspaces were
/// asked back. What a graph may name stays, without an owner.
pub(super) fn leave(device: DeviceIndex, handle: HandleId) -> TakenWorkspaces {
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
            && !it.is_named_by_graph()
    })
}

/// Frees the idle workspaces of a device: those that no handle owns and no graph names. Returns their bytes.
pub(super) fn give_back_idle(device: DeviceIndex) -> usize {
    let idle = table(device).lock().give_back_idle();
    idle.bytes()
}

/// Takes out all workspaces of a device that no handle owns, also those that graphs of other code may name.
pub(super) fn take_unowned(device: DeviceIndex) -> TakenWorkspaces {
    table(device).lock().take_out(|it| it.is_owned_by(NOBODY) && !it.is_kept())
}

/// The figures of a device.
pub(super) fn figures(device: DeviceIndex) -> WorkspaceFigures {
    table(device).lock().figures()
}

/// Bounds the sum of a device's workspaces, and frees idle ones beyond it.
pub(super) fn set_max_bytes(device: DeviceIndex, max_bytes: u64) {
    let beyond = table(device).lock().set_max_bytes(max_bytes);
    drop(beyond);
}
