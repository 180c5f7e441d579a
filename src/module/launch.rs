//! Launches of the program's kernels. See `docs/design/module.md`.

use std::ffi::c_void;

use sconce_base::error::{Error, Result};
use sconce_driver::{Dim3, KernelValues, LaunchConfig, LaunchShape};
use sconce_runtime::context::runtime;
use sconce_runtime::module;

use crate::arguments::entries;
use crate::handle::OpaqueHandle;
use crate::structs::{read_at, refuse_zeroed};
use crate::{CBool, guard_runtime, null, sconce_kernel, sconce_status, sconce_stream};

/// The most arguments of a launch.
const MOST_ARGUMENTS: usize = 1024;

/// How a kernel is launched. Begin with `SCONCE_LAUNCH_DESC_INIT`: one block of one thread.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_launch_desc {
    /// `sizeof(sconce_launch_desc)`.
    pub struct_size: u32,
    /// Blocks of the grid along x, y and z; 0 along y or z counts as 1.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z; 0 along y or z counts as 1.
    pub block: [u32; 3],
    /// Blocks of a cluster along x, y and z, of which the grid is a multiple; all 0: no clusters, or
    /// those that the kernel declares. 0 along y or z counts as 1.
    pub cluster: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// Whether all blocks run at the same time, so that they may wait for each other
    /// (`grid.sync()`).
    pub cooperative: CBool,
    /// 0.
    pub reserved: [u8; 3],
}

grows!(
    sconce_launch_desc, "SCONCE_LAUNCH_DESC_INIT", first version: 48 bytes,
    grid, block, cluster, shared_bytes, cooperative, reserved,
);

fn extents(extents: [u32; 3]) -> Dim3 {
    let [x, y, z] = extents;
    Dim3 { x, y: y.max(1), z: z.max(1) }
}

impl sconce_launch_desc {
    #[inline]
    fn request(&self) -> Result<LaunchConfig> {
        if self.reserved != [0; 3] {
            return Err(Error::invalid_argument("desc.reserved is not 0"));
        }
        Ok(LaunchConfig {
            shape: LaunchShape {
                grid: extents(self.grid),
                block: extents(self.block),
                shared_bytes: self.shared_bytes,
            },
            cluster: (self.cluster != [0; 3]).then(|| extents(self.cluster)),
            cooperative: self.cooperative.field("desc.cooperative")?,
        })
    }
}

/// Reads the arguments of a launch.
///
/// # Safety
/// As [`entries`] for both lists, and each address is NULL or that of as many bytes as its size says.
#[inline(always)]
unsafe fn launch_values<'a>(
    arguments: &'a *const *const c_void,
    argument_bytes: &'a *const usize,
    argument_count: usize,
) -> Result<KernelValues<'a>> {
    if argument_count > MOST_ARGUMENTS {
        return Err(too_many(argument_count));
    }
    // SAFETY: unless NULL or misaligned, it points to so many addresses: this function demands it.
    let addresses = unsafe { entries(arguments, argument_count, "arguments") }?;
    // SAFETY: unless NULL or misaligned, it points to so many sizes: this function demands it.
    let bytes = unsafe { entries(argument_bytes, argument_count, "argument_bytes") }?;
    if addresses.iter().any(|address| address.is_null()) {
        return Err(missing(addresses));
    }
    // SAFETY: no address is NULL, and each is that of as many bytes as its size says: this function demands it.
    Ok(unsafe { KernelValues::new(addresses, bytes) })
}

#[cold]
#[inline(never)]
fn too_many(argument_count: usize) -> Error {
    Error::invalid_argument(format!(
        "argument_count is {argument_count}; at most {MOST_ARGUMENTS} are possible"
    ))
}

#[cold]
#[inline(never)]
fn missing(addresses: &[*const c_void]) -> Error {
    let at = addresses.iter().take_while(|address| !address.is_null()).count();
    null(&format!("arguments[{at}]"))
}

