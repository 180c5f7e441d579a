//! A thread's handle of cuBLAS, and what it is set to at each request.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sconce_base::error::{Error, Result, Status};
use sconce_base::log;
use sconce_base::sync::shared_static;
use sconce_base::thread_state;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{BlasHandle, MathMode, RelaxedCapture, StreamRef};
use sconce_runtime::context::{Runtime, precision, refuse_forked_child, runtime};
use sconce_runtime::device;
use sconce_runtime::library_handles::{self, HandlePool, PooledHandle, ThreadHandles};
use sconce_runtime::memory::{self, pool};
use sconce_runtime::stream::{self, CaptureSeen, Stream};

use super::stream_workspace::{HandleId, Purpose, TakenWorkspaces, Workspace, WorkspaceUse};
use super::workspace_size;
use super::workspace_table::WorkspaceFigures;
use super::workspaces;

shared_static! {
    static POOL: HandlePool<Bound> = HandlePool::new();
}

thread_local! {
    static HELD: ThreadHandles<Bound> = const { ThreadHandles::new() };
}

/// How many times all workspaces have been asked back.
static CLEARED: AtomicU64 = AtomicU64::new(0);

/// What a handle is set to.
#[derive(Clone, Copy)]
struct Setting {
    purpose: Purpose,
    stream: StreamRef,
    /// `None` if that is not known.
    workspace: Option<DevicePtr>,
    mode: MathMode,
}

/// A handle, and what it is set to.
struct Bound {
    handle: Box<dyn BlasHandle>,
    device: DeviceIndex,
    native: usize,
    /// The size of a workspace; 0 is none.
    workspace_bytes: usize,
    /// The workspace that was used last. The handle owns it if the handle was given out.
    workspace: Option<Arc<Workspace>>,
    /// One that the handle has left, to be released when no lock is held.
    left: Option<Arc<Workspace>>,
    /// What [`CLEARED`] was when the handle's workspace was last given back.
    cleared: u64,
    /// `None` if that is not known, or may be what it must not be used with.
    set: Option<Setting>,
    /// Whether the thread was given the library's own handle, which it may set otherwise and queue
    /// work with at any time.
    given: bool,
}

impl PooledHandle for Bound {
    type Rest = TakenWorkspaces;
    const LIBRARY: &'static str = "cuBLAS";

    fn pool() -> &'static HandlePool<Self> {
        &POOL
    }

    fn returned(&mut self) -> Self::Rest {
        // The next thread may never come.
        self.workspace = None;
        workspaces::leave(self.device, self.id())
    }

    fn taken(&mut self, _device: DeviceIndex) {
        // Whatever the thread before has done with it.
        (self.set, self.given) = (None, false);
    }
}

impl Bound {
    fn new(runtime: &Runtime, device: DeviceIndex) -> Result<Bound> {
        // The products of the stream before may still use the workspaces.
        stream::on_replacement(|| _ = CLEARED.fetch_add(1, Ordering::Relaxed));
        pool::on_end(leave_pool);
        let driver = runtime.driver();
        let workspace_bytes = workspace_size::bytes_for(driver.device_properties(device)?.major);
        // The library allocates, which a capture under way would refuse and be spoilt by.
        let _relaxed = RelaxedCapture::enter(driver)?;
        let handle = driver.blas_create(device)?;
        let native = handle.native();
        Ok(Bound {
            handle,
            device,
            native,
            workspace_bytes,
            workspace: None,
            left: None,
            cleared: CLEARED.load(Ordering::Relaxed),
            set: None,
            given: false,
        })
    }

    fn id(&self) -> HandleId {
        self.native as HandleId
    }

    /// Whether the workspaces have been asked back since this handle's was.
    #[inline]
    fn is_outdated(&self) -> bool {
        self.cleared != CLEARED.load(Ordering::Relaxed)
    }

    /// Whether the handle was given out before and nothing has to be set. A workspace of a capture is
    /// always looked at again, since a capture may end without any change that a thread could see.
    #[inline]
    fn is_set_to(&mut self, stream: i64, pool: u64, mode: MathMode) -> bool {
        let Some(set) = &self.set else { return false };
        // A stream that another one of its id takes the place of outdates all workspaces.
        let wanted = Purpose { stream, maker: set.purpose.maker, pool, captured: WorkspaceUse::No };
        if !self.given || set.purpose != wanted || set.mode != mode || self.is_outdated() {
            return false;
        }
        if !self.handle.is_set_to(set.stream, set.mode) {
            self.set = None;
            return false;
        }
        true
    }

    /// Whether a caller has left stream and mode as they were set. The library does not tell about
    /// workspaces.
    #[inline]
    fn is_still(&self, set: &Setting) -> bool {
        !self.given || self.handle.is_set_to(set.stream, set.mode)
    }

