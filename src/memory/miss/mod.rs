//! What happens when no free block fits a request: one step after the other, until memory is found or
//! refused.
//!
//! | step | file | idea |
//! |---|---|---|
//! | | `request` | the miss: the request, its cache and its segment, made once |
//! | 1 | `search` | a free block of the stream's cache |
//! | 2 | `collect` | old segments go back to the driver, if there are a limit and a threshold |
//! | 3 | `new_segment` | a new segment from the driver |
//! | 4 | `reclaim` | other rooms free blocks that they keep for reuse; search again |
//! | 5 | `rescue` | wait for deferred frees and search again; oversize blocks go back |
//! | 6 | `empty` | all segments without live blocks go back, with the device closed to requests |
//! | 7 | `other_rooms` | other rooms give up plans and the like; step 6 again |
//! | 8 | `out_of_memory` | the figures and the message of the failure |
//! | | `uncached_request` | the same in the mode without caching, in two steps |
//! | | `observers` | functions that are called when memory has run out |
//! | | `release` | taking segments out of caches, and giving them to the driver |

mod collect;
mod empty;
mod new_segment;
pub mod observers;
mod other_rooms;
pub(super) mod out_of_memory;
pub(crate) mod reclaim;
pub(super) mod release;
pub(super) mod request;
mod rescue;
mod search;
pub(super) mod uncached_request;

use request::{Miss, Wanted};
pub(super) use search::search;

use super::streams::cache::StreamCache;
use crate::context::Runtime;
use crate::error::Result;

/// Finds memory for a request that no free block fits: steps 2 to 8.
#[cold]
#[inline(never)]
pub(super) fn serve(runtime: &Runtime, cache: &'static StreamCache, wanted: Wanted) -> Result<u64> {
    let miss = &Miss::new(runtime, cache, wanted);
    let home = cache.home;
    if home.collects() {
        let _rescue = home.rescue();
        collect::collect(runtime, home, cache.stream())?;
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
    if let Some(address) = other_rooms::ask(miss)? {
        return Ok(address);
    }
    home.ledger.lock().num_ooms += 1;
    let rounded = miss.request.rounded;
    Err(out_of_memory::report(runtime, cache, miss.segment_bytes, wanted, rounded))
}
