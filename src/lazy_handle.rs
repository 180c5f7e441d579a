//! A driver handle that is made at first use, by one of the threads that need it.

use crate::error::Result;
use crate::sync::{AtomicUsize, Mutex, Ordering};

/// A handle that is 0 until it has been made.
pub(crate) struct LazyHandle {
    handle: AtomicUsize,
    making: Mutex<()>,
}

impl LazyHandle {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        LazyHandle { handle: AtomicUsize::new(0), making: Mutex::new(()) }
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        LazyHandle { handle: AtomicUsize::new(0), making: Mutex::new(()) }
    }

    /// The handle, if it has been made.
    #[inline]
    pub(crate) fn get(&self) -> Option<usize> {
        match self.handle.load(Ordering::Acquire) {
            0 => None,
            handle => Some(handle),
        }
    }

    /// The handle. The first caller makes it; if that fails, the next caller tries again.
    #[inline]
    pub(crate) fn get_or_make(&self, make: impl FnOnce() -> Result<usize>) -> Result<usize> {
        match self.get() {
            Some(handle) => Ok(handle),
            None => self.make(make),
        }
    }

    #[cold]
    #[inline(never)]
    fn make(&self, make: impl FnOnce() -> Result<usize>) -> Result<usize> {
        let _making = self.making.lock();
        if let Some(handle) = self.get() {
            return Ok(handle);
        }
        let handle = make()?;
        self.handle.store(handle, Ordering::Release);
        Ok(handle)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn a_failure_leaves_the_place_empty_for_the_next() {
        let lazy = LazyHandle::new();
        assert!(lazy.get_or_make(|| Err(Error::invalid_state("no"))).is_err());
        assert_eq!(lazy.get(), None);
        assert_eq!(lazy.get_or_make(|| Ok(8)).unwrap(), 8);
        assert_eq!(lazy.get_or_make(|| Ok(9)).unwrap(), 8);
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use super::*;
    use loom::sync::Arc;

    #[test]
    fn racing_requests_make_one_handle_and_see_what_its_maker_wrote() {
        loom::model(|| {
            let lazy = Arc::new(LazyHandle::new());
            let made = Arc::new(AtomicUsize::new(0));
            let threads: Vec<_> = (0..2)
                .map(|_| {
                    let (lazy, made) = (lazy.clone(), made.clone());
                    loom::thread::spawn(move || {
                        let handle =
                            lazy.get_or_make(|| Ok(0x10 + made.fetch_add(1, Ordering::Relaxed)));
                        // A thread that has the handle also sees that it was made.
                        assert_eq!(made.load(Ordering::Relaxed), 1);
                        handle.unwrap()
                    })
                })
                .collect();
            for thread in threads {
                assert_eq!(thread.join().unwrap(), 0x10);
            }
        });
    }
}
