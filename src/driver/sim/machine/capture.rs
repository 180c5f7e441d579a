//! Captures: streams whose work goes into a graph instead of running.
//!
//! What matters to callers is modelled: which streams and events take part, whom a capture holds
//! back, what spoils it. There are no graphs to launch, so what is captured is counted and dropped.
//! Numbers of errors are CUDA's, as its documents tell.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::driver::{CaptureMode, EventHandle, StreamRef};
use crate::error::{Error, Result};
use crate::thread_state;
use crate::types::DeviceIndex;

use super::engine::{Engine, StreamKey};
use crate::driver::sim::call::Call;
use crate::driver::sim::{Simulator, codes};

thread_local! {
    /// The calling thread's mode, on every simulator of the process.
    static THREAD_MODE: Cell<CaptureMode> = const { Cell::new(CaptureMode::Global) };
}

/// Sets the calling thread's mode and gives the one before.
pub(crate) fn exchange_thread_mode(mode: CaptureMode) -> CaptureMode {
    THREAD_MODE.replace(mode)
}

/// Of each stream that takes part, how many of its operations come before.
type Position = BTreeMap<StreamKey, u64>;

/// A record of an event on a captured stream.
#[derive(Clone)]
pub(crate) struct CapturedRecord {
    capture: u64,
    after: Position,
}

/// One capture under way.
struct Capture {
    mode: CaptureMode,
    /// The thread that began it.
    owner: u64,
    /// The stream on which it began and ends.
    origin: StreamKey,
    /// Something happened that it does not survive; it goes on until it is ended all the same.
    spoilt: bool,
    /// The streams that take part: the origin, and those that waited for an event of the capture.
    streams: BTreeMap<StreamKey, Position>,
}

impl Capture {
    /// Whether every other stream's work comes before what the origin would do next.
    fn is_joined(&self) -> bool {
        let end = &self.streams[&self.origin];
        self.streams.iter().all(|(key, position)| end.get(key) >= position.get(key))
    }
}

/// The captures under way, by numbers that are not used again.
#[derive(Default)]
pub(crate) struct Captures {
    begun: u64,
    live: BTreeMap<u64, Capture>,
}

impl Captures {
    fn of(&self, key: StreamKey) -> Option<u64> {
        self.live.iter().find(|(_, c)| c.streams.contains_key(&key)).map(|(id, _)| *id)
    }

    fn spoil(&mut self, id: u64) {
        if let Some(capture) = self.live.get_mut(&id) {
            capture.spoilt = true;
        }
    }

    /// Spoils the captures for which `which` holds; says whether there were any.
    fn spoil_if(&mut self, mut which: impl FnMut(&Capture) -> bool) -> bool {
        let mut any = false;
        for capture in self.live.values_mut().filter(|capture| which(capture)) {
            capture.spoilt = true;
            any = true;
        }
        any
    }
}

/// Who may do what while captures are under way.
impl Engine {
    /// Refuses a call that is not queued on a stream and so escapes captures, if one of them holds
    /// the calling thread back.
    pub(crate) fn refuse_held_back(&mut self, call: Call) -> Result<()> {
        let (mode, thread) = (THREAD_MODE.get(), thread_state::number());
        let held_back = mode != CaptureMode::Relaxed
            && self.captures.spoil_if(|capture| {
                let own = capture.owner == thread && capture.mode != CaptureMode::Relaxed;
                own || (mode, capture.mode) == (CaptureMode::Global, CaptureMode::Global)
            });
        if !held_back {
            return Ok(());
        }
        Err(codes::failure_because(
            call,
            codes::STREAM_CAPTURE_UNSUPPORTED,
            "a capture is under way that holds this thread back",
        ))
    }

    /// Refuses to ask or await a stream that is captured.
    pub(crate) fn refuse_captured_stream(&mut self, call: Call, key: StreamKey) -> Result<()> {
        self.refuse_implicit(call, key, true)?;
        match self.captures.of(key) {
            None => Ok(()),
            Some(id) => {
                self.captures.spoil(id);
                let why = "the stream is being captured";
                Err(codes::failure_because(call, codes::STREAM_CAPTURE_UNSUPPORTED, why))
            }
        }
    }

