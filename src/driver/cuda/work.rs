//! Work on streams: copies, fills, kernels. All of it is queued in the stream's context: unlike a
//! record or a query, the driver ties these calls to what is current.

use std::ffi::{CString, c_char, c_void};
use std::ptr::{from_mut, null_mut};

use cudarc::driver::sys::CUjit_option_enum as JitOption;
use cudarc::driver::sys::{CUfunction, CUmodule, CUstream};

use super::CudaDriver;
use super::result::{NOT_FOUND, SUCCESS};
use crate::driver::{
    KernelArguments, KernelHandle, KernelImage, LaunchShape, ModuleHandle, RawAddress, StreamRef,
};
use crate::error::{Error, Result, Status};
use crate::types::{DeviceIndex, DevicePtr};

/// Room for what the driver's PTX compiler complains about.
const JIT_LOG_BYTES: usize = 4096;

impl CudaDriver {
    /// Copies; with ordinary host memory on one side, waits as the contract says. The driver's own
    /// call only *may* wait there, and on systems whose GPUs read ordinary memory it does not.
    pub(super) fn copy_async(
        &self,
        dst: RawAddress,
        src: RawAddress,
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let pageable = self.is_pageable(dst)? || self.is_pageable(src)?;
        self.copy_direct_async(dst, src, bytes, stream)?;
        // A copy that is captured into a graph runs later; waiting would break the capture.
        if pageable && !self.stream_is_capturing(stream)? {
            self.stream_synchronize(stream)?;
        }
        Ok(())
    }

    pub(super) fn copy_direct_async(
        &self,
        dst: RawAddress,
        src: RawAddress,
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let copy = self.api.cuMemcpyAsync()?;
        let _entered = self.enter(stream.device)?;
        let (to, from) = (dst.get() as u64, src.get() as u64);
        // SAFETY: `RawAddress` carries the promise that host ranges stay valid; device ranges the
        // driver checks. The stream is live, as the trait demands.
        let code = unsafe { copy(to, from, bytes, stream.handle.0 as CUstream) };
        self.api.check("cuMemcpyAsync", code)
    }

    pub(super) fn copy_peer_async(
        &self,
        dst: (DeviceIndex, DevicePtr),
        src: (DeviceIndex, DevicePtr),
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let (to, from) = (self.primary(dst.0)?, self.primary(src.0)?);
        let copy = self.api.cuMemcpyPeerAsync()?;
        let handle = stream.handle.0 as CUstream;
        let _entered = self.enter(stream.device)?;
        // SAFETY: contexts that we hold, device ranges that the driver checks, a live stream.
        let code = unsafe { copy(dst.1.0, to, src.1.0, from, bytes, handle) };
        self.api.check("cuMemcpyPeerAsync", code)
    }

    pub(super) fn fill_async(
        &self,
        dst: DevicePtr,
        value: u8,
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let fill = self.api.cuMemsetD8Async()?;
        let _entered = self.enter(stream.device)?;
        // SAFETY: a device range, which the driver checks, and a live stream.
        let code = unsafe { fill(dst.0, value, bytes, stream.handle.0 as CUstream) };
        self.api.check("cuMemsetD8Async", code)
    }

    pub(super) fn module_load(
        &self,
        device: DeviceIndex,
        image: &KernelImage,
    ) -> Result<ModuleHandle> {
        if image.ptx.last() != Some(&0) {
            return Err(Error::invalid_argument(format!(
                "image {}: the PTX does not end in a NUL byte",
                image.name
            )));
        }
        let load = self.api.cuModuleLoadDataEx()?;
        let mut module: CUmodule = null_mut();
        let mut log = [0_u8; JIT_LOG_BYTES];
        let mut options = [
            JitOption::CU_JIT_ERROR_LOG_BUFFER as u32,
            JitOption::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES as u32,
        ];
        // The second value is a number that travels as a pointer; the driver overwrites it.
        let mut values = [log.as_mut_ptr().cast::<c_void>(), JIT_LOG_BYTES as *mut c_void];
        let _entered = self.enter(device)?;
        // SAFETY: NUL-terminated PTX; two options with their values; a log of the size given.
        let code = unsafe {
            load(
                &mut module,
                image.ptx.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        if code == SUCCESS {
            return Ok(ModuleHandle(module as usize));
        }
        let length = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
        let log = String::from_utf8_lossy(&log[..length]);
        let what = match log.trim() {
            "" => format!("image {} on device {device}", image.name),
            log => format!("image {} on device {device}: {log}", image.name),
        };
        Err(self.api.failure("cuModuleLoadDataEx", code).context(what))
    }

    pub(super) fn module_unload(&self, device: DeviceIndex, module: ModuleHandle) -> Result<()> {
        let unload = self.api.cuModuleUnload()?;
        let _entered = self.enter(device)?;
        // SAFETY: a live module of this device, as the trait demands.
        let code = unsafe { unload(module.0 as CUmodule) };
        self.api.check("cuModuleUnload", code)
    }

    pub(super) fn kernel_find(
        &self,
        device: DeviceIndex,
        module: ModuleHandle,
        name: &str,
    ) -> Result<KernelHandle> {
        let text = CString::new(name)
            .map_err(|_| Error::invalid_argument("name: a kernel's name holds no NUL byte"))?;
        let find = self.api.cuModuleGetFunction()?;
        let mut function: CUfunction = null_mut();
        let pointer: *const c_char = text.as_ptr();
        let _entered = self.enter(device)?;
        // SAFETY: a live module, a NUL-terminated name, and a place that outlives the call.
        match unsafe { find(&mut function, module.0 as CUmodule, pointer) } {
            SUCCESS => Ok(KernelHandle(function as usize)),
            code @ NOT_FOUND => Err(self
                .api
                .failure_as(Status::InvalidArgument, "cuModuleGetFunction", code)
                .context(format_args!("name: the module has no kernel {name}"))),
            code => Err(self.api.failure("cuModuleGetFunction", code)),
        }
    }

    pub(super) fn kernel_launch(
        &self,
        kernel: KernelHandle,
        shape: LaunchShape,
        arguments: &KernelArguments,
        stream: StreamRef,
    ) -> Result<()> {
        let launch = self.api.cuLaunchKernel()?;
        // The driver reads, from each address, as many bytes as the parameter has, which for a
        // structure are several slots; it copies them before the call returns and writes none.
        let mut parameters = [null_mut::<c_void>(); KernelArguments::CAPACITY];
        let (slots, count) = (arguments.slots().as_ptr(), arguments.slots().len());
        for (index, parameter) in parameters.iter_mut().take(count).enumerate() {
            *parameter = slots.wrapping_add(index).cast_mut().cast();
        }
        let LaunchShape { grid, block, shared_bytes } = shape;
        let (function, handle) = (kernel.0 as CUfunction, stream.handle.0 as CUstream);
        let parameters = from_mut(&mut parameters).cast();
        let _entered = self.enter(stream.device)?;
        // SAFETY: a live kernel and stream of one device, and arguments that match the kernel's
        // parameters, as the trait demands.
        let code = unsafe {
            launch(
                function,
                grid.x,
                grid.y,
                grid.z,
                block.x,
                block.y,
                block.z,
                shared_bytes,
                handle,
                parameters,
                null_mut(),
            )
        };
        self.api.check("cuLaunchKernel", code)
    }
}
