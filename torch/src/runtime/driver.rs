//! The functions of libcuda.so.1 that the runtime's are made of.
//!
//! A function is safe to call if its parameters' types hold all that it needs: a reference is a place for its result, and
//! a handle is one of the driver's. The others say `unsafe`: they follow an address, or end what a handle names.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// A handle is 0, a number that the driver defines (1 and 2 are default streams), or one that the driver
        /// returned and whose object still exists. It comes from the driver, or from a C caller as an argument of a
        /// function of this module; CUDA demands the same of such an argument.
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub(super) struct $name(*mut c_void);

        impl $name {
            /// No object.
            pub(super) const NONE: $name = $name(std::ptr::null_mut());
        }

        // SAFETY: the driver takes a handle on any thread, and nothing here reads what it points to.
        unsafe impl Send for $name {}
        // SAFETY: through a reference the number can only be copied.
        unsafe impl Sync for $name {}
    )*};
}

handles! {
    /// A context.
    Context;
    /// A stream.
    Stream;
    /// An event.
    Event;
    /// Loaded code.
    Library;
    /// A kernel of loaded code, for all devices.
    Kernel;
    /// A kernel as one device has it.
    Function;
}

impl Stream {
    /// The number that other libraries know the stream by.
    pub(super) fn into_raw(self) -> *mut c_void {
        self.0
    }
}

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
    pub(super) stream: Stream,
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
    pub(super) array: *mut c_void,
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
    (@type safe ($($kind:ty),*)) => { extern "C" fn($($kind),*) -> Code };
    (@type unsafe ($($kind:ty),*)) => { unsafe extern "C" fn($($kind),*) -> Code };
    ($($(#[$doc:meta])* $field:ident: $symbol:literal $safety:tt $kinds:tt;)*) => {
        /// Addresses of the driver's functions.
        pub(super) struct Driver {
            $($(#[$doc])* pub(super) $field: driver!(@type $safety $kinds),)*
        }

        impl Driver {
            /// Finds all functions; the error is the name of one that is missing.
            fn find(library: *mut c_void) -> Result<Driver, &'static str> {
                Ok(Driver {
                    $($field: {
                        let address = symbol(library, $symbol).ok_or($symbol)?;
                        // SAFETY: the function of this name has this signature since CUDA 12.0. A reference has the
                        // layout of the pointer that the function takes.
                        unsafe {
                            std::mem::transmute::<*mut c_void, driver!(@type $safety $kinds)>(address)
                        }
                    },)*
                })
            }
        }
    };
}

driver! {
    /// Starts the driver.
    init: "cuInit" safe (c_uint);
    /// The version of the CUDA that the driver supports.
    version: "cuDriverGetVersion" safe (&mut c_int);
    /// The text of a code.
    error_string: "cuGetErrorString" safe (Code, &mut *const c_char);
    /// The name of a code.
    error_name: "cuGetErrorName" safe (Code, &mut *const c_char);
    /// How many devices there are.
    device_count: "cuDeviceGetCount" safe (&mut c_int);
    /// The device of an index.
    device: "cuDeviceGet" safe (&mut c_int, c_int);
    /// A property of a device.
    device_attribute: "cuDeviceGetAttribute" safe (&mut c_int, c_int, c_int);
    /// The primary context of a device, kept once more.
    primary_context: "cuDevicePrimaryCtxRetain" safe (&mut Context, c_int);
    /// The thread's current context.
    current_context: "cuCtxGetCurrent" safe (&mut Context);
    /// Makes a context the thread's current one.
    set_context: "cuCtxSetCurrent" safe (Context);
    /// The device of the current context.
    context_device: "cuCtxGetDevice" safe (&mut c_int);
    /// Waits for all work of the current context.
    synchronize: "cuCtxSynchronize" safe ();
    /// Memory of the current device.
    allocate: "cuMemAlloc_v2" safe (&mut Address, usize);
    /// Frees it.
    free: "cuMemFree_v2" unsafe (Address);
    /// Memory from the device's pool, in the order of a stream.
    allocate_async: "cuMemAllocAsync" safe (&mut Address, usize, Stream);
    /// Frees it, in the order of a stream.
    free_async: "cuMemFreeAsync" unsafe (Address, Stream);
    /// Page-locked memory of the host.
    allocate_host: "cuMemHostAlloc" safe (&mut *mut c_void, usize, c_uint);
    /// Frees it.
    free_host: "cuMemFreeHost" unsafe (*mut c_void);
    /// Free and total bytes of the current device.
    memory_info: "cuMemGetInfo_v2" safe (&mut usize, &mut usize);
    /// Copies between any memories, and waits.
    copy: "cuMemcpy" unsafe (Address, Address, usize);
    /// Copies between any memories in the order of a stream.
    copy_async: "cuMemcpyAsync" unsafe (Address, Address, usize, Stream);
    /// Fills bytes.
    fill: "cuMemsetD8_v2" unsafe (Address, u8, usize);
    /// Fills bytes in the order of a stream.
    fill_async: "cuMemsetD8Async" unsafe (Address, u8, usize, Stream);
    /// Makes a stream.
    stream_create: "cuStreamCreateWithPriority" safe (&mut Stream, c_uint, c_int);
    /// Ends a stream.
    stream_destroy: "cuStreamDestroy_v2" unsafe (Stream);
    /// Waits for a stream.
    stream_synchronize: "cuStreamSynchronize" safe (Stream);
    /// Whether a stream has no work left.
    stream_query: "cuStreamQuery" safe (Stream);
    /// Lets a stream wait for an event.
    stream_wait: "cuStreamWaitEvent" safe (Stream, Event, c_uint);
    /// Whether a stream is captured.
    stream_capture: "cuStreamIsCapturing" safe (Stream, &mut c_int);
    /// Exchanges what captures of other threads forbid this one.
    exchange_mode: "cuThreadExchangeStreamCaptureMode" safe (&mut c_int);
    /// Makes an event.
    event_create: "cuEventCreate" safe (&mut Event, c_uint);
    /// Ends an event.
    event_destroy: "cuEventDestroy_v2" unsafe (Event);
    /// Whether the work in front of an event has ended.
    event_query: "cuEventQuery" safe (Event);
    /// Puts an event behind the work of a stream.
    event_record: "cuEventRecord" safe (Event, Stream);
    /// Waits for an event.
    event_synchronize: "cuEventSynchronize" safe (Event);
    /// Milliseconds between two events.
    event_elapsed: "cuEventElapsedTime" safe (&mut f32, Event, Event);
    /// Loads code for all devices.
    library_load: "cuLibraryLoadData" unsafe (
        &mut Library, *const c_void, *mut c_int, *mut *mut c_void, c_uint, *mut c_int, *mut *mut c_void, c_uint
    );
    /// Unloads it.
    library_unload: "cuLibraryUnload" unsafe (Library);
    /// A kernel of loaded code, for all devices.
    library_kernel: "cuLibraryGetKernel" unsafe (&mut Kernel, Library, *const c_char);
    /// A kernel as the current device has it.
    kernel_function: "cuKernelGetFunction" safe (&mut Function, Kernel);
    /// Sets a property of a kernel.
    function_set: "cuFuncSetAttribute" safe (Function, c_int, c_int);
    /// Blocks of a kernel that a multiprocessor holds.
    occupancy: "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags" safe (&mut c_int, Function, c_int, usize, c_uint);
    /// A property of a kernel.
    function_get: "cuFuncGetAttribute" safe (&mut c_int, c_int, Function);
    /// Queues a kernel with attributes.
    launch_with: "cuLaunchKernelEx" unsafe (*const LaunchConfig, Kernel, *mut *mut c_void, *mut *mut c_void);
    /// Queues a kernel whose blocks wait for each other.
    launch_cooperative: "cuLaunchCooperativeKernel" unsafe (
        Kernel, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Stream, *mut *mut c_void
    );
    /// The address and the size of a variable of loaded code, on the current device.
    library_global: "cuLibraryGetGlobal" unsafe (&mut Address, &mut usize, Library, *const c_char);
    /// Copies rows in the order of a stream.
    copy_rows_async: "cuMemcpy2DAsync_v2" unsafe (*const RowCopy, Stream);
    /// The device's address of page-locked memory.
    host_address: "cuMemHostGetDevicePointer_v2" safe (&mut Address, *mut c_void, c_uint);
    /// Properties of an address.
    address_attributes: "cuPointerGetAttributes" unsafe (c_uint, *const c_int, *const *mut c_void, Address);
    /// A handle of memory for another process.
    ipc_handle: "cuIpcGetMemHandle" safe (&mut IpcHandle, Address);
    /// Memory of another process.
    ipc_open: "cuIpcOpenMemHandle_v2" safe (&mut Address, IpcHandle, c_uint);
    /// Ends the use of memory of another process.
    ipc_close: "cuIpcCloseMemHandle" unsafe (Address);
    /// The name of a device.
    device_name: "cuDeviceGetName" unsafe (*mut c_char, c_int, c_int);
    /// The memory of a device.
    device_memory: "cuDeviceTotalMem_v2" safe (&mut usize, c_int);
    /// The number of a device that no other has.
    device_uuid: "cuDeviceGetUuid_v2" safe (&mut [u8; 16], c_int);
    /// The address of one of the driver's functions.
    function_address: "cuGetProcAddress_v2" unsafe (*const c_char, *mut *mut c_void, c_int, u64, *mut c_int);
    /// Queues a kernel.
    launch: "cuLaunchKernel" unsafe (
        Kernel, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Stream, *mut *mut c_void, *mut *mut c_void
    );
}

fn symbol(library: *mut c_void, name: &str) -> Option<*mut c_void> {
    let name = CString::new(name).ok()?;
    // SAFETY: the library was opened by `driver` and stays open, and the name ends with NUL.
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
