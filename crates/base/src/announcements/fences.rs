//! The fence of all threads. Models and Miri have no `membarrier`; there the fence is one of the calling thread alone,
//! and `fence_here` is another one.

#[cfg(not(any(loom, miri)))]
mod by_kernel {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use once_cell::race::OnceBool;
    use rustix::thread::{MembarrierCommand, membarrier};

    /// The kernel refused a fence that it had granted.
    static REFUSED: AtomicBool = AtomicBool::new(false);

    /// How long a thread waits for the effect of a fence that it may not ask for.
    const DRAINED: Duration = Duration::from_millis(20);

    /// Whether the process may ask for fences.
    pub fn has_fence() -> bool {
        static REGISTERED: OnceBool = OnceBool::new();
        let register = || membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok();
        REGISTERED.get_or_init(register) && !REFUSED.load(Ordering::Relaxed)
    }

    /// Makes every running thread of the process execute a full fence.
    ///
    /// A program may forbid the call after the kernel has granted it (`seccomp`). A store leaves a core's buffer within
    /// microseconds, and at the next interrupt at the latest; so the thread sleeps for much longer than that. What
    /// threads begin to use later would cost the same, so they take locks from then on.
    pub fn fence_all_threads() {
        if membarrier(MembarrierCommand::PrivateExpedited).is_err() {
            REFUSED.store(true, Ordering::Relaxed);
            std::thread::sleep(DRAINED);
        }
    }
}

#[cfg(any(loom, miri))]
mod by_kernel {
    pub fn has_fence() -> bool {
        true
    }

    pub fn fence_all_threads() {
        crate::sync::fence(crate::sync::Ordering::SeqCst);
    }
}

pub use by_kernel::{fence_all_threads, has_fence};
