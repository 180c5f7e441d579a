//! What comes before what: streams, events, captures and the host.
#![forbid(unsafe_code)]

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use sconce_base::types::DeviceIndex;
use sconce_driver::{StreamHandle, StreamRef};

use crate::clock::{Clock, Epoch, HOST, Lane};

/// How many lanes of streams that are gone are kept before new streams get them, so that reports of programs with few
/// streams have a number for each. So many are looked at for a new one.
pub(crate) const MOST_GONE: usize = 64;

/// A stream, as calls name it. The default streams of threads differ by thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct StreamName {
    device: DeviceIndex,
    handle: usize,
    thread: Option<std::thread::ThreadId>,
}

/// A stream, or the host.
struct LaneState {
    device: Option<DeviceIndex>,
    handle: usize,
    /// Whether the legacy default stream is ordered with it.
    blocking: bool,
    /// Whether this library made the stream.
    is_made: bool,
    clock: Clock,
    /// The capture that it is in.
    capture: Option<u64>,
}

/// The newest record of an event.
#[derive(Clone)]
pub(crate) struct Record {
    clock: Arc<Clock>,
    /// The capture that the record is in.
    capture: Option<u64>,
}

/// What the host has waited for.
#[derive(Clone, Copy)]
pub(crate) enum Waited {
    Stream(Lane),
    Device(DeviceIndex),
    All,
}

/// All streams and events.
pub(crate) struct Order {
    lanes: Vec<LaneState>,
    names: HashMap<StreamName, Lane>,
    /// Lanes of streams that are gone, the oldest first.
    gone: VecDeque<Lane>,
    events: HashMap<usize, Record>,
    /// Events of other processes, each with the lane that stands for the process's work.
    foreign: HashMap<usize, Lane>,
    /// What the library knows to be done: what the host knows, and what it has asked for its own sake.
    library: Clock,
}

impl Default for Order {
    fn default() -> Order {
        let host = LaneState {
            device: None,
            handle: 0,
            blocking: false,
            is_made: true,
            clock: Clock::default(),
            capture: None,
        };
        Order {
            lanes: vec![host],
            names: HashMap::new(),
            gone: VecDeque::new(),
            events: HashMap::new(),
            foreign: HashMap::new(),
            library: Clock::default(),
        }
    }
}

impl Order {
    fn name(stream: StreamRef) -> StreamName {
        let handle = match stream.handle {
            StreamHandle::PER_THREAD => stream.handle.native(),
            // Both names of the legacy default stream.
            handle if handle.native() <= 1 => 0,
            handle => handle.native(),
        };
        let thread =
            (stream.handle == StreamHandle::PER_THREAD).then(|| std::thread::current().id());
        StreamName { device: stream.device, handle, thread }
    }

    fn add(
        &mut self,
        device: Option<DeviceIndex>,
        handle: usize,
        blocking: bool,
        is_made: bool,
    ) -> Lane {
        let lane = self.lanes.len() as Lane;
        let clock = self.lanes[HOST as usize].clock.clone();
        self.lanes.push(LaneState { device, handle, blocking, is_made, clock, capture: None });
        lane
    }

    /// The lane of a stream. One that is not known counts as ordered with the legacy default stream.
    pub(crate) fn lane(&mut self, stream: StreamRef) -> Lane {
        let name = Order::name(stream);
        if let Some(lane) = self.names.get(&name) {
            return *lane;
        }
        let lane = self.add(Some(stream.device), name.handle, true, false);
        self.names.insert(name, lane);
        lane
    }

    /// The lane of a stream that was named before.
    pub(crate) fn known(&self, stream: StreamRef) -> Option<Lane> {
        self.names.get(&Order::name(stream)).copied()
    }

    /// A stream was made.
    pub(crate) fn created(&mut self, stream: StreamRef, blocking: bool) {
        let name = Order::name(stream);
        let lane = self.add(Some(stream.device), name.handle, blocking, true);
        self.names.insert(name, lane);
    }

    /// A stream is gone; what is queued on it still runs.
    pub(crate) fn destroyed(&mut self, stream: StreamRef) {
        self.gone.extend(self.names.remove(&Order::name(stream)));
    }

    /// The lane of a stream that is gone becomes a new stream's: all its work is done, as the host knows, so nothing
    /// that it did is compared any more. `is_named` tells whether something else still means the old stream.
    pub(crate) fn created_in_place_of(
        &mut self,
        stream: StreamRef,
        blocking: bool,
        is_named: impl Fn(Lane) -> bool,
    ) -> Option<Lane> {
        if self.gone.len() < MOST_GONE {
            return None;
        }
        for _ in 0..MOST_GONE {
            let lane = self.gone.pop_front()?;
            let old = &self.lanes[lane as usize];
            if old.capture.is_some() || !self.host().knows_all(&old.clock) || is_named(lane) {
                self.gone.push_back(lane);
                continue;
            }
            let name = Order::name(stream);
            let (device, handle, clock) = (Some(stream.device), name.handle, self.host().clone());
            self.lanes[lane as usize] =
                LaneState { device, handle, blocking, is_made: true, clock, capture: None };
            self.names.insert(name, lane);
            return Some(lane);
        }
        None
    }

