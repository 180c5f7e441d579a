//! Modules and kernel launches.
#![forbid(unsafe_code)]

use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;
use sconce_driver::{
    KernelArguments, KernelHandle, KernelImage, Kernels, LaunchShape, ModuleHandle, StreamRef,
};

use crate::call::Call;
use crate::codes;
use crate::kernels::kernel::{Kernel, KernelWork};
use crate::kernels::modules::{FoundKernel, LoadedModule, kernel_named};
use crate::kernels::user;
use crate::state::{Simulator, State};

impl Kernels for Simulator {
    /// Loads nothing: the simulator knows its kernels by name. As in CUDA a capture that holds the thread
    /// back forbids it, because loading may allocate and wait.
    fn module_load(&self, device: DeviceIndex, _image: &KernelImage) -> Result<ModuleHandle> {
        let (inner, call) = (&self.inner, Call::ModuleLoad);
        inner.enter_context(call, device)?;
        inner.check_error(call, device)?;
        inner.check_held_back(call)?;
        Ok(inner.modules.lock().load(device, None))
    }

    fn module_unload(&self, device: DeviceIndex, module: ModuleHandle) -> Result<()> {
        let (inner, call) = (&self.inner, Call::ModuleUnload);
        inner.enter_device(call, device)?;
        inner.check_held_back(call)?;
        inner.drop_module(call, device, module)
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
        let kernel = match modules.modules.get(&module.native()) {
            Some(LoadedModule { device: of, code }) if *of == device => match code {
                None => kernel_named(name).map(FoundKernel::Own).ok_or_else(|| {
                    let why = format_args!("the simulator has no kernel {name:?}").to_string();
                    codes::failure_because(call, codes::NOT_FOUND, why)
                })?,
                Some(code) => FoundKernel::User(user::find(call, code, name)?),
            },
            _ => return Err(no_module(call, device, module)),
        };
        Ok(modules.handle_of(device, module.native(), kernel))
    }

    fn kernel_launch(
        &self,
        handle: KernelHandle,
        shape: LaunchShape,
        arguments: &KernelArguments,
        stream: StreamRef,
    ) -> Result<()> {
        self.launch_own(handle, shape, arguments.slots(), stream)
    }

    fn kernel_launch_wide(
        &self,
        handle: KernelHandle,
        shape: LaunchShape,
        structure: &[u64],
        stream: StreamRef,
    ) -> Result<()> {
        self.launch_own(handle, shape, structure, stream)
    }
}

impl Simulator {
    fn launch_own(
        &self,
        handle: KernelHandle,
        shape: LaunchShape,
        slots: &[u64],
        stream: StreamRef,
    ) -> Result<()> {
        let (inner, call) = (&self.inner, Call::KernelLaunch);
        inner.enter_context(call, stream.device)?;
        let (device, kernel) = inner.own_kernel(call, handle)?;
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
            .check(shape, slots)
            .map_err(|why| codes::failure_because(call, codes::INVALID_VALUE, why))?;
        let duration_ns = (kernel.duration_ns)(slots, inner.latency_ns());
        let space = std::sync::Arc::clone(&inner.space);
        let work = KernelWork::new(space, device, kernel, shape, slots);
        inner.submit(call, stream, work, duration_ns).map(drop)
    }
}

impl State {
    pub(crate) fn drop_module(
        &self,
        call: Call,
        device: DeviceIndex,
        module: ModuleHandle,
    ) -> Result<()> {
        let mut modules = self.modules.lock();
        if modules.modules.get(&module.native()).is_none_or(|found| found.device != device) {
            return Err(no_module(call, device, module));
        }
        modules.unload(module);
        Ok(())
    }

    /// The device and the kernel of a handle.
    pub(crate) fn kernel(
        &self,
        call: Call,
        handle: KernelHandle,
    ) -> Result<(DeviceIndex, FoundKernel)> {
        let modules = self.modules.lock();
        let found = modules.kernels.get(&handle.native());
        found.map(|(device, _, kernel)| (*device, kernel.clone())).ok_or_else(|| {
            let why = format!("{:#x} is not a kernel of a loaded module", handle.native());
            codes::failure_because(call, codes::INVALID_HANDLE, why)
        })
    }

    fn own_kernel(
        &self,
        call: Call,
        handle: KernelHandle,
    ) -> Result<(DeviceIndex, &'static Kernel)> {
        match self.kernel(call, handle)? {
            (device, FoundKernel::Own(kernel)) => Ok((device, kernel)),
            (_, FoundKernel::User(kernel)) => {
                let why = format!("{} is a kernel of the program", kernel.name);
                Err(codes::failure_because(call, codes::INVALID_HANDLE, why))
            }
        }
    }
}

fn no_module(call: Call, device: DeviceIndex, module: ModuleHandle) -> Error {
    let why = format!("{:#x} is not a module of device {device}", module.native());
    codes::failure_because(call, codes::INVALID_HANDLE, why)
}
