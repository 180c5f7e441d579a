//! Knows whether this process is a forked child of one that had a backend.
//!
//! Neither CUDA nor a simulator's threads survive `fork`. The handler only sets a flag, which is
//! all that is allowed between `fork` and `exec`.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result, Status};

static IN_CHILD: AtomicBool = AtomicBool::new(false);
static WATCH: Once = Once::new();

/// From now on `in_child` runs in each forked child. Called before anything that a fork would break
/// exists.
///
/// `in_child` may do only what is async-signal-safe, such as touching atomics.
pub(super) fn watch(in_child: extern "C" fn()) {
    WATCH.call_once(|| {
        // SAFETY: a function of this library, which is never unloaded (it is linked with `nodelete`).
        let code = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        if code != 0 {
            crate::log::error(format_args!(
                "pthread_atfork failed with {code}; forked children will not be recognised"
            ));
        }
    });
}

/// Cuts this process off.
pub(super) fn mark_child() {
    IN_CHILD.store(true, Ordering::Relaxed);
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
