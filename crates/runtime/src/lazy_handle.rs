//! A driver handle that is made at first use, by one of the threads that need it.

use sconce_base::error::Result;
use sconce_base::lock::{LockRank, rank};
use sconce_base::sync::{Mutex, Ordering};
use sconce_driver::{AtomicHandle, WordHandle};

/// A handle, or none until it has been made.
pub(crate) struct LazyHandle<H, R = rank::DriverHandle> {
    handle: AtomicHandle<H>,
    making: Mutex<R, ()>,
}

impl<H: WordHandle, R: LockRank> LazyHandle<H, R> {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        LazyHandle { handle: AtomicHandle::new(), making: Mutex::new(()) }
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        LazyHandle { handle: AtomicHandle::new(), making: Mutex::new(()) }
    }

    /// The handle, if it has been made.
    #[inline]
    pub(crate) fn get(&self) -> Option<H> {
        self.handle.load(Ordering::Acquire)
    }

    /// The handle. The first caller makes it; if that fails, the next caller tries again.
    #[inline]
    pub(crate) fn get_or_make(&self, make: impl FnOnce() -> Result<H>) -> Result<H> {
        match self.get() {
            Some(handle) => Ok(handle),
            None => self.make(make),
        }
    }

    #[cold]
    #[inline(never)]
    fn make(&self, make: impl FnOnce() -> Result<H>) -> Result<H> {
        let _making = self.making.lock();
        if let Some(handle) = self.get() {
            return Ok(handle);
        }
        let handle = make()?;
        self.handle.store(Some(handle), Ordering::Release);
        Ok(handle)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use sconce_base::error::Error;
    use sconce_driver::StreamHandle;

    use super::*;

    const STREAM: StreamHandle = StreamHandle::from_driver(crate::testing::FORGED, 8);
    const OTHER: StreamHandle = StreamHandle::from_driver(crate::testing::FORGED, 16);

    #[test]
    fn a_failure_leaves_the_place_empty_for_the_next() {
        let lazy = LazyHandle::<_>::new();
        assert!(lazy.get_or_make(|| Err(Error::invalid_state("no"))).is_err());
        assert_eq!(lazy.get(), None);
        assert_eq!(lazy.get_or_make(|| Ok(STREAM)).unwrap(), STREAM);
        assert_eq!(lazy.get_or_make(|| Ok(OTHER)).unwrap(), STREAM);
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use loom::sync::Arc;
    use sconce_base::sync::AtomicUsize;
    use sconce_driver::StreamHandle;

    use super::*;

    #[test]
    fn racing_requests_make_one_handle_and_see_what_its_maker_wrote() {
        loom::model(|| {
            let lazy = Arc::new(LazyHandle::<_>::new());
            let made = Arc::new(AtomicUsize::new(0));
            let threads: Vec<_> = (0..2)
                .map(|_| {
                    let (lazy, made) = (lazy.clone(), made.clone());
                    loom::thread::spawn(move || {
                        let handle = lazy.get_or_make(|| {
                            let before = made.fetch_add(1, Ordering::Relaxed);
                            Ok(StreamHandle::from_driver(crate::testing::FORGED, 0x10 + before))
                        });
                        // A thread that has the handle also sees that it was made.
                        assert_eq!(made.load(Ordering::Relaxed), 1);
                        handle.unwrap()
                    })
                })
                .collect();
            for thread in threads {
                assert_eq!(
                    thread.join().unwrap(),
                    StreamHandle::from_driver(crate::testing::FORGED, 0x10)
                );
            }
        });
    }
}
