//! Step 5: waiting for deferred frees, and giving oversize blocks back.

use sconce_base::error::Result;

use super::empty::{empty_caches, try_closed};
use super::new_pages::Moves;
use super::request::Miss;
use super::search::search;
use super::{new_segment, release};
use crate::memory::streams::{all_caches, deferred};

/// Takes the steps after the driver has refused, one thread at a time. `before` is how many rescues the
/// device had had when the driver was asked.
pub(super) fn rescue(miss: &Miss<'_>, before: Option<u64>) -> Result<Option<u64>> {
    let &Miss { runtime, cache, wanted, .. } = miss;
    let home = miss.home();
    let begun = miss.give_back();
    let rescue = home.rescue(begun.as_ref());
    if before.is_none_or(|before| *rescue != before + 1) {
        // Another thread has rescued meanwhile, and may have left enough.
        if let Some(address) = search(cache, wanted) {
            return Ok(Some(address));
        }
        if let Some(address) = new_segment::get_shared_as(miss, Moves::where_begun(&begun))? {
            return Ok(Some(address));
        }
    }
    if begun.is_none() {
        return try_closed(miss);
    }
    // As in torch, a failing request counts as one wait for all streams, however often it looks.
    let waited = all_caches::have_delayed(miss.device());
    if waited {
        home.count_sync();
        deferred::wait_for_all(runtime, miss.device())?;
        if let Some(address) = search(cache, wanted) {
            return Ok(Some(address));
        }
    }
    if release::oversize(runtime, cache, wanted, &miss.request)?
        && let Some(address) = new_segment::get_shared_as(miss, Moves::Allowed)?
    {
        return Ok(Some(address));
    }
    if !waited {
        home.count_sync();
    }
    home.accounting.lock().num_alloc_retries += 1;
    empty_caches(miss, &rescue)
}
