//! The handles of a library that no thread holds, by device.

use sconce_base::collections::per_device::PerDevice;
#[cfg(not(loom))]
use sconce_base::collections::per_device::per_device;
use sconce_base::lock::rank;
use sconce_base::sync::Mutex;
use sconce_base::types::DeviceIndex;

/// A library's handle of one device.
pub trait PooledHandle: Send + Sized + 'static {
    /// What a returned handle drops when the pool is unlocked again.
    type Rest;
    /// The library's name, for messages.
    const LIBRARY: &'static str;
    /// The library's pool.
    fn pool() -> &'static HandlePool<Self>;
    /// Called with the pool locked, when the thread that held the handle ends. Takes out what must not stay
    /// in the pool.
    fn returned(&mut self) -> Self::Rest;
    /// Called when a thread takes the handle from the pool.
    fn taken(&mut self, device: DeviceIndex);
}

/// A library's handles that no thread holds.
pub struct HandlePool<T> {
    idle: PerDevice<Mutex<rank::LibraryHandles, Vec<Box<T>>>>,
}

impl<T> HandlePool<T> {
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        HandlePool { idle: per_device!(Mutex::new(Vec::new())) }
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        HandlePool { idle: PerDevice::from_fn(|_| Mutex::new(Vec::new())) }
    }
}

impl<T: PooledHandle> HandlePool<T> {
    /// Takes out the handle that was returned last.
    pub(super) fn take(&self, device: DeviceIndex) -> Option<Box<T>> {
        let mut handle = self.idle[device].lock().pop()?;
        handle.taken(device);
        Some(handle)
    }

    /// Returns a handle to the pool.
    pub(super) fn give_back(&self, device: DeviceIndex, mut handle: Box<T>) {
        let mut idle = self.idle[device].lock();
        // Called under the pool's lock, so that a concurrent `each_idle` either visits this handle, or has
        // finished before `returned` reads the state that its caller changed.
        let rest = handle.returned();
        idle.push(handle);
        drop(idle);
        drop(rest);
    }

    /// Whether the lock of a device's handles is free.
    #[cfg(all(test, not(loom)))]
    pub(super) fn is_open(&self, device: DeviceIndex) -> bool {
        self.idle[device].try_lock().is_some()
    }

    /// Calls `visit` with each handle, device by device. `visit` must not take locks.
    pub fn each_idle(&self, mut visit: impl FnMut(&mut T)) {
        for (_, idle) in self.idle.iter() {
            for handle in idle.lock().iter_mut() {
                visit(handle);
            }
        }
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use loom::sync::Arc;
    use sconce_base::sync::{AtomicU32, Ordering};

    use super::*;

    /// A handle with a workspace, which it must not keep in the pool if that is old.
    struct Aging {
        now: Arc<AtomicU32>,
        workspace: Option<u32>,
    }

    impl PooledHandle for Aging {
        type Rest = ();
        const LIBRARY: &'static str = "the model";
        fn pool() -> &'static HandlePool<Self> {
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
            let pool = Arc::new(HandlePool::new());
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
            let pool = Arc::new(HandlePool::new());
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