    /// Refuses to await a device of which a stream is captured.
    pub(crate) fn refuse_captured_device(&mut self, call: Call, device: DeviceIndex) -> Result<()> {
        let streams = &self.streams;
        let of_device =
            |key: &StreamKey| streams.get(key).is_some_and(|stream| stream.device == device);
        if !self.captures.spoil_if(|capture| capture.streams.keys().any(of_device)) {
            return Ok(());
        }
        let why = format!("a stream of device {device} is being captured");
        Err(codes::failure_because(call, codes::STREAM_CAPTURE_UNSUPPORTED, why))
    }

    /// Refuses to ask or await an event that was last recorded on a captured stream, also after that
    /// capture has ended.
    pub(crate) fn refuse_captured_event(&mut self, call: Call, event: EventHandle) -> Result<()> {
        let Some(record) = &self.event(call, event)?.captured else { return Ok(()) };
        let id = record.capture;
        self.captures.spoil(id);
        let why = "the event was last recorded on a stream that was being captured";
        Err(codes::failure_because(call, codes::CAPTURED_EVENT, why))
    }

    /// Refuses the legacy default stream while a blocking stream of its device is captured, since
    /// its work would have to come after what does not run.
    fn refuse_implicit(&mut self, call: Call, key: StreamKey, spoils: bool) -> Result<()> {
        let Some(device) = self.streams.get(&key).map(|stream| stream.device) else {
            return Ok(());
        };
        if key != StreamKey::legacy(device) {
            return Ok(());
        }
        let streams = &self.streams;
        let blocking = |key: &StreamKey| {
            streams.get(key).is_some_and(|other| other.device == device && !other.non_blocking)
        };
        let is_in = |capture: &Capture| capture.streams.keys().any(blocking);
        let refused = match spoils {
            true => self.captures.spoil_if(is_in),
            false => self.captures.live.values().any(is_in),
        };
        if !refused {
            return Ok(());
        }
        let why = format!("a blocking stream of device {device} is being captured");
        Err(codes::failure_because(call, codes::STREAM_CAPTURE_IMPLICIT, why))
    }

    pub(crate) fn is_capturing(&mut self, call: Call, key: StreamKey) -> Result<bool> {
        self.refuse_implicit(call, key, false)?;
        Ok(self.captures.of(key).is_some())
    }
}

/// What captured streams take.
impl Engine {
    /// The capture that what is queued on a stream now would go into.
    pub(crate) fn capture_for(&mut self, call: Call, key: StreamKey) -> Result<Option<u64>> {
        if self.captures.live.is_empty() {
            return Ok(None);
        }
        self.refuse_implicit(call, key, true)?;
        let id = self.captures.of(key);
        match id.and_then(|id| self.captures.live.get(&id)) {
            Some(capture) if capture.spoilt => Err(spoilt(call)),
            _ => Ok(id),
        }
    }

    /// Takes an operation into the capture that its stream is in; `false` when it is in none.
    pub(crate) fn capture_operation(&mut self, call: Call, key: StreamKey) -> Result<bool> {
        let Some(id) = self.capture_for(call, key)? else { return Ok(false) };
        if let Some(position) =
            self.captures.live.get_mut(&id).and_then(|capture| capture.streams.get_mut(&key))
        {
            *position.entry(key).or_default() += 1;
        }
        Ok(true)
    }

    /// What an event stands for that is recorded on a stream of this capture now.
    pub(crate) fn captured_record(&self, id: u64, key: StreamKey) -> CapturedRecord {
        let capture = self.captures.live.get(&id);
        let after = capture.and_then(|capture| capture.streams.get(&key)).cloned();
        CapturedRecord { capture: id, after: after.unwrap_or_default() }
    }

    /// A wait by a stream, itself in a capture or not, for a record made in one: the stream takes
    /// part from now on.
    pub(crate) fn wait_for_captured(
        &mut self,
        call: Call,
        key: StreamKey,
        own: Option<u64>,
        record: CapturedRecord,
    ) -> Result<()> {
        let id = record.capture;
        match self.captures.live.get(&id) {
            None => return Err(self.isolated(call, own)),
            Some(capture) if capture.spoilt => return Err(spoilt(call)),
            Some(_) => {}
        }
        if let Some(other) = own.filter(|own| *own != id) {
            self.captures.spoil(id);
            self.captures.spoil(other);
            let why = "the event belongs to another capture than the stream";
            return Err(codes::failure_because(call, codes::STREAM_CAPTURE_MERGE, why));
        }
        let is_legacy = self.streams.get(&key).is_some_and(|s| key == StreamKey::legacy(s.device));
        if is_legacy {
            self.captures.spoil(id);
            let why = "the default stream cannot take part in a capture";
            return Err(codes::failure_because(call, codes::STREAM_CAPTURE_IMPLICIT, why));
        }
        let Some(capture) = self.captures.live.get_mut(&id) else { return Ok(()) };
        let position = capture.streams.entry(key).or_default();
        for (stream, count) in record.after {
            let known = position.entry(stream).or_default();
            *known = count.max(*known);
        }
        Ok(())
    }

