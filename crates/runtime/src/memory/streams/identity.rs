//! Which stream a cache belongs to.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use sconce_base::types::DeviceIndex;
use sconce_driver::{AtomicHandle, StreamHandle, StreamRef};

use crate::stream::{Maker, Named};

/// The stream of a cache, and whether that may change.
pub(crate) struct CacheIdentity {
    device: DeviceIndex,
    /// The driver's handle of the stream. It changes only while no call uses the cache and its lock is
    /// held ([`CacheIdentity::change_to`]).
    handle: AtomicHandle<StreamHandle>,
    /// How many calls use the cache, locked or not.
    users: AtomicUsize,
    /// Calls find the cache without the table, by a stream of the library's own: it keeps its stream for
    /// ever.
    kept: AtomicBool,
    /// Which of the streams that had the handle it belongs to: the bits of a [`Maker`].
    maker: AtomicU64,
}

impl CacheIdentity {
    pub(crate) fn new(stream: StreamRef) -> CacheIdentity {
        CacheIdentity {
            device: stream.device,
            handle: AtomicHandle::holding(stream.handle),
            users: AtomicUsize::new(0),
            kept: AtomicBool::new(stream.handle == StreamHandle::DEFAULT),
            maker: AtomicU64::new(Maker::LIBRARY.to_bits()),
        }
    }

    /// The device of the stream; it never changes.
    pub(crate) fn device(&self) -> DeviceIndex {
        self.device
    }

    /// The stream. Sure to stay the same while the cache is in use, or locked and not empty.
    pub(crate) fn stream(&self) -> StreamRef {
        let handle = self.handle.load(Ordering::Relaxed).unwrap_or(StreamHandle::DEFAULT);
        StreamRef { device: self.device, handle }
    }

    /// A call begins to use the cache. The lock of the table or of the cache is held.
    pub(crate) fn begin_use(&self) {
        self.users.fetch_add(1, Ordering::Relaxed);
    }

    /// A call no longer uses the cache.
    pub(crate) fn end_use(&self) {
        self.users.fetch_sub(1, Ordering::Release);
    }

    /// From now on the cache stays its stream's. Called while the cache is in use.
    pub(crate) fn keep(&self) {
        self.kept.store(true, Ordering::Relaxed);
    }

    /// Makes a cache that no call uses that of another stream of the device, if `is_empty`; returns
    /// whether it did. The cache is locked, and so is the table for writing: no call begins to use the
    /// cache, and what calls before have written is seen.
    pub(crate) fn change_to(&self, stream: StreamRef, is_empty: impl FnOnce() -> bool) -> bool {
        let free = self.users.load(Ordering::Acquire) == 0
            && !self.kept.load(Ordering::Relaxed)
            && stream.device == self.device
            && is_empty();
        if free {
            self.handle.store(Some(stream.handle), Ordering::Relaxed);
        }
        free
    }

    /// The maker of the stream.
    pub(crate) fn maker(&self) -> Maker {
        Maker::from_bits(self.maker.load(Ordering::Relaxed))
    }

    /// Notes the maker of the stream.
    pub(crate) fn set_maker(&self, maker: Maker) {
        self.maker.store(maker.to_bits(), Ordering::Relaxed);
    }

    /// Whether a stream is the cache's own, as far as is known.
    pub(crate) fn is_of(&self, stream: Named) -> bool {
        stream.stream == self.stream() && !stream.maker.is_other_than(self.maker())
    }
}
