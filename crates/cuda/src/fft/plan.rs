//! A plan of cuFFT. Its workspace comes from the caller at each execution.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use cudarc::cufft::sys::cufftHandle;
use cudarc::cufft::sys::cufftResult_t::CUFFT_INVALID_TYPE;
use sconce_base::error::Result;
use sconce_base::log;
use sconce_driver::nvidia::{fft_failure, fft_refusal};
use sconce_driver::{FftCall, FftDirection, FftPlan, FftShape, MOST_FFT_RANK};

use super::Cufft;
use super::layout::{DataTypes, is_packed};
use crate::primary::HeldContext;
use crate::result::{DEINITIALIZED, SUCCESS};

/// `CUFFT_FORWARD` and `CUFFT_INVERSE`, which are macros.
const FORWARD: c_int = -1;
const INVERSE: c_int = 1;

type Execute = unsafe extern "C" fn(cufftHandle, *mut c_void, *mut c_void, c_int) -> i32;

/// A `cufftHandle`, what it is set to, and the context of its device.
pub(super) struct CufftPlan {
    functions: Cufft,
    execute: Execute,
    context: HeldContext,
    handle: cufftHandle,
    workspace_bytes: usize,
    /// The stream it is set to; `None` after a failure.
    stream: Option<usize>,
    /// The workspace it is set to; `None` without one, and after a failure.
    workspace: Option<u64>,
}

impl CufftPlan {
    /// Makes a plan for the shape.
    pub(super) fn make(functions: Cufft, context: HeldContext, shape: &FftShape) -> Result<Self> {
        let create = functions.cufftCreate()?;
        let execute = functions.cufftXtExec()?;
        let _entered = context.enter()?;
        let mut handle: cufftHandle = 0;
        // SAFETY: `handle` outlives the call; the device's context is current.
        check("cufftCreate", unsafe { create(&mut handle) })?;
        // From here on dropping the plan destroys the handle. A new one is on the default stream.
        let mut plan = CufftPlan {
            functions,
            execute,
            context,
            handle,
            workspace_bytes: 0,
            stream: Some(0),
            workspace: None,
        };
        let set_auto_allocation = plan.functions.cufftSetAutoAllocation()?;
        // SAFETY: a handle that was just made.
        check("cufftSetAutoAllocation", unsafe { set_auto_allocation(handle, 0) })?;
        plan.workspace_bytes = plan.shape(shape)?;
        Ok(plan)
    }

    /// Sets the shape of the handle; returns the bytes of its workspace.
    fn shape(&self, shape: &FftShape) -> Result<usize> {
        let make = self.functions.cufftXtMakePlanMany()?;
        let mut sizes = shape.sizes;
        let (mut input_embed, mut output_embed) = (shape.input.embed, shape.output.embed);
        // Nothing depends on the first, so it may be anything in a shape; cuFFT gets a size.
        (input_embed[0], output_embed[0]) = (sizes[0], sizes[0]);
        let packed = is_packed(shape);
        let embed = |embed: &mut [i64; MOST_FFT_RANK]| {
            if packed { null_mut() } else { embed.as_mut_ptr() }
        };
        let types = DataTypes::of(shape)
            .ok_or_else(|| fft_refusal("cufftXtMakePlanMany", CUFFT_INVALID_TYPE as i32))?;
        let mut workspace_bytes = 0;
        // SAFETY: a handle without a shape; the arrays have as many numbers as any rank takes and
        // outlive the call, which reads them at once, as does the place for the size.
        let code = unsafe {
            make(
                self.handle,
                shape.rank as c_int,
                sizes.as_mut_ptr(),
                embed(&mut input_embed),
                shape.input.stride,
                shape.input.distance,
                types.input,
                embed(&mut output_embed),
                shape.output.stride,
                shape.output.distance,
                types.output,
                shape.batch,
                &mut workspace_bytes,
                types.execution,
            )
        };
        match code {
            SUCCESS => Ok(workspace_bytes),
            code => Err(fft_refusal("cufftXtMakePlanMany", code)),
        }
    }

    /// Whether everything is set as a call wants it. A plan that needs no workspace has none set.
    #[inline]
    fn is_set(&self, call: &FftCall) -> bool {
        self.stream == Some(call.stream.handle.native())
            && (self.workspace_bytes == 0 || self.workspace == Some(call.workspace.0))
    }

    /// Sets what differs. After a failure nothing is taken to be set.
    #[inline(never)]
    fn set(&mut self, call: &FftCall) -> Result<()> {
        let stream = call.stream.handle.native();
        if self.stream != Some(stream) {
            let set = self.functions.cufftSetStream()?;
            self.stream = None;
            // SAFETY: a live plan, this thread's for the call; the stream is one of its device.
            check("cufftSetStream", unsafe { set(self.handle, stream as _) })?;
            self.stream = Some(stream);
        }
        // A plan that needs none must not be given one: called often, that made cuFFT fail.
        if self.workspace_bytes > 0 && self.workspace != Some(call.workspace.0) {
            let set = self.functions.cufftSetWorkArea()?;
            self.workspace = None;
            // SAFETY: a live plan, this thread's for the call; the caller keeps the memory until the
            // execution is done.
            check("cufftSetWorkArea", unsafe { set(self.handle, call.workspace.0 as _) })?;
            self.workspace = Some(call.workspace.0);
        }
        Ok(())
    }
}

impl FftPlan for CufftPlan {
    fn workspace_bytes(&self) -> usize {
        self.workspace_bytes
    }

    fn execute(&mut self, call: &FftCall) -> Result<()> {
        let direction = match call.direction {
            FftDirection::Forward => FORWARD,
            FftDirection::Inverse => INVERSE,
        };
        let _entered = self.context.enter()?;
        if !self.is_set(call) {
            self.set(call)?;
        }
        // SAFETY: a live plan, this thread's for the call; the caller has checked both addresses.
        let code = unsafe {
            (self.execute)(self.handle, call.input.0 as _, call.output.0 as _, direction)
        };
        check("cufftXtExec", code)
    }
}

impl Drop for CufftPlan {
    fn drop(&mut self) {
        if let Err(error) = self.destroy() {
            log::error(format_args!("a plan of cuFFT could not be destroyed: {error}"));
        }
    }
}

impl CufftPlan {
    fn destroy(&self) -> Result<()> {
        let destroy = self.functions.cufftDestroy()?;
        let _entered = match self.context.enter() {
            // The driver has shut down at the process's end, and the plan went with it.
            Err(error) if error.backend_code() == DEINITIALIZED => return Ok(()),
            entered => entered?,
        };
        // SAFETY: a live handle, used for the last time.
        check("cufftDestroy", unsafe { destroy(self.handle) })
    }
}

#[inline]
fn check(call: &str, code: i32) -> Result<()> {
    if code == SUCCESS { Ok(()) } else { Err(fft_failure(call, code)) }
}
