//! The one thread that serves the doors, and who may do its work in its place.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::{Builder, sleep};
use std::time::Duration;

use crate::lock::Mutex;
use rustix::event::epoll;

use super::door::Doors;
use super::exports::Export;
use crate::context::runtime;
use crate::driver::IpcHandle;
use crate::error::{Error, Result, Status};
use crate::log;
use crate::memory::shared_blocks;

/// There from the first export on. Taken before a cache's lock, never after.
static DOORS: Mutex<Option<Doors>> = Mutex::new(None);

/// How long to leave alone what cannot be done now, such as letting in without descriptors left.
const A_WHILE: Duration = Duration::from_millis(50);

/// The handle of what `wanted` says yes to, or else of what `make` makes, with a door.
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
    Error::new(Status::Io, format!("no local socket for other processes to ask at: {why}"))
}

/// Whether a handle is one of this process's.
pub(super) fn is_own(handle: &IpcHandle) -> bool {
    let doors = DOORS.lock();
    doors.as_ref().is_some_and(|doors| doors.find(|export| export.handle == *handle).is_some())
}

fn start() -> Result<Doors> {
    let doors = Doors::new().map_err(no_door)?;
    let waiting = doors.waiting();
    let started = Builder::new().name("sconce-ipc".into()).spawn(move || serve(&waiting));
    started.map_err(|why| {
        Error::new(Status::OutOfMemory, format!("no thread for other processes to ask: {why}"))
    })?;
    Ok(doors)
}

/// What the thread does until the process ends.
fn serve(waiting: &Arc<OwnedFd>) {
    loop {
        let mut event = Vec::with_capacity(1);
        // Without the lock. What comes is looked up again with it.
        let _ = epoll::wait(&**waiting, rustix::buffer::spare_capacity(&mut event), None);
        if !serve_now() {
            sleep(A_WHILE);
        }
        if shared_blocks::has_let_go() {
            free_let_go_meanwhile();
        }
    }
}

fn serve_now() -> bool {
    DOORS.lock().as_mut().is_none_or(Doors::serve)
}

/// The driver may keep the caller waiting, which other processes should not notice.
fn free_let_go_meanwhile() {
    let free = || {
        if let Err(error) = runtime().and_then(shared_blocks::free_let_go) {
            log::warn(format_args!(
                "memory that other processes had open was not given back: {}",
                error.message()
            ));
        }
    };
    // Without a thread it is left to `collect`.
    let _ = Builder::new().name("sconce-ipc-free".into()).spawn(free);
}

/// Frees memory whose consumers have gone.
pub fn collect() -> Result<()> {
    let runtime = runtime()?;
    serve_now();
    shared_blocks::free_let_go(runtime)
}
