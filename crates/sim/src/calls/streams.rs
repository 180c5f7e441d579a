//! Streams, and how work is queued on them.
#![forbid(unsafe_code)]

use std::sync::Arc;

use sconce_base::error::Result;
use sconce_base::lock::{about_to_wait, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::{
    CaptureStatus, EventHandle, HostFunction, HostRange, StreamFlags, StreamHandle, StreamHead,
    StreamRef, Streams,
};

use crate::call::Call;
use crate::codes;
use crate::machine::engine::{Engine, GREATEST_PRIORITY};
use crate::machine::event::NewestRecord;
use crate::machine::operation::{QueuedWork, Submission};
use crate::machine::token::StreamKey;
use crate::state::{Simulator, State};
use crate::work::host_function::HostFunctionWork;
use crate::work::order::{OrderingWork, RemoteWaitWork};
use crate::work::write_word::WriteWordWork;

impl Streams for Simulator {
    fn stream_priority_range(&self, device: DeviceIndex) -> Result<(i32, i32)> {
        self.inner.enter_device(Call::StreamPriorityRange, device)?;
        Ok((0, GREATEST_PRIORITY))
    }

    fn stream_create(
        &self,
        device: DeviceIndex,
        flags: StreamFlags,
        priority: i32,
    ) -> Result<StreamHandle> {
        self.inner.enter_context(Call::StreamCreate, device)?;
        self.inner.make_stream(Call::StreamCreate, device, flags, priority)
    }

    fn stream_destroy(&self, stream: StreamRef) -> Result<()> {
        self.inner.enter_device(Call::StreamDestroy, stream.device)?;
        self.inner.destroy_stream(Call::StreamDestroy, stream)
    }

    fn stream_check(&self, stream: StreamRef) -> Result<()> {
        self.inner.enter_device(Call::StreamCheck, stream.device)?;
        self.inner.machine.engine.lock().look_up(Call::StreamCheck, stream).map(drop)
    }

    /// The stream's number inside the engine, which no other stream ever has.
    fn stream_id(&self, stream: StreamRef) -> Result<Option<u64>> {
        let (inner, call) = (&self.inner, Call::StreamId);
        inner.enter_device(call, stream.device)?;
        inner.machine.engine.lock().find(call, stream).map(StreamKey::number).map(Some)
    }

    fn stream_query(&self, stream: StreamRef) -> Result<bool> {
        let (inner, call) = (&self.inner, Call::StreamQuery);
        inner.enter_context(call, stream.device)?;
        let mut engine = inner.machine.engine.lock();
        let key = engine.find(call, stream)?;
        engine.check(call, stream.device)?;
        engine.refuse_captured_stream(call, key)?;
        engine.refuse_held_back(call)?;
        Ok(engine.pending_of_stream(key).is_empty())
    }

    fn stream_synchronize(&self, stream: StreamRef) -> Result<()> {
        about_to_wait::<rank::Device>();
        let (inner, call) = (&self.inner, Call::StreamSynchronize);
        inner.enter_context(call, stream.device)?;
        let mut engine = inner.machine.engine.lock();
        let key = engine.find(call, stream)?;
        engine.check(call, stream.device)?;
        engine.refuse_captured_stream(call, key)?;
        engine.refuse_held_back(call)?;
        for token in engine.pending_of_stream(key) {
            Engine::wait(&mut engine, &token);
        }
        engine.check(call, stream.device)
    }

    fn stream_head(&self, stream: StreamRef) -> Option<StreamHead> {
        if stream.handle == StreamHandle::PER_THREAD {
            return None;
        }
        let mut engine = self.inner.machine.engine.lock();
        let key = engine.look_up(Call::StreamQuery, stream).ok()?;
        engine.head_of(key)
    }

    fn stream_priority(&self, stream: StreamRef) -> Result<i32> {
        let (inner, call) = (&self.inner, Call::StreamPriority);
        inner.enter_device(call, stream.device)?;
        let mut engine = inner.machine.engine.lock();
        let key = engine.find(call, stream)?;
        Ok(engine.streams.get(&key).map_or(0, |stream| stream.priority))
    }

    fn stream_capture_status(&self, stream: StreamRef) -> Result<CaptureStatus> {
        let (inner, call) = (&self.inner, Call::StreamIsCapturing);
        inner.enter_device(call, stream.device)?;
        let mut engine = inner.machine.engine.lock();
        let key = engine.find(call, stream)?;
        engine.capture_status(call, key)
    }

    fn stream_capture_number(&self, stream: StreamRef) -> Result<Option<u64>> {
        let (inner, call) = (&self.inner, Call::StreamIsCapturing);
        inner.enter_device(call, stream.device)?;
        let mut engine = inner.machine.engine.lock();
        let key = engine.find(call, stream)?;
        engine.capture_status(call, key)?;
        Ok(engine.captures.of(key))
    }

    fn stream_seen_capture(&self, stream: StreamRef) -> Option<u64> {
        let mut engine = self.inner.machine.engine.lock();
        let key = engine.look_up(Call::StreamIsCapturing, stream).ok()?;
        engine.captures.of(key)
    }

    fn stream_wait_event(&self, stream: StreamRef, handle: EventHandle) -> Result<()> {
        let (inner, call) = (&self.inner, Call::StreamWaitEvent);
        inner.enter_context(call, stream.device)?;
        let fault = inner.faults.of_operation(call);
        let mut engine = inner.machine.engine.lock();
        let key = engine.find(call, stream)?;
        engine.check(call, stream.device)?;
        let capture = engine.capture_for(call, key)?;
        if let Some(record) = engine.event(call, handle)?.captured.clone() {
            return engine.wait_for_captured(call, key, capture, record);
        }
        let has_listener = engine.listener.is_some();
        let (work, after): (Arc<dyn QueuedWork>, _) = match engine.event(call, handle)?.newest() {
            NewestRecord::None => return Ok(()),
            _ if capture.is_some() => return Err(engine.isolated(call, capture)),
            NewestRecord::Here(token) if token.is_done() && fault.is_none() && !has_listener => {
                return Ok(());
            }
            NewestRecord::Here(token) => (Arc::new(OrderingWork), vec![token]),
            NewestRecord::Elsewhere(record) => (Arc::new(RemoteWaitWork(record)), Vec::new()),
        };
        let submission = Submission { call, work, duration_ns: 0, after, fault, stuck: false };
        engine.enqueue(key, submission);
        inner.machine.serve(&mut engine);
        Ok(())
    }

    fn stream_write_word(&self, stream: StreamRef, word: HostRange, value: u32) -> Result<()> {
        let (inner, call) = (&self.inner, Call::StreamWriteWord);
        inner.enter_context(call, stream.device)?;
        let is_pinned = inner.space.read().pinned.at(word.get()).is_some();
        if !is_pinned
            || word.bytes() != size_of::<u32>()
            || !word.get().is_multiple_of(size_of::<u32>())
        {
            let why =
                format!("word {:#x} is not an aligned word of page-locked memory", word.get());
            return Err(codes::failure_because(call, codes::INVALID_VALUE, why));
        }
        inner.submit(call, stream, WriteWordWork::new(word, value), inner.latency_ns()).map(drop)
    }

    fn launch_host_function(&self, stream: StreamRef, function: HostFunction) -> Result<()> {
        let (inner, call) = (&self.inner, Call::LaunchHostFunction);
        inner.enter_context(call, stream.device)?;
        inner.submit(call, stream, HostFunctionWork::new(function), inner.latency_ns()).map(drop)
    }
}

impl State {
    /// The checks of a call that may have nothing to do. Returns whether the stream is captured.
    pub(crate) fn accepts_work(&self, call: Call, stream: StreamRef) -> Result<bool> {
        let mut engine = self.machine.engine.lock();
        let key = engine.find(call, stream)?;
        engine.check(call, stream.device)?;
        engine.capture_for(call, key).map(|capture| capture.is_some())
    }

    pub(crate) fn make_stream(
        &self,
        call: Call,
        device: DeviceIndex,
        flags: StreamFlags,
        priority: i32,
    ) -> Result<StreamHandle> {
        let mut engine = self.machine.engine.lock();
        engine.check(call, device)?;
        Ok(engine.create_stream(device, flags, priority))
    }

    pub(crate) fn destroy_stream(&self, call: Call, stream: StreamRef) -> Result<()> {
        let mut engine = self.machine.engine.lock();
        let key = engine.find(call, stream)?;
        let is_default = stream.handle == StreamHandle::PER_THREAD;
        if is_default || key == StreamKey::legacy(stream.device) {
            let why = "the default stream cannot be destroyed";
            return Err(codes::failure_because(call, codes::INVALID_HANDLE, why));
        }
        engine.destroy_stream(key, stream.handle);
        Ok(())
    }
}
