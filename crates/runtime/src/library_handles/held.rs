//! The handles that a thread holds.

use std::cell::{OnceCell, RefCell};
use std::thread::LocalKey;

use sconce_base::error::{Error, Result, Status};
use sconce_base::log;
use sconce_base::types::{DeviceIndex, MAX_DEVICES};

use super::pool::PooledHandle;
use crate::context::refuse_forked_child;
use crate::memory;

/// A thread's handle of a device, if it has one.
type HandleCell<T> = RefCell<Option<Box<T>>>;

/// A thread's handles, by device. They return to the pool when the thread ends.
pub struct ThreadHandles<T: PooledHandle> {
    /// Made at the first request, since most threads have no handle.
    slots: OnceCell<Box<[HandleCell<T>; MAX_DEVICES]>>,
}

impl<T: PooledHandle> ThreadHandles<T> {
    pub const fn new() -> Self {
        ThreadHandles { slots: OnceCell::new() }
    }

    #[inline]
    fn slot(&self, device: DeviceIndex) -> &HandleCell<T> {
        let slots =
            self.slots.get_or_init(|| Box::new([const { RefCell::new(None) }; MAX_DEVICES]));
        &slots[device.as_usize()]
    }
}

impl<T: PooledHandle> Drop for ThreadHandles<T> {
    fn drop(&mut self) {
        let Some(slots) = self.slots.take() else { return };
        for (slot, device) in slots.into_iter().zip((0..).map_while(DeviceIndex::new)) {
            let Some(handle) = slot.into_inner() else { continue };
            if refuse_forked_child().is_err() {
                // The pool's lock may be held for ever in the child.
                std::mem::forget(handle);
            } else {
                T::pool().give_back(device, handle);
            }
        }
        log::flush();
    }
}

/// Calls `action` with the calling thread's handle of a device, which is taken from the pool or made if need
/// be.
///
/// No other thread uses the handle meanwhile. A nested request of the same thread for it fails, as one of a
/// callback that `action` leads to.
#[inline]
pub fn with<T: PooledHandle, R>(
    held: &'static LocalKey<ThreadHandles<T>>,
    device: DeviceIndex,
    make: impl FnMut() -> Result<T>,
    action: impl FnOnce(&mut T) -> Result<R>,
) -> Result<R> {
    let outcome = held.try_with(|held| {
        let mut slot = held.slot(device).try_borrow_mut().map_err(|_| in_use::<T>(device))?;
        match &mut *slot {
            Some(handle) => action(handle),
            empty => action(empty.insert(obtain(device, make)?)),
        }
    });
    outcome.unwrap_or_else(|_| Err(ending::<T>()))
}

/// Calls `visit` with each handle of the calling thread. Returns the first error, after all have been visited.
pub fn each_held<T: PooledHandle>(
    held: &'static LocalKey<ThreadHandles<T>>,
    mut visit: impl FnMut(&mut T) -> Result<()>,
) -> Result<()> {
    let outcome = held.try_with(|held| {
        let mut outcome = Ok(());
        for slot in held.slots.get().into_iter().flat_map(|slots| slots.iter()) {
            // A handle in use is not visited: its user does the same at its next request.
            if let Ok(mut slot) = slot.try_borrow_mut()
                && let Some(handle) = &mut *slot
            {
                outcome = outcome.and(visit(handle));
            }
        }
        outcome
    });
    // An ending thread has no handles.
    outcome.unwrap_or(Ok(()))
}

#[cold]
#[inline(never)]
fn obtain<T: PooledHandle>(
    device: DeviceIndex,
    mut make: impl FnMut() -> Result<T>,
) -> Result<Box<T>> {
    if let Some(handle) = T::pool().take(device) {
        return Ok(handle);
    }
    let handle = make().or_else(|error| {
        // The library's memory does not come from the allocator, whose cache may hold all of the device's.
        if error.status() != Status::OutOfMemory || memory::empty_cache().is_err() {
            return Err(error);
        }
        make()
    });
    handle.map(Box::new)
}

#[cold]
#[inline(never)]
fn in_use<T: PooledHandle>(device: DeviceIndex) -> Error {
    Error::invalid_state(format!(
        "this thread's {} handle of device {device} is being used by the call that this callback \
         was called from; use it after that call has returned",
        T::LIBRARY
    ))
}

