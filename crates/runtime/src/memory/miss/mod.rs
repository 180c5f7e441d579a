//! What happens when no free block fits a request: one step after the other, until memory is found or
//! refused.
//!
//! | file | step | idea |
//! |---|---|---|
//! | `request` | | the miss: the request, its cache and its segment, made once |
//! | `search` | 1 | a free block of the stream's cache |
//! | `collect` | 2 | old segments go back to the driver, if there are a limit and a threshold |
//! | `lent_pages` | | free pages on their way out of runs |
//! | `new_pages` | 3 | the same where memory is made of pages: free pages put together, and new ones |
//! | `new_segment` | 3 | a new segment from the driver |
//! | `reclaim` | 4 | other modules free blocks that they keep for reuse; search again |
//! | `rescue` | 5 | wait for deferred frees and search again; oversize blocks go back |
//! | `empty` | 6 | all segments without live blocks go back, with the device closed to requests |
//! | `other_modules` | 7 | other modules destroy plans and the like; step 6 again |
//! | `out_of_memory/` | 8 | the figures and the message of the failure, and what it advises |
//! | `uncached_request` | | the same in the mode without caching, in two steps |
//! | `observers` | | functions that are called when memory has run out |
//! | `release` | | taking segments out of caches, and returning them to the driver |
//! | `release_pages` | | the same for free pages |

mod collect;
mod empty;
mod lent_pages;
mod new_pages;
mod new_segment;
pub mod observers;
mod other_modules;
pub(super) mod out_of_memory;
pub mod reclaim;
pub(super) mod release;
pub(super) mod release_pages;
pub(super) mod request;
mod rescue;
mod search;
pub(super) mod uncached_request;

pub(super) use lent_pages::own_stream;
use request::{Miss, Wanted};
pub(super) use search::search;

use sconce_base::error::{Error, Result};
use sconce_base::lock::{Once, rank};

use super::streams::cache::StreamCache;
use crate::context::Runtime;

/// Finds memory for a request that no free block fits: steps 2 to 8.
#[cold]
#[inline(never)]
pub(super) fn serve(runtime: &Runtime, cache: &'static StreamCache, wanted: Wanted) -> Result<u64> {
    let miss = &Miss::new(runtime, cache, wanted);
    let served = climb(miss);
    if let Some(refusal) = miss.refusal.take() {
        warn_of(&refusal);
    }
    served
}

/// Says once that segments are used in place of pages.
fn warn_of(refusal: &Error) {
    static ONCE: Once<rank::FirstTime> = Once::new();
    ONCE.call_once(|| {
        sconce_base::log::warn(format_args!(
            "policy:pages (expandable_segments:True): segments are used where the driver refuses \
             pages: {refusal}"
        ));
    });
}

fn climb(miss: &Miss<'_>) -> Result<u64> {
    let &Miss { runtime, cache, wanted, .. } = miss;
    let home = cache.home;
    if home.collects() && collect::is_due(home) {
        collect::collect(miss)?;
    }
    let rescues = home.rescues();
    if let Some(address) = new_segment::get_shared(miss)? {
        return Ok(address);
    }
    // The blocks become free ones. They may fit, or their segments may go.
    if reclaim::free_idle_blocks(miss.device()) > 0
        && let Some(address) = search(cache, wanted)
    {
        return Ok(address);
    }
    if let Some(address) = rescue::rescue(miss, rescues)? {
        return Ok(address);
    }
    if let Some(address) = other_modules::ask(miss)? {
        return Ok(address);
    }
    home.accounting.lock().num_ooms += 1;
    let rounded = miss.request.rounded;
    Err(out_of_memory::report(runtime, cache, miss.segment_bytes, wanted, rounded))
}
