//! The capture mode of a thread; the beginnings and ends of captures.
#![forbid(unsafe_code)]

use std::sync::Arc;

use sconce_base::error::Result;
use sconce_base::thread_state;
use sconce_driver::{CaptureMode, Captures, GraphHandle, StreamRef};

use super::graphs::find_graph;
use crate::call::Call;
use crate::codes;
use crate::machine::capture_rules::invalidated;
use crate::machine::captures::exchange_thread_mode;
use crate::machine::graphs::Graph;
use crate::machine::token::StreamKey;
use crate::state::{Simulator, State};

impl Captures for Simulator {
    fn exchange_capture_mode(&self, mode: CaptureMode) -> Result<CaptureMode> {
        self.inner.enter(Call::ExchangeCaptureMode)?;
        Ok(exchange_thread_mode(mode))
    }
}

impl State {
    /// Begins a capture on a stream, into the body of a conditional node if there is one.
    pub(crate) fn begin_capture(
        &self,
        call: Call,
        stream: StreamRef,
        mode: CaptureMode,
        body: Option<GraphHandle>,
    ) -> Result<()> {
        let mut engine = self.machine.engine.lock();
        let key = engine.find(call, stream)?;
        engine.check(call, stream.device)?;
        let refuse = |code, why| Err(codes::failure_because(call, code, why));
        if key == StreamKey::legacy(stream.device) {
            let why = "stream: the default stream cannot be captured; take one from the pool";
            return refuse(codes::STREAM_CAPTURE_UNSUPPORTED, why);
        }
        if engine.captures.of(key).is_some() {
            return refuse(codes::ILLEGAL_STATE, "stream: it is being captured already");
        }
        let graph = match body {
            None => Graph::new(Some(key), None),
            Some(body) => {
                let body = find_graph(&engine, call, body)?;
                if body.parent.is_none() || body.origin.lock().replace(key).is_some() {
                    let why =
                        "body: it is not a body of a conditional node, or was captured before";
                    return refuse(codes::INVALID_VALUE, why);
                }
                body
            }
        };
        let handle = body.map(GraphHandle::native);
        engine.captures.begin(key, mode, thread_state::number(), graph, handle);
        Ok(())
    }

    /// Ends the capture that began on a stream. A failed capture has ended too. A stream that only joined the
    /// capture cannot end it (903): that invalidates the capture, which its own stream must still end (901).
    /// The wrong thread (908) ends the capture, whose graph is lost.
    pub(crate) fn end_capture(&self, call: Call, stream: StreamRef) -> Result<GraphHandle> {
        let mut engine = self.machine.engine.lock();
        let key = engine.find(call, stream)?;
        let refuse = |code, why| Err(codes::failure_because(call, code, why));
        let captures = &mut engine.captures;
        let found = captures.of(key).and_then(|id| captures.get(id).map(|it| (id, it)));
        let Some((id, capture)) = found else {
            return refuse(codes::ILLEGAL_STATE, "stream: it is not being captured");
        };
        if capture.origin != key {
            captures.invalidate(id);
            let why = "stream: its capture began on another one, which must end it";
            return refuse(codes::STREAM_CAPTURE_UNMATCHED, why);
        }
        if capture.mode != CaptureMode::Relaxed && capture.owner != thread_state::number() {
            let ended = captures.end(id);
            ended.iter().for_each(|capture| engine.forget_bodies(&capture.graph));
            let why = "another thread began the capture and must end it";
            return refuse(codes::STREAM_CAPTURE_WRONG_THREAD, why);
        }
        let is_joined = capture.is_joined();
        let Some(capture) = captures.end(id) else { return Err(invalidated(call)) };
        if capture.is_invalid || !is_joined {
            engine.forget_bodies(&capture.graph);
            let why = "a stream that took part was not waited for in the end";
            return match capture.is_invalid {
                true => Err(invalidated(call)),
                false => refuse(codes::STREAM_CAPTURE_UNJOINED, why),
            };
        }
        let handle = capture.body.unwrap_or_else(|| {
            let handle = engine.handles.take();
            engine.graphs.graphs.insert(handle, Arc::clone(&capture.graph));
            handle
        });
        Ok(GraphHandle::from_driver(crate::HANDLES, handle))
    }
}