    /// How many lanes there are.
    #[cfg(test)]
    pub(crate) fn lanes(&self) -> usize {
        self.lanes.len()
    }

    /// Whether a stream was made by this library, and is not destroyed.
    pub(crate) fn knows(&self, stream: StreamRef) -> bool {
        let lane = self.names.get(&Order::name(stream));
        lane.is_some_and(|lane| self.lanes[*lane as usize].is_made)
    }

    /// A lane that stands for work of other processes.
    pub(crate) fn add_process(&mut self) -> Lane {
        self.add(None, 0, false, true)
    }

    /// Whether a lane stands for work of other processes.
    pub(crate) fn is_process(&self, lane: Lane) -> bool {
        lane != HOST && self.device(lane).is_none()
    }

    pub(crate) fn capture_of(&self, lane: Lane) -> Option<u64> {
        self.lanes[lane as usize].capture
    }

    pub(crate) fn set_capture(&mut self, lane: Lane, capture: Option<u64>) {
        self.lanes[lane as usize].capture = capture;
    }

    /// All streams leave a capture.
    pub(crate) fn end_capture(&mut self, capture: u64) {
        for lane in self.lanes.iter_mut().filter(|lane| lane.capture == Some(capture)) {
            lane.capture = None;
        }
    }

    pub(crate) fn clock(&self, lane: Lane) -> &Clock {
        &self.lanes[lane as usize].clock
    }

    /// What precedes everything that is queued from now on.
    pub(crate) fn host(&self) -> &Clock {
        self.clock(HOST)
    }

    /// What the library knows to be done: whatever it hands out from now on follows it.
    pub(crate) fn library(&self) -> &Clock {
        &self.library
    }

    /// The library has asked for its own sake: the program knows no more than before.
    pub(crate) fn library_learns(&mut self, clock: &Clock) {
        self.library.join(clock);
    }

    pub(crate) fn is_legacy(&self, lane: Lane) -> bool {
        let state = &self.lanes[lane as usize];
        state.handle == 0 && state.device.is_some()
    }

    /// The lanes that the legacy default stream's rule puts before new work of a lane.
    fn ordered_by_legacy(&self, lane: Lane) -> Vec<Lane> {
        let own = &self.lanes[lane as usize];
        let is_legacy = self.is_legacy(lane);
        if own.device.is_none() || !(is_legacy || own.blocking) {
            return Vec::new();
        }
        let is_before = |(at, other): (usize, &LaneState)| {
            let related = at != lane as usize
                && other.device == own.device
                && other.capture.is_none()
                && if is_legacy { other.blocking } else { own.blocking && other.handle == 0 };
            related.then_some(at as Lane)
        };
        self.lanes.iter().enumerate().filter_map(is_before).collect()
    }

    /// Which lanes' work a lane does not know yet that the legacy default stream's rule puts before its next.
    pub(crate) fn news_by_legacy(&self, lane: Lane) -> Vec<Lane> {
        let knows = |other: &Lane| {
            let clock = self.clock(*other);
            self.clock(lane).knows_all(clock) || self.host().knows_all(clock)
        };
        self.ordered_by_legacy(lane).into_iter().filter(|other| !knows(other)).collect()
    }

    /// Which lanes' work a clock knows that a lane does not know yet.
    pub(crate) fn news_in(&self, lane: Lane, clock: &Clock) -> Vec<Lane> {
        let knows = |other: &Lane| {
            let count = clock.of(*other).max(1);
            let last = Epoch { lane: *other, count };
            clock.of(*other) == 0 || self.clock(lane).knows(last) || self.host().knows(last)
        };
        let all = 0..self.lanes.len() as Lane;
        all.filter(|other| *other != lane && !knows(other)).collect()
    }

    /// Which streams' work the host learns when it waits for one, or for a device, or for all.
    pub(crate) fn news_for_host(&self, of: Waited) -> Vec<Lane> {
        let all = 1..self.lanes.len() as Lane;
        let lanes: Vec<Lane> = match of {
            Waited::Stream(lane) if self.is_legacy(lane) => {
                let mut lanes = self.ordered_by_legacy(lane);
                lanes.push(lane);
                lanes
            }
            Waited::Stream(lane) => vec![lane],
            Waited::Device(device) => {
                all.filter(|lane| self.lanes[*lane as usize].device == Some(device)).collect()
            }
            Waited::All => all.filter(|lane| self.lanes[*lane as usize].device.is_some()).collect(),
        };
        lanes.into_iter().filter(|lane| !self.host().knows_all(self.clock(*lane))).collect()
    }

