//! Handles, engines and plans of convolutions.
#![forbid(unsafe_code)]

use std::sync::Arc;

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_base::lock::{Mutex, rank};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::nvidia::dnn_failure;
use sconce_driver::{
    Convolution, ConvolutionEngines, ConvolutionPlan, Dnn, DnnHandle, EngineChoice, StreamRef,
};
use sconce_math::unfolding::Geometry;

use super::calculate::{ConvolutionEngine, QueuedConvolution};
use super::codes::{BAD_PARAM, MISALIGNED_POINTER, NULL_POINTER, OUT_OF_BOUND};
use super::geometry::{geometry_of, unfolded_bytes};
use crate::call::Call;
use crate::libraries::compute::native_handle;
use crate::state::{Simulator, State};

/// The version of cuDNN that the simulator reports.
const VERSION: i64 = 90_000;

impl Dnn for Simulator {
    fn dnn_create(&self, device: DeviceIndex) -> Result<Box<dyn DnnHandle>> {
        self.inner.enter_library_on(Call::DnnCreate, device, "cuDNN", dnn_failure)?;
        let stream = Mutex::new(StreamRef::default_of(device));
        let shared = Arc::new(DnnShared { inner: Arc::clone(&self.inner), device, stream });
        Ok(Box::new(SimDnnHandle { shared, native: native_handle() }))
    }

    fn dnn_version(&self) -> Result<i64> {
        self.inner.open_library(Call::DnnVersion, "cuDNN", dnn_failure)?;
        Ok(VERSION)
    }
}

fn refused(call: Call, code: i32) -> Error {
    dnn_failure(call.name(), code)
}

/// The state that a handle shares with its engines and plans.
struct DnnShared {
    inner: Arc<State>,
    device: DeviceIndex,
    stream: Mutex<rank::SimDnnStream, StreamRef>,
}

struct SimDnnHandle {
    shared: Arc<DnnShared>,
    native: usize,
}

impl DnnHandle for SimDnnHandle {
    fn native(&self) -> usize {
        self.native
    }

    fn set_stream(&mut self, stream: StreamRef) -> Result<()> {
        let (call, shared) = (Call::DnnSetStream, &self.shared);
        shared.inner.enter_library(call, dnn_failure)?;
        if stream.device != shared.device {
            return Err(refused(call, BAD_PARAM));
        }
        shared.inner.machine.engine.lock().find(call, stream)?;
        *shared.stream.lock() = stream;
        Ok(())
    }

    fn is_set_to(&self, stream: StreamRef) -> bool {
        self.shared.inner.is_left_alone(Call::DnnIsSet) && *self.shared.stream.lock() == stream
    }

    fn engines(
        &mut self,
        problem: &Convolution,
        choice: EngineChoice,
    ) -> Result<Box<dyn ConvolutionEngines>> {
        let call = Call::DnnEngines;
        self.shared.inner.enter_library(call, dnn_failure)?;
        let geometry = geometry_of(problem).map_err(|code| refused(call, code))?;
        let engines: &[ConvolutionEngine] = match choice.deterministic {
            true => &[ConvolutionEngine::Private],
            false => &[ConvolutionEngine::Workspace, ConvolutionEngine::Private],
        };
        let tf32 = choice.allow_tf32 && problem.element == Dtype::F32;
        let shared = Arc::clone(&self.shared);
        Ok(Box::new(SimConvolutionEngines { shared, problem: *problem, geometry, tf32, engines }))
    }
}

struct SimConvolutionEngines {
    shared: Arc<DnnShared>,
    problem: Convolution,
    geometry: Geometry,
    tf32: bool,
    engines: &'static [ConvolutionEngine],
}

impl ConvolutionEngines for SimConvolutionEngines {
    fn has(&mut self, index: usize) -> Result<bool> {
        Ok(index < self.engines.len())
    }

    fn plan(&mut self, index: usize) -> Result<Box<dyn ConvolutionPlan>> {
        let call = Call::DnnPlan;
        self.shared.inner.enter_library(call, dnn_failure)?;
        // cuDNN compiles and loads kernels here.
        self.shared.inner.check_held_back(call)?;
        let engine = *self.engines.get(index).ok_or_else(|| refused(call, OUT_OF_BOUND))?;
        let workspace_bytes = match engine {
            ConvolutionEngine::Workspace => unfolded_bytes(&self.geometry, self.problem.element),
            ConvolutionEngine::Private => 0,
        };
        let run = QueuedConvolution {
            problem: self.problem,
            geometry: self.geometry,
            tf32: self.tf32,
            engine,
            addresses: [0; 3],
            workspace: 0,
        };
        Ok(Box::new(SimConvolutionPlan { shared: Arc::clone(&self.shared), run, workspace_bytes }))
    }
}

struct SimConvolutionPlan {
    shared: Arc<DnnShared>,
    /// An execution, with addresses of 0.
    run: QueuedConvolution,
    workspace_bytes: usize,
}

impl Drop for SimConvolutionPlan {
    fn drop(&mut self) {
        // cuDNN unloads its kernels here. A drop cannot report that a capture forbids it.
        let (call, inner) = (Call::DnnPlanDestroy, &self.shared.inner);
        inner.counters.add(call);
        let _ = inner.check_held_back(call);
    }
}

impl ConvolutionPlan for SimConvolutionPlan {
    fn workspace_bytes(&self) -> usize {
        self.workspace_bytes
    }

    fn execute(
        &mut self,
        input: DevicePtr,
        filter: DevicePtr,
        output: DevicePtr,
        workspace: DevicePtr,
    ) -> Result<()> {
        let call = Call::DnnExecute;
        self.shared.inner.enter_library(call, dnn_failure)?;
        let addresses = [input.0, filter.0, output.0];
        if addresses.contains(&0) || (self.workspace_bytes > 0 && workspace.0 == 0) {
            return Err(refused(call, NULL_POINTER));
        }
        let problem = &self.run.problem;
        let unit = problem.element.bytes();
        let promised = [problem.input, problem.filter, problem.output].map(|it| it.alignment);
        let aligned =
            |(address, alignment): (u64, usize)| address.is_multiple_of(alignment.max(unit) as u64);
        if !addresses.into_iter().zip(promised).all(aligned) {
            return Err(refused(call, MISALIGNED_POINTER));
        }
        let run = QueuedConvolution { addresses, workspace: workspace.0, ..self.run };
        let stream = *self.shared.stream.lock();
        self.shared.inner.compute(call, run, stream)
    }
}
