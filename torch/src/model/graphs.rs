//! Runs as CUDA graphs: one graph for each set of types and shapes of the inputs.
//!
//! A graph has inputs and outputs of its own. A run copies the inputs into them, launches the graph, and returns the
//! outputs, which the next run of the same shapes overwrites, or copies them to tensors of the caller.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use std::sync::{Arc, Mutex, PoisonError};

use super::loaded::{DeviceInUse, Model, shapes_of};
use crate::abi::copies::cloned;
use crate::abi::devices::current_stream;
use crate::error::{Error, Result};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, check};

/// Graphs of a model that is not set otherwise.
const USUAL_LIMIT: usize = 8;
/// Runs before a capture: the first loads kernels, which no capture can do.
const RUNS_BEFORE: usize = 2;

/// The graphs of a model, those that were used last at the end.
pub(super) struct Graphs {
    captured: Vec<(u64, Arc<Mutex<Captured>>)>,
    limit: usize,
}

impl Default for Graphs {
    fn default() -> Graphs {
        Graphs { captured: Vec::new(), limit: USUAL_LIMIT }
    }
}

/// A graph with the tensors that it reads and writes.
pub(super) struct Captured {
    inputs: Vec<Tensor>,
    outputs: Vec<Tensor>,
    /// Dropped last: outputs lie in its pool.
    graph: Graph,
}

/// A graph of libsconce.so.
struct Graph(*mut api::sconce_graph);

// SAFETY: a handle is a number that any thread may use.
unsafe impl Send for Graph {}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: any number may be passed as a handle.
        let _ = unsafe { api::sconce_graph_destroy(self.0) };
    }
}

impl Model {
    /// Runs the model as a graph on the current stream. Each output goes to the caller's tensor if there is one, else
    /// it is a tensor of the graph.
    pub fn run_graph(
        &self,
        inputs: &[TensorHandle],
        into: &[Option<TensorHandle>],
    ) -> Result<Vec<Tensor>> {
        if self.device < 0 {
            return Err(Error::not_supported(
                "the model runs on the CPU, where there are no graphs; call sconce_model_run",
            ));
        }
        self.check(inputs)?;
        let _device = DeviceInUse::begin(self.device)?;
        let shapes = shapes_of(inputs)?;
        let captured = match self.captured(shapes) {
            Some(captured) => captured,
            None => self.capture(shapes, inputs)?,
        };
        let captured = captured.lock().unwrap_or_else(PoisonError::into_inner);
        for (own, given) in captured.inputs.iter().zip(inputs) {
            // SAFETY: any number may be passed as a handle.
            check(unsafe { api::sconce_tensor_copy(own.handle(), *given, true) })?;
        }
        // SAFETY: as above.
        check(unsafe { api::sconce_graph_replay_on_current(captured.graph.0) })?;
        let mut returned = Vec::with_capacity(captured.outputs.len());
        for (own, into) in captured.outputs.iter().zip(into) {
            returned.push(match into {
                None => crate::abi::handles::another_handle(own.handle())?,
                Some(into) => {
                    // SAFETY: as above.
                    check(unsafe { api::sconce_tensor_copy(*into, own.handle(), true) })?;
                    Tensor::retained(*into)?
                }
            });
        }
        Ok(returned)
    }

    /// How many graphs there may be; of more, those go that were used longest ago.
    pub fn set_graph_limit(&self, limit: usize) -> Result<()> {
        let mut graphs = self.graphs.lock().unwrap_or_else(PoisonError::into_inner);
        graphs.limit = limit.max(1);
        let surplus = graphs.captured.len().saturating_sub(graphs.limit);
        let gone: Vec<_> = graphs.captured.drain(..surplus).collect();
        drop(graphs);
        drop(gone);
        Ok(())
    }

    /// How many graphs there are.
    pub fn graph_count(&self) -> usize {
        self.graphs.lock().unwrap_or_else(PoisonError::into_inner).captured.len()
    }

    /// Drops all graphs: they read constants that are replaced.
    pub(super) fn forget_graphs(&self) -> Result<()> {
        let gone = std::mem::take(
            &mut self.graphs.lock().unwrap_or_else(PoisonError::into_inner).captured,
        );
        drop(gone);
        Ok(())
    }

