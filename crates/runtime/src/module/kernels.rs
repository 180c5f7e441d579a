//! Kernels: found by name, and what they need.

use std::sync::atomic::Ordering;

use sconce_base::collections::slab::Key;
use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;
use sconce_driver::{BestBlock, KernelAttributes, KernelHandle, RelaxedCapture};

use super::table::{self, DeviceKernel, UserKernel};
use crate::context::{Runtime, runtime};
use crate::device;

/// The kernel of a module with a name; the same one at each call. It is looked for on the current device,
/// which loads the module if it has not.
pub fn kernel(module: Key, name: &str) -> Result<Key> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, -1)?;
    table::with_module(module, |module| {
        if let Some(kernel) = module.kernels.lock().get(name) {
            return Ok(*kernel);
        }
        let kernel = UserKernel::new(name, module);
        kernel.on_device(runtime, device)?;
        let mut kernels = module.kernels.lock();
        // Another thread may have found it meanwhile.
        if let Some(kernel) = kernels.get(name) {
            return Ok(*kernel);
        }
        let key = table::insert_kernel(kernel)?;
        kernels.insert(name.to_owned(), key);
        Ok(key)
    })
}

/// Calls `action` with a kernel on a device (-1: the current one).
fn on_device<R>(
    kernel: Key,
    index: i32,
    action: impl FnOnce(&Runtime, DeviceIndex, KernelHandle, &DeviceKernel) -> Result<R>,
) -> Result<R> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    table::with_kernel(kernel, |kernel| {
        let (handle, place) = kernel.on_device(runtime, device)?;
        action(runtime, device, handle, place)
            .map_err(|error| error.context(format_args!("kernel {}", kernel.name)))
    })
}

/// What a kernel needs on a device.
pub fn attributes(kernel: Key, index: i32) -> Result<KernelAttributes> {
    on_device(kernel, index, |runtime, device, handle, _| {
        runtime.driver().kernel_attributes(device, handle)
    })
}

/// Allows launches on a device up to so much dynamic shared memory.
pub fn allow_shared(kernel: Key, index: i32, bytes: u32) -> Result<()> {
    on_device(kernel, index, |runtime, device, handle, place| {
        raise_shared(runtime, device, handle, place, bytes)
    })
}

/// Raises what launches on a device may have, if it is less.
#[cold]
pub(super) fn raise_shared(
    runtime: &Runtime,
    device: DeviceIndex,
    handle: KernelHandle,
    place: &DeviceKernel,
    bytes: u32,
) -> Result<()> {
    if bytes <= place.shared_bytes.load(Ordering::Relaxed) {
        return Ok(());
    }
    let driver = runtime.driver();
    let _relaxed = RelaxedCapture::enter(driver)?;
    let most = driver.kernel_attributes(device, handle)?.most_dynamic_shared_bytes;
    if bytes > most {
        return Err(Error::invalid_argument(format!(
            "shared_bytes is {bytes}; a block can have at most {most} bytes of dynamic shared memory \
             on device {device}"
        )));
    }
    driver.kernel_allow_shared(device, handle, bytes)?;
    // Of two threads the one with the smaller number may be the last; launches then raise it again.
    place.shared_bytes.store(bytes, Ordering::Relaxed);
    Ok(())
}

/// Blocks that a multiprocessor runs at the same time.
pub fn occupancy(kernel: Key, index: i32, threads: u32, shared_bytes: u32) -> Result<u32> {
    if threads == 0 {
        return Err(Error::invalid_argument("threads is 0; a block has at least one thread"));
    }
    on_device(kernel, index, |runtime, device, handle, place| {
        raise_shared(runtime, device, handle, place, shared_bytes)?;
        runtime.driver().kernel_occupancy(device, handle, threads, shared_bytes)
    })
}

/// The block size of the greatest occupancy.
pub fn best_block(
    kernel: Key,
    index: i32,
    shared_bytes: u32,
    most_threads: u32,
) -> Result<BestBlock> {
    on_device(kernel, index, |runtime, device, handle, place| {
        raise_shared(runtime, device, handle, place, shared_bytes)?;
        runtime.driver().kernel_best_block(device, handle, shared_bytes, most_threads)
    })
}
