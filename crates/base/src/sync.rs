//! Locks and atomics of the concurrent structures, exchanged for loom's under `--cfg loom`.
//!
//! Only structures that a loom model drives use this; everything else takes the locks of `lock` directly.

#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

#[cfg(loom)]
pub use loom::sync::Arc as Shared;
#[cfg(not(loom))]
pub use std::sync::Arc as Shared;

#[cfg(not(loom))]
pub use crate::lock::{Mutex, MutexGuard};

/// loom's mutex with the signature of ours: a poisoned lock is a failed model anyway.
#[cfg(loom)]
pub struct LoomMutex<R, T>(loom::sync::Mutex<T>, std::marker::PhantomData<fn() -> R>);

#[cfg(loom)]
pub use {LoomGuard as MutexGuard, LoomMutex as Mutex};

/// The guard of loom's mutex.
#[cfg(loom)]
pub struct LoomGuard<'a, R, T>(loom::sync::MutexGuard<'a, T>, std::marker::PhantomData<fn() -> R>);

#[cfg(loom)]
impl<R, T> std::ops::Deref for LoomGuard<'_, R, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

#[cfg(loom)]
impl<R, T> std::ops::DerefMut for LoomGuard<'_, R, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

#[cfg(loom)]
impl<R, T> LoomMutex<R, T> {
    pub fn new(value: T) -> Self {
        LoomMutex(loom::sync::Mutex::new(value), std::marker::PhantomData)
    }

    pub fn lock(&self) -> MutexGuard<'_, R, T> {
        let guard = match self.0.lock() {
            Ok(guard) => guard,
            Err(poisoned) => poisoned.into_inner(),
        };
        LoomGuard(guard, std::marker::PhantomData)
    }

    pub fn try_lock(&self) -> Option<MutexGuard<'_, R, T>> {
        self.0.try_lock().ok().map(|guard| LoomGuard(guard, std::marker::PhantomData))
    }
}

#[cfg(loom)]
pub use loom::cell::UnsafeCell;

/// A cell with the interface of loom's, which checks in models that nothing else uses the contents.
#[cfg(not(loom))]
#[derive(Default)]
pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub fn new(value: T) -> Self {
        UnsafeCell(std::cell::UnsafeCell::new(value))
    }

    /// Passes the contents' address to a function that reads them.
    #[inline]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    /// Passes the contents' address to a function that changes them.
    #[inline]
    pub fn with_mut<R>(&self, change: impl FnOnce(*mut T) -> R) -> R {
        change(self.0.get())
    }
}

#[cfg(not(loom))]
pub use crate::lock::OnceCell;

#[cfg(loom)]
pub use LoomOnceCell as OnceCell;

/// A cell that is set once, for models only. Its value is never freed, like those of the statics
/// that it replaces.
#[cfg(loom)]
pub struct LoomOnceCell<R, T: 'static>(
    loom::sync::Mutex<Option<&'static T>>,
    std::marker::PhantomData<fn() -> R>,
);

#[cfg(loom)]
impl<R, T> LoomOnceCell<R, T> {
    pub fn new() -> Self {
        LoomOnceCell(loom::sync::Mutex::new(None), std::marker::PhantomData)
    }

    pub fn get(&self) -> Option<&T> {
        self.0.lock().ok().and_then(|value| *value)
    }

    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        match self.0.lock() {
            Ok(mut value) => value.get_or_insert_with(|| Box::leak(Box::new(make()))),
            Err(_) => Box::leak(Box::new(make())),
        }
    }
}

#[cfg(not(loom))]
pub use once_cell::race::OnceBox;

/// A cell that is set once with a box, for models only.
#[cfg(loom)]
pub struct OnceBox<T: 'static>(OnceCell<(), T>);

#[cfg(loom)]
impl<T> OnceBox<T> {
    pub fn new() -> Self {
        OnceBox(OnceCell::new())
    }

    pub fn get(&self) -> Option<&T> {
        self.0.get()
    }

    pub fn get_or_init(&self, make: impl FnOnce() -> Box<T>) -> &T {
        self.0.get_or_init(|| *make())
    }
}

/// A static of a type whose `new` is const; loom has no such types, and no model uses the statics.
#[macro_export]
macro_rules! shared_static {
    ($(#[$attribute:meta])* static $name:ident: $type:ty = $make:expr;) => {
        #[cfg(not(loom))]
        $(#[$attribute])*
        static $name: $type = $make;
        #[cfg(loom)]
        $(#[$attribute])*
        static $name: std::sync::LazyLock<$type> =
            std::sync::LazyLock::new(|| panic!("statics are not part of any model"));
    };
}
pub use shared_static;

/// Asks for a value's cache line in order to write it. A line that another core has written then comes over once; a
/// read followed by a write would move it twice.
#[inline(always)]
#[allow(unsafe_code, reason = "an instruction for which there is no function")]
pub fn prefetch_to_write<T>(place: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri), not(loom)))]
    // SAFETY: the instruction changes neither memory nor registers, and does nothing for an address it cannot use.
    unsafe {
        std::arch::asm!(
            "prefetchw byte ptr [{}]",
            in(reg) std::ptr::from_ref(place),
            options(nostack, preserves_flags, readonly)
        );
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri), not(loom))))]
    let _ = place;
}
