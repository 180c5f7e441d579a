//! Knows whether this process is a forked child of one that had a backend.
//!
//! Neither CUDA nor a simulator's threads survive `fork`. The handler only sets a flag, which is
//! all that is allowed between `fork` and `exec`.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result, Status};

static IN_CHILD: AtomicBool = AtomicBool::new(false);
static WATCH: Once = Once::new();

extern "C" fn mark_child() {
    if super::runtime::leave_behind() {
        IN_CHILD.store(true, Ordering::Relaxed);
    }
}

/// From now on a forked child is cut off. Called before anything that a fork would break exists.
pub(super) fn watch() {
    WATCH.call_once(|| {
        // SAFETY: the handler only touches atomics, which is async-signal-safe, and the library
        // is never unloaded (it is linked with `nodelete`).
        let code = unsafe { libc::pthread_atfork(None, None, Some(mark_child)) };
        if code != 0 {
            crate::log::error(format_args!(
                "pthread_atfork failed with {code}; forked children will not be recognised"
            ));
        }
    });
}

/// Whether this process is such a child.
pub(super) fn in_child() -> bool {
    IN_CHILD.load(Ordering::Relaxed)
}

/// The failure every device call of such a child gets.
#[cold]
#[inline(never)]
pub(super) fn refusal<T>() -> Result<T> {
    Err(Error::new(
        Status::Forked,
        "cannot use devices in a forked child: the parent had already initialised them; start the \
         child with spawn or exec, or fork before the first use of a device",
    ))
}
