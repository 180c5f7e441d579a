//! Handles that no thread holds, by device.

use super::Lent;
use crate::sync::Mutex;
use crate::types::{DeviceIndex, MAX_DEVICES};

/// The handles of a library that no thread holds.
pub(crate) struct Pool<T> {
    idle: [Mutex<Vec<Box<T>>>; MAX_DEVICES],
}

impl<T> Pool<T> {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Pool { idle: [const { Mutex::new(Vec::new()) }; MAX_DEVICES] }
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Pool { idle: std::array::from_fn(|_| Mutex::new(Vec::new())) }
    }
}

impl<T: Lent> Pool<T> {
    /// The handle that was used last, if there is one.
    pub(super) fn take(&self, device: DeviceIndex) -> Option<Box<T>> {
        let mut handle = self.idle[device.as_usize()].lock().pop()?;
        handle.taken(device);
        Some(handle)
    }

    /// Takes a handle back.
    pub(super) fn give_back(&self, device: DeviceIndex, mut handle: Box<T>) {
        let mut idle = self.idle[device.as_usize()].lock();
        // Under the lock: who goes through the pool meanwhile either finds the handle in it, or has
        // done before what the handle looks at now.
        let rest = handle.returned();
        idle.push(handle);
        drop(idle);
        drop(rest);
    }

    /// Whether nobody has the lock of a device's handles.
    #[cfg(all(test, not(loom)))]
    pub(super) fn is_open(&self, device: DeviceIndex) -> bool {
        self.idle[device.as_usize()].try_lock().is_some()
    }

    /// Shows all handles to `visit`, which gets them device by device and must not take locks.
    pub(crate) fn each_idle(&self, mut visit: impl FnMut(&mut T)) {
        for idle in &self.idle {
            for handle in idle.lock().iter_mut() {
                visit(handle);
            }
        }
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use super::*;
    use crate::sync::{AtomicU32, Ordering};
    use loom::sync::Arc;

    /// Has a workspace of an age; must not keep an old one in the pool.
    struct Aging {
        now: Arc<AtomicU32>,
        workspace: Option<u32>,
    }

    impl Lent for Aging {
        type Rest = ();
        const LIBRARY: &'static str = "the model";
        fn pool() -> &'static Pool<Self> {
            panic!("models have pools of their own")
        }
        fn returned(&mut self) {
            let now = self.now.load(Ordering::Relaxed);
            self.workspace = self.workspace.filter(|age| *age == now);
        }
        fn taken(&mut self, _device: DeviceIndex) {}
    }

    #[test]
    fn what_is_cleared_while_a_handle_goes_back_does_not_stay_in_the_pool() {
        loom::model(|| {
            let now = Arc::new(AtomicU32::new(0));
            let pool = Arc::new(Pool::new());
            let giver = {
                let (pool, now) = (pool.clone(), now.clone());
                loom::thread::spawn(move || {
                    let handle = Box::new(Aging { now, workspace: Some(0) });
                    pool.give_back(DeviceIndex::ZERO, handle);
                })
            };
            now.fetch_add(1, Ordering::Relaxed);
            pool.each_idle(|handle| handle.workspace = None);
            giver.join().unwrap();
            assert!(pool.take(DeviceIndex::ZERO).unwrap().workspace.is_none());
        });
    }

    #[test]
    fn a_handle_goes_to_one_of_the_threads_that_want_it() {
        loom::model(|| {
            let now = Arc::new(AtomicU32::new(0));
            let pool = Arc::new(Pool::new());
            pool.give_back(DeviceIndex::ZERO, Box::new(Aging { now, workspace: None }));
            let other = {
                let pool = pool.clone();
                loom::thread::spawn(move || pool.take(DeviceIndex::ZERO).is_some())
            };
            let here = pool.take(DeviceIndex::ZERO).is_some();
            assert!(here ^ other.join().unwrap());
        });
    }
}
