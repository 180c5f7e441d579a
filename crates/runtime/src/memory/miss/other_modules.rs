//! Step 7: other modules of the library free memory that the allocator does not manage.

use std::sync::atomic::Ordering;

use sconce_base::error::Result;

use super::empty::{empty_caches, try_closed};
use super::reclaim;
use super::request::Miss;

/// Asks the other modules for twice as much each time, and empties the caches again, until memory is found
/// or they have nothing left.
pub(super) fn ask(miss: &Miss<'_>) -> Result<Option<u64>> {
    let (home, device) = (miss.home(), miss.device());
    let segment = miss.segment_bytes;
    // Other modules cannot help if the request exceeds the memory limit or the device itself.
    if segment > home.total_bytes.load(Ordering::Acquire)
        || !home.accounting.lock().would_allow(segment as u64)
    {
        return Ok(None);
    }
    let mut most = 1_usize;
    while reclaim::give_back(device, most) {
        let found = match miss.give_back() {
            Some(begun) => empty_caches(miss, &home.rescue(Some(&begun)))?,
            None => try_closed(miss)?,
        };
        if found.is_some() {
            return Ok(found);
        }
        most = most.saturating_mul(2);
    }
    Ok(None)
}
