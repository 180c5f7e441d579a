//! Modules and kernels of the program.
#![forbid(unsafe_code)]

use std::sync::Arc;

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;
use sconce_driver::{
    BestBlock, KernelAttributes, KernelHandle, KernelValues, LaunchConfig, ModuleCode,
    ModuleHandle, Modules, StreamRef, Streams,
};

use super::properties;
use crate::call::Call;
use crate::codes;
use crate::kernels::modules::FoundKernel;
use crate::kernels::user::{self, SimKernel, UserWork};
use crate::state::{Simulator, State};

impl Modules for Simulator {
    /// Keeps the code: its kernels are functions of the host, which are looked up by name. As in CUDA a
    /// capture that holds the thread back forbids it.
    fn module_load_code(&self, device: DeviceIndex, code: &ModuleCode) -> Result<ModuleHandle> {
        let (inner, call) = (&self.inner, Call::ModuleLoadCode);
        inner.enter_context(call, device)?;
        inner.check_error(call, device)?;
        inner.check_held_back(call)?;
        Ok(inner.modules.lock().load(device, Some(code.clone())))
    }

    fn module_release(&self, device: DeviceIndex, module: ModuleHandle) -> Result<()> {
        let (inner, call) = (&self.inner, Call::ModuleRelease);
        inner.enter_device(call, device)?;
        inner.check_held_back(call)?;
        inner.await_device(call, device)?;
        inner.drop_module(call, device, module)
    }

    fn kernel_attributes(
        &self,
        device: DeviceIndex,
        handle: KernelHandle,
    ) -> Result<KernelAttributes> {
        let (inner, call) = (&self.inner, Call::KernelAttributes);
        let kernel = inner.enter_kernel(call, device, handle)?;
        let allowed = inner.modules.lock().allowed_shared(handle);
        Ok(user::attributes(&kernel, &properties::of(&inner.config, device), allowed))
    }

    fn kernel_parameters(
        &self,
        device: DeviceIndex,
        handle: KernelHandle,
    ) -> Result<Option<Vec<usize>>> {
        let kernel = self.inner.enter_kernel(Call::KernelParameters, device, handle)?;
        Ok(Some(kernel.parameters.clone()))
    }

    fn kernel_allow_shared(
        &self,
        device: DeviceIndex,
        handle: KernelHandle,
        bytes: u32,
    ) -> Result<()> {
        let (inner, call) = (&self.inner, Call::KernelAllowShared);
        let kernel = inner.enter_kernel(call, device, handle)?;
        let device = properties::of(&inner.config, device);
        let most = user::attributes(&kernel, &device, None).most_dynamic_shared_bytes;
        if bytes > most {
            let why =
                format!("a block can have {most} bytes of dynamic shared memory, not {bytes}");
            return Err(codes::failure_because(call, codes::INVALID_VALUE, why));
        }
        inner.modules.lock().allow_shared(handle, bytes);
        Ok(())
    }

    fn kernel_occupancy(
        &self,
        device: DeviceIndex,
        handle: KernelHandle,
        threads: u32,
        shared_bytes: u32,
    ) -> Result<u32> {
        let (inner, call) = (&self.inner, Call::KernelOccupancy);
        let kernel = inner.enter_kernel(call, device, handle)?;
        if threads == 0 {
            let why = "a block has at least one thread";
            return Err(codes::failure_because(call, codes::INVALID_VALUE, why));
        }
        let device = properties::of(&inner.config, device);
        Ok(user::occupancy(&kernel, &device, threads, shared_bytes))
    }

    fn kernel_best_block(
        &self,
        device: DeviceIndex,
        handle: KernelHandle,
        shared_bytes: u32,
        most_threads: u32,
    ) -> Result<BestBlock> {
        let inner = &self.inner;
        let kernel = inner.enter_kernel(Call::KernelBestBlock, device, handle)?;
        let device = properties::of(&inner.config, device);
        Ok(user::best_block(&kernel, &device, shared_bytes, most_threads))
    }

    fn kernel_launch_values(
        &self,
        handle: KernelHandle,
        config: &LaunchConfig,
        values: &KernelValues<'_>,
        stream: StreamRef,
        asks_captured: bool,
    ) -> Result<bool> {
        let (inner, call, device) = (&self.inner, Call::KernelLaunchValues, stream.device);
        let kernel = inner.enter_kernel(call, device, handle)?;
        let refuse = |why: String| codes::failure_because(call, codes::INVALID_VALUE, why);
        user::check(&kernel, config, values).map_err(refuse)?;
        let attributes = user::attributes(
            &kernel,
            &properties::of(&inner.config, device),
            inner.modules.lock().allowed_shared(handle),
        );
        let (shared, allowed) = (config.shape.shared_bytes, attributes.dynamic_shared_bytes);
        if shared > allowed {
            return Err(refuse(format!(
                "{shared} bytes of dynamic shared memory; {allowed} are allowed"
            )));
        }
        let space = Arc::clone(&inner.space);
        let work = UserWork::new(space, device, kernel, config, values);
        inner.submit(call, stream, work, inner.latency_ns())?;
        Ok(asks_captured && self.stream_is_capturing(stream).unwrap_or(true))
    }
}

impl State {
    /// Entry of a call that takes a kernel of the program.
    fn enter_kernel(
        &self,
        call: Call,
        device: DeviceIndex,
        handle: KernelHandle,
    ) -> Result<Arc<SimKernel>> {
        self.enter_context(call, device)?;
        match self.kernel(call, handle)? {
            (of, FoundKernel::User(kernel)) if of == device => Ok(kernel),
            (of, FoundKernel::User(kernel)) => {
                let why = format!("{} was loaded for device {of}, not for {device}", kernel.name);
                Err(codes::failure_because(call, codes::INVALID_HANDLE, why))
            }
            (_, FoundKernel::Own(kernel)) => {
                let why = format!("{} is a kernel of the library", kernel.name);
                Err(codes::failure_because(call, codes::INVALID_HANDLE, why))
            }
        }
    }
}
