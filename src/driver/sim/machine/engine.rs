//! The queues: streams, what is queued on them, and what each operation waits for.
//!
//! All of it is one structure under one lock, so that "queued before" has one meaning for every
//! thread. Orderings are tokens bound when an operation is queued: the stream's own order by its
//! place in the queue, waits by the event's token, and the legacy default stream by the last tokens
//! of the streams it orders with. `schedule.rs` moves operations on, `worker.rs` runs them.
#![forbid(unsafe_code)]

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use crate::driver::{StreamFlags, StreamHandle, StreamRef};
use crate::error::{Error, Result};
use crate::types::{DeviceIndex, MAX_DEVICES};

use super::capture::Captures;
use super::clock::Clock;
use super::handles::{Handles, end_process};
use super::token::Token;
use super::work::Work;
use crate::driver::sim::call::Call;
use crate::driver::sim::calls::events::Event;
use crate::driver::sim::codes;

/// The number of a stream inside the engine, which no other stream of the simulator ever has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StreamKey(usize);

impl StreamKey {
    /// The legacy default stream of a device.
    pub(crate) fn legacy(device: DeviceIndex) -> StreamKey {
        StreamKey(device.as_usize())
    }
}

/// CUDA's explicit name of the legacy default stream.
const LEGACY_ALIAS: usize = 1;
/// Greatest priority (least is 0).
pub(crate) const GREATEST_PRIORITY: i32 = -5;

/// One queued operation.
pub(crate) struct Operation {
    pub(crate) call: Call,
    pub(crate) work: Work,
    pub(crate) duration_ns: u64,
    /// What must have ended before, besides the operation ahead in the queue.
    pub(crate) dependencies: Vec<Arc<Token>>,
    pub(crate) token: Arc<Token>,
    pub(crate) submitted_ns: u64,
    /// Place in the order in which all streams were given work.
    pub(crate) arrival: u64,
    /// The code with which it fails instead of running.
    pub(crate) fault: Option<i32>,
    /// Never completes, until the faults are cleared.
    pub(crate) stuck: bool,
    /// Its stream is already among the dependents of a dependency.
    pub(crate) registered: bool,
}

/// What a stream is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Empty, or its head cannot run yet.
    Resting,
    /// Its head is a kernel that waits for an execution slot.
    AwaitingSlot,
    /// Its head waits for a worker.
    Ready,
    /// Its head is being run.
    Running,
}

pub(crate) struct Stream {
    pub(crate) device: DeviceIndex,
    pub(crate) priority: i32,
    pub(crate) non_blocking: bool,
    pub(crate) destroyed: bool,
    pub(crate) queue: VecDeque<Operation>,
    pub(crate) phase: Phase,
    /// Token of the newest operation, done or not.
    pub(crate) last: Option<Arc<Token>>,
    /// When the operation that ended last ended.
    pub(crate) end_ns: u64,
    /// The execution slot its head holds.
    pub(crate) slot: Option<usize>,
}

impl Stream {
    /// Operations that have not ended.
    pub(crate) fn pending(&self) -> usize {
        self.queue.len() + usize::from(self.phase == Phase::Running)
    }

    pub(crate) fn pending_token(&self) -> Option<Arc<Token>> {
        self.last.clone().filter(|token| !token.is_done())
    }
}

/// One of the places in which a device can run a kernel.
#[derive(Clone, Copy, Default)]
pub(crate) struct Slot {
    pub(crate) busy: bool,
    pub(crate) free_at_ns: u64,
}

pub(crate) struct DeviceQueues {
    /// Living streams, and destroyed ones that still have work; the legacy stream first.
    pub(crate) streams: Vec<StreamKey>,
    pub(crate) slots: Vec<Slot>,
    /// Streams whose head waits for a slot: by priority, then by arrival.
    pub(crate) awaiting: BTreeSet<(i32, u64, StreamKey)>,
    /// The code that every call fails with after queued work has failed.
    pub(crate) error: Option<i32>,
}

pub(crate) struct Engine {
    pub(crate) clock: Clock,
    pub(crate) devices: Vec<DeviceQueues>,
    pub(crate) streams: HashMap<StreamKey, Stream>,
    /// The living streams by their handles; the legacy default streams have none.
    by_handle: HashMap<usize, StreamKey>,
    pub(crate) handles: Handles,
    pub(crate) events: HashMap<usize, Event>,
    pub(crate) captures: Captures,
    /// Streams whose head a worker may take.
    pub(crate) ready: VecDeque<StreamKey>,
    /// Streams that are not resting.
    pub(crate) active: usize,
    pub(crate) workers: super::worker::Workers,
    pub(crate) arrivals: u64,
    streams_made: usize,
}

