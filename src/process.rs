//! The process as `fork` sees it: whether this is a child that may use nothing of the library.
//!
//! A child has copies of all locks and of one thread. A lock that another thread of the parent held at
//! the fork is never released in the child, so a child that may find one must take none. Two rules say
//! when that is:
//!
//! - The library has opened a backend (`open`): calls take locks without being counted, and neither CUDA
//!   nor the simulator's threads survive a fork. The child is cut off.
//! - Before that every call is counted (`begin`, `end`). A fork during one of them cuts the child off,
//!   too: it may be in the middle of opening a backend, or hold a lock.
//!
//! A child that neither holds for may use the library as if it had been started anew.
//!
//! The handler that runs in the child only touches atomics, which is all that is allowed there.

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use crate::error::{Error, Result, Status};

/// No call has been made: no handler is installed, and no lock has ever been taken.
const FRESH: u8 = 0;
/// The handler is installed; every call is counted.
const COUNTING: u8 = 1;
/// A backend is open.
const OPEN: u8 = 2;
/// A forked child that is cut off.
const CHILD: u8 = 3;

static STATE: AtomicU8 = AtomicU8::new(FRESH);

/// Counted calls that are under way.
static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Counted calls, and messages for the callback that wait: what a call that ends may have to attend to.
static AT_END: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The counted calls of this thread.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Whether calls need not be counted: a backend is open, and this is no forked child. The first thing
/// that a call asks; otherwise it has to [`begin`].
#[inline]
pub(crate) fn is_open() -> bool {
    STATE.load(Ordering::Relaxed) == OPEN
}

/// Whether this is a forked child that is cut off.
#[inline]
pub(crate) fn in_child() -> bool {
    STATE.load(Ordering::Relaxed) == CHILD
}

/// A backend has been opened: from now on children are cut off.
pub(crate) fn open() {
    STATE.store(OPEN, Ordering::SeqCst);
}

/// Begins a call that is counted, before it takes any lock. Refused in a child that is cut off.
#[cold]
#[inline(never)]
pub(crate) fn begin() -> Result<()> {
    match STATE.load(Ordering::SeqCst) {
        CHILD => return refuse(),
        FRESH => {
            // Without a lock, which a fork could catch: two threads may both install it, which is harmless.
            at_fork(in_new_child)?;
            let _ = STATE.compare_exchange(FRESH, COUNTING, Ordering::SeqCst, Ordering::SeqCst);
        }
        _ => {}
    }
    AT_END.fetch_add(1, Ordering::SeqCst);
    CALLS.fetch_add(1, Ordering::SeqCst);
    DEPTH.set(DEPTH.get() + 1);
    Ok(())
}

/// Ends the calling thread's newest counted call, if it has one.
pub(crate) fn end() {
    let depth = DEPTH.get();
    if depth != 0 && !in_child() {
        DEPTH.set(depth - 1);
        CALLS.fetch_sub(1, Ordering::SeqCst);
        AT_END.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Whether a call that ends has something to attend to: [`end`], and the messages that wait.
#[inline]
pub(crate) fn has_work_at_end() -> bool {
    AT_END.load(Ordering::Relaxed) != 0
}

/// A message waits.
pub(crate) fn message_waits() {
    AT_END.fetch_add(1, Ordering::Relaxed);
}

/// So many messages no longer wait.
pub(crate) fn messages_taken(count: usize) {
    AT_END.fetch_sub(count, Ordering::Relaxed);
}

/// A call that is counted until this is dropped, for callers that do not come through the C functions.
pub(crate) struct Counted(());

impl Counted {
    pub(crate) fn begin() -> Result<Counted> {
        begin().map(Counted)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        end();
    }
}

/// The failure of every call that needs a device, or a lock, in a child that is cut off.
#[cold]
#[inline(never)]
pub(crate) fn refuse<T>() -> Result<T> {
    Err(Error::new(
        Status::Forked,
        "cannot use devices in a forked child: the parent had already initialised them, or was inside \
         a call; start the child with spawn or exec, or fork before the first use of a device",
    ))
}

/// From now on `in_child` runs in each forked child. It may do only what is async-signal-safe, such as
/// touching atomics.
pub(crate) fn at_fork(in_child: extern "C" fn()) -> Result<()> {
    if cfg!(miri) {
        return Ok(()); // Miri has no fork.
    }
    // SAFETY: a function of this library, which is never unloaded (it is linked with `nodelete`).
    let code = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    if code == 0 {
        return Ok(());
    }
    Err(Error::new(
        Status::OutOfMemory,
        format!("pthread_atfork failed with {code}: there is no memory to watch for forks with"),
    ))
}

/// Whether the program has more rights than its caller: it is setuid or setgid, or its file has
/// capabilities. The caller's environment must not choose which code it loads then.
pub(crate) fn is_privileged() -> bool {
    // SAFETY: reads a number that the kernel gave the process; 0 if it gave none. Miri has no kernel.
    !cfg!(miri) && unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

extern "C" fn in_new_child() {
    if STATE.load(Ordering::SeqCst) == OPEN || CALLS.load(Ordering::SeqCst) != 0 {
        STATE.store(CHILD, Ordering::SeqCst);
    }
    CALLS.store(0, Ordering::SeqCst);
    AT_END.store(0, Ordering::SeqCst);
}
