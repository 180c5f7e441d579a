//! Kernels on the CPU, under the names of the CUDA ones.
//!
//! A kernel is an entry of a table: its name, how many parameters it has, how long it takes in the
//! model, and what it does. It reaches memory only through [`DeviceMemory`], which checks every
//! range as the device would; a bad one is an illegal address, which ends the device.
#![forbid(unsafe_code)]

mod basic;
mod random;
mod rows;
mod scale;
mod strided;

use std::collections::HashMap;

use crate::driver::{KernelArguments, KernelHandle, KernelImage, LaunchShape, ModuleHandle};
use crate::error::{Error, Result};
use crate::types::DeviceIndex;

use crate::driver::sim::Inner;
use crate::driver::sim::call::Call;
use crate::driver::sim::codes;
use crate::driver::sim::memory::{Accessor, Intent};

/// Most threads of a block, as on every GPU.
pub(crate) const MAX_THREADS_PER_BLOCK: u64 = 1024;

/// A kernel of the simulator.
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    pub(crate) parameters: usize,
    /// How long it takes, given its arguments and the latency of operations in general.
    pub(crate) duration_ns: fn(&[u64], u64) -> u64,
    pub(crate) run: fn(&DeviceMemory<'_>, LaunchShape, &[u64]) -> std::result::Result<(), i32>,
}

/// All kernels, a slice for each file of this room.
const KERNELS: &[&[Kernel]] =
    &[basic::KERNELS, random::KERNELS, rows::KERNELS, scale::KERNELS, strided::KERNELS];

impl Kernel {
    fn find(name: &str) -> Option<&'static Kernel> {
        KERNELS.iter().flat_map(|kernels| kernels.iter()).find(|kernel| kernel.name == name)
    }

    /// Whether a launch is one that a device would accept.
    pub(crate) fn check(
        &self,
        shape: LaunchShape,
        arguments: &KernelArguments,
    ) -> std::result::Result<(), String> {
        let given = arguments.slots().len();
        if given != self.parameters {
            return Err(format!("{} takes {} arguments, not {given}", self.name, self.parameters));
        }
        let (grid, block) = (shape.grid, shape.block);
        if [grid.x, grid.y, grid.z, block.x, block.y, block.z].contains(&0) {
            return Err(format!("{}: grid and block must not be empty", self.name));
        }
        let threads = u64::from(block.x) * u64::from(block.y) * u64::from(block.z);
        if threads > MAX_THREADS_PER_BLOCK {
            return Err(format!(
                "{}: a block has at most {MAX_THREADS_PER_BLOCK} threads, not {threads}",
                self.name
            ));
        }
        Ok(())
    }
}

/// Device memory as a kernel of one device sees it. Lengths are small pieces; kernels loop.
pub(crate) struct DeviceMemory<'a> {
    inner: &'a Inner,
    device: DeviceIndex,
}

impl<'a> DeviceMemory<'a> {
    pub(crate) fn new(inner: &'a Inner, device: DeviceIndex) -> DeviceMemory<'a> {
        DeviceMemory { inner, device }
    }

    /// Whether so many bytes could be read from `address` on, for those who need memory for them.
    pub(crate) fn covers(&self, address: u64, bytes: u64) -> std::result::Result<(), i32> {
        let space = self.inner.space.read();
        let usable = space.is_usable(Accessor::kernel(self.device), address, bytes, Intent::Read);
        usable.then_some(()).ok_or(codes::ILLEGAL_ADDRESS)
    }

    /// Reads from `address` on.
    pub(crate) fn read(&self, address: u64, into: &mut [u8]) -> std::result::Result<(), i32> {
        let space = self.inner.space.read();
        let accessor = Accessor::kernel(self.device);
        space.resolve(accessor, address, into.len() as u64, Intent::Read)?.read(into);
        Ok(())
    }

    /// Writes from `address` on.
    pub(crate) fn write(&self, address: u64, from: &[u8]) -> std::result::Result<(), i32> {
        let space = self.inner.space.read();
        let accessor = Accessor::kernel(self.device);
        space.resolve(accessor, address, from.len() as u64, Intent::Write)?.write(from);
        Ok(())
    }
}

/// Loaded modules and the kernels found in them.
#[derive(Default)]
pub(crate) struct Modules {
    next: usize,
    modules: HashMap<usize, DeviceIndex>,
    /// Device, module and kernel of each handle.
    kernels: HashMap<usize, (DeviceIndex, usize, &'static Kernel)>,
}

impl Modules {
    fn new_handle(&mut self) -> usize {
        self.next += crate::driver::sim::machine::handles::HANDLE_STEP;
        self.next
    }
}

impl Inner {
    /// Loads nothing: the simulator knows its kernels by name. As in CUDA a capture that holds the thread
    /// back forbids it, because loading may allocate and wait.
    pub(crate) fn module_load(
        &self,
        call: Call,
        device: DeviceIndex,
        _image: &KernelImage,
    ) -> Result<ModuleHandle> {
        self.check_error(call, device)?;
        self.check_held_back(call)?;
        let mut modules = self.modules.lock();
        let handle = modules.new_handle();
        modules.modules.insert(handle, device);
        Ok(ModuleHandle(handle))
    }

    pub(crate) fn module_unload(
        &self,
        call: Call,
        device: DeviceIndex,
        module: ModuleHandle,
    ) -> Result<()> {
        self.check_held_back(call)?;
        let mut modules = self.modules.lock();
        if modules.modules.get(&module.0) != Some(&device) {
            return Err(no_module(call, device, module));
        }
        modules.modules.remove(&module.0);
        modules.kernels.retain(|_, (_, of, _)| *of != module.0);
        Ok(())
    }

    pub(crate) fn kernel_find(
        &self,
        call: Call,
        device: DeviceIndex,
        module: ModuleHandle,
        name: &str,
    ) -> Result<KernelHandle> {
        let mut modules = self.modules.lock();
        if modules.modules.get(&module.0) != Some(&device) {
            return Err(no_module(call, device, module));
        }
        let kernel = Kernel::find(name).ok_or_else(|| {
            let why = format_args!("the simulator has no kernel {name:?}").to_string();
            codes::failure_because(call, codes::NOT_FOUND, why)
        })?;
        let known = modules
            .kernels
            .iter()
            .find(|(_, (_, of, known))| *of == module.0 && std::ptr::eq(*known, kernel))
            .map(|(handle, _)| *handle);
        if let Some(handle) = known {
            return Ok(KernelHandle(handle));
        }
        let handle = modules.new_handle();
        modules.kernels.insert(handle, (device, module.0, kernel));
        Ok(KernelHandle(handle))
    }

    pub(crate) fn kernel(
        &self,
        call: Call,
        handle: KernelHandle,
    ) -> Result<(DeviceIndex, &'static Kernel)> {
        let modules = self.modules.lock();
        modules.kernels.get(&handle.0).map(|(device, _, kernel)| (*device, *kernel)).ok_or_else(
            || {
                let why = format!("{:#x} is no kernel of a loaded module", handle.0);
                codes::failure_because(call, codes::INVALID_HANDLE, why)
            },
        )
    }
}

fn no_module(call: Call, device: DeviceIndex, module: ModuleHandle) -> Error {
    let why = format!("{:#x} is no module of device {device}", module.0);
    codes::failure_because(call, codes::INVALID_HANDLE, why)
}
