//! Handles of a driver's objects. Only a backend makes them, so each one comes from the driver; a handle of a stream
//! may also come from a caller, who vouches for it.
//!
//! | handle | made by | ends with |
//! |---|---|---|
//! | [`StreamHandle`] | `stream_create`; [`StreamHandle::from_native`] for streams that the program made | `stream_destroy` |
//! | [`EventHandle`] | `event_create`, `ipc_event_open` | `event_destroy` |
//! | [`ModuleHandle`], [`KernelHandle`] | `module_load`, `kernel_find` | `module_unload` |
//! | [`GraphHandle`] | `capture_end`; `conditional_add`, for the bodies of a node | `graph_destroy`; bodies: with their graph |
//! | [`GraphExecHandle`] | `graph_instantiate` | `graph_exec_destroy` |
//! | [`ConditionHandle`] | `condition_create` | with its graph |
//! | [`PhysicalHandle`] | `physical_create`, `physical_retain`, `physical_import` | `physical_release` |
//!
//! A handle is a number and is copied freely. Destroying the object does not invalidate the copies: a
//! module that keeps a copy keeps the object alive during each call that takes it. A module that keeps a
//! handle where several threads read it keeps an [`AtomicHandle`].

use std::marker::PhantomData;

use sconce_base::sync::{AtomicUsize, Ordering};

/// What makes a handle of a number. Only a backend has one: handles are passed to the driver, which follows them.
#[derive(Clone, Copy, Debug)]
pub struct HandleMaker(());

impl HandleMaker {
    /// The maker of a backend's handles.
    ///
    /// # Safety
    /// Each number of which a handle is made with it is one that the backend's driver has returned for an object of
    /// that kind, or the backend checks its handles before it follows them.
    #[inline]
    #[allow(unsafe_code, reason = "marks the promise; the body does nothing unsafe")]
    pub const unsafe fn new() -> HandleMaker {
        HandleMaker(())
    }
}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident($number:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $name($number);

        impl $name {
            /// The handle that a backend has got from its driver.
            #[inline(always)]
            pub const fn from_driver(_maker: HandleMaker, number: $number) -> $name {
                $name(number)
            }

            /// The driver's number, for messages and for programs that call the driver themselves.
            #[inline(always)]
            pub const fn native(self) -> $number {
                self.0
            }
        }
    )*};
}

handles! {
    /// A driver's stream; 0 is the legacy default stream of the device it is used with.
    StreamHandle(usize);
    /// A driver's event; never 0.
    EventHandle(usize);
    /// A loaded set of kernels; never 0.
    ModuleHandle(usize);
    /// One kernel of a module, on one device; never 0.
    KernelHandle(usize);
    /// A graph; never 0.
    GraphHandle(usize);
    /// An executable graph; never 0.
    GraphExecHandle(usize);
    /// A value that a conditional node of a graph reads.
    ConditionHandle(u64);
    /// Physical device memory without an address.
    PhysicalHandle(u64);
}

impl StreamHandle {
    /// The legacy default stream.
    pub const DEFAULT: StreamHandle = StreamHandle(0);
    /// The default stream of the calling thread.
    pub const PER_THREAD: StreamHandle = StreamHandle(2);

    /// The handle that a program passes as a number: the one way in for streams that the library did
    /// not make. 1 is a second name of the legacy default stream.
    ///
    /// # Safety
    /// The number is 0, 1, 2, no possible handle, or a stream of the driver that the handle is passed
    /// to. The stream lives whenever a call names it. A driver follows the handle; `stream_check`
    /// refuses only what can be no handle. The simulator knows all its streams, and refuses others.
    ///
    /// ```compile_fail,E0133
    /// let handle = sconce_driver::StreamHandle::from_native(0x1000);
    /// ```
    #[inline]
    #[allow(unsafe_code, reason = "marks the promise; the body does nothing unsafe")]
    pub const unsafe fn from_native(native: usize) -> StreamHandle {
        if native == 1 { StreamHandle::DEFAULT } else { StreamHandle(native) }
    }
}

/// A handle that is kept in an [`AtomicHandle`]. Only this file can make one of a number.
pub trait WordHandle: Copy {
    fn from_word(word: usize, key: HandleKey) -> Self;
    fn word(self) -> usize;
}

/// What [`WordHandle::from_word`] takes, so that it is called in this file only.
#[derive(Debug)]
pub struct HandleKey(());

macro_rules! word_handles {
    ($($name:ident),*) => {$(
        impl WordHandle for $name {
            #[inline(always)]
            fn from_word(word: usize, _key: HandleKey) -> $name {
                $name(word)
            }

            #[inline(always)]
            fn word(self) -> usize {
                self.0
            }
        }
    )*};
}

word_handles!(StreamHandle, EventHandle, KernelHandle, ModuleHandle);

/// A place for a handle, or none, that threads read and write without a lock. The orderings are those of
/// an atomic number. Number 0 is none, so the legacy default stream reads as none.
#[repr(transparent)]
pub struct AtomicHandle<H> {
    word: AtomicUsize,
    kind: PhantomData<H>,
}

impl<H: WordHandle> AtomicHandle<H> {
    /// An empty place.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        AtomicHandle { word: AtomicUsize::new(0), kind: PhantomData }
    }

    /// An empty place.
    #[cfg(loom)]
    pub fn new() -> Self {
        AtomicHandle { word: AtomicUsize::new(0), kind: PhantomData }
    }

    /// A place with a handle.
    pub fn holding(handle: H) -> Self {
        AtomicHandle { word: AtomicUsize::new(handle.word()), kind: PhantomData }
    }

    /// The handle.
    #[inline(always)]
    pub fn load(&self, order: Ordering) -> Option<H> {
        match self.word.load(order) {
            0 => None,
            word => Some(H::from_word(word, HandleKey(()))),
        }
    }

    /// Replaces the handle.
    #[inline(always)]
    pub fn store(&self, handle: Option<H>, order: Ordering) {
        self.word.store(handle.map_or(0, H::word), order);
    }
}

impl<H: WordHandle> Default for AtomicHandle<H> {
    fn default() -> Self {
        AtomicHandle::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_place_holds_the_handle_that_was_stored_last() {
        let place = AtomicHandle::new();
        assert_eq!(place.load(Ordering::Acquire), None);
        #[allow(unsafe_code, reason = "no driver gets the handle")]
        // SAFETY: no driver gets the handle.
        let maker = unsafe { HandleMaker::new() };
        let event = EventHandle::from_driver(maker, 0x1000);
        place.store(Some(event), Ordering::Release);
        assert_eq!(place.load(Ordering::Acquire), Some(event));
        place.store(None, Ordering::Release);
        assert_eq!(place.load(Ordering::Acquire), None);
    }

    #[test]
    fn the_second_name_of_the_default_stream_is_the_default_stream() {
        #[allow(unsafe_code, reason = "no driver gets the handles")]
        // SAFETY: no driver gets the handles.
        let [one, two, other] = [1, 2, 0x1000].map(|n| unsafe { StreamHandle::from_native(n) });
        assert_eq!((one, two), (StreamHandle::DEFAULT, StreamHandle::PER_THREAD));
        assert_eq!(other.native(), 0x1000);
    }
}
