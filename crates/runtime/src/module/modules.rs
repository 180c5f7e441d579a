//! Modules: loaded from memory or a file, and unloaded.

use std::collections::BTreeMap;
use std::mem;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use sconce_base::collections::slab::Key;
use sconce_base::error::{Error, Result, Status};
use sconce_base::log;
use sconce_driver::{ModuleCode, RelaxedCapture};

use super::table::{self, MODULES, UserModule};
use crate::context::{Runtime, runtime};
use crate::stream;

/// Makes a module of code; `name` for messages. Makes no driver call.
pub fn load(name: &str, code: &[u8]) -> Result<Key> {
    insert(ModuleCode::new(name, code)?, BTreeMap::new())
}

/// Enters a module of code, some of whose kernels have other names than their entry points.
pub(super) fn insert(code: ModuleCode, entries: BTreeMap<String, String>) -> Result<Key> {
    let module = Arc::new(UserModule::new(code, entries));
    let full = || Error::new(Status::OutOfMemory, "too many modules are alive");
    let (key, cell) = MODULES.insert().ok_or_else(full)?;
    *cell.state.write() = Some(module);
    Ok(key)
}

/// Makes a module of the code in a file.
pub fn load_file(path: &Path) -> Result<Key> {
    let name = path.display().to_string();
    let code = std::fs::read(path)
        .map_err(|why| Error::new(Status::Io, format!("path: {name} cannot be read: {why}")))?;
    load(&name, &code)
}

/// Ends a module and its kernels, and waits for the devices that have loaded it. The handles are dead
/// afterwards, whatever the driver says.
pub fn unload(key: Key) -> Result<()> {
    let mut module = None;
    // The lock of the cell waits for calls that use the module.
    if !MODULES.remove(key, |cell| module = cell.state.write().take()) {
        return Err(table::dead_module(key));
    }
    let module = module.ok_or_else(|| table::dead_module(key))?;
    for kernel in mem::take(&mut *module.kernels.lock()).into_values() {
        table::remove_kernel(kernel);
    }
    if module.devices.iter().all(|(_, handle)| handle.get().is_none()) {
        return Ok(());
    }
    release(runtime()?, &module)
}

/// Drops a module that no call uses from its devices. Returns the first failure.
fn release(runtime: &Runtime, module: &UserModule) -> Result<()> {
    if module.is_captured.load(Ordering::Acquire) {
        log::debug(format_args!("{} stays loaded: a graph uses it", module.code.name()));
        return Ok(());
    }
    let _relaxed = RelaxedCapture::enter(runtime.driver())?;
    let mut result = Ok(());
    for (device, handle) in module.devices.iter() {
        let Some(handle) = handle.get() else { continue };
        // Waiting for the device would spoil the capture.
        let Some(_no_capture_begins) = stream::give_back(runtime, device, None) else {
            log::debug(format_args!(
                "{} stays loaded: device {device} is under capture",
                module.code.name()
            ));
            continue;
        };
        result = result.and(runtime.driver().module_release(device, handle));
    }
    result
}
