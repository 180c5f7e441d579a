//! A trace: a program's allocator calls in order, decoded before the replay, so that a replay only
//! calls the allocator.
//!
//! Each allocation has a *slot*, a small number that is reused after the free, so that the
//! addresses of a replay fit into a short table.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::error::{Failure, Result};

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// The bytes that the program requested; for a free, those of the allocation.
    pub(crate) bytes: u64,
    /// The place at which a replay keeps the address.
    pub(crate) slot: u32,
    /// The number of the stream in the trace; 0 is the default stream.
    pub(crate) stream: u16,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Alloc,
    Free,
}

/// The figures of the recorded run, as the trace states them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recorded {
    pub(crate) workload: Option<String>,
    /// The version of PyTorch.
    pub(crate) torch: Option<String>,
    pub(crate) gpu: Option<String>,
    /// The allocator's settings.
    pub(crate) conf: Option<String>,
    pub(crate) peak_requested: Option<u64>,
    pub(crate) peak_allocated: Option<u64>,
    pub(crate) peak_reserved: Option<u64>,
}

/// A program's requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    pub(crate) events: Vec<Event>,
    pub(crate) recorded: Recorded,
    /// The greatest number of addresses that a replay keeps at one time.
    pub(crate) slots: usize,
    /// The number of streams, the default one included.
    pub(crate) streams: usize,
    pub(crate) allocations: usize,
    /// The peak of requested bytes that were not yet freed.
    pub(crate) peak_requested: u64,
    /// The number of blocks that were allocated before the history began; the replay allocates them
    /// first.
    pub(crate) alive_before: usize,
    /// The number of frees whose allocation is unknown.
    pub(crate) skipped_frees: usize,
}

/// Builds a trace from requests that name their allocations as the recording did.
#[derive(Default)]
pub(crate) struct TraceBuilder {
    trace: Trace,
    live: HashMap<u64, Live>,
    free_slots: Vec<u32>,
    requested: u64,
}

#[derive(Clone, Copy)]
struct Live {
    bytes: u64,
    slot: u32,
    stream: u16,
}

/// The number of streams of a pool; a trace with more looks like one that uses a stream twice.
const MOST_STREAMS: u64 = 32;

impl TraceBuilder {
    /// Adds an allocation.
    pub(crate) fn alloc(&mut self, id: u64, bytes: u64, stream: u64) -> Result<()> {
        if stream > MOST_STREAMS {
            return Err(Failure::new(format!(
                "stream {stream} is one too many; 0 is the default stream and 1 to {MOST_STREAMS} \
                 are those of the pool"
            )));
        }
        let Entry::Vacant(entry) = self.live.entry(id) else {
            return Err(Failure::new(format!("allocation {id} exists already and was not freed")));
        };
        let slot = match self.free_slots.pop() {
            Some(slot) => slot,
            None => {
                self.trace.slots += 1;
                u32::try_from(self.trace.slots - 1)
                    .map_err(|_| Failure::new("more than 4,294,967,295 live allocations"))?
            }
        };
        let live = *entry.insert(Live { bytes, slot, stream: stream as u16 });
        let requested = self.requested.checked_add(bytes);
        self.requested = requested.ok_or_else(|| {
            Failure::new(format!("{bytes} bytes bring the live memory above 16 EiB"))
        })?;
        self.trace.peak_requested = self.trace.peak_requested.max(self.requested);
        self.trace.allocations += 1;
        self.trace.streams = self.trace.streams.max(usize::from(live.stream) + 1);
        self.push(live, Kind::Alloc);
        Ok(())
    }

    /// Adds a free; false if there was no such allocation.
    pub(crate) fn free(&mut self, id: u64) -> bool {
        let Some(live) = self.live.remove(&id) else { return false };
        self.free_slots.push(live.slot);
        self.requested -= live.bytes;
        self.push(live, Kind::Free);
        true
    }

    fn push(&mut self, live: Live, kind: Kind) {
        let Live { bytes, slot, stream } = live;
        self.trace.events.push(Event { bytes, slot, stream, kind });
    }

    /// Finishes the trace. `what` names the file in the error for an empty trace.
    pub(crate) fn finish(self) -> Result<Trace> {
        if self.trace.events.is_empty() {
            return Err(Failure::new("it holds no allocation"));
        }
        Ok(self.trace)
    }

    /// The notes that a reader adds beside the events.
    pub(crate) fn notes(&mut self) -> &mut Trace {
        &mut self.trace
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_sixteen_bytes() {
        assert_eq!(size_of::<Event>(), 16);
    }

    #[test]
    fn slots_are_used_again_and_peaks_are_of_live_bytes() {
        let mut builder = TraceBuilder::default();
        builder.alloc(7, 100, 0).unwrap();
        builder.alloc(8, 50, 2).unwrap();
        assert!(builder.free(7));
        builder.alloc(9, 60, 1).unwrap();
        assert!(!builder.free(7), "freed already");
        let trace = builder.finish().unwrap();
        assert_eq!((trace.slots, trace.streams, trace.allocations), (2, 3, 3));
        assert_eq!(trace.peak_requested, 150);
        let slots: Vec<u32> = trace.events.iter().map(|event| event.slot).collect();
        assert_eq!(slots, [0, 1, 0, 0]);
        assert_eq!(trace.events[2].kind, Kind::Free);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let mut builder = TraceBuilder::default();
        builder.alloc(1, 5, 0).unwrap();
        assert!(builder.alloc(1, 5, 0).unwrap_err().to_string().contains("exists already"));
        assert!(builder.alloc(2, 5, 33).unwrap_err().to_string().contains("stream 33"));
        assert!(builder.alloc(3, u64::MAX, 0).unwrap_err().to_string().contains("16 EiB"));
        assert!(TraceBuilder::default().finish().is_err());
    }
}