    fn captured(&self, shapes: u64) -> Option<Arc<Mutex<Captured>>> {
        let mut graphs = self.graphs.lock().unwrap_or_else(PoisonError::into_inner);
        let at = graphs.captured.iter().position(|(known, _)| *known == shapes)?;
        let found = graphs.captured.remove(at);
        let captured = Arc::clone(&found.1);
        graphs.captured.push(found);
        Some(captured)
    }

    fn capture(&self, shapes: u64, inputs: &[TensorHandle]) -> Result<Arc<Mutex<Captured>>> {
        let home = current_stream(self.device)?;
        let mut stream = home;
        // SAFETY: the place is valid for a write.
        check(unsafe { api::sconce_stream_get_from_pool(self.device, 0, &mut stream) })?;
        // SAFETY: no preconditions.
        check(unsafe { api::sconce_stream_wait_stream(stream, home) })?;
        let captured = {
            let _stream = StreamInUse::begin(stream)?;
            self.capture_on(stream, inputs)?
        };
        // SAFETY: no preconditions.
        check(unsafe { api::sconce_stream_wait_stream(home, stream) })?;
        let captured = Arc::new(Mutex::new(captured));
        let mut graphs = self.graphs.lock().unwrap_or_else(PoisonError::into_inner);
        let surplus = (graphs.captured.len() + 1).saturating_sub(graphs.limit);
        let gone: Vec<_> = graphs.captured.drain(..surplus).collect();
        graphs.captured.push((shapes, Arc::clone(&captured)));
        drop(graphs);
        drop(gone);
        Ok(captured)
    }

    fn capture_on(&self, stream: api::sconce_stream, inputs: &[TensorHandle]) -> Result<Captured> {
        let mut own = Vec::with_capacity(inputs.len());
        for input in inputs {
            own.push(cloned(*input)?);
        }
        let handles: Vec<TensorHandle> = own.iter().map(Tensor::handle).collect();
        for _ in 0..RUNS_BEFORE {
            self.run_checked(&handles)?;
        }
        // SAFETY: no preconditions.
        check(unsafe { api::sconce_stream_synchronize(stream) })?;
        let mut graph = Graph(std::ptr::null_mut());
        // SAFETY: the place is valid for a write.
        check(unsafe { api::sconce_graph_create(false, &mut graph.0) })?;
        let mode = api::SCONCE_CAPTURE_THREAD_LOCAL;
        // SAFETY: any number may be passed as a handle; no pool is one of the graph's own.
        check(unsafe {
            api::sconce_graph_capture_begin(graph.0, stream, std::ptr::null_mut(), mode)
        })?;
        let outputs = self.run_checked(&handles);
        let outputs = match outputs {
            Ok(outputs) => outputs,
            Err(error) => {
                // SAFETY: the thread began the capture.
                let _ = unsafe { api::sconce_graph_capture_abort(graph.0) };
                return Err(error.within("the model cannot be captured as a graph"));
            }
        };
        // SAFETY: the thread began the capture.
        check(unsafe { api::sconce_graph_capture_end(graph.0) })?;
        Ok(Captured { inputs: own, outputs, graph })
    }
}

/// A stream that is current until this is dropped.
struct StreamInUse {
    previous: api::sconce_stream,
    device: i32,
}

impl StreamInUse {
    fn begin(stream: api::sconce_stream) -> Result<StreamInUse> {
        let mut guard = StreamInUse { previous: stream, device: 0 };
        let (previous, device) = (&mut guard.previous, &mut guard.device);
        // SAFETY: both places are valid for a write.
        let result = check(unsafe { api::sconce_stream_exchange(stream, previous, device) });
        if let Err(error) = result {
            std::mem::forget(guard);
            return Err(error);
        }
        Ok(guard)
    }
}

impl Drop for StreamInUse {
    fn drop(&mut self) {
        // SAFETY: the results of the exchange on this thread.
        let _ = unsafe { api::sconce_stream_restore(self.previous, self.device) };
    }
}
