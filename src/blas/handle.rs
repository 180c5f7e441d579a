//! A thread's handle of cuBLAS, and what it is set to at each request.

use super::workspace::{self, Outdated, Purpose, Workspaces};
use crate::context::{Runtime, precision, refuse_forked_child, runtime};
use crate::driver::{BlasHandle, MathMode, RelaxedCapture, StreamRef};
use crate::error::Result;
use crate::library_handles::{self, Held, Lent, Pool};
use crate::memory::pool;
use crate::stream;
use crate::sync::shared_static;
use crate::thread_state;
use crate::types::{DeviceIndex, DevicePtr};

shared_static! {
    static POOL: Pool<Bound> = Pool::new();
}

thread_local! {
    static HELD: Held<Bound> = const { Held::new() };
}

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
    native: usize,
    workspaces: Workspaces,
    /// `None` if that is not known, or may be what it must not be used with.
    set: Option<Setting>,
    /// Whether the thread was given the library's own handle, which it may set otherwise.
    given: bool,
}

impl Lent for Bound {
    type Rest = Outdated;
    const LIBRARY: &'static str = "cuBLAS";

    fn pool() -> &'static Pool<Self> {
        &POOL
    }

    fn returned(&mut self) -> Self::Rest {
        match self.workspaces.are_outdated() {
            true => self.workspaces.take_all(),
            // Their pools' memory is for graphs, and the next thread may never come.
            false => self.workspaces.take_pools(),
        }
    }

    fn taken(&mut self, _device: DeviceIndex) {
        // Whatever the thread before has done with it.
        (self.set, self.given) = (None, false);
    }
}

impl Bound {
    fn new(runtime: &Runtime, device: DeviceIndex) -> Result<Bound> {
        let driver = runtime.driver();
        let bytes = workspace::bytes_for(driver.device_properties(device)?.major);
        // The library allocates, which a capture under way would refuse and be spoilt by.
        let _relaxed = RelaxedCapture::enter(driver)?;
        let handle = driver.blas_create(device)?;
        let native = handle.native();
        Ok(Bound { handle, native, workspaces: Workspaces::new(bytes), set: None, given: false })
    }

    /// Whether nothing has to be set. A workspace of a capture is always looked at again, since a
    /// capture may end without any change that a thread could see.
    #[inline]
    fn is_set_to(&mut self, stream: i64, pool: u64, mode: MathMode) -> bool {
        let wanted = Purpose { stream, pool, captured: false };
        let Some(set) = &self.set else { return false };
        if set.purpose != wanted || set.mode != mode || self.workspaces.are_outdated() {
            return false;
        }
        if !self.is_still(set) {
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

    /// Sets what is not as the calling thread wants it.
    #[inline(never)]
    fn set(&mut self, runtime: &Runtime, device: DeviceIndex, mode: MathMode) -> Result<()> {
        let stream = stream::current_on(runtime, device)?;
        let purpose = Purpose {
            stream: stream.id(),
            pool: pool::current(device),
            captured: stream::is_capturing(runtime, stream)?,
        };
        if self.workspaces.are_outdated() {
            self.clear()?;
        }
        let (workspace, bytes) = self.workspaces.find_or_make(purpose, stream)?;
        // If a call fails, all are made the next time.
        let before = self.set.take().filter(|before| self.is_still(before));
        let same_stream = before.is_some_and(|before| before.purpose.stream == purpose.stream);
        if !same_stream {
            self.handle.set_stream(stream.driver_ref())?;
        }
        if !same_stream || before.is_none_or(|before| before.workspace != Some(workspace)) {
            self.handle.set_workspace(workspace, bytes)?;
        }
        if before.is_none_or(|before| before.mode != mode) {
            self.handle.set_math_mode(mode)?;
        }
        self.set = Some(Setting {
            purpose,
            stream: stream.driver_ref(),
            workspace: Some(workspace),
            mode,
        });
        self.workspaces.leave_pools(purpose);
        Ok(())
    }

    /// Gives the workspaces back. Until it is set again the handle has none: its owner may still use
    /// it.
    fn clear(&mut self) -> Result<()> {
        self.set = None;
        self.handle.set_workspace(DevicePtr(0), 0)?;
        drop(self.workspaces.take_all());
        Ok(())
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
    let thread = thread_state::for_allocation();
    let device = thread.device;
    let pool = if thread.diverted { pool::current(device) } else { 0 };
    let mode = math_mode();
    let make = || Bound::new(runtime, device);
    library_handles::with(&HELD, device, make, |bound| {
        if !bound.is_set_to(thread.stream_id, pool, mode) {
            bound.set(runtime, device, mode)?;
        }
        bound.given = true;
        Ok(bound.native)
    })
}

/// Calls the library with the calling thread's handle for a device, set as for [`handle`].
pub(super) fn with_handle(
    runtime: &Runtime,
    device: DeviceIndex,
    action: impl FnOnce(&mut dyn BlasHandle) -> Result<()>,
) -> Result<()> {
    let make = || Bound::new(runtime, device);
    library_handles::with(&HELD, device, make, |bound| {
        if bound.given
            && let Some(set) = &mut bound.set
        {
            // A caller may have brought one, and freed it since.
            set.workspace = None;
        }
        bound.set(runtime, device, math_mode())?;
        let outcome = action(&mut *bound.handle);
        if outcome.is_err() {
            // The library changes the mode for some products, and may have failed to change it back.
            bound.set = None;
        }
        outcome
    })
}

/// Gives the workspaces of all handles back: at once those of handles that nobody holds and of the
/// calling thread, the others when their threads ask for them next, or end.
pub fn clear_workspaces() -> Result<()> {
    refuse_forked_child()?;
    workspace::ask_back();
    let mut outdated = Vec::new();
    Bound::pool().each_idle(|bound| outdated.push(bound.workspaces.take_all()));
    drop(outdated);
    library_handles::each_held(&HELD, Bound::clear)
}
