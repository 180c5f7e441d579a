//! The captures under way: which streams take part, in what order, and whether a capture is still valid.
//!
//! There are no graphs to launch, so work that is queued on a captured stream is counted and dropped.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::collections::BTreeMap;

use super::token::StreamKey;
use crate::driver::CaptureMode;

thread_local! {
    /// The calling thread's mode, on every simulator of the process.
    static THREAD_MODE: Cell<CaptureMode> = const { Cell::new(CaptureMode::Global) };
}

/// The calling thread's mode.
pub(crate) fn thread_mode() -> CaptureMode {
    THREAD_MODE.get()
}

/// Sets the calling thread's mode and returns the previous one.
pub(crate) fn exchange_thread_mode(mode: CaptureMode) -> CaptureMode {
    THREAD_MODE.replace(mode)
}

/// A point in a capture: for each stream that takes part, how many of its operations come before.
type Position = BTreeMap<StreamKey, u64>;

/// A record of an event on a captured stream.
#[derive(Clone)]
pub(crate) struct CapturedRecord {
    pub(crate) capture: u64,
    after: Position,
}

/// One capture under way.
pub(crate) struct Capture {
    pub(crate) mode: CaptureMode,
    /// The number of the thread that began it.
    pub(crate) owner: u64,
    /// The stream on which it began and ends.
    pub(crate) origin: StreamKey,
    /// The capture is invalid: it takes nothing more, and ending it fails.
    pub(crate) is_invalid: bool,
    /// The streams that take part: the origin, and those that waited for an event of the capture.
    streams: BTreeMap<StreamKey, Position>,
}

impl Capture {
    /// Whether every other stream's work comes before what the origin would do next.
    pub(crate) fn is_joined(&self) -> bool {
        let end = &self.streams[&self.origin];
        self.streams.iter().all(|(key, position)| end.get(key) >= position.get(key))
    }

    /// The streams that take part.
    pub(crate) fn streams(&self) -> impl Iterator<Item = &StreamKey> {
        self.streams.keys()
    }

    /// How many operations come before what the origin would do next.
    pub(crate) fn operations(&self) -> u64 {
        self.streams[&self.origin].values().sum()
    }
}

/// The captures under way, by numbers that are not used again.
#[derive(Default)]
pub(crate) struct CaptureTable {
    begun: u64,
    live: BTreeMap<u64, Capture>,
}

impl CaptureTable {
    /// Begins a capture on a stream that is in none.
    pub(crate) fn begin(&mut self, origin: StreamKey, mode: CaptureMode, owner: u64) {
        self.begun += 1;
        let streams = BTreeMap::from([(origin, Position::new())]);
        let capture = Capture { mode, owner, origin, is_invalid: false, streams };
        self.live.insert(self.begun, capture);
    }

    /// Ends a capture.
    pub(crate) fn end(&mut self, id: u64) {
        self.live.remove(&id);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    pub(crate) fn get(&self, id: u64) -> Option<&Capture> {
        self.live.get(&id)
    }

    /// The capture that a stream takes part in.
    pub(crate) fn of(&self, key: StreamKey) -> Option<u64> {
        self.live.iter().find(|(_, c)| c.streams.contains_key(&key)).map(|(id, _)| *id)
    }

    /// Whether `which` holds for any capture.
    pub(crate) fn any(&self, which: impl FnMut(&Capture) -> bool) -> bool {
        self.live.values().any(which)
    }

    pub(crate) fn invalidate(&mut self, id: u64) {
        if let Some(capture) = self.live.get_mut(&id) {
            capture.is_invalid = true;
        }
    }

    /// Invalidates the captures for which `which` holds, and returns whether there were any.
    pub(crate) fn invalidate_if(&mut self, mut which: impl FnMut(&Capture) -> bool) -> bool {
        let mut any = false;
        for capture in self.live.values_mut().filter(|capture| which(capture)) {
            capture.is_invalid = true;
            any = true;
        }
        any
    }

    /// Counts an operation of a stream that takes part.
    pub(crate) fn count_operation(&mut self, id: u64, key: StreamKey) {
        let capture = self.live.get_mut(&id);
        if let Some(position) = capture.and_then(|capture| capture.streams.get_mut(&key)) {
            *position.entry(key).or_default() += 1;
        }
    }

    /// A record of an event on a stream of a capture, made now.
    pub(crate) fn record(&self, id: u64, key: StreamKey) -> CapturedRecord {
        let capture = self.live.get(&id);
        let after = capture.and_then(|capture| capture.streams.get(&key)).cloned();
        CapturedRecord { capture: id, after: after.unwrap_or_default() }
    }

    /// Orders a stream after a record. The stream takes part in the record's capture from now on.
    pub(crate) fn join(&mut self, key: StreamKey, record: CapturedRecord) {
        let Some(capture) = self.live.get_mut(&record.capture) else { return };
        let position = capture.streams.entry(key).or_default();
        for (stream, count) in record.after {
            let known = position.entry(stream).or_default();
            *known = count.max(*known);
        }
    }

    /// Takes a destroyed stream out of its capture, which becomes invalid, and which ends if it began on
    /// that stream.
    pub(crate) fn leave(&mut self, key: StreamKey) {
        let Some(id) = self.of(key) else { return };
        self.invalidate(id);
        let Some(capture) = self.live.get_mut(&id) else { return };
        capture.streams.remove(&key);
        if capture.origin == key {
            self.live.remove(&id);
        }
    }
}
