//! The tables of live modules and kernels.
//!
//! While a call uses a kernel, the kernel's cell does not change, so that no module is unloaded under a launch. Calls
//! of one kernel do not wait for each other, and take no lock ([`SharedValue`]).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use sconce_base::announcements::SharedValue;
use sconce_base::collections::handle_kind::HandleKind;
use sconce_base::collections::per_device::PerDevice;
use sconce_base::collections::slab::{Key, Slab};
use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{Mutex, OnceCell, RwLock, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::{KernelHandle, ModuleCode, ModuleHandle, RelaxedCapture};

use crate::context::Runtime;
use crate::lazy_handle::LazyHandle;

pub(super) static MODULES: Slab<ModuleCell> = Slab::new(HandleKind::Module);
pub(super) static KERNELS: Slab<KernelCell> = Slab::new(HandleKind::Kernel);

/// The memory of a module. Cleared when the module is unloaded, and then used for another.
#[derive(Default)]
pub(super) struct ModuleCell {
    pub(super) state: RwLock<rank::UserModule, Option<Arc<UserModule>>>,
}

/// The memory of a kernel. Cleared when its module is unloaded, and then used for another.
#[derive(Default)]
pub(super) struct KernelCell {
    state: SharedValue<rank::UserKernel, Option<Box<UserKernel>>>,
}

/// A module of the program.
pub(super) struct UserModule {
    pub(super) code: ModuleCode,
    /// The entry points of kernels that were compiled under other names.
    pub(super) entries: BTreeMap<String, String>,
    /// The module on each device that has used it.
    pub(super) devices: PerDevice<LazyHandle<ModuleHandle, rank::ModuleLoaded>>,
    /// Its kernels by name.
    pub(super) kernels: Mutex<rank::ModuleKernels, BTreeMap<String, Key>>,
    /// A launch became part of a graph.
    pub(super) is_captured: AtomicBool,
}

/// A kernel of a module.
pub(super) struct UserKernel {
    pub(super) name: String,
    pub(super) module: Arc<UserModule>,
    devices: PerDevice<DeviceKernel>,
    /// Bytes of each parameter, unless the driver does not tell. The same on all devices.
    pub(super) parameters: OnceCell<rank::KernelParameters, Option<Vec<usize>>>,
}

/// A kernel on one device.
pub(super) struct DeviceKernel {
    handle: LazyHandle<KernelHandle, rank::ModuleKernel>,
    /// Dynamic shared memory that launches may have. Written before the handle.
    pub(super) shared_bytes: AtomicU32,
}

/// What a driver that does not tell allows.
const SHARED_BYTES: u32 = 48 << 10;

impl UserModule {
    pub(super) fn new(code: ModuleCode, entries: BTreeMap<String, String>) -> UserModule {
        UserModule {
            code,
            entries,
            devices: PerDevice::from_fn(|_| LazyHandle::new()),
            kernels: Mutex::default(),
            is_captured: AtomicBool::new(false),
        }
    }

    /// The module on a device, which loads it at its first use. A capture does not prevent that: what is
    /// loaded belongs to no capture.
    fn on_device(&self, runtime: &Runtime, device: DeviceIndex) -> Result<ModuleHandle> {
        self.devices[device].get_or_make(|| runtime.driver().module_load_code(device, &self.code))
    }
}

impl UserKernel {
    pub(super) fn new(name: &str, module: &Arc<UserModule>) -> UserKernel {
        UserKernel {
            name: name.to_owned(),
            module: Arc::clone(module),
            devices: PerDevice::from_fn(|_| DeviceKernel {
                handle: LazyHandle::new(),
                shared_bytes: AtomicU32::new(SHARED_BYTES),
            }),
            parameters: OnceCell::new(),
        }
    }

    /// The kernel on a device, found there at its first use.
    #[inline]
    pub(super) fn on_device(
        &self,
        runtime: &Runtime,
        device: DeviceIndex,
    ) -> Result<(KernelHandle, &DeviceKernel)> {
        let place = &self.devices[device];
        let handle = match place.handle.get() {
            Some(handle) => handle,
            None => self.found(runtime, device)?,
        };
        Ok((handle, place))
    }

    #[cold]
    #[inline(never)]
    fn found(&self, runtime: &Runtime, device: DeviceIndex) -> Result<KernelHandle> {
        let place = &self.devices[device];
        place.handle.get_or_make(|| self.find(runtime, device, place))
    }

    fn find(
        &self,
        runtime: &Runtime,
        device: DeviceIndex,
        place: &DeviceKernel,
    ) -> Result<KernelHandle> {
        let driver = runtime.driver();
        let _relaxed = RelaxedCapture::enter(driver)?;
        let module = self.module.on_device(runtime, device)?;
        let entry = self.module.entries.get(&self.name).unwrap_or(&self.name);
        let handle = driver
            .kernel_find(device, module, entry)
            .map_err(|error| without_expression(error, &self.name))?;
        let allowed = match driver.kernel_attributes(device, handle) {
            Ok(attributes) => attributes.dynamic_shared_bytes,
            Err(error) if error.status() == Status::NotSupported => SHARED_BYTES,
            Err(error) => return Err(error),
        };
        self.parameters.get_or_try_init(|| driver.kernel_parameters(device, handle))?;
        place.shared_bytes.store(allowed, Ordering::Relaxed);
        Ok(handle)
    }
}

/// A kernel that is not found under an expression of C++ was not added to its source.
#[cold]
fn without_expression(error: Error, name: &str) -> Error {
    if error.status() == Status::InvalidArgument && name.contains(['<', ':']) {
        return error.context(format_args!(
            "{name} is not an entry point; add such names to the source with sconce_kernel_source_add_kernel before it \
             is compiled"
        ));
    }
    error
}

#[cold]
#[inline(never)]
pub(super) fn dead_module(key: Key) -> Error {
    let otherwise = "is not alive: never loaded, or unloaded";
    Error::invalid_handle(HandleKind::Module.refusal(key.bits(), "module", otherwise))
}

#[cold]
#[inline(never)]
fn dead_kernel(key: Key) -> Error {
    let otherwise = "is not alive: never found, or its module is unloaded";
    Error::invalid_handle(HandleKind::Kernel.refusal(key.bits(), "kernel", otherwise))
}

/// Calls `action` with a live module, which is not unloaded meanwhile.
pub(super) fn with_module<R>(
    key: Key,
    action: impl FnOnce(&Arc<UserModule>) -> Result<R>,
) -> Result<R> {
    let cell = MODULES.get(key).ok_or_else(|| dead_module(key))?;
    let state = cell.state.read();
    // Between the look-up and the lock the module may have been unloaded, and the cell used again.
    if !cell.still() {
        return Err(dead_module(key));
    }
    action(state.as_ref().ok_or_else(|| dead_module(key))?)
}

/// Calls `action` with a live kernel, whose module is not unloaded meanwhile.
#[inline]
pub(super) fn with_kernel<R>(key: Key, action: impl FnOnce(&UserKernel) -> Result<R>) -> Result<R> {
    let cell = KERNELS.get(key).ok_or_else(|| dead_kernel(key))?;
    let state = cell.state.read();
    if !cell.still() {
        return Err(dead_kernel(key));
    }
    action(state.as_deref().ok_or_else(|| dead_kernel(key))?)
}

/// Enters a kernel.
pub(super) fn insert_kernel(kernel: UserKernel) -> Result<Key> {
    let full = || Error::new(Status::OutOfMemory, "too many kernels are alive");
    let (key, cell) = KERNELS.insert().ok_or_else(full)?;
    cell.state.change(|state| *state = Some(Box::new(kernel)));
    Ok(key)
}

/// Ends a kernel; waits for calls that use it.
pub(super) fn remove_kernel(key: Key) {
    KERNELS.remove(key, |cell| drop(cell.state.change(Option::take)));
}
