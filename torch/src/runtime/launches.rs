//! Launches with attributes, and properties of kernels.

use std::ffi::{c_int, c_uint, c_void};

use super::arguments::CudaPlace;
use super::driver::{LaunchConfig, Stream};
use super::images::{Dim3, function_of, kernel_of};
use super::runtime;
use super::state::{check, codes, ready};
use crate::abi::arguments::Out;

/// `cudaLaunchConfig_t`.
#[repr(C)]
struct Config {
    grid: Dim3,
    block: Dim3,
    shared_bytes: usize,
    stream: Stream,
    attributes: *mut c_void,
    count: c_uint,
}

/// `cudaFuncAttributes`.
#[repr(C)]
#[derive(Default)]
struct KernelProperties {
    shared_bytes: usize,
    constant_bytes: usize,
    local_bytes: usize,
    /// From `maxThreadsPerBlock` to `nonPortableClusterSizeAllowed`.
    others: [c_int; 13],
    reserved: [c_int; 16],
}

/// The driver's numbers of the properties of `others`, in their order.
const OTHERS: [c_int; 13] = [0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 14];
/// Properties from this one on are newer than CUDA 11: a driver may not know them.
const FIRST_OF_CLUSTERS: c_int = 10;

runtime! {
    /// Queues a kernel with attributes, which the driver has in the same layout.
    fn cudaLaunchKernelExC(config: *const c_void, host: *const c_void, arguments: *mut *mut c_void) {
        // SAFETY: `cudaLaunchKernelExC` demands a configuration; NULL has no reference.
        let config = unsafe { config.cast::<Config>().as_ref() }.ok_or(codes::INVALID_VALUE)?;
        let driver = ready()?;
        let kernel = kernel_of(driver, host)?;
        let of_driver = LaunchConfig {
            grid: [config.grid.x, config.grid.y, config.grid.z],
            block: [config.block.x, config.block.y, config.block.z],
            shared_bytes: c_uint::try_from(config.shared_bytes).map_err(|_| codes::INVALID_VALUE)?,
            stream: config.stream,
            attributes: config.attributes,
            count: config.count,
        };
        // SAFETY: the kernel is one of loaded code. `cudaLaunchKernelExC` demands as many attributes as the configuration
        // counts, and the address of an argument for each of the kernel's parameters.
        check(unsafe { (driver.launch_with)(&of_driver, kernel, arguments, std::ptr::null_mut()) })
    }

    /// Queues a kernel whose blocks wait for each other.
    fn cudaLaunchCooperativeKernel(
        host: *const c_void,
        grid: Dim3,
        block: Dim3,
        arguments: *mut *mut c_void,
        shared_bytes: usize,
        stream: Stream,
    ) {
        let driver = ready()?;
        let kernel = kernel_of(driver, host)?;
        let shared_bytes = c_uint::try_from(shared_bytes).map_err(|_| codes::INVALID_VALUE)?;
        // SAFETY: the kernel is one of loaded code. `cudaLaunchCooperativeKernel` demands the address of an argument for
        // each of the kernel's parameters.
        check(unsafe {
            (driver.launch_cooperative)(
                kernel,
                grid.x,
                grid.y,
                grid.z,
                block.x,
                block.y,
                block.z,
                shared_bytes,
                stream,
                arguments,
            )
        })
    }

    /// The properties of a kernel.
    fn cudaFuncGetAttributes(place: Out<KernelProperties>, host: *const c_void) {
        let driver = ready()?;
        let function = function_of(driver, host)?;
        let get = |attribute: c_int| {
            let mut value = 0;
            match check((driver.function_get)(&mut value, attribute, function)) {
                Err(_) if attribute >= FIRST_OF_CLUSTERS => Ok(0),
                outcome => outcome.map(|()| value),
            }
        };
        let bytes = |attribute| get(attribute).map(|value| usize::try_from(value).unwrap_or(0));
        let mut found = KernelProperties {
            shared_bytes: bytes(1)?,
            constant_bytes: bytes(2)?,
            local_bytes: bytes(3)?,
            ..KernelProperties::default()
        };
        for (value, attribute) in found.others.iter_mut().zip(OTHERS) {
            *value = get(attribute)?;
        }
        place.give(found)
    }
}
