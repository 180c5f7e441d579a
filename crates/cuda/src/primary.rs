//! Primary contexts, and which one is current.
//!
//! A device's primary context is the one that the CUDA runtime, cuBLAS and torch use in the same
//! process; sharing it is what makes streams and pointers exchangeable. It is retained at the first
//! call that needs it and never released: at process exit the driver takes it down by itself, and
//! any earlier release could pull it from under another user.
//!
//! Three kinds of calls:
//! - bound to a context by what they *create* (memory, streams, events, modules): [`CudaDriver::enter`]
//!   makes the device's context current for the scope, and puts the previous one back (device 0's stays
//!   current on a thread that had none: the CUDA runtime uses device 0 there, too);
//! - on a handle that knows its context (an explicit stream, an event) or on none at all (virtual
//!   memory): [`CudaDriver::without_context`] calls at once, and only if the driver wants a context
//!   after all, once more inside one;
//! - on a default stream, whose handle means another stream in each context: [`CudaDriver::on_stream`]
//!   chooses between the two.

use std::ptr::null_mut;

use cudarc::driver::sys::{CUcontext, CUdevice, CUstream};
use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{OnceCell, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::{Contexts, Devices, StreamRef};

use super::CudaDriver;
use super::result::{
    CAPTURE_CODES, GetErrorName, INVALID_CONTEXT, NOT_INITIALIZED, SUCCESS, failure_by_name,
};
use super::virtual_memory::RdmaMemory;

/// The highest handle that names a default stream: 0 and 1 the legacy one, 2 the per-thread one.
pub(super) const LAST_DEFAULT_STREAM: usize = 2;

/// A device and its primary context, once retained (as a number: a context may be used on any thread).
pub(super) struct Device {
    pub(super) raw: CUdevice,
    pub(super) primary: OnceCell<rank::CudaContext, usize>,
    /// Whether memory for GPUDirect RDMA can be made and used.
    pub(super) rdma: RdmaMemory,
}

#[cold]
#[inline(never)]
fn no_device(device: DeviceIndex, count: usize) -> Error {
    Error::new(Status::InvalidDevice, format!("device {device} does not exist; there are {count}"))
}

impl Device {
    pub(super) fn new(raw: CUdevice) -> Device {
        Device { raw, primary: OnceCell::new(), rdma: RdmaMemory::default() }
    }
}

type GetCurrent = unsafe extern "C" fn(*mut CUcontext) -> i32;
type SetCurrent = unsafe extern "C" fn(CUcontext) -> i32;

/// A device's primary context and what makes it current, for objects that do not hold the driver: a
/// context that was retained is never released.
#[derive(Clone, Copy)]
pub(super) struct HeldContext {
    context: usize,
    get_current: GetCurrent,
    set_current: SetCurrent,
    get_name: Option<GetErrorName>,
    /// Device 0's, which stays current on a thread that had none.
    is_first: bool,
}

impl HeldContext {
    /// Makes the context current for a scope, device 0's for longer on a thread without a context: the next call
    /// then has nothing to switch.
    #[inline]
    pub(super) fn enter(&self) -> Result<Entered> {
        let mut current = null_mut();
        // SAFETY: `current` outlives the call.
        let code = unsafe { (self.get_current)(&mut current) };
        if code != SUCCESS {
            return Err(failure_by_name(self.get_name, "cuCtxGetCurrent", code));
        }
        if current as usize == self.context {
            return Ok(Entered { _previous: None });
        }
        self.switch_from(current)
    }

    /// Makes the context current in place of another one.
    #[inline(never)]
    fn switch_from(&self, current: CUcontext) -> Result<Entered> {
        let wanted = self.context as CUcontext;
        // SAFETY: a primary context that is never released.
        let code = unsafe { (self.set_current)(wanted) };
        if code != SUCCESS {
            return Err(failure_by_name(self.get_name, "cuCtxSetCurrent", code));
        }
        let stays = self.is_first && current.is_null();
        let set_current = self.set_current;
        // Made only where it is put back, which dropping it does.
        let previous = (!stays).then(|| PreviousContext { set_current, context: current });
        Ok(Entered { _previous: previous })
    }
}

/// A device's context is current on this thread, at least until this is dropped. Nothing is put back if nothing was
/// changed or the context stays.
pub(super) struct Entered {
    _previous: Option<PreviousContext>,
}

/// The context that was current on this thread before a scope began, put back when this is dropped.
struct PreviousContext {
    set_current: SetCurrent,
    /// NULL: none was.
    context: CUcontext,
}

impl Drop for PreviousContext {
    #[cold]
    fn drop(&mut self) {
        // SAFETY: the context was current on this thread when the scope began.
        // It fails only if its owner destroyed it meanwhile; then there is nothing to put back.
        unsafe { (self.set_current)(self.context) };
    }
}

impl CudaDriver {
    /// The device's entry; an index beyond the count is an error here too.
    #[inline]
    pub(super) fn device(&self, device: DeviceIndex) -> Result<&Device> {
        self.devices.get(device.as_usize()).ok_or_else(|| no_device(device, self.devices.len()))
    }

    /// The device's primary context, retained at the first call.
    pub(super) fn primary(&self, device: DeviceIndex) -> Result<CUcontext> {
        let device = self.device(device)?;
        let context = device.primary.get_or_try_init(|| {
            let mut context = null_mut();
            let retain = self.api.cuDevicePrimaryCtxRetain()?;
            // SAFETY: a device that the driver counted; `context` outlives the call.
            let code = unsafe { retain(&mut context, device.raw) };
            self.api.check("cuDevicePrimaryCtxRetain", code)?;
            Ok(context as usize)
        })?;
        Ok(*context as CUcontext)
    }

    #[inline]
    pub(super) fn current(&self) -> Result<CUcontext> {
        let mut current = null_mut();
        let get_current = self.api.cuCtxGetCurrent()?;
        // SAFETY: `current` outlives the call.
        let code = unsafe { get_current(&mut current) };
        self.api.check("cuCtxGetCurrent", code)?;
        Ok(current)
    }

    pub(super) fn set_current(&self, context: CUcontext) -> Result<()> {
        let set_current = self.api.cuCtxSetCurrent()?;
        // SAFETY: a primary context that we hold, or NULL for none.
        let code = unsafe { set_current(context) };
        self.api.check("cuCtxSetCurrent", code)
    }

    /// The device's primary context for an object that is to outlive the call.
    pub(super) fn held_context(&self, device: DeviceIndex) -> Result<HeldContext> {
        Ok(HeldContext {
            context: self.primary(device)? as usize,
            get_current: self.api.cuCtxGetCurrent()?,
            set_current: self.api.cuCtxSetCurrent()?,
            get_name: self.api.cuGetErrorName().ok(),
            is_first: device == DeviceIndex::ZERO,
        })
    }

    /// Makes the device's primary context current for a scope.
    pub(super) fn enter(&self, device: DeviceIndex) -> Result<Entered> {
        self.enter_in_place(device)
    }

    /// As [`CudaDriver::enter`], compiled into its caller: hot calls find the context current, which is one call of the
    /// driver and one comparison.
    #[inline(always)]
    pub(super) fn enter_in_place(&self, device: DeviceIndex) -> Result<Entered> {
        let context = self.devices.get(device.as_usize()).and_then(|known| known.primary.get());
        let Some(context) = context else { return self.enter_first(device) };
        let current = self.current()?;
        if current as usize == *context {
            return Ok(Entered { _previous: None });
        }
        self.switch_to(device, current)
    }

    /// As [`CudaDriver::enter`], in place of another context.
    #[cold]
    #[inline(never)]
    fn switch_to(&self, device: DeviceIndex, current: CUcontext) -> Result<Entered> {
        self.held_context(device)?.switch_from(current)
    }

    /// As [`CudaDriver::enter`], and retains the context.
    #[cold]
    #[inline(never)]
    fn enter_first(&self, device: DeviceIndex) -> Result<Entered> {
        self.held_context(device)?.enter()
    }

    /// Makes a call that needs no current context. Should the driver want one after all, calls once
    /// more with the device's, or with any that is alive.
    #[inline]
    pub(super) fn without_context(
        &self,
        device: Option<DeviceIndex>,
        call: impl Fn() -> i32,
    ) -> i32 {
        match call() {
            code @ (INVALID_CONTEXT | NOT_INITIALIZED) => self.call_again(device, code, &call),
            code => code,
        }
    }

    #[cold]
    #[inline(never)]
    fn call_again(&self, device: Option<DeviceIndex>, code: i32, call: &dyn Fn() -> i32) -> i32 {
        match device.or_else(|| self.any_active_device()).map(|device| self.enter(device)) {
            Some(Ok(_entered)) => call(),
            _ => code,
        }
    }

    /// A device whose primary context exists: one of ours first.
    pub(super) fn any_active_device(&self) -> Option<DeviceIndex> {
        let indices = || (0..self.devices.len()).filter_map(|i| DeviceIndex::new(i as i32));
        indices()
            .find(|i| self.devices[i.as_usize()].primary.get().is_some())
            .or_else(|| indices().find(|i| self.context_is_active(*i).unwrap_or(false)))
    }

    /// Makes a call on a stream: at once on an explicit handle, in the device's context on a default
    /// stream.
    #[inline]
    pub(super) fn on_stream(
        &self,
        stream: StreamRef,
        call: impl Fn(CUstream) -> i32,
    ) -> Result<i32> {
        let handle = stream.handle.native() as CUstream;
        if stream.handle.native() > LAST_DEFAULT_STREAM {
            return Ok(self.without_context(Some(stream.device), || call(handle)));
        }
        let _entered = self.enter_in_place(stream.device)?;
        Ok(call(handle))
    }

    /// Whether a stream is a default stream of a device without a context: nothing was ever queued
    /// on it, and asking must not make the context.
    #[inline]
    pub(super) fn is_untouched_default(&self, stream: StreamRef) -> Result<bool> {
        Ok(stream.handle.native() <= LAST_DEFAULT_STREAM
            && !self.context_is_active(stream.device)?)
    }

    /// Waits for every device whose context we hold. Fails when one cannot be waited for because of a
    /// capture; all other failures are left to the call that follows.
    pub(super) fn synchronize_held(&self) -> Result<()> {
        for (index, device) in self.devices.iter().enumerate() {
            if device.primary.get().is_some()
                && let Some(index) = DeviceIndex::new(index as i32)
                && let Err(error) = self.device_synchronize(index)
            {
                if CAPTURE_CODES.contains(&error.backend_code()) {
                    return Err(error);
                }
                sconce_base::log::debug(format_args!(
                    "device {index} failed while being waited for"
                ));
            }
        }
        Ok(())
    }
}