    /// The failure of a wait across the border of a capture.
    pub(crate) fn isolated(&mut self, call: Call, own: Option<u64>) -> Error {
        if let Some(id) = own {
            self.captures.spoil(id);
        }
        let why = "the event was not recorded in the capture that the stream is in";
        codes::failure_because(call, codes::STREAM_CAPTURE_ISOLATION, why)
    }

    /// A stream that is destroyed spoils its capture, and ends it if it began there.
    pub(crate) fn leave_capture(&mut self, key: StreamKey) {
        let Some(id) = self.captures.of(key) else { return };
        self.captures.spoil(id);
        let Some(capture) = self.captures.live.get_mut(&id) else { return };
        capture.streams.remove(&key);
        if capture.origin == key {
            self.captures.live.remove(&id);
        }
    }
}

fn spoilt(call: Call) -> Error {
    let why = "something spoilt the capture; end it";
    codes::failure_because(call, codes::STREAM_CAPTURE_INVALIDATED, why)
}

/// The controls of a test, which stand for the calls that CUDA has for this.
impl Simulator {
    /// Begins a capture on a stream: until it is ended, what is queued there does not run.
    pub fn begin_capture(&self, stream: StreamRef, mode: CaptureMode) -> Result<()> {
        let call = Call::StreamIsCapturing;
        self.inner.check_device(call, stream.device)?;
        let mut engine = self.inner.engine.lock();
        let key = engine.find(call, stream)?;
        let refuse = |code, why| Err(codes::failure_because(call, code, why));
        if key == StreamKey::legacy(stream.device) {
            let why = "stream: the default stream cannot be captured; take one from the pool";
            return refuse(codes::STREAM_CAPTURE_UNSUPPORTED, why);
        }
        if engine.captures.of(key).is_some() {
            return refuse(codes::ILLEGAL_STATE, "stream: it is being captured already");
        }
        let captures = &mut engine.captures;
        captures.begun += 1;
        let owner = thread_state::number();
        let streams = BTreeMap::from([(key, Position::new())]);
        let capture = Capture { mode, owner, origin: key, spoilt: false, streams };
        captures.live.insert(captures.begun, capture);
        Ok(())
    }

    /// Ends the capture that began on a stream, and returns how many operations it holds. A failed
    /// capture has ended too. A stream that only joined the capture cannot end it (903): that
    /// invalidates the capture, which its own stream must still end (901). The wrong thread (908)
    /// changes nothing.
    pub fn end_capture(&self, stream: StreamRef) -> Result<u64> {
        let call = Call::StreamIsCapturing;
        self.inner.check_device(call, stream.device)?;
        let mut engine = self.inner.engine.lock();
        let key = engine.find(call, stream)?;
        let refuse = |code, why| Err(codes::failure_because(call, code, why));
        let captures = &mut engine.captures;
        let found = captures.of(key).and_then(|id| captures.live.get(&id).map(|it| (id, it)));
        let Some((id, capture)) = found else {
            return refuse(codes::ILLEGAL_STATE, "stream: it is not being captured");
        };
        if capture.origin != key {
            captures.spoil(id);
            let why = "stream: its capture began on another one, which must end it";
            return refuse(codes::STREAM_CAPTURE_UNMATCHED, why);
        }
        if capture.mode != CaptureMode::Relaxed && capture.owner != thread_state::number() {
            let why = "another thread began the capture and must end it";
            return refuse(codes::STREAM_CAPTURE_WRONG_THREAD, why);
        }
        let (is_spoilt, is_joined) = (capture.spoilt, capture.is_joined());
        let operations = capture.streams[&key].values().sum();
        captures.live.remove(&id);
        if is_spoilt {
            return Err(spoilt(call));
        }
        if !is_joined {
            let why = "a stream that took part was not waited for in the end";
            return refuse(codes::STREAM_CAPTURE_UNJOINED, why);
        }
        Ok(operations)
    }
}
