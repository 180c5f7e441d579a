//! Modules and kernel launches, in the device's context: unlike a record or a query, the driver ties
//! these calls to the context that is current.

use std::ffi::{CString, c_char, c_void};
use std::ptr::null_mut;

use cudarc::driver::sys::CUjit_option_enum as JitOption;
use cudarc::driver::sys::{CUfunction, CUmodule, CUstream};
use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{about_to_wait, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::{
    KernelArguments, KernelHandle, KernelImage, Kernels, LaunchShape, ModuleHandle, StreamRef,
};

use super::CudaDriver;
use super::early_launch::{WAITS, own_function};
use super::primary::Entered;
use super::result::{NOT_FOUND, SUCCESS, released};

/// Room for what the driver's PTX compiler complains about.
const JIT_LOG_BYTES: usize = 4096;

/// With these codes a driver refuses code that another form may replace: INVALID_IMAGE,
/// NO_BINARY_FOR_GPU, UNSUPPORTED_PTX_VERSION and INVALID_SOURCE.
const REFUSED_CODE: [i32; 4] = [200, 209, 222, 300];

impl Kernels for CudaDriver {
    /// Loads the form of the image that the device loads fastest. A driver refuses machine code
    /// that is newer than it is; then the next form is tried, and at last its compiler.
    fn module_load(&self, device: DeviceIndex, image: &KernelImage) -> Result<ModuleHandle> {
        let (major, minor) = self.compute_capability(device)?;
        let mut refused = None;
        for code in image.codes_for(major, minor) {
            match self.code_load(device, &format!("image {}", image.name), &code.unpack()?) {
                Err(error) if REFUSED_CODE.contains(&error.backend_code()) => refused = Some(error),
                loaded => {
                    let module = loaded?;
                    self.waiting.note(module, code.format());
                    return Ok(module);
                }
            }
        }
        Err(refused.unwrap_or_else(|| {
            Error::new(
                Status::NotSupported,
                format!(
                    "image {} has no code for device {device} of compute capability {major}.{minor}",
                    image.name
                ),
            )
        }))
    }

    fn module_unload(&self, device: DeviceIndex, module: ModuleHandle) -> Result<()> {
        about_to_wait::<rank::Device>();
        released(|| {
            let unload = self.api.cuModuleUnload()?;
            let _entered = self.enter(device)?;
            self.waiting.forget(module);
            // SAFETY: a module that the driver made, and that the caller unloads once, on its device.
            let code = unsafe { unload(module.native() as CUmodule) };
            self.api.check("cuModuleUnload", code)
        })
    }

    fn kernel_find(
        &self,
        device: DeviceIndex,
        module: ModuleHandle,
        name: &str,
    ) -> Result<KernelHandle> {
        let text = CString::new(name)
            .map_err(|_| Error::invalid_argument("name: a kernel's name holds no NUL byte"))?;
        let find = self.api.cuModuleGetFunction()?;
        let mut function: CUfunction = null_mut();
        let pointer: *const c_char = text.as_ptr();
        let _entered = self.enter(device)?;
        // SAFETY: a module that the driver made and that stays loaded during the call, a NUL-terminated
        // name, and a place that outlives the call.
        match unsafe { find(&mut function, module.native() as CUmodule, pointer) } {
            SUCCESS if self.waiting.has(module) => {
                Ok(KernelHandle::from_driver(crate::HANDLES, function as usize | WAITS))
            }
            SUCCESS => Ok(KernelHandle::from_driver(crate::HANDLES, function as usize)),
            code @ NOT_FOUND => Err(self
                .api
                .failure_as(Status::InvalidArgument, "cuModuleGetFunction", code)
                .context(format_args!("name: the module has no kernel {name}"))),
            code => Err(self.api.failure("cuModuleGetFunction", code)),
        }
    }

    fn kernel_launch(
        &self,
        kernel: KernelHandle,
        shape: LaunchShape,
        arguments: &KernelArguments,
        stream: StreamRef,
    ) -> Result<()> {
        // The driver takes an address for each parameter and reads as many bytes from there as the
        // parameter has, which for a structure are several slots.
        let slots = arguments.slots().as_ptr();
        if arguments.is_one_parameter() {
            let mut parameter: *mut c_void = slots.cast_mut().cast();
            // SAFETY: the arguments are packed as the one structure that the kernel has, which the tables of the crate
            // `kernels` check.
            return unsafe { self.launch_own(kernel, shape, &mut parameter, stream) };
        }
        let mut parameters = [null_mut::<c_void>(); KernelArguments::CAPACITY];
        for (parameter, slot) in parameters.iter_mut().zip(arguments.parameters()) {
            *parameter = slots.wrapping_add(slot).cast_mut().cast();
        }
        // SAFETY: each address is that of a slot of `arguments`, which outlives the call and was packed by the kernel's
        // signature.
        unsafe { self.launch_own(kernel, shape, parameters.as_mut_ptr(), stream) }
    }

    fn kernel_launch_wide(
        &self,
        kernel: KernelHandle,
        shape: LaunchShape,
        structure: &[u64],
        stream: StreamRef,
    ) -> Result<()> {
        let mut parameter: *mut c_void = structure.as_ptr().cast_mut().cast();
        // SAFETY: the structure is the one parameter that the kernel has, packed by the kernel's signature, and
        // outlives the call.
        unsafe { self.launch_own(kernel, shape, &mut parameter, stream) }
    }
}

impl CudaDriver {
    /// Launches a kernel of the library, early if it waits itself for the work before it.
    ///
    /// # Safety
    /// Behind the addresses are the parameters that the kernel has.
    #[inline]
    unsafe fn launch_own(
        &self,
        kernel: KernelHandle,
        shape: LaunchShape,
        parameters: *mut *mut c_void,
        stream: StreamRef,
    ) -> Result<()> {
        let (kernel, waits) = own_function(kernel);
        let entered = self.enter_in_place(stream.device)?;
        if waits && !self.is_captured(&entered, stream) {
            // SAFETY: behind the addresses are the kernel's parameters, as this function demands; `WAITS` marks kernels
            // that wait for the work before them.
            return unsafe { self.launch_early(&entered, kernel, shape, parameters, stream) };
        }
        // SAFETY: behind the addresses are the kernel's parameters, as this function demands.
        unsafe { self.launch_plain(&entered, kernel, shape, parameters, stream) }
    }

    /// Launches a kernel with neither a cluster nor a grid that synchronises, in the context of the stream's device.
    /// The driver copies what the addresses point to before the call returns, and writes none of it.
    ///
    /// # Safety
    /// Behind the addresses are the parameters that the kernel has.
    #[inline]
    pub(super) unsafe fn launch_plain(
        &self,
        _entered: &Entered,
        kernel: KernelHandle,
        shape: LaunchShape,
        parameters: *mut *mut c_void,
        stream: StreamRef,
    ) -> Result<()> {
        let launch = self.api.cuLaunchKernel()?;
        let LaunchShape { grid, block, shared_bytes } = shape;
        let (function, handle) =
            (kernel.native() as CUfunction, stream.handle.native() as CUstream);
        // SAFETY: a kernel that the driver found, in a module that the caller keeps loaded; a stream that
        // the driver made or a program has named; the parameters as the caller promises.
        let code = unsafe {
            launch(
                function,
                grid.x,
                grid.y,
                grid.z,
                block.x,
                block.y,
                block.z,
                shared_bytes,
                handle,
                parameters,
                null_mut(),
            )
        };
        self.api.check("cuLaunchKernel", code)
    }

    /// Loads machine code, or PTX that ends in a NUL byte.
    pub(super) fn code_load(
        &self,
        device: DeviceIndex,
        name: &str,
        code: &[u8],
    ) -> Result<ModuleHandle> {
        let load = self.api.cuModuleLoadDataEx()?;
        let mut module: CUmodule = null_mut();
        let mut log = [0_u8; JIT_LOG_BYTES];
        let mut options = [
            JitOption::CU_JIT_ERROR_LOG_BUFFER as u32,
            JitOption::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES as u32,
        ];
        // The second value is a number that travels as a pointer; the driver overwrites it.
        let mut values = [log.as_mut_ptr().cast::<c_void>(), JIT_LOG_BYTES as *mut c_void];
        let _entered = self.enter(device)?;
        // SAFETY: `KernelCode::unpack` made the code, or `ModuleCode` checked it: machine code, which says
        // itself how long it is, or text with a NUL at its end. Two options with their values; a log of the size given.
        let status = unsafe {
            load(
                &mut module,
                code.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        if status == SUCCESS {
            return Ok(ModuleHandle::from_driver(crate::HANDLES, module as usize));
        }
        let length = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
        let log = String::from_utf8_lossy(&log[..length]);
        let what = match log.trim() {
            "" => format!("{name} on device {device}"),
            log => format!("{name} on device {device}: {log}"),
        };
        Err(self.api.failure("cuModuleLoadDataEx", status).context(what))
    }
}
