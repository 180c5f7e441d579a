//! Launches.

use std::sync::atomic::Ordering;

use sconce_base::collections::slab::Key;
use sconce_base::error::{Error, Result};
use sconce_driver::{KernelValues, LaunchConfig, LaunchShape};

use super::kernels::raise_shared;
use super::table::{self, UserKernel};
use crate::context::Runtime;
use crate::device;
use crate::stream::{self, Stream, after_enqueue};

/// Launches a kernel on the calling thread's current stream of the current device.
#[inline]
pub fn launch(
    runtime: &Runtime,
    kernel: Key,
    config: &LaunchConfig,
    values: &KernelValues<'_>,
) -> Result<()> {
    // In checked mode this takes over a device that other code has made current.
    device::current_of_thread(runtime)?;
    launch_on(runtime, stream::current_here(runtime)?, kernel, config, values)
}

/// Launches a kernel on a stream.
#[inline(always)]
pub fn launch_on(
    runtime: &Runtime,
    stream: Stream,
    kernel: Key,
    config: &LaunchConfig,
    values: &KernelValues<'_>,
) -> Result<()> {
    table::with_kernel(kernel, |kernel| queue(runtime, stream, kernel, config, values))?;
    after_enqueue(runtime, stream)
}

#[inline(always)]
fn queue(
    runtime: &Runtime,
    stream: Stream,
    kernel: &UserKernel,
    config: &LaunchConfig,
    values: &KernelValues<'_>,
) -> Result<()> {
    let (driver, target) = (runtime.driver(), stream.driver_ref());
    let (handle, place) = kernel.on_device(runtime, target.device)?;
    if let Some(Some(parameters)) = kernel.parameters.get()
        && !are_equal(parameters, values.bytes())
    {
        return Err(other_values(&kernel.name, parameters, values.bytes()));
    }
    let shared = config.shape.shared_bytes;
    if shared > place.shared_bytes.load(Ordering::Relaxed) {
        raise_shared(runtime, target.device, handle, place, shared)
            .map_err(|error| of_kernel(error, &kernel.name))?;
    }
    // A graph that has the kernel may be launched at any time, and nothing reports its end.
    let asks = !kernel.module.is_captured.load(Ordering::Relaxed);
    match driver.kernel_launch_values(handle, config, values, target, asks) {
        Ok(false) => Ok(()),
        Ok(true) => {
            kernel.module.is_captured.store(true, Ordering::Release);
            Ok(())
        }
        Err(error) => Err(of_launch(error, &kernel.name, config)),
    }
}

/// Whether two short lists are equal: a loop, where `==` would call a function.
#[inline]
fn are_equal(one: &[usize], other: &[usize]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one == other)
}

#[cold]
#[inline(never)]
fn of_kernel(error: Error, name: &str) -> Error {
    error.context(format_args!("kernel {name}"))
}

/// A failure of a launch with what was asked for: the driver's own message is often only `invalid
/// argument`.
#[cold]
#[inline(never)]
fn of_launch(error: Error, name: &str, config: &LaunchConfig) -> Error {
    let LaunchShape { grid, block, shared_bytes } = config.shape;
    let cluster =
        config.cluster.map_or_else(String::new, |cluster| format!(", desc.cluster {cluster}"));
    error.context(format_args!(
        "kernel {name} with desc.grid {grid}, desc.block {block}{cluster}, desc.shared_bytes \
         {shared_bytes}"
    ))
}

#[cold]
#[inline(never)]
fn other_values(name: &str, parameters: &[usize], given: &[usize]) -> Error {
    if parameters.len() != given.len() {
        return Error::invalid_argument(format!(
            "argument_count is {}; kernel {name} has {} parameters",
            given.len(),
            parameters.len()
        ));
    }
    let differing = parameters.iter().zip(given).position(|(bytes, given)| bytes != given);
    let at = differing.unwrap_or(0);
    Error::invalid_argument(format!(
        "argument_bytes[{at}] is {}; parameter {at} of kernel {name} has {} bytes: pass a value of the \
         parameter's own type",
        given[at], parameters[at]
    ))
}
