//! Modules and kernel launches.
#![forbid(unsafe_code)]

use crate::driver::{
    KernelArguments, KernelHandle, KernelImage, Kernels, LaunchShape, ModuleHandle, StreamRef,
};
use crate::error::{Error, Result};
use crate::types::DeviceIndex;

use crate::driver::sim::call::Call;
use crate::driver::sim::codes;
use crate::driver::sim::kernels::kernel::{Kernel, KernelWork};
use crate::driver::sim::kernels::modules::kernel_named;
use crate::driver::sim::state::{SimState, Simulator};

impl Kernels for Simulator {
    /// Loads nothing: the simulator knows its kernels by name. As in CUDA a capture that holds the thread
    /// back forbids it, because loading may allocate and wait.
    fn module_load(&self, device: DeviceIndex, _image: &KernelImage) -> Result<ModuleHandle> {
        let (inner, call) = (&self.inner, Call::ModuleLoad);
        inner.enter_context(call, device)?;
        inner.check_error(call, device)?;
        inner.check_held_back(call)?;
        let mut modules = inner.modules.lock();
        let handle = modules.new_handle();
        modules.modules.insert(handle, device);
        Ok(ModuleHandle::from_driver(handle))
    }

    fn module_unload(&self, device: DeviceIndex, module: ModuleHandle) -> Result<()> {
        let (inner, call) = (&self.inner, Call::ModuleUnload);
        inner.enter_device(call, device)?;
        inner.check_held_back(call)?;
        let mut modules = inner.modules.lock();
        if modules.modules.get(&module.native()) != Some(&device) {
            return Err(no_module(call, device, module));
        }
        modules.modules.remove(&module.native());
        modules.kernels.retain(|_, (_, of, _)| *of != module.native());
        Ok(())
    }

    fn kernel_find(
        &self,
        device: DeviceIndex,
        module: ModuleHandle,
        name: &str,
    ) -> Result<KernelHandle> {
        let (inner, call) = (&self.inner, Call::KernelFind);
        inner.enter_device(call, device)?;
        let mut modules = inner.modules.lock();
        if modules.modules.get(&module.native()) != Some(&device) {
            return Err(no_module(call, device, module));
        }
        let kernel = kernel_named(name).ok_or_else(|| {
            let why = format_args!("the simulator has no kernel {name:?}").to_string();
            codes::failure_because(call, codes::NOT_FOUND, why)
        })?;
        let known = modules
            .kernels
            .iter()
            .find(|(_, (_, of, known))| *of == module.native() && std::ptr::eq(*known, kernel))
            .map(|(handle, _)| *handle);
        if let Some(handle) = known {
            return Ok(KernelHandle::from_driver(handle));
        }
        let handle = modules.new_handle();
        modules.kernels.insert(handle, (device, module.native(), kernel));
        Ok(KernelHandle::from_driver(handle))
    }

    fn kernel_launch(
        &self,
        handle: KernelHandle,
        shape: LaunchShape,
        arguments: &KernelArguments,
        stream: StreamRef,
    ) -> Result<()> {
        let (inner, call) = (&self.inner, Call::KernelLaunch);
        inner.enter_context(call, stream.device)?;
        let (device, kernel) = inner.kernel(call, handle)?;
        if device != stream.device {
            return Err(codes::failure_because(
                call,
                codes::INVALID_HANDLE,
                format_args!(
                    "{} was loaded for device {device}, the stream is of device {}",
                    kernel.name, stream.device
                ),
            ));
        }
        kernel
            .check(shape, arguments)
            .map_err(|why| codes::failure_because(call, codes::INVALID_VALUE, why))?;
        let duration_ns = (kernel.duration_ns)(arguments.slots(), inner.latency_ns());
        let space = std::sync::Arc::clone(&inner.space);
        let work = KernelWork::new(space, device, kernel, shape, arguments);
        inner.submit(call, stream, work, duration_ns).map(drop)
    }
}

impl SimState {
    pub(crate) fn kernel(
        &self,
        call: Call,
        handle: KernelHandle,
    ) -> Result<(DeviceIndex, &'static Kernel)> {
        let modules = self.modules.lock();
        modules
            .kernels
            .get(&handle.native())
            .map(|(device, _, kernel)| (*device, *kernel))
            .ok_or_else(|| {
                let why = format!("{:#x} is no kernel of a loaded module", handle.native());
                codes::failure_because(call, codes::INVALID_HANDLE, why)
            })
    }
}

fn no_module(call: Call, device: DeviceIndex, module: ModuleHandle) -> Error {
    let why = format!("{:#x} is no module of device {device}", module.native());
    codes::failure_because(call, codes::INVALID_HANDLE, why)
}
