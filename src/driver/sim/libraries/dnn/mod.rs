//! Convolutions on the CPU, as operations of simulated streams.
//!
//! The library knows two engines. The first keeps the unfolded input of an image in the workspace
//! and calls itself nondeterministic; the second keeps it to itself, and is faster. Both give right
//! results, the first as long as nobody else writes to its workspace.
//!
//! | file | idea |
//! |---|---|
//! | `geometry` | a problem's sizes, checked |
//! | `tensor` | images with any strides, read and written without gaps |
//! | `unfold` | which element of an image meets which of the filter |
//! | `calculate` | the three operations, from products |
#![forbid(unsafe_code)]

mod calculate;
mod geometry;
mod tensor;
mod unfold;

use std::sync::Arc;

use parking_lot::Mutex;

use super::compute::native_handle;
use crate::driver::nvidia::dnn_failure;
use crate::driver::sim::call::Call;
use crate::driver::sim::{Inner, Simulator};
use crate::driver::{
    Convolution, ConvolutionEngines, ConvolutionPlan, Dnn, DnnHandle, EngineChoice, StreamRef,
};
use crate::element::Dtype;
use crate::error::{Error, Result};
use crate::types::{DeviceIndex, DevicePtr};
use calculate::{Engine, Run};
use geometry::Geometry;

/// As which version the simulator behaves.
const VERSION: i64 = 90_000;

/// `CUDNN_STATUS_BAD_PARAM`.
const BAD_PARAM: i32 = 2000;
/// `CUDNN_STATUS_BAD_PARAM_NULL_POINTER`.
const NULL_POINTER: i32 = 2002;
/// `CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER`.
const MISALIGNED_POINTER: i32 = 2003;
/// `CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND`.
const OUT_OF_BOUND: i32 = 2005;
/// `CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH`.
const SHAPE_MISMATCH: i32 = 2008;
/// `CUDNN_STATUS_NOT_SUPPORTED`.
const NOT_SUPPORTED: i32 = 3000;

impl Dnn for Simulator {
    fn dnn_create(&self, device: DeviceIndex) -> Result<Box<dyn DnnHandle>> {
        self.inner.enter_library_on(Call::DnnCreate, device, "cuDNN", dnn_failure)?;
        let stream = Mutex::new(StreamRef::default_of(device));
        let shared = Arc::new(Shared { inner: Arc::clone(&self.inner), device, stream });
        Ok(Box::new(Handle { shared, native: native_handle() }))
    }

    fn dnn_version(&self) -> Result<i64> {
        self.inner.open_library(Call::DnnVersion, "cuDNN", dnn_failure)?;
        Ok(VERSION)
    }
}

fn refused(call: Call, code: i32) -> Error {
    dnn_failure(call.name(), code)
}

/// What a handle has in common with what came from it.
struct Shared {
    inner: Arc<Inner>,
    device: DeviceIndex,
    stream: Mutex<StreamRef>,
}

struct Handle {
    shared: Arc<Shared>,
    native: usize,
}

impl DnnHandle for Handle {
    fn native(&self) -> usize {
        self.native
    }

    fn set_stream(&mut self, stream: StreamRef) -> Result<()> {
        let (call, shared) = (Call::DnnSetStream, &self.shared);
        shared.inner.enter_library(call, dnn_failure)?;
        if stream.device != shared.device {
            return Err(refused(call, BAD_PARAM));
        }
        shared.inner.engine.lock().find(call, stream)?;
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
        let geometry = Geometry::of(problem).map_err(|code| refused(call, code))?;
        let engines: &[Engine] = match choice.deterministic {
            true => &[Engine::Private],
            false => &[Engine::Workspace, Engine::Private],
        };
        let tf32 = choice.allow_tf32 && problem.element == Dtype::F32;
        let shared = Arc::clone(&self.shared);
        Ok(Box::new(Engines { shared, problem: *problem, geometry, tf32, engines }))
    }
}

struct Engines {
    shared: Arc<Shared>,
    problem: Convolution,
    geometry: Geometry,
    tf32: bool,
    engines: &'static [Engine],
}

impl ConvolutionEngines for Engines {
    fn count(&self) -> usize {
        self.engines.len()
    }

    fn plan(&mut self, index: usize) -> Result<Box<dyn ConvolutionPlan>> {
        let call = Call::DnnPlan;
        self.shared.inner.enter_library(call, dnn_failure)?;
        // It compiles and loads.
        self.shared.inner.check_held_back(call)?;
        let engine = *self.engines.get(index).ok_or_else(|| refused(call, OUT_OF_BOUND))?;
        let workspace_bytes = match engine {
            Engine::Workspace => self.geometry.unfolded_bytes(),
            Engine::Private => 0,
        };
        let run = Run {
            problem: self.problem,
            geometry: self.geometry,
            tf32: self.tf32,
            engine,
            addresses: [0; 3],
            workspace: 0,
        };
        Ok(Box::new(Plan { shared: Arc::clone(&self.shared), run, workspace_bytes }))
    }
}

struct Plan {
    shared: Arc<Shared>,
    /// What an execution does, but for the addresses.
    run: Run,
    workspace_bytes: usize,
}

impl Drop for Plan {
    fn drop(&mut self) {
        // It unloads what it compiled. Held back or not, there is nobody to tell.
        let (call, inner) = (Call::DnnPlanDestroy, &self.shared.inner);
        inner.counters.add(call);
        let _ = inner.check_held_back(call);
    }
}

impl ConvolutionPlan for Plan {
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
        let run = Run { addresses, workspace: workspace.0, ..self.run };
        let stream = *self.shared.stream.lock();
        self.shared.inner.compute(call, Arc::new(run), stream)
    }
}
