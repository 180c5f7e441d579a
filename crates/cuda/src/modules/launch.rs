//! Launches of the program's kernels. A plain launch is a plain call; only those with a cluster need the call
//! that takes a list of attributes, which drivers have since CUDA 11.8.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::{from_ref, null_mut};

use cudarc::driver::sys::{CUfunction, CUstream};
use sconce_base::error::Result;
use sconce_driver::{Dim3, KernelHandle, KernelValues, LaunchConfig, LaunchShape, StreamRef};

use crate::CudaDriver;
use crate::primary::Entered;

/// `CUlaunchAttribute`: an identifier, and a value of 64 bytes that is aligned to 8.
#[repr(C, align(8))]
pub(crate) struct LaunchAttribute {
    id: c_int,
    padding: u32,
    value: [u32; 16],
}

/// `CUlaunchConfig`.
#[repr(C)]
struct DriverLaunchConfig {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared_bytes: c_uint,
    stream: CUstream,
    attributes: *mut LaunchAttribute,
    attribute_count: c_uint,
}

const _: () = assert!(size_of::<LaunchAttribute>() == 72 && size_of::<DriverLaunchConfig>() == 56);

/// `CUlaunchAttributeID`.
const COOPERATIVE: c_int = 2;
const CLUSTER_DIMENSION: c_int = 4;

impl LaunchAttribute {
    pub(crate) fn new(id: c_int, first: [u32; 3]) -> LaunchAttribute {
        let mut value = [0; 16];
        value[..3].copy_from_slice(&first);
        LaunchAttribute { id, padding: 0, value }
    }
}

fn extents(dim: Dim3) -> [c_uint; 3] {
    [dim.x, dim.y, dim.z]
}

impl CudaDriver {
    #[inline]
    pub(super) fn launch_values(
        &self,
        entered: &Entered,
        kernel: KernelHandle,
        config: &LaunchConfig,
        values: &KernelValues<'_>,
        stream: StreamRef,
    ) -> Result<()> {
        if let Some(cluster) = config.cluster {
            return self.launch_clusters(entered, kernel, config, cluster, values, stream);
        }
        if config.cooperative {
            return self.launch_together(entered, kernel, config.shape, values, stream);
        }
        let parameters = values.addresses().as_ptr().cast_mut().cast::<*mut c_void>();
        // SAFETY: `KernelValues::new` demands that the addresses are those of the kernel's parameters.
        unsafe { self.launch_plain(entered, kernel, config.shape, parameters, stream) }
    }

    /// Launches blocks that run at the same time.
    #[cold]
    fn launch_together(
        &self,
        _entered: &Entered,
        kernel: KernelHandle,
        shape: LaunchShape,
        values: &KernelValues<'_>,
        stream: StreamRef,
    ) -> Result<()> {
        let parameters = values.addresses().as_ptr().cast_mut().cast::<*mut c_void>();
        let launch = self.api.cuLaunchCooperativeKernel()?;
        let (function, handle) =
            (kernel.native() as CUfunction, stream.handle.native() as CUstream);
        let LaunchShape { grid, block, shared_bytes } = shape;
        // SAFETY: a kernel that the driver found, in a module that is loaded while the entered context is held; a
        // stream that the driver made or a program has named; and addresses that `KernelValues::new` demands to be
        // those of the kernel's parameters.
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
            )
        };
        self.api.check("cuLaunchCooperativeKernel", code)
    }

    #[cold]
    fn launch_clusters(
        &self,
        entered: &Entered,
        kernel: KernelHandle,
        config: &LaunchConfig,
        cluster: Dim3,
        values: &KernelValues<'_>,
        stream: StreamRef,
    ) -> Result<()> {
        let mut attributes = [
            LaunchAttribute::new(CLUSTER_DIMENSION, extents(cluster)),
            LaunchAttribute::new(COOPERATIVE, [1, 0, 0]),
        ];
        let count = if config.cooperative { 2 } else { 1 };
        let parameters = values.addresses().as_ptr().cast_mut().cast::<*mut c_void>();
        let attributes = &mut attributes[..count];
        // SAFETY: `KernelValues::new` demands that the addresses are those of the kernel's parameters; a cluster and a
        // cooperative launch are attributes that a kernel may have.
        unsafe { self.launch_with(entered, attributes, kernel, config.shape, parameters, stream) }
    }

    /// Launches a kernel with attributes. Otherwise as `launch_plain`.
    ///
    /// # Safety
    /// As `launch_plain`; and the kernel may be launched with the attributes.
    #[inline]
    pub(crate) unsafe fn launch_with(
        &self,
        _entered: &Entered,
        attributes: &mut [LaunchAttribute],
        kernel: KernelHandle,
        shape: LaunchShape,
        parameters: *mut *mut c_void,
        stream: StreamRef,
    ) -> Result<()> {
        let launch = self.api.cuLaunchKernelEx()?;
        let config = DriverLaunchConfig {
            grid: extents(shape.grid),
            block: extents(shape.block),
            shared_bytes: shape.shared_bytes,
            stream: stream.handle.native() as CUstream,
            attributes: attributes.as_mut_ptr(),
            attribute_count: attributes.len() as c_uint,
        };
        let function = kernel.native() as CUfunction;
        // SAFETY: a kernel that the driver found, in a module that is loaded during the call; a stream that the driver
        // made or a program has named; the parameters are the kernel's, and it takes the attributes, as this function
        // demands; the configuration and its attributes outlive the call.
        let code = unsafe { launch(from_ref(&config).cast(), function, parameters, null_mut()) };
        self.api.check("cuLaunchKernelEx", code)
    }
}
