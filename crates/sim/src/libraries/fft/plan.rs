//! Plans of transforms: made, executed, dropped.
//!
//! A plan holds memory of the device, as cuFFT's tables do, and the calculation. Queued work shares
//! both, so a plan may be dropped before its work is done.
#![forbid(unsafe_code)]

use std::sync::Arc;

use sconce_base::error::{Error, Result};
use sconce_base::lock::{RwLock, rank};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::nvidia::{fft_failure, fft_refusal};
use sconce_driver::{Fft, FftCall, FftDirection, FftKind, FftPlan, FftShape};

use super::demand::{self, codes};
use super::transform::{TransformSides, Transforms};
use crate::call::Call;
use crate::libraries::compute::Compute;
use crate::memory::DeviceMemoryView;
use crate::memory::{AddressSpace, Intent, MemoryAccess};
use crate::state::{Simulator, State};

/// How many plans the library can keep.
const MOST_PLANS: usize = 4096;

/// Bytes of a workspace that are written at once, and their value.
const PIECE: usize = 64 << 10;
const SPOILT: u8 = 0xA5;

impl Fft for Simulator {
    fn fft_plan(&self, device: DeviceIndex, shape: &FftShape) -> Result<Box<dyn FftPlan>> {
        let call = Call::FftPlan;
        // cuFFT was seen to make plans in thread-local captures too. The simulator refuses it as it refuses
        // any allocation, so that a test notices a missing relaxed mode. The number is cuFFT's.
        let held_back = |why| failure(call, codes::INTERNAL_ERROR).context(why);
        self.inner.check_held_back(call).map_err(held_back)?;
        self.inner.enter_library_on(call, device, "cuFFT", fft_failure)?;
        demand::check(shape).map_err(|code| fft_refusal(call.name(), code))?;
        let tables = FftTables::new(&self.inner, device, demand::table_bytes(shape))
            .ok_or_else(|| failure(call, codes::ALLOC_FAILED))?;
        let prepared = PreparedTransform { calculation: Transforms::new(shape), _tables: tables };
        Ok(Box::new(SimFftPlan {
            inner: Arc::clone(&self.inner),
            device,
            shape: *shape,
            workspace_bytes: demand::workspace_bytes(shape),
            prepared: Arc::new(prepared),
        }))
    }

    fn fft_most_plans(&self) -> usize {
        self.inner.counters.add(Call::FftMostPlans);
        MOST_PLANS
    }
}

fn failure(call: Call, code: i32) -> Error {
    fft_failure(call.name(), code)
}

/// Device memory of a plan.
struct FftTables {
    space: Arc<RwLock<rank::SimSpace, AddressSpace>>,
    address: u64,
}

impl FftTables {
    fn new(inner: &State, device: DeviceIndex, bytes: u64) -> Option<FftTables> {
        if inner.faults.of_allocation() {
            return None;
        }
        let address = inner.space.write().alloc(device, bytes).ok()?;
        Some(FftTables { space: Arc::clone(&inner.space), address })
    }
}

impl Drop for FftTables {
    fn drop(&mut self) {
        // Memory that cannot be unmapped stays allocated.
        let _ = self.space.write().remove(self.address);
    }
}

/// The calculation and the memory that a plan shares with its queued work.
struct PreparedTransform {
    calculation: Transforms,
    _tables: FftTables,
}

struct SimFftPlan {
    inner: Arc<State>,
    device: DeviceIndex,
    shape: FftShape,
    workspace_bytes: usize,
    prepared: Arc<PreparedTransform>,
}

impl SimFftPlan {
    fn check(&self, call: &FftCall) -> std::result::Result<(), i32> {
        let (input, output) = (self.bytes_of(false) as u64, self.bytes_of(true) as u64);
        let fits = match self.shape.kind {
            FftKind::C2C => true,
            FftKind::R2C => call.direction == FftDirection::Forward,
            FftKind::C2R => call.direction == FftDirection::Inverse,
        };
        if !fits || !call.input.0.is_multiple_of(input) || !call.output.0.is_multiple_of(output) {
            return Err(codes::INVALID_VALUE);
        }
        if call.stream.device != self.device {
            return Err(codes::INVALID_DEVICE);
        }
        if self.workspace_bytes > 0 && call.workspace == DevicePtr(0) {
            return Err(codes::NO_WORKSPACE);
        }
        Ok(())
    }

    /// Bytes of an element of a side.
    fn bytes_of(&self, output: bool) -> usize {
        let real =
            matches!((self.shape.kind, output), (FftKind::R2C, false) | (FftKind::C2R, true));
        self.shape.element.bytes() * if real { 1 } else { 2 }
    }
}

impl FftPlan for SimFftPlan {
    fn workspace_bytes(&self) -> usize {
        self.workspace_bytes
    }

    fn execute(&mut self, call: &FftCall) -> Result<()> {
        self.inner.enter_library(Call::FftExecute, fft_failure)?;
        self.check(call).map_err(|code| failure(Call::FftExecute, code))?;
        let execution = QueuedTransform {
            prepared: Arc::clone(&self.prepared),
            call: *call,
            workspace_bytes: self.workspace_bytes,
        };
        self.inner.compute(Call::FftExecute, execution, call.stream)
    }
}

/// The memory that an execution uses.
pub(crate) fn accesses(
    sides: &TransformSides,
    call: &FftCall,
    workspace_bytes: usize,
) -> Vec<MemoryAccess> {
    let mut accesses = sides.accesses(call.input.0, call.output.0);
    if workspace_bytes > 0 {
        let bytes = workspace_bytes as u64;
        accesses.push(MemoryAccess::range(Intent::Write, call.workspace.0, bytes));
    }
    accesses
}

/// A queued transform.
struct QueuedTransform {
    prepared: Arc<PreparedTransform>,
    call: FftCall,
    workspace_bytes: usize,
}

impl Compute for QueuedTransform {
    fn accesses(&self) -> Vec<MemoryAccess> {
        accesses(&self.prepared.calculation.sides, &self.call, self.workspace_bytes)
    }

    fn run(&self, memory: &DeviceMemoryView<'_>) -> std::result::Result<(), i32> {
        // All of the workspace is written, so that other work that uses it already is found.
        let (address, bytes) = (self.call.workspace.0, self.workspace_bytes);
        let pattern = [SPOILT; PIECE];
        for start in (0..bytes).step_by(PIECE) {
            let part = PIECE.min(bytes - start);
            memory.write(address.wrapping_add(start as u64), &pattern[..part])?;
        }
        let FftCall { input, output, direction, .. } = self.call;
        self.prepared.calculation.run(memory, input.0, output.0, direction)
    }
}
