//! The library's handles: one a thread and device, bound to the current stream.

use sconce_base::error::Result;
use sconce_base::sync::shared_static;
use sconce_base::types::DeviceIndex;
use sconce_driver::{DnnHandle, RelaxedCapture, StreamRef};
use sconce_runtime::context::{Runtime, runtime};
use sconce_runtime::device;
use sconce_runtime::library_handles::{self, HandlePool, PooledHandle, ThreadHandles};
use sconce_runtime::stream::{self, Stream};

use super::plans::{OutdatedPlans, Plans};

/// A handle with what was made with it.
pub(super) struct ThreadHandle {
    pub(super) handle: Box<dyn DnnHandle>,
    /// What it is bound to; none after a failure.
    stream: Option<StreamRef>,
    /// Whether the thread was given the library's own handle, which it may set otherwise.
    given: bool,
    pub(super) plans: Plans,
}

shared_static! {
    static POOL: HandlePool<ThreadHandle> = HandlePool::new();
}

thread_local! {
    static HELD: ThreadHandles<ThreadHandle> = const { ThreadHandles::new() };
}

impl PooledHandle for ThreadHandle {
    type Rest = OutdatedPlans;
    const LIBRARY: &'static str = "cuDNN";

    fn pool() -> &'static HandlePool<Self> {
        &POOL
    }

    fn returned(&mut self) -> OutdatedPlans {
        self.plans.outdated()
    }

    fn taken(&mut self, _device: DeviceIndex) {
        // Whatever the thread before has done with it.
        (self.stream, self.given) = (None, false);
    }
}

/// Uses the calling thread's handle for a stream's device, bound to the stream.
#[inline]
pub(super) fn with<R>(
    runtime: &Runtime,
    stream: Stream,
    action: impl FnOnce(&mut ThreadHandle) -> Result<R>,
) -> Result<R> {
    let make = || make(runtime, stream.device());
    library_handles::with(&HELD, stream.device(), make, |handle| {
        handle.bind(stream.driver_ref())?;
        action(handle)
    })
}

#[cold]
fn make(runtime: &Runtime, device: DeviceIndex) -> Result<ThreadHandle> {
    // No capture has to do with it, and it allocates.
    let _relaxed = RelaxedCapture::enter(runtime.driver())?;
    let handle = runtime.driver().dnn_create(device)?;
    Ok(ThreadHandle { handle, stream: None, given: false, plans: Plans::new() })
}

impl ThreadHandle {
    #[inline]
    fn bind(&mut self, stream: StreamRef) -> Result<()> {
        if self.stream == Some(stream) && (!self.given || self.handle.is_set_to(stream)) {
            return Ok(());
        }
        self.stream = None;
        self.handle.set_stream(stream)?;
        self.stream = Some(stream);
        Ok(())
    }
}

/// The calling thread's handle for the current device.
pub fn handle() -> Result<usize> {
    let runtime = runtime()?;
    let stream = stream::current_on(runtime, device::current_of_thread(runtime)?)?;
    with(runtime, stream, |handle| {
        handle.given = true;
        Ok(handle.handle.native())
    })
}

/// Drops what was forgotten of the handles of this thread and of those that no thread holds.
pub(super) fn drop_outdated_plans() -> Result<()> {
    // Destroyed when no lock is held any more.
    let mut outdated = Vec::new();
    POOL.each_idle(|handle| outdated.push(handle.plans.outdated()));
    library_handles::each_held(&HELD, |handle| {
        outdated.push(handle.plans.outdated());
        Ok(())
    })
}
