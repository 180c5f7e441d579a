//! A request that no free block fits, and what is known of it.

use std::cell::Cell;

use sconce_base::error::{Error, Result, Status};
use sconce_base::types::DeviceIndex;

use crate::caching::settings;
use crate::caching::size_class::{TOO_LARGE, segment_bytes};
use crate::context::Runtime;
use crate::memory::heap::request::BlockRequest;
use crate::memory::source::pages::SMALLEST_PAGE;
use crate::memory::source::pool_policy;
use crate::memory::streams::cache::{StreamCache, StreamMemory};
use crate::memory::streams::device::DeviceMemory;
use crate::stream::{self, GivingBack};

/// What a caller asks for, and of which pool.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    /// The number of the pool; 0 is the default one.
    pub(crate) pool: u64,
    /// The bytes asked for.
    pub(crate) bytes: usize,
}

impl Wanted {
    /// The request to a heap, by the settings in force and the pool's policy.
    pub(super) fn request(&self, inner: &mut StreamMemory) -> BlockRequest {
        if inner.policy.refresh() {
            inner.heap.finished();
        }
        let pool = inner.heap.pool(self.pool);
        let mut request = inner.policy.request(pool, self.bytes);
        if let Some(paged) = pool_policy::is_paged(self.pool) {
            request.fit = inner.policy.fit_of(paged);
        }
        request
    }
}

/// A miss: a request that no free block fits. It is made once, so every step goes by the same settings.
pub(crate) struct Miss<'a> {
    pub(super) runtime: &'a Runtime,
    pub(super) cache: &'static StreamCache,
    pub(super) wanted: Wanted,
    /// The request to the heap. Its pool must be looked up again whenever the cache is locked.
    pub(super) request: BlockRequest,
    /// Memory is made of pages.
    pub(super) paged: bool,
    /// The bytes to ask the driver for; of pages, at most so many.
    pub(super) segment_bytes: usize,
    /// Why the driver refused pages although there was memory.
    pub(super) refusal: Cell<Option<Error>>,
}

impl<'a> Miss<'a> {
    pub(super) fn new(
        runtime: &'a Runtime,
        cache: &'static StreamCache,
        wanted: Wanted,
    ) -> Miss<'a> {
        let request = wanted.request(&mut cache.visit());
        let settings = settings::current();
        let paged = pool_policy::is_paged(wanted.pool).unwrap_or(settings.expandable_segments);
        let rounded = request.rounded as usize;
        let segment_bytes = match paged {
            true => rounded.next_multiple_of(SMALLEST_PAGE as usize),
            false => segment_bytes(rounded, settings.large_segment_bytes),
        };
        let refusal = Cell::new(None);
        Miss { runtime, cache, wanted, request, paged, segment_bytes, refusal }
    }

    /// The device.
    pub(super) fn device(&self) -> DeviceIndex {
        self.cache.device()
    }

    /// The state that the caches of the device share.
    pub(super) fn home(&self) -> &'static DeviceMemory {
        self.cache.home
    }

    /// Begins to give memory back to the driver; `None` while a stream of the device is being captured.
    pub(super) fn give_back(&self) -> Option<GivingBack<'static>> {
        stream::give_back(self.runtime, self.device(), Some(self.cache.stream()))
    }
}

/// Refuses sizes that no device has, before rounding could overflow.
pub(crate) fn check_size(bytes: usize) -> Result<()> {
    if bytes < TOO_LARGE {
        return Ok(());
    }
    Err(Error::new(
        Status::OutOfMemory,
        format!("CUDA out of memory. Tried to allocate more than 1EB memory. (bytes is {bytes})"),
    ))
}
