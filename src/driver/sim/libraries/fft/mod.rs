//! Fourier transforms on the CPU, as operations of streams.
//!
//! A plan holds memory of the device, as cuFFT's tables do, and what is calculated with. Work that is
//! queued shares both, so a plan may be dropped before its work is done.
//!
//! | file | idea |
//! |---|---|
//! | `mod` | plans: made, executed, dropped |
//! | `demand` | which shapes are refused, and how much memory the others take |
//! | `transform` | one transform after the other, from input to output |
//! | `side` | where the numbers of a layout lie, read and written in runs |
//! | `number` | numbers in memory and as they are calculated with |
#![forbid(unsafe_code)]

mod demand;
mod number;
mod side;
mod transform;

use std::sync::{Arc, Weak};

use super::compute::Compute;
use crate::driver::nvidia::{fft_failure, fft_refusal};
use crate::driver::sim::call::Call;
use crate::driver::sim::kernels::DeviceMemory;
use crate::driver::sim::{Inner, Simulator};
use crate::driver::{Fft, FftCall, FftDirection, FftKind, FftPlan, FftShape};
use crate::element::Dtype;
use crate::error::{Error, Result};
use crate::types::{DeviceIndex, DevicePtr};
use demand::codes;
use number::Half;
use transform::Calculation;

/// How many plans there may be.
const MOST_PLANS: usize = 4096;

/// One piece of a workspace that is written over, and with what.
const PIECE: usize = 64 << 10;
const SPOILT: u8 = 0xA5;

impl Fft for Simulator {
    fn fft_plan(&self, device: DeviceIndex, shape: &FftShape) -> Result<Box<dyn FftPlan>> {
        let call = Call::FftPlan;
        // cuFFT was seen to make plans in thread-local captures too. The simulator holds it back as it
        // does any allocation, so that a caller who forgets relaxed mode is seen: with cuFFT's number,
        // and so before the driver's is given.
        let held_back = |why| failure(call, codes::INTERNAL_ERROR).context(why);
        self.inner.check_held_back(call).map_err(held_back)?;
        self.inner.enter_library_on(call, device, "cuFFT", fft_failure)?;
        demand::check(shape).map_err(|code| fft_refusal(call.name(), code))?;
        let tables = Tables::new(&self.inner, device, demand::table_bytes(shape))
            .ok_or_else(|| failure(call, codes::ALLOC_FAILED))?;
        let ready = Ready { calculation: calculation(shape), _tables: tables };
        Ok(Box::new(Plan {
            inner: Arc::clone(&self.inner),
            device,
            shape: *shape,
            workspace_bytes: demand::workspace_bytes(shape),
            ready: Arc::new(ready),
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

fn calculation(shape: &FftShape) -> Box<dyn Calculation> {
    match shape.element {
        Dtype::F64 => transform::of::<f64>(shape),
        Dtype::F32 => transform::of::<f32>(shape),
        _ => transform::of::<Half>(shape),
    }
}

/// Device memory of a plan.
struct Tables {
    inner: Weak<Inner>,
    address: u64,
}

impl Tables {
    fn new(inner: &Arc<Inner>, device: DeviceIndex, bytes: u64) -> Option<Tables> {
        if inner.faults.of_allocation() {
            return None;
        }
        let address = inner.space.write().alloc(device, bytes).ok()?;
        Some(Tables { inner: Arc::downgrade(inner), address })
    }
}

impl Drop for Tables {
    fn drop(&mut self) {
        if let Some(inner) = self.inner.upgrade() {
            // What cannot be unmapped stays with the device.
            let _ = inner.space.write().remove(self.address);
        }
    }
}

/// What a plan and its queued work share.
struct Ready {
    calculation: Box<dyn Calculation>,
    _tables: Tables,
}

struct Plan {
    inner: Arc<Inner>,
    device: DeviceIndex,
    shape: FftShape,
    workspace_bytes: usize,
    ready: Arc<Ready>,
}

impl Plan {
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

impl FftPlan for Plan {
    fn workspace_bytes(&self) -> usize {
        self.workspace_bytes
    }

    fn execute(&mut self, call: &FftCall) -> Result<()> {
        self.inner.enter_library(Call::FftExecute, fft_failure)?;
        self.check(call).map_err(|code| failure(Call::FftExecute, code))?;
        let execution = Execution {
            ready: Arc::clone(&self.ready),
            workspace: (call.workspace.0, self.workspace_bytes),
            input: call.input.0,
            output: call.output.0,
            direction: call.direction,
        };
        self.inner.compute(Call::FftExecute, Arc::new(execution), call.stream)
    }
}

/// A queued transform.
struct Execution {
    ready: Arc<Ready>,
    workspace: (u64, usize),
    input: u64,
    output: u64,
    direction: FftDirection,
}

impl Compute for Execution {
    fn run(&self, memory: &DeviceMemory<'_>) -> std::result::Result<(), i32> {
        // All of the workspace, so that it is seen when somebody else has it already.
        let (address, bytes) = self.workspace;
        let pattern = [SPOILT; PIECE];
        for start in (0..bytes).step_by(PIECE) {
            let part = PIECE.min(bytes - start);
            memory.write(address.wrapping_add(start as u64), &pattern[..part])?;
        }
        let calculation = &self.ready.calculation;
        calculation.run(memory, self.input, self.output, self.direction)
    }
}
