//! Memory and events shared between processes, by the 64 bytes that name them.

use std::ffi::c_char;
use std::ptr::{from_mut, null_mut};

use cudarc::driver::sys::CUipcMem_flags_enum::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
use cudarc::driver::sys::{CUevent, CUipcEventHandle, CUipcMemHandle};
use sconce_base::error::{Cause, Error, Result};
use sconce_base::lock::{about_to_wait, rank};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{EventHandle, Ipc, IpcHandle, Memory, PointerKind};

use super::CudaDriver;
use super::result::{INVALID_CONTEXT, SUCCESS, released};

fn to_bytes(reserved: [c_char; 64]) -> IpcHandle {
    IpcHandle(reserved.map(|byte| byte as u8))
}

fn from_bytes(handle: &IpcHandle) -> [c_char; 64] {
    handle.0.map(|byte| byte as c_char)
}

impl Ipc for CudaDriver {
    fn ipc_memory_export(&self, ptr: DevicePtr) -> Result<IpcHandle> {
        let mut handle = CUipcMemHandle { reserved: [0; 64] };
        let export = self.api.cuIpcGetMemHandle()?;
        let _entered = self.enter(self.device_of(ptr)?)?;
        // SAFETY: device memory, as found above; `handle` outlives the call.
        let code = unsafe { export(&mut handle, ptr.0) };
        self.api.check("cuIpcGetMemHandle", code)?;
        Ok(to_bytes(handle.reserved))
    }

    fn ipc_memory_open(&self, device: DeviceIndex, handle: &IpcHandle) -> Result<DevicePtr> {
        let mut ptr = 0;
        let open = self.api.cuIpcOpenMemHandle()?;
        let handle = CUipcMemHandle { reserved: from_bytes(handle) };
        let flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS as u32;
        let _entered = self.enter(device)?;
        // SAFETY: 64 bytes by value, which the driver checks; `ptr` outlives the call.
        let code = unsafe { open(&mut ptr, handle, flags) };
        match code {
            SUCCESS => Ok(DevicePtr(ptr)),
            // The driver's status for a handle that this process made.
            INVALID_CONTEXT => {
                Err(self.api.failure("cuIpcOpenMemHandle_v2", code).with_cause(Cause::OwnHandle))
            }
            code => Err(self.api.failure("cuIpcOpenMemHandle_v2", code)),
        }
    }

    fn ipc_memory_close(&self, ptr: DevicePtr) -> Result<()> {
        about_to_wait::<rank::Device>();
        released(|| {
            let close = self.api.cuIpcCloseMemHandle()?;
            let _entered = self.enter(self.device_of(ptr)?)?;
            // SAFETY: device memory; the driver refuses what it did not open.
            let code = unsafe { close(ptr.0) };
            self.api.check("cuIpcCloseMemHandle", code)
        })
    }

    fn ipc_event_export(&self, event: EventHandle) -> Result<IpcHandle> {
        let mut handle = CUipcEventHandle { reserved: [0; 64] };
        let export = self.api.cuIpcGetEventHandle()?;
        let place = from_mut(&mut handle);
        // SAFETY: an event that the driver made, and that the caller keeps alive during the call, which
        // `place` outlives.
        let code =
            self.without_context(None, || unsafe { export(place, event.native() as CUevent) });
        self.api.check("cuIpcGetEventHandle", code)?;
        Ok(to_bytes(handle.reserved))
    }

    fn ipc_event_open(&self, device: DeviceIndex, handle: &IpcHandle) -> Result<EventHandle> {
        let mut event: CUevent = null_mut();
        let open = self.api.cuIpcOpenEventHandle()?;
        let handle = CUipcEventHandle { reserved: from_bytes(handle) };
        let _entered = self.enter(device)?;
        // SAFETY: 64 bytes by value, which the driver checks; `event` outlives the call.
        let code = unsafe { open(&mut event, handle) };
        self.api.check("cuIpcOpenEventHandle", code)?;
        Ok(EventHandle::from_driver(crate::HANDLES, event as usize))
    }
}

impl CudaDriver {
    /// The device whose memory an address is in.
    fn device_of(&self, ptr: DevicePtr) -> Result<DeviceIndex> {
        match self.pointer_info(ptr.0 as usize)?.kind {
            PointerKind::Device(device) => Ok(device),
            _ => Err(Error::invalid_argument(format!("ptr: {ptr} is not device memory"))),
        }
    }
}