    /// Begins an operation of a lane: joins what precedes it, and counts it.
    pub(crate) fn begin(&mut self, lane: Lane) -> Epoch {
        let mut clock = std::mem::take(&mut self.lanes[lane as usize].clock);
        clock.join(self.host());
        for other in self.ordered_by_legacy(lane) {
            clock.join(self.clock(other));
        }
        let epoch = clock.tick(lane);
        self.lanes[lane as usize].clock = clock;
        epoch
    }

    /// What a lane's work precedes joins another lane's.
    pub(crate) fn join(&mut self, lane: Lane, clock: &Clock) {
        self.lanes[lane as usize].clock.join(clock);
        if lane == HOST {
            self.library.join(clock);
        }
    }

    /// What is queued on a stream, and what that follows.
    pub(crate) fn behind(&self, lane: Lane) -> Clock {
        let mut clock = self.clock(lane).clone();
        if self.is_legacy(lane) {
            for other in self.ordered_by_legacy(lane) {
                clock.join(self.clock(other));
            }
        }
        clock
    }

    /// What is queued on the streams of a device, or of all.
    pub(crate) fn behind_devices(&self, device: Option<DeviceIndex>) -> Clock {
        let mut clock = Clock::default();
        for lane in &self.lanes[1..] {
            if lane.device.is_some() && (device.is_none() || lane.device == device) {
                clock.join(&lane.clock);
            }
        }
        clock
    }

    /// Whether an event is another process's.
    pub(crate) fn is_foreign(&self, event: usize) -> bool {
        self.foreign.contains_key(&event)
    }

    /// The host has waited for all that is queued on a stream.
    pub(crate) fn waited_for(&mut self, lane: Lane) {
        let clock = self.behind(lane);
        self.join(HOST, &clock);
    }

    /// Returns the record before, which [`Order::not_recorded`] takes.
    pub(crate) fn record(
        &mut self,
        event: usize,
        clock: Clock,
        capture: Option<u64>,
    ) -> Option<Record> {
        self.events.insert(event, Record { clock: Arc::new(clock), capture })
    }

    /// The driver has refused to record an event.
    pub(crate) fn not_recorded(&mut self, event: usize, before: Option<Record>) {
        match before {
            Some(before) => drop(self.events.insert(event, before)),
            None => drop(self.events.remove(&event)),
        }
    }

    pub(crate) fn recorded(&self, event: usize) -> Option<(Arc<Clock>, Option<u64>)> {
        self.events.get(&event).map(|record| (Arc::clone(&record.clock), record.capture))
    }

    /// Another process's event.
    pub(crate) fn opened_event(&mut self, event: usize, process: Lane) {
        self.foreign.insert(event, process);
    }

    /// The clock of an event's record: of another process's event that of all its work so far.
    pub(crate) fn of_event(&self, event: usize) -> Option<Arc<Clock>> {
        if let Some(process) = self.foreign.get(&event) {
            return Some(Arc::new(self.clock(*process).clone()));
        }
        self.recorded(event).filter(|(_, capture)| capture.is_none()).map(|(clock, _)| clock)
    }

    pub(crate) fn forget_event(&mut self, event: usize) {
        self.events.remove(&event);
        self.foreign.remove(&event);
    }

    /// A stream in few words.
    pub(crate) fn short(&self, lane: Lane) -> String {
        match self.lanes[lane as usize] {
            LaneState { device: Some(_), handle, .. } if handle != 0 => format!("stream {lane}"),
            _ => self.words(lane),
        }
    }

    /// A stream as a variable in code.
    pub(crate) fn variable(&self, lane: Lane) -> Option<String> {
        let state = &self.lanes[lane as usize];
        state.device?;
        Some(if state.handle == 0 { "default_stream".to_owned() } else { format!("stream{lane}") })
    }

    /// The device of a stream.
    pub(crate) fn device(&self, lane: Lane) -> Option<DeviceIndex> {
        self.lanes[lane as usize].device
    }

    /// A stream in words.
    pub(crate) fn words(&self, lane: Lane) -> String {
        let state = &self.lanes[lane as usize];
        match state.device {
            None if lane == HOST => "the host".to_owned(),
            None => "another process".to_owned(),
            Some(device) if state.handle == 0 => format!("the default stream of device {device}"),
            Some(device) => {
                format!("stream {lane} (handle {:#x}) of device {device}", state.handle)
            }
        }
    }
}