#[cold]
#[inline(never)]
fn ending<T: PooledHandle>() -> Error {
    Error::invalid_state(format!(
        "this thread is ending and has returned its {} handles; use them before its \
         thread-local objects are destroyed",
        T::LIBRARY
    ))
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::atomic::{AtomicUsize, Ordering};

    use parking_lot::Mutex;

    use super::super::pool::HandlePool;
    use super::*;

    static MADE: AtomicUsize = AtomicUsize::new(0);
    /// The pool and the count are the process's.
    static ALONE: Mutex<()> = Mutex::new(());
    static POOL: HandlePool<Counted> = HandlePool::new();
    thread_local! {
        static HELD: ThreadHandles<Counted> = const { ThreadHandles::new() };
    }

    #[derive(Debug)]
    struct Counted {
        number: usize,
        returns: usize,
        takes: usize,
    }

    /// Notes whether the pool is open when it is dropped.
    struct Rest;
    static OPEN: AtomicUsize = AtomicUsize::new(0);

    impl Drop for Rest {
        fn drop(&mut self) {
            let mut devices = (0..).map_while(DeviceIndex::new);
            OPEN.fetch_add(usize::from(devices.all(|it| POOL.is_open(it))), Ordering::Relaxed);
        }
    }

    impl PooledHandle for Counted {
        type Rest = Rest;
        const LIBRARY: &'static str = "counting";
        fn pool() -> &'static HandlePool<Self> {
            &POOL
        }
        fn returned(&mut self) -> Rest {
            self.returns += 1;
            Rest
        }
        fn taken(&mut self, _device: DeviceIndex) {
            self.takes += 1;
        }
    }

    fn make() -> Result<Counted> {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        Ok(Counted { number, returns: 0, takes: 0 })
    }

    fn ask(device: DeviceIndex) -> Result<(usize, usize, usize)> {
        with(&HELD, device, make, |handle| Ok((handle.number, handle.returns, handle.takes)))
    }

    fn in_thread<R: Send + 'static>(action: impl FnOnce() -> R + Send + 'static) -> R {
        std::thread::spawn(action).join().unwrap()
    }

    #[test]
    fn handles_stay_with_their_thread_and_go_on_to_the_next() {
        let _alone = ALONE.lock();
        let [one, two] = [3, 4].map(|index| DeviceIndex::new(index).unwrap());
        let first = ask(one).unwrap();
        assert_eq!(ask(one).unwrap(), first);
        assert_ne!(ask(two).unwrap().0, first.0);
        let second = in_thread(move || ask(one).unwrap());
        assert_ne!(second.0, first.0);
        assert_eq!(in_thread(move || ask(one).unwrap()), (second.0, 1, 1));
        let made = MADE.load(Ordering::Relaxed);

        let nested = with(&HELD, one, make, |_| ask(one)).unwrap_err();
        assert_eq!(nested.status(), Status::InvalidState);
        assert!(nested.message().contains("counting handle of device 3"), "{nested}");
        assert!(with(&HELD, one, make, |_| ask(two)).is_ok());
        assert_eq!(ask(one).unwrap(), first);

        // A failure leaves nothing behind, and the handle that the action failed on stays.
        let failure = || Error::invalid_argument("no");
        let free = DeviceIndex::new(5).unwrap();
        assert!(with(&HELD, free, || Err(failure()), |_: &mut Counted| Ok(())).is_err());
        assert!(with(&HELD, one, make, |_| Err::<(), _>(failure())).is_err());
        assert_eq!(MADE.load(Ordering::Relaxed), made);
        assert_eq!(ask(one).unwrap(), first);

        let mut seen = Vec::new();
        POOL.each_idle(|handle| seen.push(handle.number));
        assert!(seen.contains(&second.0) && !seen.contains(&first.0));
        let mut seen = Vec::new();
        let visited = each_held(&HELD, |handle| {
            seen.push(handle.number);
            Err(failure())
        });
        assert!(visited.is_err());
        assert_eq!(seen.len(), 2);
    }

    #[test]
    fn the_handle_that_was_used_last_goes_first_and_what_it_drops_keeps_nobody_waiting() {
        let _alone = ALONE.lock();
        let device = DeviceIndex::new(8).unwrap();
        let open = OPEN.load(Ordering::Relaxed);
        let [last, first] = in_thread(move || {
            let mine = ask(device).unwrap().0;
            [mine, in_thread(move || ask(device).unwrap().0)]
        });
        assert_eq!(OPEN.load(Ordering::Relaxed), open + 2);
        let mut seen = Vec::new();
        POOL.each_idle(|handle| seen.push(handle.number));
        assert!(seen.contains(&first) && seen.contains(&last), "{seen:?}");
        assert_eq!(in_thread(move || ask(device).unwrap().0), last);
    }

    #[test]
    fn a_thread_that_has_given_its_handles_back_is_refused() {
        let _alone = ALONE.lock();
        struct AtExit(std::sync::mpsc::Sender<Result<()>>);
        impl Drop for AtExit {
            fn drop(&mut self) {
                let device = DeviceIndex::new(7).unwrap();
                let _ = self.0.send(ask(device).map(drop));
                assert!(each_held(&HELD, |_| Ok(())).is_ok());
            }
        }
        thread_local! {
            static AT_EXIT: RefCell<Option<AtExit>> = const { RefCell::new(None) };
        }
        let (sender, receiver) = std::sync::mpsc::channel();
        in_thread(move || {
            // Destroyed after what is made later.
            AT_EXIT.with(|at_exit| *at_exit.borrow_mut() = Some(AtExit(sender)));
            ask(DeviceIndex::new(6).unwrap()).unwrap();
        });
        let error = receiver.recv().unwrap().unwrap_err();
        assert_eq!(error.status(), Status::InvalidState);
        assert!(error.message().contains("thread is ending"), "{error}");
    }
}
