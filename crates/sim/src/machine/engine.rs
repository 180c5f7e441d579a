//! The engine: all queues and events of a simulator, and how handles lead to them.
//!
//! All of it is one structure under one lock, so that "queued before" means the same for every thread.
//! `schedule.rs` queues operations and moves them on, `worker.rs` runs them.
#![forbid(unsafe_code)]

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use sconce_base::error::{Error, Result};
use sconce_base::lock::{MutexGuard, rank};
use sconce_base::types::{DeviceIndex, MAX_DEVICES};
use sconce_driver::{EventHandle, HeadState, StreamFlags, StreamHandle, StreamHead, StreamRef};

use super::captures::CaptureTable;
use super::clock::Clock;
use super::event::Event;
use super::graphs::GraphTable;
use super::listener::OperationListener;
use super::operation::QueuedWork;
use super::queues::{DeviceQueues, KernelSlot, StreamPhase, StreamQueue, WorkerThreads};
use super::token::{StreamKey, ThreadNumber, Token};
use crate::call::Call;
use crate::codes;
use crate::handles::{Handles, end_process};

/// CUDA's explicit name of the legacy default stream.
const LEGACY_ALIAS: usize = 1;
/// What helps once queued work has failed.
const CLEAR_ERROR: &str = "sconce_sim_clear_device_error (C++ simulator::clear_device_error) makes the simulated device \
                           usable again";
/// Greatest priority (least is 0).
pub(crate) const GREATEST_PRIORITY: i32 = -5;

/// The queues of all devices.
pub(crate) struct Engine {
    pub(crate) clock: Clock,
    pub(crate) devices: Vec<DeviceQueues>,
    pub(crate) streams: HashMap<StreamKey, StreamQueue>,
    /// The living streams by their handles; the legacy default streams have none.
    by_handle: HashMap<usize, StreamKey>,
    /// The default streams of threads, made at first use.
    of_threads: HashMap<(ThreadNumber, DeviceIndex), StreamKey>,
    pub(crate) handles: Handles,
    pub(crate) events: HashMap<usize, Event>,
    pub(crate) captures: CaptureTable,
    pub(crate) graphs: GraphTable,
    /// Streams whose head a worker may take.
    pub(crate) ready: VecDeque<StreamKey>,
    /// Work that ended without running, and has something to do about it.
    pub(crate) abandoned: VecDeque<Arc<dyn QueuedWork>>,
    /// Streams that are not idle.
    pub(crate) active: usize,
    pub(crate) workers: WorkerThreads,
    /// Called for every operation.
    pub(crate) listener: Option<Arc<dyn OperationListener>>,
    pub(crate) arrivals: u64,
    streams_made: usize,
}

