//! What a kernel needs. See `docs/design/module.md`.

use sconce_runtime::module;

use crate::handle::OpaqueHandle;
use crate::{guard, sconce_kernel, sconce_status};

/// Resources that a kernel needs on a device, and the limits of a launch. Begin with
/// `SCONCE_KERNEL_ATTRIBUTES_INIT`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_kernel_attributes {
    /// `sizeof(sconce_kernel_attributes)`.
    pub struct_size: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// Shared memory of a block that the kernel declares, in bytes.
    pub static_shared_bytes: u32,
    /// Local memory of a thread, in bytes.
    pub local_bytes: u32,
    /// Constant memory that the kernel declares, in bytes.
    pub constant_bytes: u32,
    /// The largest number of threads that a block may have.
    pub max_threads_per_block: u32,
    /// Dynamic shared memory that a launch may have at present, in bytes. A launch with more raises
    /// this limit.
    pub dynamic_shared_bytes: u32,
    /// The largest dynamic shared memory that a launch may have, in bytes.
    pub most_dynamic_shared_bytes: u32,
}

grows!(
    sconce_kernel_attributes, "SCONCE_KERNEL_ATTRIBUTES_INIT", first version: 32 bytes,
    registers, static_shared_bytes, local_bytes, constant_bytes, max_threads_per_block,
    dynamic_shared_bytes, most_dynamic_shared_bytes,
);

/// Reports the resources that a kernel needs on a device. The device loads the kernel's module
/// unless it has done so.
///
/// - `out_attributes`: receives the figures; begin with `SCONCE_KERNEL_ATTRIBUTES_INIT`. On the
///   simulator they are those of `sconce_sim_register_kernel`.
/// - Errors: as `sconce_kernel_get`.
/// - torch: `cudaFuncGetAttributes`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_kernel_get_attributes(
    kernel: *mut sconce_kernel,
    device: i32,
    out_attributes: *mut sconce_kernel_attributes,
) -> sconce_status {
    guard(|| {
        let out_attributes = out_struct!(out_attributes);
        let found = module::attributes(sconce_kernel::key(kernel, "kernel")?, device)?;
        out_attributes.write(sconce_kernel_attributes {
            struct_size: size_of::<sconce_kernel_attributes>() as u32,
            registers: found.registers,
            static_shared_bytes: found.static_shared_bytes,
            local_bytes: found.local_bytes,
            constant_bytes: found.constant_bytes,
            max_threads_per_block: found.max_threads_per_block,
            dynamic_shared_bytes: found.dynamic_shared_bytes,
            most_dynamic_shared_bytes: found.most_dynamic_shared_bytes,
        });
        Ok(())
    })
}

/// Raises the dynamic shared memory that launches of a kernel may have on a device. A launch with
/// more raises the limit by itself; call this function to detect a failure earlier.
///
/// - `bytes`: the new limit, per block. A number below the present limit changes nothing.
/// - Errors: INVALID_ARGUMENT: more than a block can have. Otherwise as `sconce_kernel_get`.
/// - torch: `cudaFuncSetAttribute(…, cudaFuncAttributeMaxDynamicSharedMemorySize, …)`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_kernel_allow_shared(
    kernel: *mut sconce_kernel,
    device: i32,
    bytes: u32,
) -> sconce_status {
    guard(|| module::allow_shared(sconce_kernel::key(kernel, "kernel")?, device, bytes))
}

/// Reports how many blocks of a kernel a multiprocessor runs at the same time.
///
/// - `threads`: threads of a block, at least 1.
/// - `shared_bytes`: dynamic shared memory of a block.
/// - `out_blocks`: receives the number of blocks; 0 if a block does not fit.
/// - Errors: INVALID_ARGUMENT: `threads` is 0, or `shared_bytes` is more than a block can have.
///   Otherwise as `sconce_kernel_get`.
/// - torch: `cudaOccupancyMaxActiveBlocksPerMultiprocessor`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_kernel_get_occupancy(
    kernel: *mut sconce_kernel,
    device: i32,
    threads: u32,
    shared_bytes: u32,
    out_blocks: *mut u32,
) -> sconce_status {
    guard(|| {
        let out_blocks = out!(out_blocks);
        let kernel = sconce_kernel::key(kernel, "kernel")?;
        out_blocks.write(module::occupancy(kernel, device, threads, shared_bytes)?);
        Ok(())
    })
}

/// Reports the block size with which the largest number of a kernel's threads runs on a
/// multiprocessor at the same time.
///
/// - `shared_bytes`: dynamic shared memory of a block, for blocks of any size.
/// - `most_threads`: the largest block that the caller can use; 0 for any.
/// - `out_threads`: receives the threads of a block.
/// - `out_min_blocks`: receives the smallest number of blocks that fills the whole device.
/// - Errors: INVALID_ARGUMENT: `shared_bytes` is more than a block can have. Otherwise as
///   `sconce_kernel_get`.
/// - torch: `cudaOccupancyMaxPotentialBlockSize`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_kernel_get_best_block(
    kernel: *mut sconce_kernel,
    device: i32,
    shared_bytes: u32,
    most_threads: u32,
    out_threads: *mut u32,
    out_min_blocks: *mut u32,
) -> sconce_status {
    guard(|| {
        let out_threads = out!(out_threads);
        let out_min_blocks = out!(out_min_blocks);
        let kernel = sconce_kernel::key(kernel, "kernel")?;
        let best = module::best_block(kernel, device, shared_bytes, most_threads)?;
        out_threads.write(best.threads);
        out_min_blocks.write(best.min_blocks);
        Ok(())
    })
}
