//! Giving pinned segments back to the system.

use sconce_base::error::{Error, Result};

use super::cache::PinnedCache;
use super::heap::segments::Segment;
use super::source;
use crate::context::Runtime;
use crate::stream::{self, GivingBack};

/// Unpins segments that have left the heap. What cannot go now comes back.
pub(super) fn give_back(runtime: &Runtime, cache: &PinnedCache, outgoing: Vec<Segment>) {
    if let Err(error) = unpin_all(runtime, cache, outgoing) {
        sconce_base::log::debug(format_args!("pinned memory is kept: {}", error.message()));
    }
}

/// Unpins segments that have left the heap; returns the first failure. A segment that cannot go now
/// comes back to the heap.
pub(super) fn unpin_all(
    runtime: &Runtime,
    cache: &PinnedCache,
    outgoing: Vec<Segment>,
) -> Result<()> {
    if outgoing.is_empty() {
        return Ok(());
    }
    // Unpinning waits for the devices, which a capture does not survive.
    let begun = begin(runtime);
    let mut outcome = Ok(());
    for segment in outgoing {
        let unpinned = match &begun {
            Ok(_no_capture_begins) => source::unpin(runtime, cache, segment),
            Err(error) => Err(error.clone()),
        };
        if unpinned.is_err() {
            cache.enter().heap.adopt_again(segment);
        }
        outcome = outcome.and(unpinned);
    }
    outcome
}

/// Begins to give memory back. Refused while a stream is being captured.
pub(super) fn begin(runtime: &Runtime) -> Result<GivingBack<'static>> {
    stream::give_back_everywhere(runtime).map_err(|device| {
        Error::invalid_state(format!(
            "a stream of device {device} is being captured, and pinned memory cannot be returned \
             to the system until the capture has ended"
        ))
    })
}
