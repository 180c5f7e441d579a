//! The thread that serves the doors, and the calls that do its work in its place.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::{Builder, sleep};
use std::time::Duration;

use rustix::event::epoll;
use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{Mutex, rank};
use sconce_base::log;
use sconce_driver::IpcHandle;

use super::door::Doors;
use super::export::Export;
use crate::context::{runtime, runtime_if_any};
use crate::memory::shared_blocks;

/// The doors, from the first export on. Locked before a cache's lock, never after.
static DOORS: Mutex<rank::IpcDoors, Option<Doors>> = Mutex::new(None);

/// The wait before another try of what could not be done, such as accepting without descriptors left.
const RETRY_AFTER: Duration = Duration::from_millis(50);

/// The handle of the export for which `wanted` returns true, or else of a new one that `make` makes.
pub(super) fn publish(
    wanted: impl Fn(&Export) -> bool,
    make: impl FnOnce() -> Result<Export>,
) -> Result<IpcHandle> {
    let mut doors = DOORS.lock();
    let doors = match &mut *doors {
        Some(doors) => doors,
        none => none.insert(start()?),
    };
    if let Some(handle) = doors.find(wanted) {
        return Ok(handle);
    }
    let export = make()?;
    let handle = export.handle;
    doors.add(export).map_err(no_door)?;
    Ok(handle)
}

fn no_door(why: rustix::io::Errno) -> Error {
    Error::new(Status::Io, format!("no local socket for the requests of other processes: {why}"))
}

/// The handle of the export for which `wanted` returns true.
pub(super) fn find(wanted: impl Fn(&Export) -> bool) -> Option<IpcHandle> {
    DOORS.lock().as_ref()?.find(wanted)
}

/// Whether a handle is one of this process's.
pub(super) fn is_own(handle: &IpcHandle) -> bool {
    find(|export| export.handle == *handle).is_some()
}

fn start() -> Result<Doors> {
    let doors = Doors::new().map_err(no_door)?;
    let waiting = doors.waiting();
    let started = Builder::new().name("sconce-ipc".into()).spawn(move || serve(&waiting));
    started.map_err(|why| {
        Error::new(
            Status::OutOfMemory,
            format!("no thread for the requests of other processes: {why}"),
        )
    })?;
    Ok(doors)
}

/// The work of the thread until the process ends.
fn serve(waiting: &Arc<OwnedFd>) {
    loop {
        let mut event = Vec::with_capacity(1);
        // Without the lock. The events are read again with it.
        let _ = epoll::wait(&**waiting, rustix::buffer::spare_capacity(&mut event), None);
        if !serve_now() {
            sleep(RETRY_AFTER);
        }
        if shared_blocks::has_let_go() {
            free_let_go_meanwhile();
        }
    }
}

fn serve_now() -> bool {
    DOORS.lock().as_mut().is_none_or(Doors::serve)
}

/// Frees memory on another thread, since the driver may wait and other processes must not wait with it.
fn free_let_go_meanwhile() {
    let free = || {
        if let Err(error) = runtime().and_then(shared_blocks::free_let_go) {
            log::warn(format_args!(
                "memory that other processes had open was not returned to the driver: {}",
                error.message()
            ));
        }
    };
    // If there is no thread, `collect` frees the memory.
    let _ = Builder::new().name("sconce-ipc-free".into()).spawn(free);
}

/// Frees memory whose consumers have gone.
pub fn collect() -> Result<()> {
    let Some(runtime) = runtime_if_any()? else { return Ok(()) };
    serve_now();
    shared_blocks::free_let_go(runtime)
}