impl StreamKey {
    /// The number.
    pub(crate) fn number(self) -> u64 {
        self.0 as u64
    }
}

/// What [`Engine::enqueue`] is given.
pub(crate) struct Submission {
    pub(crate) call: Call,
    pub(crate) work: Work,
    pub(crate) duration_ns: u64,
    pub(crate) after: Option<Arc<Token>>,
    pub(crate) fault: Option<i32>,
    pub(crate) stuck: bool,
}

impl Engine {
    pub(crate) fn new(devices: i32, slots: usize, reuse: bool) -> Engine {
        let indices: Vec<_> = (0..devices).filter_map(DeviceIndex::new).collect();
        let mut engine = Engine {
            clock: Clock::new(),
            devices: Vec::new(),
            streams: HashMap::new(),
            by_handle: HashMap::new(),
            handles: Handles::new(reuse),
            events: HashMap::new(),
            captures: Captures::default(),
            ready: VecDeque::new(),
            active: 0,
            workers: super::worker::Workers::default(),
            arrivals: 0,
            streams_made: 0,
        };
        for device in indices {
            engine.devices.push(DeviceQueues {
                streams: Vec::new(),
                slots: vec![Slot::default(); slots.max(1)],
                awaiting: BTreeSet::new(),
                error: None,
            });
            let flags = StreamFlags { non_blocking: false };
            engine.add_stream(StreamKey::legacy(device), device, flags, 0);
        }
        engine
    }

    pub(crate) fn create_stream(
        &mut self,
        device: DeviceIndex,
        flags: StreamFlags,
        priority: i32,
    ) -> StreamHandle {
        let handle = self.handles.take();
        let key = StreamKey(MAX_DEVICES + self.streams_made);
        self.streams_made += 1;
        self.by_handle.insert(handle, key);
        self.add_stream(key, device, flags, priority.clamp(GREATEST_PRIORITY, 0));
        StreamHandle(handle)
    }

    fn add_stream(
        &mut self,
        key: StreamKey,
        device: DeviceIndex,
        flags: StreamFlags,
        priority: i32,
    ) {
        self.devices[device.as_usize()].streams.push(key);
        let stream = Stream {
            device,
            priority,
            non_blocking: flags.non_blocking,
            destroyed: false,
            queue: VecDeque::new(),
            phase: Phase::Resting,
            last: None,
            end_ns: 0,
            slot: None,
        };
        self.streams.insert(key, stream);
    }

    /// The living stream that a reference names. Ends the process if the stream has been destroyed.
    pub(crate) fn find(&self, call: Call, stream: StreamRef) -> Result<StreamKey> {
        let found = self.look_up(call, stream);
        if found.is_err() && self.is_dead(stream.handle) {
            end_process(call, "stream", stream.handle.0);
        }
        found
    }

    /// The living stream that a reference names.
    pub(crate) fn look_up(&self, call: Call, stream: StreamRef) -> Result<StreamKey> {
        if matches!(stream.handle.0, 0 | LEGACY_ALIAS) {
            return Ok(StreamKey::legacy(stream.device));
        }
        let key = self.by_handle.get(&stream.handle.0);
        let Some((key, found)) = key.and_then(|key| Some((*key, self.streams.get(key)?))) else {
            return Err(no_stream(call, stream.handle));
        };
        if found.device == stream.device {
            return Ok(key);
        }
        Err(codes::failure_because(
            call,
            codes::INVALID_HANDLE,
            format_args!(
                "stream {:#x} belongs to device {}, not to device {}",
                stream.handle.0, found.device, stream.device
            ),
        ))
    }

    /// The device of the stream that a handle names. Ends the process if the stream has been
    /// destroyed.
    pub(crate) fn device_of(&self, call: Call, handle: StreamHandle) -> Result<DeviceIndex> {
        if self.is_dead(handle) {
            end_process(call, "stream", handle.0);
        }
        let stream = self.by_handle.get(&handle.0).and_then(|key| self.streams.get(key));
        stream.map(|stream| stream.device).ok_or_else(|| no_stream(call, handle))
    }

    /// Whether a handle was one of a stream that has been destroyed, and is no other stream's now.
    fn is_dead(&self, handle: StreamHandle) -> bool {
        !self.by_handle.contains_key(&handle.0) && self.handles.was_taken(handle.0)
    }

