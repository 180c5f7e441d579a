//! Captures of models: one at a time, on a stream of its own, and the graphs that a model has of them.
//!
//! The streams of the pool are shared: a thread whose current stream is the one that is captured would take part in the
//! capture. And no capture of a device survives that another thread waits for the device, as replacing constants does.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::description::Slot;
use super::results::{check_places, copy_outputs, copy_to_places};
use crate::abi::handles::another_handle;
use crate::error::Result;
use crate::runtime::new_stream;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Event, Tensor, api, check};

/// The stream of each device on which models are captured. Held while one is captured or a device is waited for, and
/// taken before the lock of a model.
static STREAMS: Mutex<BTreeMap<i32, api::sconce_stream>> = Mutex::new(BTreeMap::new());

/// No model is captured while this lives, unless its owner does.
pub(super) struct Captures(MutexGuard<'static, BTreeMap<i32, api::sconce_stream>>);

impl Captures {
    /// Waits until no model is captured.
    pub(super) fn stop() -> Captures {
        Captures(STREAMS.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The stream for captures on a device. It lives as long as the process.
    pub(super) fn stream(&mut self, device: i32) -> Result<api::sconce_stream> {
        if let Some(stream) = self.0.get(&device) {
            return Ok(*stream);
        }
        let native = new_stream(device)?;
        let mut stream = api::sconce_stream { id: 0, device, reserved: 0 };
        // SAFETY: the stream is one of the device's that is never destroyed; the place is valid for a write.
        check(unsafe { api::sconce_stream_get_from_external(native, device, &mut stream) })?;
        self.0.insert(device, stream);
        Ok(stream)
    }
}

/// Graphs of a model that is not set otherwise.
const USUAL_LIMIT: usize = 8;
/// The types and shapes of inputs, and a graph for them.
type CapturedFor = (Box<[i64]>, Arc<Mutex<Captured>>);

/// The graphs of a model, those that were used last at the end.
pub(super) struct Graphs {
    pub(super) captured: Vec<CapturedFor>,
    pub(super) limit: usize,
    /// How often the constants were replaced: a graph of an earlier number reads constants that are gone.
    pub(super) constants: u64,
}

impl Default for Graphs {
    fn default() -> Graphs {
        Graphs { captured: Vec::new(), limit: USUAL_LIMIT, constants: 0 }
    }
}

/// A graph with the tensors that it reads and writes.
pub(super) struct Captured {
    pub(super) inputs: Vec<Tensor>,
    pub(super) outputs: Vec<Tensor>,
    /// Recorded at the end of each run, on the stream of that run.
    pub(super) newest_run: Event,
    pub(super) newest_stream: api::sconce_stream,
    /// Dropped last: outputs lie in its pool.
    pub(super) graph: Graph,
}

impl Captured {
    /// Orders a stream after the newest run, which reads the inputs and writes the outputs.
    pub(super) fn begin_run(&mut self, stream: api::sconce_stream) -> Result<()> {
        if stream.id != self.newest_stream.id {
            self.newest_run.make_wait(stream)?;
        }
        // The inputs were allocated for the stream of the capture, and are freed when the graph is dropped.
        for input in &self.inputs {
            check(api::sconce_tensor_record_stream(input.handle(), stream))?;
        }
        Ok(())
    }

    /// Notes what a run has queued, also when it has failed half-way.
    pub(super) fn end_run(&mut self, stream: api::sconce_stream) -> Result<()> {
        self.newest_stream = stream;
        self.newest_run.record(stream)
    }

    /// Copies the inputs, launches the graph, and copies the outputs that have a place.
    pub(super) fn run(
        &self,
        stream: api::sconce_stream,
        inputs: &[TensorHandle],
        into: &[Option<TensorHandle>],
        outputs: &[Slot],
    ) -> Result<Vec<Tensor>> {
        let returned: Vec<TensorHandle> = self.outputs.iter().map(Tensor::handle).collect();
        check_places(outputs, &returned, into)?;
        let own: Vec<TensorHandle> = self.inputs.iter().map(Tensor::handle).collect();
        let places: Vec<_> = own.iter().copied().map(Some).collect();
        copy_to_places(inputs, &places, |at, error| error.within(&format!("input {at}")))?;
        check(api::sconce_graph_replay(self.graph.0, stream))?;
        copy_outputs(outputs, &returned, into)?;
        let returned = returned.iter().zip(into).map(|(own, into)| match into {
            None => another_handle(*own),
            Some(into) => Tensor::retained(*into),
        });
        returned.collect()
    }
}

/// A graph of libsconce.so.
pub(super) struct Graph(pub(super) *mut api::sconce_graph);

// SAFETY: the handle is a number, which libsconce.so takes on any thread.
unsafe impl Send for Graph {}

impl Drop for Graph {
    fn drop(&mut self) {
        let _ = api::sconce_graph_destroy(self.0);
    }
}