/// Reads the description of a launch.
///
/// # Safety
/// As [`read_at`].
#[inline(always)]
unsafe fn launch_request(desc: *const sconce_launch_desc) -> Result<LaunchConfig> {
    let mut place = None;
    // SAFETY: `desc`, if it is neither NULL nor misaligned, has as many readable bytes as its first field
    // says. The reference ends with this function, during the call of C.
    let desc = unsafe { read_at(desc, &mut place, "desc") }?;
    refuse_zeroed(desc, "desc")?;
    desc.request()
}

/// Launches a kernel on the calling thread's current stream of the current device.
///
/// Arguments are passed by value, in the order of the kernel's parameters: `arguments[i]` points to
/// the value of parameter `i`, which has `argument_bytes[i]` bytes. For a pointer parameter, pass
/// the address of a variable that contains a device address. Device addresses are not checked: the
/// kernel uses whatever addresses it receives.
///
/// - `desc`: grid, block and the rest; begin with `SCONCE_LAUNCH_DESC_INIT`. Dynamic shared
///   memory beyond 48 KiB needs no further call.
/// - `arguments`: addresses of the values, in ordinary memory. May be NULL if there are none.
/// - `argument_bytes`: their sizes. May be NULL if there are none.
/// - `argument_count`: their number.
/// - Errors: INVALID_ARGUMENT: the number or a size of the arguments differs from the kernel's
///   parameters (drivers before CUDA 12.4 do not report them, so nothing is checked), or the device
///   does not accept the configuration. NOT_SUPPORTED: clusters or a cooperative launch, which the
///   device or the driver does not support. Otherwise as `sconce_kernel_get`.
/// - Ownership: the values are copied. The memory that a kernel uses must stay allocated until the
///   launch is done; note other streams with `sconce_memory_record_stream`.
/// - Ordering: queued on the stream. The first launch on a device loads the kernel's module.
/// - Safety: if the driver does not report a kernel's parameters, the caller must pass all of them
///   with their correct sizes.
/// - torch: `cuLaunchKernel`, `cuLaunchKernelEx`, `kernel<<<grid, block, shared_bytes, stream>>>(…)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_kernel_launch(
    kernel: *mut sconce_kernel,
    desc: *const sconce_launch_desc,
    arguments: *const *const c_void,
    argument_bytes: *const usize,
    argument_count: usize,
) -> sconce_status {
    guard_runtime(|| {
        // First of all it refuses a forked child.
        let runtime = runtime()?;
        let kernel = sconce_kernel::key(kernel, "kernel")?;
        let config = checked!(launch_request(desc));
        let values = checked!(launch_values(&arguments, &argument_bytes, argument_count));
        module::launch(runtime, kernel, &config, &values)
    })
}

/// Launches a kernel on a stream, independently of the current device and stream. Otherwise as
/// `sconce_kernel_launch`.
///
/// - `desc`: as for `sconce_kernel_launch`.
/// - `arguments`, `argument_bytes`, `argument_count`: as for `sconce_kernel_launch`.
/// - Errors: as `sconce_kernel_launch`.
/// - Ownership: as `sconce_kernel_launch`.
/// - Ordering: queued on `stream`.
/// - Safety: as `sconce_kernel_launch`.
/// - torch: `kernel<<<grid, block, shared_bytes, stream>>>(…)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_kernel_launch_on(
    kernel: *mut sconce_kernel,
    desc: *const sconce_launch_desc,
    arguments: *const *const c_void,
    argument_bytes: *const usize,
    argument_count: usize,
    stream: sconce_stream,
) -> sconce_status {
    guard_runtime(|| {
        let runtime = runtime()?;
        let kernel = sconce_kernel::key(kernel, "kernel")?;
        let config = checked!(launch_request(desc));
        let values = checked!(launch_values(&arguments, &argument_bytes, argument_count));
        module::launch_on(runtime, stream.resolve(runtime)?, kernel, &config, &values)
    })
}