    /// Fails when queued work of the device has failed before.
    pub(crate) fn check(&self, call: Call, device: DeviceIndex) -> Result<()> {
        match self.devices[device.as_usize()].error {
            None => Ok(()),
            Some(code) => match &self.workers.exhausted {
                Some(why) if code == codes::OPERATING_SYSTEM => {
                    Err(codes::failure_because(call, code, why))
                }
                _ => {
                    let why = format_args!("device {device} failed in earlier work");
                    Err(codes::failure_because(call, code, why))
                }
            },
        }
    }

    /// Fails when queued work cannot run for lack of a thread.
    pub(crate) fn check_threads(&self, call: Call) -> Result<()> {
        match &self.workers.exhausted {
            None => Ok(()),
            Some(why) => Err(codes::failure_because(call, codes::OPERATING_SYSTEM, why)),
        }
    }

    /// Puts an operation at the end of a stream and moves on what can be moved on.
    pub(crate) fn enqueue(&mut self, key: StreamKey, submission: Submission) -> Arc<Token> {
        let token = Token::new();
        let mut dependencies = self.legacy_dependencies(key);
        dependencies.extend(submission.after.filter(|after| !after.is_done()));
        let submitted_ns = self.clock.now_ns();
        self.arrivals += 1;
        if let Some(stream) = self.streams.get_mut(&key) {
            stream.last = Some(Arc::clone(&token));
            stream.queue.push_back(Operation {
                call: submission.call,
                work: submission.work,
                duration_ns: submission.duration_ns,
                dependencies,
                token: Arc::clone(&token),
                submitted_ns,
                arrival: self.arrivals,
                fault: submission.fault,
                stuck: submission.stuck,
                registered: false,
            });
        }
        self.advance(key);
        token
    }

    /// What the legacy default stream's rule puts before a new operation of `key`.
    fn legacy_dependencies(&self, key: StreamKey) -> Vec<Arc<Token>> {
        let Some(stream) = self.streams.get(&key) else { return Vec::new() };
        let legacy = StreamKey::legacy(stream.device);
        if key != legacy {
            if stream.non_blocking {
                return Vec::new();
            }
            return self.streams.get(&legacy).and_then(Stream::pending_token).into_iter().collect();
        }
        self.devices[stream.device.as_usize()]
            .streams
            .iter()
            .filter(|other| **other != legacy)
            .filter_map(|other| self.streams.get(other))
            .filter(|other| !other.non_blocking)
            .filter_map(Stream::pending_token)
            .collect()
    }

    /// Tokens of what must end before the stream is idle. The legacy default stream is as busy as
    /// the blocking streams it orders with (seen on an H200 with driver 580), not so the other way.
    pub(crate) fn pending_of_stream(&self, key: StreamKey) -> Vec<Arc<Token>> {
        let Some(stream) = self.streams.get(&key) else { return Vec::new() };
        let mut tokens: Vec<_> = stream.pending_token().into_iter().collect();
        if key == StreamKey::legacy(stream.device) {
            tokens.extend(self.legacy_dependencies(key));
        }
        tokens
    }

    /// Tokens of everything queued on a device that has not ended.
    pub(crate) fn pending_of_device(&self, device: DeviceIndex) -> Vec<Arc<Token>> {
        self.devices[device.as_usize()]
            .streams
            .iter()
            .filter_map(|key| self.streams.get(key)?.pending_token())
            .collect()
    }

    /// Makes the handle dead; queued work still runs.
    pub(crate) fn destroy_stream(&mut self, key: StreamKey, handle: StreamHandle) {
        self.leave_capture(key);
        self.by_handle.remove(&handle.0);
        self.handles.give(handle.0);
        if let Some(stream) = self.streams.get_mut(&key) {
            stream.destroyed = true;
        }
        self.forget_if_drained(key);
    }

    pub(crate) fn forget_if_drained(&mut self, key: StreamKey) {
        let Some(stream) = self.streams.get(&key) else { return };
        if stream.destroyed && stream.phase == Phase::Resting && stream.queue.is_empty() {
            self.devices[stream.device.as_usize()].streams.retain(|other| *other != key);
            self.streams.remove(&key);
        }
    }
}

fn no_stream(call: Call, handle: StreamHandle) -> Error {
    let why = format_args!("{:#x} is no living stream", handle.0);
    codes::failure_because(call, codes::INVALID_HANDLE, why)
}
