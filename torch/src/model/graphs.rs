//! Runs as CUDA graphs: one graph for each set of types and shapes of the inputs.
//!
//! A graph has inputs and outputs of its own. A run copies the inputs into them, launches the graph, and returns the
//! outputs, which the next run of the same shapes overwrites, or copies them to tensors of the caller. Runs on several
//! streams are ordered by an event, since they share these tensors.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::captures::{Captured, Captures, Graph, Graphs};
use super::device::DeviceInUse;
use super::inputs::Facts;
use super::loaded::Model;
use crate::abi::copies::cloned;
use crate::abi::devices::current_stream;
use crate::abi::tensors::storage_of;
use crate::error::{Error, Result};
use crate::sconce::generator::without_drawing;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Event, Tensor, api, check};

/// Runs before a capture: the first loads kernels, which no capture can do.
const RUNS_BEFORE: usize = 2;

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
        let facts = self.check(inputs)?;
        let _device = DeviceInUse::begin(self.device)?;
        loop {
            let (captured, constants) = match self.captured(facts.shapes()) {
                Some(known) => known,
                None => self.capture(&facts, inputs)?,
            };
            // Constants are not replaced until the run is queued: the thread that replaces them waits for the device first.
            let _constants = self.container.read().unwrap_or_else(PoisonError::into_inner);
            if self.graphs().constants == constants {
                return self.replay(&captured, inputs, into);
            }
        }
    }

    fn replay(
        &self,
        captured: &Mutex<Captured>,
        inputs: &[TensorHandle],
        into: &[Option<TensorHandle>],
    ) -> Result<Vec<Tensor>> {
        let mut captured = captured.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = current_stream(self.device)?;
        captured.begin_run(stream)?;
        let returned = captured.run(stream, inputs, into, &self.description.outputs);
        captured.end_run(stream)?;
        returned
    }

    fn graphs(&self) -> MutexGuard<'_, Graphs> {
        self.graphs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many graphs there may be; of more, those go that were used longest ago.
    pub fn set_graph_limit(&self, limit: usize) -> Result<()> {
        let mut graphs = self.graphs();
        graphs.limit = limit.max(1);
        let surplus = graphs.captured.len().saturating_sub(graphs.limit);
        let gone: Vec<_> = graphs.captured.drain(..surplus).collect();
        drop(graphs);
        drop(gone);
        Ok(())
    }

    /// How many graphs there are.
    pub fn graph_count(&self) -> usize {
        self.graphs().captured.len()
    }

    /// Bytes of the graphs' own inputs, and the numbers of their pools.
    pub(super) fn graph_memory(&self) -> Result<(u64, BTreeSet<u64>)> {
        let graphs: Vec<_> =
            self.graphs().captured.iter().map(|(_, captured)| Arc::clone(captured)).collect();
        let (mut bytes, mut pools) = (0, BTreeSet::new());
        for captured in graphs {
            let captured = captured.lock().unwrap_or_else(PoisonError::into_inner);
            for input in &captured.inputs {
                bytes += storage_of(input.handle())?.1 as u64;
            }
            let (mut pool, mut number) = (std::ptr::null_mut(), 0);
            check(api::sconce_graph_get_pool(captured.graph.0, &mut pool))?;
            check(api::sconce_memory_pool_get_id(pool, &mut number))?;
            pools.insert(number);
        }
        Ok((bytes, pools))
    }

    /// Drops all graphs: they read constants that are replaced.
    pub(super) fn forget_graphs(&self) {
        let mut graphs = self.graphs();
        graphs.constants += 1;
        let gone = std::mem::take(&mut graphs.captured);
        drop(graphs);
        drop(gone);
    }

    /// A graph, and the number of the constants that it reads.
    fn captured(&self, shapes: &[i64]) -> Option<(Arc<Mutex<Captured>>, u64)> {
        let mut graphs = self.graphs();
        let at = graphs.captured.iter().position(|(known, _)| **known == *shapes)?;
        let found = graphs.captured.remove(at);
        let captured = Arc::clone(&found.1);
        graphs.captured.push(found);
        Some((captured, graphs.constants))
    }

    fn capture(
        &self,
        facts: &Facts,
        inputs: &[TensorHandle],
    ) -> Result<(Arc<Mutex<Captured>>, u64)> {
        let constants = self.graphs().constants;
        let own = current_stream(self.device)?;
        let captured = {
            let mut captures = Captures::stop();
            let stream = captures.stream(self.device)?;
            check(api::sconce_stream_wait_stream(stream, own))?;
            let captured = {
                let _stream = StreamInUse::begin(stream)?;
                self.capture_on(stream, facts, inputs)
            };
            // Also after a failure: the inputs were read on the other stream.
            check(api::sconce_stream_wait_stream(own, stream))?;
            captured
        };
        let captured = Arc::new(Mutex::new(captured?));
        let mut graphs = self.graphs();
        if graphs.constants != constants {
            return Ok((captured, constants));
        }
        // Another thread may have captured the same meanwhile.
        if let Some((_, first)) =
            graphs.captured.iter().find(|(known, _)| **known == *facts.shapes())
        {
            return Ok((Arc::clone(first), constants));
        }
        let surplus = (graphs.captured.len() + 1).saturating_sub(graphs.limit);
        let gone: Vec<_> = graphs.captured.drain(..surplus).collect();
        graphs.captured.push((facts.shapes().into(), Arc::clone(&captured)));
        drop(graphs);
        drop(gone);
        Ok((captured, constants))
    }

    fn capture_on(
        &self,
        stream: api::sconce_stream,
        facts: &Facts,
        inputs: &[TensorHandle],
    ) -> Result<Captured> {
        let mut own = Vec::with_capacity(inputs.len());
        for input in inputs {
            own.push(cloned(*input)?);
        }
        let handles: Vec<TensorHandle> = own.iter().map(Tensor::handle).collect();
        // These runs are not the program's: it seeds, captures and replays, and expects the numbers of an ordinary run.
        without_drawing(|| {
            (0..RUNS_BEFORE).try_for_each(|_| self.run_checked(&handles, facts).map(drop))
        })?;
        check(api::sconce_stream_synchronize(stream))?;
        let mut graph = Graph(std::ptr::null_mut());
        check(api::sconce_graph_create(false, &mut graph.0))?;
        let mode = api::SCONCE_CAPTURE_THREAD_LOCAL;
        check(api::sconce_graph_capture_begin(graph.0, stream, std::ptr::null_mut(), mode))?;
        let outputs = self.run_checked(&handles, facts);
        let outputs = match outputs {
            Ok(outputs) => outputs,
            Err(error) => {
                let _ = api::sconce_graph_capture_abort(graph.0);
                return Err(error.within("the model cannot be captured as a graph"));
            }
        };
        check(api::sconce_graph_capture_end(graph.0))?;
        let newest_run = Event::new()?;
        Ok(Captured { inputs: own, outputs, newest_run, newest_stream: stream, graph })
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
        let result = check(api::sconce_stream_exchange(stream, previous, device));
        if let Err(error) = result {
            std::mem::forget(guard);
            return Err(error);
        }
        Ok(guard)
    }
}

impl Drop for StreamInUse {
    fn drop(&mut self) {
        let _ = api::sconce_stream_restore(self.previous, self.device);
    }
}
