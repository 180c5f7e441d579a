//! Giving free pages back to the driver. Nothing waits for the device where the library knows the streams: an
//! event is recorded on each stream that used the pages, and only these are waited for.

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;
use sconce_driver::{EventFlags, RelaxedCapture};

use super::lent_pages::{self, LentPages, is_common, own_stream};
use crate::context::Runtime;
use crate::event::NativeEvent;
use crate::memory::heap::heap_records::HeapPool;
use crate::memory::heap::idle_segment::IdleSegment;
use crate::memory::source::pages::{self, DevicePages, FreePage};
use crate::memory::streams::cache::{LockedCache, StreamCache};
use crate::memory::streams::device::DeviceMemory;
use crate::memory::streams::device::gate::Passage;
use crate::stream;

/// Takes the free pages out of a cache that is locked.
fn take(
    pages: &mut DevicePages,
    cache: &'static StreamCache,
    inner: &mut LockedCache,
    wanted: impl Fn(&HeapPool) -> bool,
) -> Vec<LentPages> {
    let free = lent_pages::free_pages(pages, inner, wanted);
    let mut free: Vec<FreePage> = free.into_iter().flat_map(|(_, pages)| pages).collect();
    free.sort_unstable_by_key(|page| page.address);
    lent_pages::take(pages, cache, inner, &free)
}

/// Takes the free pages out of caches that are locked, except those of private pools in use.
pub(super) fn take_idle(
    pages: &mut DevicePages,
    caches: &mut [(&'static StreamCache, LockedCache)],
) -> Vec<LentPages> {
    let each = caches.iter_mut();
    each.flat_map(|(cache, inner)| take(pages, cache, inner, is_common)).collect()
}

/// Gives back the free pages of the pools that `wanted` holds for; the result is their bytes. No stream of the
/// device is being captured.
pub(crate) fn of_pools(
    runtime: &Runtime,
    device: DeviceIndex,
    wanted: impl Fn(&HeapPool) -> bool,
) -> Result<u64> {
    let passage = DeviceMemory::of(device).gate.shared();
    let lent = {
        let mut pages = pages::lock(device);
        let caches = StreamCache::all_of(device);
        caches.flat_map(|cache| take(&mut pages, cache, &mut cache.visit(), &wanted)).collect()
    };
    to_driver(runtime, device, lent, &passage)
}

/// Gives pages that were taken out of their caches back to the driver; the result is their bytes. A page that
/// the driver refuses goes back to its cache, and the others are still given back.
pub(super) fn to_driver(
    runtime: &Runtime,
    device: DeviceIndex,
    lent: Vec<LentPages>,
    _passage: &impl Passage,
) -> Result<u64> {
    let driver = runtime.driver();
    if lent.is_empty() {
        let mut pages = pages::lock(device);
        pages.release_spares(driver);
        pages.release_addresses(driver)?;
        return Ok(0);
    }
    let waited = wait_for_work(runtime, device, &lent);
    let mut pages = pages::lock(device);
    if let Err(error) = waited {
        lent_pages::put_back(&mut pages, lent);
        return Err(error.context("cached memory could not be returned to the driver"));
    }
    let (mut bytes, mut outcome) = (0, Ok(()));
    for LentPages { of, was, pages: these } in lent {
        let mut gone = 0;
        for page in these {
            match pages.give_back(driver, page.address) {
                Ok(()) => gone += page.bytes,
                Err(error) => {
                    outcome = outcome.and(Err(error));
                    let was = IdleSegment { address: page.address, bytes: page.bytes, ..was };
                    let stays = LentPages { of: of.cache().use_it(), was, pages: vec![page] };
                    lent_pages::put_back(&mut pages, vec![stays]);
                }
            }
        }
        if gone != 0 {
            pages.count_bytes(-(gone as i64));
            of.cache().home.accounting.lock().lost_pages(was.kind, gone);
        }
        bytes += gone;
        of.cache().visit().heap.finished().shrink_if_empty();
    }
    pages.release_spares(driver);
    outcome = outcome.and(pages.release_addresses(driver));
    match outcome {
        Ok(()) => Ok(bytes),
        Err(error) => Err(error.context("cached memory could not be returned to the driver")),
    }
}

/// Waits until no work uses the pages: for an event on each stream of the library, and for the device if a
/// stream of the program is among them, which no call may touch that does not name it.
fn wait_for_work(runtime: &Runtime, device: DeviceIndex, lent: &[LentPages]) -> Result<()> {
    let driver = runtime.driver();
    let _relaxed = RelaxedCapture::enter(driver)?;
    let mut events = Vec::new();
    let mut seen = Vec::new();
    for lent in lent {
        let Some(own) = own_stream(lent.of.cache()) else {
            return driver.device_synchronize(device);
        };
        if !seen.contains(&own) {
            seen.push(own);
            if stream::is_stream_idle(runtime, own) {
                continue;
            }
            let event = NativeEvent::obtain(runtime, device, EventFlags::default())?;
            driver.event_record(event.handle(), own)?;
            events.push(event);
        }
    }
    events.iter().try_for_each(|event| driver.event_synchronize(event.handle()))
}