    /// Sets what is not as the calling thread wants it, and calls `action` while no other thread queues
    /// work with the workspace. With `alone` none will until the handle is set otherwise.
    #[inline(never)]
    fn with_set<R>(
        &mut self,
        runtime: &Runtime,
        stream: Stream,
        mode: MathMode,
        alone: bool,
        action: impl FnOnce(&mut dyn BlasHandle) -> Result<R>,
    ) -> Result<R> {
        let pool = pool::current(self.device);
        let captured = captured(runtime, stream, pool)?;
        let purpose = Purpose { stream: stream.id(), maker: stream.maker(), pool, captured };
        if self.is_outdated() {
            self.clear()?;
        }
        // A private pool's memory must go back when the handle leaves it, so it is never shared.
        let alone = alone || purpose.pool != 0;
        let outcome = loop {
            let workspace = match self.last_if_suitable(purpose, alone) {
                Some(last) => Some(last),
                None => self.find_another(purpose, stream, alone)?,
            };
            // Before it is entered, the allocator may take a shared one back.
            let entered = workspace.as_ref().map(|workspace| workspace.enter(self.id()));
            if let Some(None) = entered {
                self.workspace = None;
                continue;
            }
            let addresses = workspace.iter().map(|workspace| workspace.address);
            let set = memory::sleep::refuse_asleep(addresses, "the workspace of cuBLAS at")
                .and_then(|()| self.set_to(purpose, stream, workspace.as_ref(), mode));
            break set.and_then(|()| action(&mut *self.handle));
        };
        if let Some(left) = self.left.take() {
            drop(workspaces::release(self.device, &left, self.id()));
        }
        outcome
    }

    /// The workspace that was used last, if it is one for this purpose.
    #[inline]
    fn last_if_suitable(&self, purpose: Purpose, alone: bool) -> Option<Arc<Workspace>> {
        let last = self.workspace.as_ref()?;
        let suits = last.purpose == purpose && (!alone || last.is_owned_by(self.id()));
        suits.then(|| Arc::clone(last))
    }

    #[cold]
    #[inline(never)]
    fn find_another(
        &mut self,
        purpose: Purpose,
        stream: Stream,
        alone: bool,
    ) -> Result<Option<Arc<Workspace>>> {
        if self.workspace_bytes == 0 {
            return Ok(None);
        }
        let (bytes, id) = (self.workspace_bytes, self.id());
        match workspaces::obtain(bytes, purpose, stream, id, alone) {
            Err(error) if error.status() == Status::OutOfMemory && self.workspace.is_some() => {
                // What is missing may be the memory of the workspace that the handle still has.
                self.clear()?;
                workspaces::obtain(bytes, purpose, stream, id, alone)
            }
            outcome => outcome,
        }
    }

    /// Sets what differs. The workspace that the handle does not have afterwards is left in `left`.
    fn set_to(
        &mut self,
        purpose: Purpose,
        stream: Stream,
        workspace: Option<&Arc<Workspace>>,
        mode: MathMode,
    ) -> Result<()> {
        let (place, bytes) = workspace.map_or((DevicePtr(0), 0), |workspace| workspace.place());
        // If a call fails, all are made the next time.
        let before = self.set.take().filter(|before| self.is_still(before));
        let of = |purpose: Purpose| (purpose.stream, purpose.maker);
        let same_stream = before.is_some_and(|before| of(before.purpose) == of(purpose));
        if !same_stream && let Err(error) = self.handle.set_stream(stream.driver_ref()) {
            self.left = workspace.filter(|it| !self.has(it)).cloned();
            return Err(error);
        }
        if workspace.is_none_or(|workspace| !self.has(workspace)) {
            self.left = std::mem::replace(&mut self.workspace, workspace.cloned());
        }
        if !same_stream || before.is_none_or(|before| before.workspace != Some(place)) {
            self.handle.set_workspace(place, bytes)?;
        }
        if before.is_none_or(|before| before.mode != mode) {
            self.handle.set_math_mode(mode)?;
        }
        self.set =
            Some(Setting { purpose, stream: stream.driver_ref(), workspace: Some(place), mode });
        Ok(())
    }

    /// Whether this is the workspace that was used last.
    #[inline]
    fn has(&self, workspace: &Arc<Workspace>) -> bool {
        self.workspace.as_ref().is_some_and(|last| Arc::ptr_eq(last, workspace))
    }

    /// Gives back the workspace that the handle has in a private pool, from which its thread no longer allocates.
    /// Graphs keep the memory by keeping the pool, whose next capture may use it.
    fn leave_pool(&mut self, device: DeviceIndex, pool: u64) -> Result<()> {
        let is_in_pool = |workspace: &Arc<Workspace>| workspace.purpose.pool == pool;
        if self.device != device || !self.workspace.as_ref().is_some_and(is_in_pool) {
            return Ok(());
        }
        if self.given {
            self.set = None;
            self.handle.set_workspace(DevicePtr(0), 0)?;
        }
        if let Some(left) = self.workspace.take() {
            drop(workspaces::release(self.device, &left, self.id()));
        }
        Ok(())
    }