impl Engine {
    pub(crate) fn new(devices: i32, slots: usize, reuse: bool) -> Engine {
        let indices: Vec<_> = (0..devices).filter_map(DeviceIndex::new).collect();
        let mut engine = Engine {
            clock: Clock::new(),
            devices: Vec::new(),
            streams: HashMap::new(),
            by_handle: HashMap::new(),
            of_threads: HashMap::new(),
            handles: Handles::new(reuse),
            events: HashMap::new(),
            captures: CaptureTable::default(),
            graphs: GraphTable::default(),
            ready: VecDeque::new(),
            abandoned: VecDeque::new(),
            active: 0,
            workers: WorkerThreads::default(),
            listener: None,
            arrivals: 0,
            streams_made: 0,
        };
        for device in indices {
            engine.devices.push(DeviceQueues {
                streams: Vec::new(),
                slots: vec![KernelSlot::default(); slots.max(1)],
                awaiting: BTreeSet::new(),
                error: None,
                failure: None,
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
        let key = self.next_key();
        self.by_handle.insert(handle, key);
        self.add_stream(key, device, flags, priority.clamp(GREATEST_PRIORITY, 0));
        StreamHandle::from_driver(crate::HANDLES, handle)
    }

    fn next_key(&mut self) -> StreamKey {
        self.streams_made += 1;
        StreamKey(MAX_DEVICES + self.streams_made - 1)
    }

    /// Makes a stream without a handle, for a graph.
    pub(crate) fn add_lane(&mut self, device: DeviceIndex, priority: i32) -> StreamKey {
        let key = self.next_key();
        self.add_stream(key, device, StreamFlags { non_blocking: true }, priority);
        key
    }

    /// Removes a stream that [`add_lane`](Self::add_lane) made, once its work has ended.
    pub(crate) fn drop_lane(&mut self, key: StreamKey) {
        if let Some(stream) = self.streams.get_mut(&key) {
            stream.destroyed = true;
        }
        self.forget_if_drained(key);
    }

    fn add_stream(
        &mut self,
        key: StreamKey,
        device: DeviceIndex,
        flags: StreamFlags,
        priority: i32,
    ) {
        self.devices[device.as_usize()].streams.push(key);
        let stream = StreamQueue {
            device,
            priority,
            non_blocking: flags.non_blocking,
            destroyed: false,
            queue: VecDeque::new(),
            running: None,
            phase: StreamPhase::Idle,
            last: None,
            end_ns: 0,
            slot: None,
        };
        self.streams.insert(key, stream);
    }

    /// The living stream that a reference names. Ends the process if the stream has been destroyed.
    pub(crate) fn find(&mut self, call: Call, stream: StreamRef) -> Result<StreamKey> {
        let found = self.look_up(call, stream);
        if found.is_err() && self.is_dead(stream.handle) {
            end_process(call, "stream", stream.handle.native());
        }
        found
    }

    /// The living stream that a reference names; an error if there is none.
    pub(crate) fn look_up(&mut self, call: Call, stream: StreamRef) -> Result<StreamKey> {
        if matches!(stream.handle.native(), 0 | LEGACY_ALIAS) {
            return Ok(StreamKey::legacy(stream.device));
        }
        if stream.handle == StreamHandle::PER_THREAD {
            return Ok(self.default_of_thread(stream.device));
        }
        let key = self.by_handle.get(&stream.handle.native());
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
                stream.handle.native(),
                found.device,
                stream.device
            ),
        ))
    }

    /// The default stream of the calling thread, which the legacy default stream is ordered with.
    fn default_of_thread(&mut self, device: DeviceIndex) -> StreamKey {
        let name = (ThreadNumber::own(), device);
        if let Some(key) = self.of_threads.get(&name) {
            return *key;
        }
        let key = self.next_key();
        self.add_stream(key, device, StreamFlags { non_blocking: false }, 0);
        self.of_threads.insert(name, key);
        key
    }

    /// The device of the stream that a handle names. Ends the process if the stream has been
    /// destroyed.
    pub(crate) fn device_of(&self, call: Call, handle: StreamHandle) -> Result<DeviceIndex> {
        if self.is_dead(handle) {
            end_process(call, "stream", handle.native());
        }
        let stream = self.by_handle.get(&handle.native()).and_then(|key| self.streams.get(key));
        stream.map(|stream| stream.device).ok_or_else(|| no_stream(call, handle))
    }

    /// Whether a handle was one of a stream that has been destroyed, and is no other stream's now.
    fn is_dead(&self, handle: StreamHandle) -> bool {
        !self.by_handle.contains_key(&handle.native()) && self.handles.was_taken(handle.native())
    }

