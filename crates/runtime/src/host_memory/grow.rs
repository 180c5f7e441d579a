//! When nothing fits: what is pinned, what goes back before, and what happens when the system has no
//! more.

use sconce_base::error::{Error, Result, Status};

use super::cache::{PinnedCache, PinnedMemory};
use super::give_back::give_back;
use super::heap::rounding::{Kind, segment_bytes};
use super::heap::segments::Segment;
use super::heap::supply::kind_for;
use super::{deferred, source};
use crate::context::Runtime;
use crate::stream;

/// Makes the reserve that the settings ask for, with the first request. When the system has no room
/// for it, requests go on without, until the settings change.
pub(super) fn reserve(runtime: &Runtime, cache: &PinnedCache, bytes: usize) -> Result<()> {
    let has_one =
        |inner: &PinnedMemory| inner.heap.segments.all().any(|(_, s)| s.kind == Kind::Reserve);
    if has_one(&cache.enter()) {
        return Ok(());
    }
    let segment = match source::pin(runtime, cache, Kind::Reserve, bytes) {
        Err(error) if error.status() == Status::OutOfMemory => {
            cache.enter().rules.reserve = 0;
            sconce_base::log::warn(format_args!(
                "pinned_reserve_segment_size_mb: there is no room for so much, so nothing is \
                 reserved ({})",
                error.message()
            ));
            return Ok(());
        }
        pinned => pinned.map_err(|error| error.context("pinned_reserve_segment_size_mb"))?,
    };
    let mut inner = cache.enter();
    // Another thread may have been quicker. To unpin is to wait for the devices, so the memory serves requests instead.
    let kind = if has_one(&inner) { Kind::of(bytes) } else { Kind::Reserve };
    inner.heap.adopt(Segment { kind, ..segment });
    Ok(())
}

/// Pins memory for a request that nothing fits.
pub(super) fn grow(
    runtime: &Runtime,
    cache: &PinnedCache,
    bytes: usize,
    rounded: usize,
    keep: bool,
) -> Result<usize> {
    // Giving back waits for the devices, and an allocation must not: it may be what they wait for.
    let tight = cache.enter().heap.excess(rounded, keep) != 0;
    let may_give_back = tight && stream::may_give_back_unasked(runtime, runtime.devices());
    let (kind, size, outgoing) = cache.enter().heap.plan(rounded, keep, may_give_back);
    {
        // The program has not asked for the wait.
        let _asks = runtime.driver().asks_for_itself();
        give_back(runtime, cache, outgoing);
    }
    let segment = match source::pin(runtime, cache, kind, size) {
        Err(error) if error.status() == Status::OutOfMemory => {
            return when_exhausted(runtime, cache, (bytes, rounded), keep, error);
        }
        pinned => pinned?,
    };
    adopt(cache, segment, bytes)
}

fn adopt(cache: &PinnedCache, segment: Segment, bytes: usize) -> Result<usize> {
    let handed = cache.enter().heap.adopt_for(segment, bytes);
    handed.ok_or_else(|| Error::new(Status::Internal, "a new pinned segment does not fit"))
}

/// The system has no more memory to pin: what nothing uses goes back, at last also what waits.
#[cold]
fn when_exhausted(
    runtime: &Runtime,
    cache: &PinnedCache,
    (bytes, rounded): (usize, usize),
    keep: bool,
    error: Error,
) -> Result<usize> {
    for wait in [false, true] {
        if wait && !deferred::wait(runtime, cache) {
            break;
        }
        if keep && let Some(address) = cache.enter().heap.take(bytes) {
            return Ok(address);
        }
        let outgoing = cache.enter().heap.take_idle(&Kind::GIVEN_BACK, usize::MAX);
        give_back(runtime, cache, outgoing);
        let kind = kind_for(rounded, keep);
        let size = segment_bytes(kind, rounded, 0);
        match source::pin(runtime, cache, kind, size) {
            Err(again) if again.status() == Status::OutOfMemory => {}
            pinned => return adopt(cache, pinned?, bytes),
        }
    }
    let pinned = cache.enter().heap.figures.stats();
    Err(error.context(format!(
        "{bytes} bytes of host memory cannot be pinned ({} bytes are pinned, {} of them in use); \
         free some, or raise the limits of the system (ulimit -l, the container's memory)",
        pinned.allocated_bytes.current, pinned.active_bytes.current
    )))
}