    /// Gives back the workspaces that the handle owns or used last. A handle that was given out has none
    /// until it is set again, because its owner may still use it.
    fn clear(&mut self) -> Result<()> {
        if self.given {
            self.set = None;
            self.handle.set_workspace(DevicePtr(0), 0)?;
        }
        self.cleared = CLEARED.load(Ordering::Relaxed);
        self.workspace = None;
        drop(workspaces::leave(self.device, self.id()));
        Ok(())
    }
}

/// Whether a stream is captured, and by whom if no private pool keeps the workspace.
#[inline]
fn captured(runtime: &Runtime, stream: Stream, pool: u64) -> Result<WorkspaceUse> {
    if !stream::is_capturing(runtime, stream)? {
        return Ok(WorkspaceUse::No);
    }
    if pool != 0 {
        return Ok(WorkspaceUse::InPool);
    }
    match stream::capture_of(runtime, stream.driver_ref())? {
        CaptureSeen::Own { capture, .. } => Ok(WorkspaceUse::ByGraph(capture)),
        CaptureSeen::Other => Ok(WorkspaceUse::ByOthers),
    }
}

/// The calling thread no longer allocates from a private pool.
fn leave_pool(device: DeviceIndex, pool: u64) {
    let left = library_handles::each_held(&HELD, |bound| bound.leave_pool(device, pool));
    if let Err(error) = left {
        log::debug(format_args!("a workspace of cuBLAS stays in its pool: {}", error.message()));
    }
}

/// How exact products of F32 matrices are to be, as the switch is now.
#[inline]
fn math_mode() -> MathMode {
    if precision::allow_tf32_cublas() { MathMode::Tf32 } else { MathMode::Ieee }
}

/// The calling thread's handle for the current device, set to its stream and to the switches.
pub fn handle() -> Result<usize> {
    let runtime = runtime()?;
    let device = device::current_of_thread(runtime)?;
    let thread = thread_state::for_allocation();
    let pool = if thread.diverted { pool::current(device) } else { 0 };
    let mode = math_mode();
    let make = || Bound::new(runtime, device);
    library_handles::with(&HELD, device, make, |bound| {
        if !bound.is_set_to(thread.stream_id, pool, mode) {
            let stream = stream::current_on(runtime, device)?;
            bound.with_set(runtime, stream, mode, true, |_| Ok(()))?;
            bound.given = true;
        }
        Ok(bound.native)
    })
}

/// Calls the library with the calling thread's handle for a stream's device, set to the stream and to
/// the switches.
pub(super) fn with_handle(
    runtime: &Runtime,
    stream: Stream,
    action: impl FnOnce(&mut dyn BlasHandle) -> Result<()>,
) -> Result<()> {
    let make = || Bound::new(runtime, stream.device());
    library_handles::with(&HELD, stream.device(), make, |bound| {
        if bound.given
            && let Some(set) = &mut bound.set
        {
            // A caller may have brought one, and freed it since.
            set.workspace = None;
        }
        let outcome = bound.with_set(runtime, stream, math_mode(), bound.given, action);
        if outcome.is_err() {
            // The library changes the mode for some products, and may have failed to change it back.
            bound.set = None;
        }
        outcome
    })
}

/// Frees all workspaces: at once those that no handle owns and those of the calling thread, the others
/// when their threads ask for their handle next, or end.
pub fn clear_workspaces() -> Result<()> {
    refuse_forked_child()?;
    CLEARED.fetch_add(1, Ordering::Relaxed);
    let outcome = library_handles::each_held(&HELD, Bound::clear);
    for device in (0..).map_while(DeviceIndex::new) {
        drop(workspaces::take_unowned(device));
    }
    outcome
}

fn resolved(index: i32) -> Result<DeviceIndex> {
    device::resolve(runtime()?, index)
}

/// The figures of a device's workspaces (-1: the current device).
pub fn workspace_figures(index: i32) -> Result<WorkspaceFigures> {
    Ok(workspaces::figures(resolved(index)?))
}

/// Sets the most bytes that the workspaces of a device may have together.
pub fn set_workspace_max_bytes(index: i32, max_bytes: i64) -> Result<()> {
    let device = resolved(index)?;
    let Ok(max_bytes) = u64::try_from(max_bytes) else {
        return Err(Error::invalid_argument(format!(
            "max_bytes is {max_bytes}; it must be non-negative, INT64_MAX for no limit"
        )));
    };
    workspaces::set_max_bytes(device, max_bytes);
    Ok(())
}