    /// Fails when queued work of the device has failed before.
    pub(crate) fn check(&self, call: Call, device: DeviceIndex) -> Result<()> {
        let DeviceQueues { error, failure, .. } = &self.devices[device.as_usize()];
        match *error {
            None => Ok(()),
            Some(code) => match &self.workers.exhausted {
                Some(why) if code == codes::OPERATING_SYSTEM => {
                    Err(codes::failure_because(call, code, why))
                }
                _ => {
                    let work = failure.as_deref().unwrap_or("an operation that is unknown");
                    let why =
                        format!("device {device} failed in work that was queued earlier: {work}");
                    Err(codes::failure_because(call, code, why).with_remedy(CLEAR_ERROR))
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

    /// The newest operations that the legacy default stream's rule puts before a new operation of `key`.
    /// Some may have ended.
    pub(crate) fn legacy_order(&self, key: StreamKey) -> Vec<Arc<Token>> {
        let Some(stream) = self.streams.get(&key) else { return Vec::new() };
        let legacy = StreamKey::legacy(stream.device);
        let last = |key: &StreamKey| self.streams.get(key).and_then(|other| other.last.clone());
        if key != legacy {
            let ordered = if stream.non_blocking { None } else { last(&legacy) };
            return ordered.into_iter().collect();
        }
        let streams = &self.devices[stream.device.as_usize()].streams;
        let blocking = |key: &&StreamKey| {
            **key != legacy && self.streams.get(key).is_some_and(|other| !other.non_blocking)
        };
        streams.iter().filter(blocking).filter_map(last).collect()
    }

    /// Tokens of what must end before the stream is idle. The legacy default stream is as busy as
    /// the blocking streams it orders with (seen on an H200 with driver 580), not so the other way.
    pub(crate) fn pending_of_stream(&self, key: StreamKey) -> Vec<Arc<Token>> {
        let Some(stream) = self.streams.get(&key) else { return Vec::new() };
        let mut tokens: Vec<_> = stream.pending_token().into_iter().collect();
        if key == StreamKey::legacy(stream.device) {
            tokens.extend(self.legacy_order(key).into_iter().filter(|token| !token.is_done()));
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

    /// What a stream is at.
    pub(crate) fn head_of(&self, key: StreamKey) -> Option<StreamHead> {
        let stream = self.streams.get(&key)?;
        // A wait that runs waits for another process.
        let is_wait = |call: Call| call == Call::StreamWaitEvent;
        if let Some((call, announced)) = stream.running {
            let needs = if is_wait(call) { HeadState::OtherProcess } else { HeadState::Time };
            return Some(StreamHead { announced, needs });
        }
        let head = stream.queue.front()?;
        let needs = if head.stuck {
            HeadState::EndOfFault
        } else if head.dependencies.iter().any(|token| !token.is_done()) {
            HeadState::OtherWork
        } else if is_wait(head.call) && !head.work.may_start() {
            HeadState::OtherProcess
        } else if self.clock.is_manual() {
            HeadState::Step
        } else {
            HeadState::Time
        };
        Some(StreamHead { announced: head.announced, needs })
    }

    /// Makes the handle dead; queued work still runs.
    pub(crate) fn destroy_stream(&mut self, key: StreamKey, handle: StreamHandle) {
        self.captures.leave(key);
        self.by_handle.remove(&handle.native());
        self.handles.give(handle.native());
        if let Some(stream) = self.streams.get_mut(&key) {
            stream.destroyed = true;
        }
        self.forget_if_drained(key);
    }

    pub(crate) fn forget_if_drained(&mut self, key: StreamKey) {
        let Some(stream) = self.streams.get(&key) else { return };
        if stream.destroyed && stream.phase == StreamPhase::Idle && stream.queue.is_empty() {
            self.devices[stream.device.as_usize()].streams.retain(|other| *other != key);
            self.streams.remove(&key);
        }
    }
}

/// Events.
impl Engine {
    /// The living event that a handle names. Ends the process if the event has been destroyed.
    pub(crate) fn event(&self, call: Call, handle: EventHandle) -> Result<&Event> {
        match self.events.get(&handle.native()) {
            Some(event) => Ok(event),
            None if self.handles.was_taken(handle.native()) => {
                end_process(call, "event", handle.native())
            }
            None => Err(no_event(call, handle)),
        }
    }

    pub(crate) fn add_event(&mut self, event: Event) -> EventHandle {
        let handle = self.handles.take();
        self.events.insert(handle, event);
        EventHandle::from_driver(crate::HANDLES, handle)
    }
}

/// Waiting.
impl Engine {
    /// Blocks the calling thread until an operation has ended, or until the simulator is out of threads:
    /// the operation may then wait for work that never runs.
    pub(crate) fn wait(engine: &mut MutexGuard<'_, rank::SimEngine, Engine>, token: &Token) {
        token.wait(engine, |engine: &Engine| engine.workers.exhausted.is_some());
    }
}

fn no_stream(call: Call, handle: StreamHandle) -> Error {
    let why = format_args!("{:#x} is not a live stream", handle.native());
    codes::failure_because(call, codes::INVALID_HANDLE, why)
}

fn no_event(call: Call, handle: EventHandle) -> Error {
    let why = format_args!("{:#x} is not a live event", handle.native());
    codes::failure_because(call, codes::INVALID_HANDLE, why)
}
