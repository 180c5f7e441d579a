//! The functions of libcuda.so.1 that the runtime's are made of.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

/// A pointer to something of the driver's: a context, a stream, an event, a library, a kernel.
pub(super) type Object = *mut c_void;
/// An address of a device, as the driver's C API has it.
pub(super) type Address = usize;
/// What a function of the driver, and of the runtime, returns: the numbers are the same.
pub(super) type Code = c_int;

/// `CUlaunchConfig`.
#[repr(C)]
pub(super) struct LaunchConfig {
    pub(super) grid: [c_uint; 3],
    pub(super) block: [c_uint; 3],
    pub(super) shared_bytes: c_uint,
    pub(super) stream: Object,
    /// The driver's attributes have the layout of the runtime's.
    pub(super) attributes: *mut c_void,
    pub(super) count: c_uint,
}

/// One side of a copy of rows.
#[repr(C)]
pub(super) struct RowSide {
    pub(super) first_byte: usize,
    pub(super) first_row: usize,
    /// `CU_MEMORYTYPE_…`.
    pub(super) kind: c_uint,
    pub(super) host: Address,
    pub(super) device: Address,
    pub(super) array: Object,
    pub(super) pitch: usize,
}

/// `CUDA_MEMCPY2D`.
#[repr(C)]
pub(super) struct RowCopy {
    pub(super) from: RowSide,
    pub(super) into: RowSide,
    pub(super) width: usize,
    pub(super) rows: usize,
}

/// `CUipcMemHandle`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct IpcHandle(pub(super) [u8; 64]);

