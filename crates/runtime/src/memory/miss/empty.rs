//! Step 6: emptying all caches of the device while it is closed to other requests.

use sconce_base::error::Result;

use super::new_pages::Moves;
use super::request::Miss;
use super::search::{search, search_locked};
use super::{new_segment, reclaim, release, release_pages};
use crate::memory::source::pages;
use crate::memory::streams::device::Rescue;
use crate::memory::streams::{all_caches, deferred};

/// Searches and asks the driver once more, without returning segments, while the device is closed to other
/// requests: no segment is on its way, and none is set aside. For a device with a stream that is being
/// captured.
pub(super) fn try_closed(miss: &Miss<'_>) -> Result<Option<u64>> {
    let closed = miss.home().close();
    match search(miss.cache, miss.wanted) {
        Some(address) => Ok(Some(address)),
        None => new_segment::get(miss, Moves::Forbidden, &closed.exclusive),
    }
}

/// Gives back every segment without live blocks and asks the driver, while the device is closed to
/// other requests.
///
/// When this returns `None` there was a moment, with all caches locked, at which the segments with
/// live blocks and the segment wanted did not fit: from that moment until the driver was asked, no other
/// thread got memory from it or took a segment out of a cache. While the rescue is held, no other thread
/// has taken events out of a cache to wait for them.
pub(super) fn empty_caches(miss: &Miss<'_>, _rescue: &Rescue<'_>) -> Result<Option<u64>> {
    let &Miss { runtime, cache, wanted, .. } = miss;
    let closed = miss.home().close();
    loop {
        deferred::wait_for_all(runtime, miss.device())?;
        let mut pages = pages::lock(miss.device());
        let mut caches = all_caches::lock_all(miss.device(), &closed.exclusive);
        // Blocks freed since then are waited for too. They are ever fewer, since no thread gets new ones.
        if caches.iter().any(|(_, inner)| inner.has_delayed()) {
            continue;
        }
        let own = caches.iter_mut().find(|(other, _)| std::ptr::eq(*other, cache));
        if let Some((_, inner)) = own
            && let Some(address) = search_locked(cache, inner, wanted)
        {
            return Ok(Some(address));
        }
        let idle = release::take_idle(&mut caches);
        let lent = release_pages::take_idle(&mut pages, &mut caches);
        drop(caches);
        drop(pages);
        release::to_driver(runtime, idle, &closed.exclusive)?;
        release_pages::to_driver(runtime, miss.device(), lent, &closed.exclusive)?;
        if let Some(address) = new_segment::get(miss, Moves::Allowed, &closed.exclusive)? {
            drop(closed);
            crate::memory::check::in_debug(cache);
            return Ok(Some(address));
        }
        // Blocks that other modules have stopped using since. They are ever fewer, too.
        if reclaim::free_idle_blocks(miss.device()) == 0 {
            return Ok(None);
        }
    }
}
