//! Fork detection: whether this process is a forked child that must not use the library.
//!
//! A child has copies of all locks and of one thread. A lock that another thread of the parent held
//! at the fork is never released in the child, so a child that might wait for one must take none.
//! There are two such cases:
//!
//! - The library has opened a backend (`open`). Calls then take locks without being counted, and neither
//!   CUDA nor the simulator's threads survive a fork. The child is *cut off*: every call fails.
//! - Before that every call is counted (`begin`, `end`). A fork during a call cuts the child off too:
//!   the call may be opening a backend, or hold a lock.
//!
//! In all other cases the child may use the library like a new process.
//!
//! Handlers of the end of the process are installed here, too, and memory that the process does not use is given back.
//!
//! The handler that runs in the child only changes atomics; little else is allowed there.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

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

/// The number of counted calls in progress.
static CALLS: AtomicUsize = AtomicUsize::new(0);

/// The number of counted calls and queued messages. A call that ends with 0 here has nothing to
/// finish.
static AT_END: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The counted calls of this thread.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// True if calls need not be counted: a backend is open, and this is not a forked child. Every call
/// checks this first, and else calls [`begin`].
#[inline]
pub fn is_open() -> bool {
    STATE.load(Ordering::Relaxed) == OPEN
}

/// True in a forked child that is cut off.
#[inline]
pub fn in_child() -> bool {
    STATE.load(Ordering::Relaxed) == CHILD
}

/// Notes that a backend has been opened: from now on children are cut off.
pub fn open() {
    STATE.store(OPEN, Ordering::SeqCst);
}

/// Begins a call that is counted, before it takes any lock. Refused in a child that is cut off.
#[cold]
#[inline(never)]
pub fn begin() -> Result<()> {
    match STATE.load(Ordering::SeqCst) {
        CHILD => return refuse(),
        FRESH => {
            // No lock, since a fork could happen while it is held. Two threads may both install the
            // handler, which is harmless.
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
pub fn end() {
    let depth = DEPTH.get();
    if depth != 0 && !in_child() {
        DEPTH.set(depth - 1);
        CALLS.fetch_sub(1, Ordering::SeqCst);
        AT_END.fetch_sub(1, Ordering::SeqCst);
    }
}

/// True if a call that ends has something to finish: [`end`], or queued messages.
#[inline]
pub fn has_work_at_end() -> bool {
    AT_END.load(Ordering::Relaxed) != 0
}

/// Counts a message that was queued.
pub(crate) fn message_waits() {
    AT_END.fetch_add(1, Ordering::Relaxed);
}

/// Counts messages that were delivered.
pub(crate) fn messages_taken(count: usize) {
    AT_END.fetch_sub(count, Ordering::Relaxed);
}

/// A call that is counted until this is dropped, for callers that do not come through the C
/// functions.
pub struct CountedCall(());

impl CountedCall {
    pub fn begin() -> Result<CountedCall> {
        begin().map(CountedCall)
    }
}

impl Drop for CountedCall {
    fn drop(&mut self) {
        end();
    }
}

/// The failure of every call that needs a device, or a lock, in a child that is cut off.
#[cold]
#[inline(never)]
pub fn refuse<T>() -> Result<T> {
    Err(Error::new(
        Status::Forked,
        "this library cannot be used in a forked child, not even for tensors of the CPU: the parent had \
         already initialised devices, or was inside a call; start the child with spawn or exec, or fork \
         before the first use of a device",
    ))
}

/// Installs `in_child`, which runs in each forked child. It may do only what is async-signal-safe,
/// such as changing atomics.
pub fn at_fork(in_child: extern "C" fn()) -> Result<()> {
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

/// Installs a handler that runs when the process ends by `exit`, or by the end of `main`.
pub fn at_exit(handler: extern "C" fn()) -> Result<()> {
    // SAFETY: the handler is a function of this library, which stays loaded until the process ends (it is linked with
    // `nodelete`).
    match unsafe { libc::atexit(handler) } {
        0 => Ok(()),
        _ => Err(Error::new(Status::OutOfMemory, "there is no memory to watch for the end with")),
    }
}

/// Gives the system what the C library's allocator keeps free for all threads. They wait while it looks at their
/// memory.
pub fn give_free_memory_back() {
    #[cfg(all(target_env = "gnu", not(miri)))]
    // SAFETY: no preconditions.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// A thread-local value that calls a function when the main thread ends: the first sign of an exit. Static objects are
/// destroyed after it; an exit handler precedes them only if it was installed after they were made.
pub struct ExitMark(pub extern "C" fn());

impl Drop for ExitMark {
    fn drop(&mut self) {
        if rustix::thread::gettid() == rustix::process::getpid() {
            (self.0)();
        }
    }
}

thread_local! {
    static EXIT_MARK: ExitMark = const { ExitMark(exit_begins) };
}

static IS_EXITING: AtomicBool = AtomicBool::new(false);

extern "C" fn exit_begins() {
    IS_EXITING.store(true, Ordering::Release);
}

/// Makes [`is_exiting`] notice the end of the process.
pub fn watch_exit() -> Result<()> {
    static IS_WATCHED: AtomicBool = AtomicBool::new(false);
    // A thread that is ending has no value to destroy any more.
    let _ = EXIT_MARK.try_with(|_| ());
    if IS_WATCHED.swap(true, Ordering::AcqRel) { Ok(()) } else { at_exit(exit_begins) }
}

/// Whether the process is ending, if that is watched.
pub fn is_exiting() -> bool {
    IS_EXITING.load(Ordering::Acquire)
}

/// True if the program has more rights than its caller: it is setuid or setgid, or its file has
/// capabilities. The caller's environment must then not choose the code that it loads.
pub(crate) fn is_privileged() -> bool {
    // SAFETY: reads a number that the kernel passed to the process; 0 if there is none. Miri has no kernel.
    !cfg!(miri) && unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

extern "C" fn in_new_child() {
    if STATE.load(Ordering::SeqCst) == OPEN || CALLS.load(Ordering::SeqCst) != 0 {
        STATE.store(CHILD, Ordering::SeqCst);
    }
    CALLS.store(0, Ordering::SeqCst);
    AT_END.store(0, Ordering::SeqCst);
}