macro_rules! driver {
    ($($(#[$doc:meta])* $field:ident: $symbol:literal($($kind:ty),*);)*) => {
        /// Addresses of the driver's functions.
        pub(super) struct Driver {
            $($(#[$doc])* pub(super) $field: unsafe extern "C" fn($($kind),*) -> Code,)*
        }

        impl Driver {
            /// Finds all functions; the error is the name of one that is missing.
            fn find(library: *mut c_void) -> Result<Driver, &'static str> {
                Ok(Driver {
                    $($field: {
                        let address = symbol(library, $symbol).ok_or($symbol)?;
                        // SAFETY: the function of this name has this signature since CUDA 12.0.
                        unsafe {
                            std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($kind),*) -> Code>(address)
                        }
                    },)*
                })
            }
        }
    };
}

driver! {
    /// Starts the driver.
    init: "cuInit"(c_uint);
    /// The version of the CUDA that the driver supports.
    version: "cuDriverGetVersion"(*mut c_int);
    /// The text of a code.
    error_string: "cuGetErrorString"(Code, *mut *const c_char);
    /// The name of a code.
    error_name: "cuGetErrorName"(Code, *mut *const c_char);
    /// How many devices there are.
    device_count: "cuDeviceGetCount"(*mut c_int);
    /// The device of an index.
    device: "cuDeviceGet"(*mut c_int, c_int);
    /// A property of a device.
    device_attribute: "cuDeviceGetAttribute"(*mut c_int, c_int, c_int);
    /// The primary context of a device, kept once more.
    primary_context: "cuDevicePrimaryCtxRetain"(*mut Object, c_int);
    /// The thread's current context.
    current_context: "cuCtxGetCurrent"(*mut Object);
    /// Makes a context the thread's current one.
    set_context: "cuCtxSetCurrent"(Object);
    /// The device of the current context.
    context_device: "cuCtxGetDevice"(*mut c_int);
    /// Waits for all work of the current context.
    synchronize: "cuCtxSynchronize"();
    /// Memory of the current device.
    allocate: "cuMemAlloc_v2"(*mut Address, usize);
    /// Frees it.
    free: "cuMemFree_v2"(Address);
    /// Memory from the device's pool, in the order of a stream.
    allocate_async: "cuMemAllocAsync"(*mut Address, usize, Object);
    /// Frees it, in the order of a stream.
    free_async: "cuMemFreeAsync"(Address, Object);
    /// Page-locked memory of the host.
    allocate_host: "cuMemHostAlloc"(*mut *mut c_void, usize, c_uint);
    /// Frees it.
    free_host: "cuMemFreeHost"(*mut c_void);
    /// Free and total bytes of the current device.
    memory_info: "cuMemGetInfo_v2"(*mut usize, *mut usize);
    /// Copies between any memories, and waits.
    copy: "cuMemcpy"(Address, Address, usize);
    /// Copies between any memories in the order of a stream.
    copy_async: "cuMemcpyAsync"(Address, Address, usize, Object);
    /// Fills bytes.
    fill: "cuMemsetD8_v2"(Address, u8, usize);
    /// Fills bytes in the order of a stream.
    fill_async: "cuMemsetD8Async"(Address, u8, usize, Object);
    /// Makes a stream.
    stream_create: "cuStreamCreateWithPriority"(*mut Object, c_uint, c_int);
    /// Ends a stream.
    stream_destroy: "cuStreamDestroy_v2"(Object);
    /// Waits for a stream.
    stream_synchronize: "cuStreamSynchronize"(Object);
    /// Whether a stream has no work left.
    stream_query: "cuStreamQuery"(Object);
    /// Lets a stream wait for an event.
    stream_wait: "cuStreamWaitEvent"(Object, Object, c_uint);
    /// Whether a stream is captured.
    stream_capture: "cuStreamIsCapturing"(Object, *mut c_int);
    /// Exchanges what captures of other threads forbid this one.
    exchange_mode: "cuThreadExchangeStreamCaptureMode"(*mut c_int);
    /// Makes an event.
    event_create: "cuEventCreate"(*mut Object, c_uint);
    /// Ends an event.
    event_destroy: "cuEventDestroy_v2"(Object);
    /// Whether the work in front of an event has ended.
    event_query: "cuEventQuery"(Object);
    /// Puts an event behind the work of a stream.
    event_record: "cuEventRecord"(Object, Object);
    /// Waits for an event.
    event_synchronize: "cuEventSynchronize"(Object);
    /// Milliseconds between two events.
    event_elapsed: "cuEventElapsedTime"(*mut f32, Object, Object);
    /// Loads code for all devices.
    library_load: "cuLibraryLoadData"(
        *mut Object, *const c_void, *mut c_int, *mut *mut c_void, c_uint, *mut c_int, *mut *mut c_void, c_uint
    );
    /// Unloads it.
    library_unload: "cuLibraryUnload"(Object);
    /// A kernel of loaded code, for all devices.
    library_kernel: "cuLibraryGetKernel"(*mut Object, Object, *const c_char);
    /// A kernel as the current device has it.
    kernel_function: "cuKernelGetFunction"(*mut Object, Object);
    /// Sets a property of a kernel.
    function_set: "cuFuncSetAttribute"(Object, c_int, c_int);
    /// Blocks of a kernel that a multiprocessor holds.
    occupancy: "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags"(*mut c_int, Object, c_int, usize, c_uint);
    /// A property of a kernel.
    function_get: "cuFuncGetAttribute"(*mut c_int, c_int, Object);
    /// Queues a kernel with attributes.
    launch_with: "cuLaunchKernelEx"(*const LaunchConfig, Object, *mut *mut c_void, *mut *mut c_void);
    /// Queues a kernel whose blocks wait for each other.
    launch_cooperative: "cuLaunchCooperativeKernel"(
        Object, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Object, *mut *mut c_void
    );
    /// The address and the size of a variable of loaded code, on the current device.
    library_global: "cuLibraryGetGlobal"(*mut Address, *mut usize, Object, *const c_char);
    /// Copies rows in the order of a stream.
    copy_rows_async: "cuMemcpy2DAsync_v2"(*const RowCopy, Object);
    /// The device's address of page-locked memory.
    host_address: "cuMemHostGetDevicePointer_v2"(*mut Address, *mut c_void, c_uint);
    /// Properties of an address.
    address_attributes: "cuPointerGetAttributes"(c_uint, *const c_int, *const *mut c_void, Address);
    /// A handle of memory for another process.
    ipc_handle: "cuIpcGetMemHandle"(*mut IpcHandle, Address);
    /// Memory of another process.
    ipc_open: "cuIpcOpenMemHandle_v2"(*mut Address, IpcHandle, c_uint);
    /// Ends the use of memory of another process.
    ipc_close: "cuIpcCloseMemHandle"(Address);
    /// The name of a device.
    device_name: "cuDeviceGetName"(*mut c_char, c_int, c_int);
    /// The memory of a device.
    device_memory: "cuDeviceTotalMem_v2"(*mut usize, c_int);
    /// The number of a device that no other has.
    device_uuid: "cuDeviceGetUuid_v2"(*mut [u8; 16], c_int);
    /// The address of one of the driver's functions.
    function_address: "cuGetProcAddress_v2"(*const c_char, *mut *mut c_void, c_int, u64, *mut c_int);
    /// Queues a kernel.
    launch: "cuLaunchKernel"(
        Object, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Object, *mut *mut c_void, *mut *mut c_void
    );
}

fn symbol(library: *mut c_void, name: &str) -> Option<*mut c_void> {
    let name = CString::new(name).ok()?;
    // SAFETY: the library is open, and the name ends with NUL.
    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

static DRIVER: OnceLock<Option<Driver>> = OnceLock::new();

/// The driver; `None` where there is none, or one that is too old.
pub(super) fn driver() -> Option<&'static Driver> {
    let open = || {
        let name: &CStr = c"libcuda.so.1";
        // SAFETY: the name ends with NUL. The driver's library may run its initialisers.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if library.is_null() {
            return None;
        }
        Driver::find(library).ok()
    };
    DRIVER.get_or_init(open).as_ref()
}
