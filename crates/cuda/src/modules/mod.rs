//! Modules and kernels of the program.
//!
//! | file | what |
//! |---|---|
//! | `launch` | launches with clusters, and of blocks that wait for each other |

pub(super) mod launch;

use std::ffi::c_int;

use cudarc::driver::sys::CUfunction;
use sconce_base::error::{Result, Status};
use sconce_base::types::DeviceIndex;
use sconce_driver::{
    BestBlock, Devices, KernelAttributes, KernelHandle, KernelValues, Kernels, LaunchConfig,
    ModuleCode, ModuleHandle, Modules, StreamRef,
};

use super::CudaDriver;
use super::result::{INVALID_VALUE, SUCCESS, released};

/// `CUfunction_attribute`.
const MAX_THREADS_PER_BLOCK: c_int = 0;
const SHARED_SIZE_BYTES: c_int = 1;
const CONST_SIZE_BYTES: c_int = 2;
const LOCAL_SIZE_BYTES: c_int = 3;
const NUM_REGS: c_int = 4;
const MAX_DYNAMIC_SHARED_SIZE_BYTES: c_int = 8;

/// With these codes a driver refuses the code that it is given: INVALID_IMAGE, NO_BINARY_FOR_GPU, INVALID_PTX,
/// UNSUPPORTED_PTX_VERSION and INVALID_SOURCE.
const REFUSED_CODE: [i32; 5] = [200, 209, 218, 222, 300];

/// The most parameters that are asked for: more than any kernel has.
const MOST_PARAMETERS: usize = 4096;

impl Modules for CudaDriver {
    fn module_load_code(&self, device: DeviceIndex, code: &ModuleCode) -> Result<ModuleHandle> {
        self.code_load(device, code.name(), code.bytes()).map_err(|error| {
            let refused = REFUSED_CODE.contains(&error.backend_code());
            if refused { error.with_status(Status::InvalidArgument) } else { error }
        })
    }

    fn module_release(&self, device: DeviceIndex, module: ModuleHandle) -> Result<()> {
        released(|| self.device_synchronize(device))?;
        self.module_unload(device, module)
    }

    fn kernel_attributes(
        &self,
        device: DeviceIndex,
        kernel: KernelHandle,
    ) -> Result<KernelAttributes> {
        let most = self.device_properties(device)?.shared_memory_per_block_optin_bytes as u32;
        let attribute = |which| self.kernel_attribute(device, kernel, which);
        let static_shared_bytes = attribute(SHARED_SIZE_BYTES)?;
        Ok(KernelAttributes {
            registers: attribute(NUM_REGS)?,
            static_shared_bytes,
            local_bytes: attribute(LOCAL_SIZE_BYTES)?,
            constant_bytes: attribute(CONST_SIZE_BYTES)?,
            max_threads_per_block: attribute(MAX_THREADS_PER_BLOCK)?,
            dynamic_shared_bytes: attribute(MAX_DYNAMIC_SHARED_SIZE_BYTES)?,
            most_dynamic_shared_bytes: most.saturating_sub(static_shared_bytes),
        })
    }

    /// Drivers since CUDA 12.4 tell. They say that an index is not one of a parameter by code 1.
    fn kernel_parameters(
        &self,
        device: DeviceIndex,
        kernel: KernelHandle,
    ) -> Result<Option<Vec<usize>>> {
        let get = match self.api.cuFuncGetParamInfo() {
            Ok(get) => get,
            Err(error) if error.status() == Status::NotSupported => return Ok(None),
            Err(error) => return Err(error),
        };
        let _entered = self.enter(device)?;
        let mut parameters = Vec::new();
        for index in 0..MOST_PARAMETERS {
            let (mut offset, mut bytes) = (0, 0);
            let function = kernel.native() as CUfunction;
            // SAFETY: a kernel that the driver found, in a module that the caller keeps loaded; places that
            // outlive the call.
            match unsafe { get(function, index, &mut offset, &mut bytes) } {
                SUCCESS => parameters.push(bytes),
                INVALID_VALUE => break,
                code => return Err(self.api.failure("cuFuncGetParamInfo", code)),
            }
        }
        Ok(Some(parameters))
    }

    fn kernel_allow_shared(
        &self,
        device: DeviceIndex,
        kernel: KernelHandle,
        bytes: u32,
    ) -> Result<()> {
        let set = self.api.cuFuncSetAttribute()?;
        let value = c_int::try_from(bytes).unwrap_or(c_int::MAX);
        let function = kernel.native() as CUfunction;
        let _entered = self.enter(device)?;
        // SAFETY: a kernel that the driver found, in a module that the caller keeps loaded.
        let code = unsafe { set(function, MAX_DYNAMIC_SHARED_SIZE_BYTES, value) };
        self.api.check("cuFuncSetAttribute", code)
    }

    fn kernel_occupancy(
        &self,
        device: DeviceIndex,
        kernel: KernelHandle,
        threads: u32,
        shared_bytes: u32,
    ) -> Result<u32> {
        let get = self.api.cuOccupancyMaxActiveBlocksPerMultiprocessor()?;
        let threads = c_int::try_from(threads).unwrap_or(c_int::MAX);
        let function = kernel.native() as CUfunction;
        let mut blocks = 0;
        let _entered = self.enter(device)?;
        // SAFETY: a kernel that the driver found, in a module that the caller keeps loaded; `blocks` outlives
        // the call.
        let code = unsafe { get(&mut blocks, function, threads, shared_bytes as usize) };
        self.api.check("cuOccupancyMaxActiveBlocksPerMultiprocessor", code)?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }

    fn kernel_best_block(
        &self,
        device: DeviceIndex,
        kernel: KernelHandle,
        shared_bytes: u32,
        most_threads: u32,
    ) -> Result<BestBlock> {
        let get = self.api.cuOccupancyMaxPotentialBlockSize()?;
        let most = c_int::try_from(most_threads).unwrap_or(c_int::MAX);
        let function = kernel.native() as CUfunction;
        let (mut blocks, mut threads) = (0, 0);
        let _entered = self.enter(device)?;
        // SAFETY: a kernel that the driver found, in a module that the caller keeps loaded; no function that
        // sizes shared memory by the block; places that outlive the call.
        let code =
            unsafe { get(&mut blocks, &mut threads, function, None, shared_bytes as usize, most) };
        self.api.check("cuOccupancyMaxPotentialBlockSize", code)?;
        let positive = |number: c_int| u32::try_from(number).unwrap_or(0);
        Ok(BestBlock { threads: positive(threads), min_blocks: positive(blocks) })
    }

    fn kernel_launch_values(
        &self,
        kernel: KernelHandle,
        config: &LaunchConfig,
        values: &KernelValues<'_>,
        stream: StreamRef,
        asks_captured: bool,
    ) -> Result<bool> {
        let entered = self.enter_in_place(stream.device)?;
        self.launch_values(&entered, kernel, config, values, stream)?;
        Ok(asks_captured && self.is_captured(&entered, stream))
    }
}

impl CudaDriver {
    fn kernel_attribute(
        &self,
        device: DeviceIndex,
        kernel: KernelHandle,
        which: c_int,
    ) -> Result<u32> {
        let get = self.api.cuFuncGetAttribute()?;
        let mut value = 0;
        let _entered = self.enter(device)?;
        // SAFETY: a kernel that the driver found, in a module that the caller keeps loaded; `value` outlives
        // the call.
        let code = unsafe { get(&mut value, which, kernel.native() as CUfunction) };
        self.api.check("cuFuncGetAttribute", code)?;
        Ok(u32::try_from(value).unwrap_or(0))
    }
}
