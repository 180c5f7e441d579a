//! A value that is made at most once. A failure is remembered until a caller asks for another try.

use sconce_base::error::{Error, Result};
use sconce_base::lock::rank;
use sconce_base::sync::{Mutex, OnceCell};

/// A value that is made at most once. A failure is remembered until a caller retries.
pub(crate) struct StartOnce<T: 'static> {
    value: OnceCell<rank::ContextValue, T>,
    last_failure: Mutex<rank::Context, Option<Error>>,
}

impl<T> StartOnce<T> {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        StartOnce { value: OnceCell::new(), last_failure: Mutex::new(None) }
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        StartOnce { value: OnceCell::new(), last_failure: Mutex::new(None) }
    }

    /// The value, if it has been made. Never blocks.
    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        self.value.get()
    }

    /// Whether nobody has tried to make the value.
    pub(crate) fn is_fresh(&self) -> bool {
        self.get().is_none() && self.last_failure.lock().is_none()
    }

    /// The value, made by `start` at the first call. A remembered failure is returned again.
    pub(crate) fn get_or_start(&self, start: impl FnOnce() -> Result<T>) -> Result<&T> {
        self.start(false, start).map(|(value, _)| value)
    }

    /// [`get_or_start`](Self::get_or_start) without regard to a remembered failure. Also returns whether this
    /// call made the value.
    pub(crate) fn retry(&self, start: impl FnOnce() -> Result<T>) -> Result<(&T, bool)> {
        self.start(true, start)
    }

    fn start(&self, retry: bool, start: impl FnOnce() -> Result<T>) -> Result<(&T, bool)> {
        if let Some(value) = self.value.get() {
            return Ok((value, false));
        }
        let mut failure = self.last_failure.lock();
        if let Some(value) = self.value.get() {
            return Ok((value, false));
        }
        if let (Some(error), false) = (&*failure, retry) {
            return Err(error.clone());
        }
        match start() {
            Ok(value) => {
                *failure = None;
                Ok((self.value.get_or_init(|| value), true))
            }
            Err(error) => {
                *failure = Some(error.clone());
                Err(error)
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use sconce_base::error::Status;

    use super::*;

    #[test]
    fn a_failure_is_remembered_until_a_retry() {
        let once = StartOnce::new();
        let fail = || Err::<i32, _>(Error::new(Status::NoDevice, "nothing there"));
        assert!(once.get_or_start(fail).is_err());
        assert!(once.get_or_start(|| Ok(1)).is_err());
        assert_eq!(once.retry(|| Ok(2)).unwrap(), (&2, true));
        assert_eq!(once.retry(|| Ok(3)).unwrap(), (&2, false));
        assert_eq!(once.get_or_start(fail).unwrap(), &2);
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicUsize, Ordering};
    use sconce_base::error::Status;

    use super::*;

    #[test]
    fn of_racing_starters_one_makes_the_value_and_all_see_it() {
        loom::model(|| {
            let once = Arc::new(StartOnce::new());
            let starts = Arc::new(AtomicUsize::new(0));
            let threads: Vec<_> = (0..2)
                .map(|id| {
                    let (once, starts) = (once.clone(), starts.clone());
                    loom::thread::spawn(move || {
                        *once
                            .get_or_start(|| {
                                starts.fetch_add(1, Ordering::Relaxed);
                                Ok(id)
                            })
                            .unwrap()
                    })
                })
                .collect();
            let seen: Vec<usize> = threads.into_iter().map(|t| t.join().unwrap()).collect();
            assert_eq!(seen[0], seen[1]);
            assert_eq!(starts.load(Ordering::Relaxed), 1);
        });
    }

    #[test]
    fn a_failing_starter_leaves_the_way_open_for_a_retry() {
        loom::model(|| {
            let once = Arc::new(StartOnce::<usize>::new());
            let other = once.clone();
            let failing = loom::thread::spawn(move || {
                other.get_or_start(|| Err(Error::new(Status::NoDevice, "none"))).is_ok()
            });
            let (value, made) = once.retry(|| Ok(7)).map(|(v, made)| (*v, made)).unwrap();
            assert_eq!((value, made), (7, true));
            failing.join().unwrap();
            assert_eq!(once.get(), Some(&7));
        });
    }
}
