//! A value that calls use all the time and that hardly ever changes.

use std::marker::PhantomData;
use std::ops::Deref;
use std::time::Duration;

use super::gate::Gate;
#[cfg(not(loom))]
use crate::lock::{LockHold, about_to_take, note_left, note_taken};
use crate::lock::{LockRank, RwLock};

#[cfg(not(loom))]
use super::words;
#[cfg(not(loom))]
use crate::sync::{AtomicUsize, Ordering};
#[cfg(not(loom))]
use crate::thread_state;

/// How long a thread that changes the value waits before it looks again whether another one uses it.
const NAP: Duration = Duration::from_micros(20);

/// A value, its gate, and the lock of those that cannot use the gate.
pub struct SharedValue<R, T> {
    gate: Gate,
    value: RwLock<R, T>,
}

/// The value does not change.
pub struct SharedGuard<'a, R: LockRank, T> {
    shared: &'a SharedValue<R, T>,
    /// The thread's word, if it has passed the gate; else it holds the lock.
    #[cfg(not(loom))]
    word: Option<&'static AtomicUsize>,
    /// The thread that began to use the value ends it.
    _here: PhantomData<*const ()>,
}

impl<R: LockRank, T: Default> Default for SharedValue<R, T> {
    fn default() -> SharedValue<R, T> {
        SharedValue { gate: Gate::default(), value: RwLock::default() }
    }
}

impl<R: LockRank, T> SharedValue<R, T> {
    /// Uses the value: it does not change until the guard is dropped. Threads that use it do not wait for each other.
    #[cfg(not(loom))]
    #[inline(always)]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn read(&self) -> SharedGuard<'_, R, T> {
        about_to_take::<R>(self.value.address());
        match thread_state::announcement() {
            Some(word) if self.gate.pass(word) => {
                note_taken::<R>(self.value.address(), LockHold::Shared);
                SharedGuard { shared: self, word: Some(word), _here: PhantomData }
            }
            _ => self.read_slowly(),
        }
    }

    #[cfg(not(loom))]
    #[cold]
    #[inline(never)]
    fn read_slowly(&self) -> SharedGuard<'_, R, T> {
        // From the next use on the thread has a word.
        if thread_state::announcement().is_none() {
            words::first_use();
        }
        std::mem::forget(self.value.read());
        SharedGuard { shared: self, word: None, _here: PhantomData }
    }

    /// Uses the value. The models check the gate alone.
    #[cfg(loom)]
    pub fn read(&self) -> SharedGuard<'_, R, T> {
        std::mem::forget(self.value.read());
        SharedGuard { shared: self, _here: PhantomData }
    }

    /// Changes the value, once no thread uses it.
    pub fn change<V>(&self, change: impl FnOnce(&mut T) -> V) -> V {
        let mut value = self.value.write();
        let _closed = ClosedGate::new(&self.gate);
        self.await_users();
        change(&mut value)
    }

    #[cfg(not(loom))]
    fn await_users(&self) {
        // A thread that has its first word later sees that the gate is closed.
        if words::others() == 0 {
            return;
        }
        while words::announced().contains(&self.gate.address()) {
            std::thread::sleep(NAP);
        }
    }

    #[cfg(loom)]
    fn await_users(&self) {
        let _ = (NAP, self.gate.address());
    }
}

/// The gate is closed until this is dropped, also by a panic.
struct ClosedGate<'a>(&'a Gate);

impl ClosedGate<'_> {
    fn new(gate: &Gate) -> ClosedGate<'_> {
        gate.close();
        ClosedGate(gate)
    }
}

impl Drop for ClosedGate<'_> {
    fn drop(&mut self) {
        self.0.open();
    }
}

impl<R: LockRank, T> Deref for SharedGuard<'_, R, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held shared, or the gate was passed, and whoever changes the value first waits for both.
        unsafe { &*self.shared.value.data_ptr() }
    }
}

impl<R: LockRank, T> Drop for SharedGuard<'_, R, T> {
    #[inline(always)]
    fn drop(&mut self) {
        #[cfg(not(loom))]
        if let Some(word) = self.word {
            word.store(0, Ordering::Release);
            note_left::<R>(LockHold::Shared);
            return;
        }
        unlock(&self.shared.value);
    }
}

/// Gives up the lock that a guard holds.
#[cold]
#[inline(never)]
fn unlock<R: LockRank, T>(value: &RwLock<R, T>) {
    // SAFETY: the guard holds it shared, and is being dropped.
    unsafe { value.force_unlock_read() };
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use crate::lock::rank;

    type SharedValue<T> = super::SharedValue<rank::UserKernel, T>;
    type OtherValue<T> = super::SharedValue<rank::Segments, T>;

    /// The value of a thread's first use, which takes the lock, and of a second one, which passes the gate.
    fn warm(shared: &SharedValue<usize>) {
        drop(shared.read());
        drop(shared.read());
    }

    #[test]
    fn a_change_waits_for_those_that_use_the_value_either_way() {
        for warmed in [false, true] {
            let (shared, changed) = (SharedValue::<usize>::default(), AtomicBool::new(false));
            let (inside, wait) = channel();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    if warmed {
                        warm(&shared);
                    }
                    let value = shared.read();
                    assert_eq!(value.word.is_some(), warmed);
                    inside.send(()).unwrap();
                    std::thread::sleep(Duration::from_millis(20));
                    assert!(!changed.load(Ordering::Relaxed), "changed while it was used");
                    assert_eq!(*value, 0);
                });
                wait.recv().unwrap();
                shared.change(|value| {
                    changed.store(true, Ordering::Relaxed);
                    *value = 1;
                });
            });
            assert_eq!(*shared.read(), 1);
        }
    }

    #[test]
    fn users_wait_for_a_change_and_not_for_each_other() {
        let shared = SharedValue::<usize>::default();
        warm(&shared);
        let used = shared.read();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                warm(&shared);
                assert_eq!(*shared.read(), 0);
            });
        });
        // A thread that uses something already takes the lock.
        let other = OtherValue::<usize>::default();
        assert_eq!((used.word.is_some(), other.read().word.is_some()), (true, false));
        drop(used);
        assert!(other.read().word.is_some());
    }

    #[test]
    fn a_panic_in_a_change_leaves_the_value_usable() {
        let shared = SharedValue::<usize>::default();
        let change = || shared.change(|_| panic!("in a change"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(change)).is_err());
        warm(&shared);
        assert!(shared.read().word.is_some());
    }

    #[test]
    fn readers_never_see_half_of_a_change() {
        let rounds = if cfg!(miri) { 20 } else { 20_000 };
        let shared = SharedValue::<[usize; 2]>::default();
        std::thread::scope(|scope| {
            let read = || {
                for _ in 0..rounds {
                    let [first, second] = *shared.read();
                    assert_eq!(first, second);
                }
            };
            let readers = [scope.spawn(read), scope.spawn(read)];
            let mut round = 0;
            while round < 3 || !readers.iter().all(|reader| reader.is_finished()) {
                round += 1;
                shared.change(|value| {
                    value[0] = round;
                    std::hint::black_box(&mut *value);
                    value[1] = round;
                });
            }
        });
    }
}
