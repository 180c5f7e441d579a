//! Loaded modules and the kernels found in them.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::sync::Arc;

use sconce_base::types::DeviceIndex;
use sconce_driver::{KernelHandle, ModuleCode, ModuleHandle};

use super::kernel::Kernel;
use super::user::SimKernel;
use super::{
    basic, conditions, ordering, pointwise, random, reduction, rows, scale, small_product, strided,
};
use crate::handles::HANDLE_STEP;

/// All kernels, a slice for each file of this folder.
const KERNELS: &[&[Kernel]] = &[
    basic::KERNELS,
    conditions::KERNELS,
    pointwise::ELEMENTWISE,
    pointwise::CONVERSIONS,
    pointwise::FLAT,
    random::KERNELS,
    rows::KERNELS,
    scale::KERNELS,
    small_product::KERNELS,
    strided::KERNELS,
    ordering::SORTS,
    ordering::GATHERS,
    ordering::JOINS_OF_MANY,
    reduction::REDUCTIONS[0],
    reduction::REDUCTIONS[1],
    reduction::LINES,
    reduction::CHAINS,
];

/// The kernel with a name.
pub(crate) fn kernel_named(name: &str) -> Option<&'static Kernel> {
    KERNELS.iter().flat_map(|kernels| kernels.iter()).find(|kernel| kernel.name == name)
}

/// A loaded module.
pub(crate) struct LoadedModule {
    pub(crate) device: DeviceIndex,
    /// The program's code; `None` for an image of the library.
    pub(crate) code: Option<ModuleCode>,
}

/// A kernel that was found in a module.
#[derive(Clone)]
pub(crate) enum FoundKernel {
    /// One of the library.
    Own(&'static Kernel),
    /// One of the program.
    User(Arc<SimKernel>),
}

impl FoundKernel {
    fn is(&self, other: &FoundKernel) -> bool {
        match (self, other) {
            (FoundKernel::Own(a), FoundKernel::Own(b)) => std::ptr::eq(*a, *b),
            (FoundKernel::User(a), FoundKernel::User(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// Loaded modules and the kernels found in them.
#[derive(Default)]
pub(crate) struct LoadedModules {
    next: usize,
    pub(crate) modules: HashMap<usize, LoadedModule>,
    /// Device, module and kernel of each handle.
    pub(crate) kernels: HashMap<usize, (DeviceIndex, usize, FoundKernel)>,
    /// Dynamic shared memory that launches of a kernel may have, where a call has set it.
    allowed_shared: HashMap<usize, u32>,
}

impl LoadedModules {
    /// Enters a module under a handle that no module or kernel has had.
    pub(crate) fn load(&mut self, device: DeviceIndex, code: Option<ModuleCode>) -> ModuleHandle {
        let handle = self.new_handle();
        self.modules.insert(handle, LoadedModule { device, code });
        ModuleHandle::from_driver(crate::HANDLES, handle)
    }

    /// The handle of a kernel of a module, the same at each call.
    pub(crate) fn handle_of(
        &mut self,
        device: DeviceIndex,
        module: usize,
        kernel: FoundKernel,
    ) -> KernelHandle {
        let known = self.kernels.iter().find(|(_, (_, of, it))| *of == module && it.is(&kernel));
        if let Some((handle, _)) = known {
            return KernelHandle::from_driver(crate::HANDLES, *handle);
        }
        let handle = self.new_handle();
        self.kernels.insert(handle, (device, module, kernel));
        KernelHandle::from_driver(crate::HANDLES, handle)
    }

    /// Drops a module and its kernels.
    pub(crate) fn unload(&mut self, module: ModuleHandle) {
        self.modules.remove(&module.native());
        self.kernels.retain(|_, (_, of, _)| *of != module.native());
        self.allowed_shared.retain(|handle, _| self.kernels.contains_key(handle));
    }

    pub(crate) fn allow_shared(&mut self, kernel: KernelHandle, bytes: u32) {
        self.allowed_shared.insert(kernel.native(), bytes);
    }

    pub(crate) fn allowed_shared(&self, kernel: KernelHandle) -> Option<u32> {
        self.allowed_shared.get(&kernel.native()).copied()
    }

    fn new_handle(&mut self) -> usize {
        self.next += HANDLE_STEP;
        self.next
    }
}
