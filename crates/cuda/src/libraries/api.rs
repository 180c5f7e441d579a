//! The table of driver entry points: one row a function, with its prototype as the driver's header
//! has it at the named version.
//!
//! Every function returns its code as a plain `i32`: a newer driver may return codes that no enum
//! here knows. Enums and flags go in as integers for the same reason. A row says under which
//! exported name the function is found (`symbol`) and which CUDA version brought this prototype
//! (`version`), for `cuGetProcAddress`. `required` rows are checked when the driver is opened;
//! an `optional` one that is missing makes only its own calls fail, with `NotSupported`.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::mem::transmute;
use std::ptr::NonNull;

use cudarc::driver::sys::{
    CUDA_MEMCPY2D, CUcontext, CUdevice, CUdeviceptr, CUevent, CUfunction, CUgraph, CUgraphEdgeData,
    CUgraphExec, CUgraphNode, CUgraphNodeParams, CUhostFn, CUipcEventHandle, CUipcMemHandle,
    CUmemAccessDesc, CUmemAllocationProp, CUmemGenericAllocationHandle, CUmodule,
    CUoccupancyB2DSize, CUstream, CUuuid,
};

use sconce_base::error::{Error, Result, Status};

/// `CUstreamCallback`. The code is a plain number, as everywhere here.
type StreamCallback = unsafe extern "C" fn(CUstream, i32, *mut c_void);

/// What a row asks the loader for.
pub(crate) struct EntryPoint<'a> {
    /// The function's name without a version suffix, as `cuGetProcAddress` wants it.
    pub(crate) name: &'a CStr,
    /// The exported symbol that has the row's prototype.
    pub(crate) symbol: &'a CStr,
    /// The CUDA version (1000 * major + 10 * minor) that brought the prototype.
    pub(crate) version: c_int,
}

/// The type of a row's field: a required function is always there, so its callers have nothing to check.
macro_rules! field_of {
    (required $function:ty) => { $function };
    (optional $function:ty) => { Option<$function> };
}

/// The function that was found for a row.
macro_rules! found {
    (required $symbol:literal, $library:ident, $found:expr) => {
        match $found {
            Some(function) => function,
            None => return Err(missing_at_load($symbol, $library)),
        }
    };
    (optional $symbol:literal, $library:ident, $found:expr) => {
        $found
    };
}

/// The function of a field for a call.
macro_rules! for_call {
    (required $symbol:literal, $field:expr) => {
        Ok($field)
    };
    (optional $symbol:literal, $field:expr) => {
        match $field {
            Some(function) => Ok(function),
            None => Err(missing_at_call($symbol)),
        }
    };
}

macro_rules! entry_points {
    ($( $need:ident $name:ident, $symbol:literal, $version:literal, ($($ty:ty),*); )*) => {
        /// The entry points of one opened `libcuda`.
        #[allow(non_snake_case, reason = "fields and methods carry the driver's own names")]
        pub(crate) struct Api {
            $( $name: field_of!($need unsafe extern "C" fn($($ty),*) -> i32), )*
        }

        #[allow(non_snake_case, reason = "fields and methods carry the driver's own names")]
        impl Api {
            /// Fills the table from `find`; fails on the first required entry point that is
            /// missing. `library` is named in the error.
            pub(crate) fn load(
                library: &str,
                find: &dyn Fn(&EntryPoint<'_>) -> Option<NonNull<c_void>>,
            ) -> Result<Api> {
                Ok(Api {
                    $( $name: found!($need $symbol, library, {
                        let address = look_up(stringify!($name), $symbol, $version, find);
                        // SAFETY: the driver exports this function under this name and version
                        // with this prototype (checked against CUDA 13.0's header).
                        address.map(|address| unsafe {
                            transmute::<NonNull<c_void>, unsafe extern "C" fn($($ty),*) -> i32>(
                                address,
                            )
                        })
                    }), )*
                })
            }

            $(
                #[inline]
                pub(crate) fn $name(&self) -> Result<unsafe extern "C" fn($($ty),*) -> i32> {
                    for_call!($need $symbol, self.$name)
                }
            )*
        }
    };
}

/// Whether a library that lacks a function can be used.
#[allow(non_camel_case_types, reason = "spelled as in the tables")]
#[derive(PartialEq)]
pub(crate) enum Need {
    required,
    optional,
}

fn look_up(
    name: &str,
    symbol: &str,
    version: c_int,
    find: &dyn Fn(&EntryPoint<'_>) -> Option<NonNull<c_void>>,
) -> Option<NonNull<c_void>> {
    let name = CString::new(name).ok()?;
    let symbol = CString::new(symbol).ok()?;
    find(&EntryPoint { name: &name, symbol: &symbol, version })
}

#[cold]
#[inline(never)]
fn missing_at_load(symbol: &str, library: &str) -> Error {
    Error::new(
        Status::LibraryNotFound,
        format!("{library} lacks the symbol {symbol}; a newer NVIDIA driver has it"),
    )
}

#[cold]
#[inline(never)]
fn missing_at_call(symbol: &str) -> Error {
    Error::not_supported(format!(
        "the installed NVIDIA driver lacks {symbol}; a newer driver has it"
    ))
}

entry_points! {
    // Start-up and errors
    required cuInit, "cuInit", 2000, (c_uint);
    optional cuGetErrorName, "cuGetErrorName", 6000, (c_int, *mut *const c_char);

    // Devices
    required cuDeviceGetCount, "cuDeviceGetCount", 2000, (*mut c_int);
    required cuDeviceGet, "cuDeviceGet", 2000, (*mut CUdevice, c_int);
    required cuDeviceGetName, "cuDeviceGetName", 2000, (*mut c_char, c_int, CUdevice);
    required cuDeviceGetAttribute, "cuDeviceGetAttribute", 2000, (*mut c_int, c_int, CUdevice);
    required cuDeviceTotalMem, "cuDeviceTotalMem_v2", 3020, (*mut usize, CUdevice);
    optional cuDeviceGetUuid, "cuDeviceGetUuid_v2", 11040, (*mut CUuuid, CUdevice);
    optional cuDeviceGetPCIBusId, "cuDeviceGetPCIBusId", 4010, (*mut c_char, c_int, CUdevice);
    optional cuDeviceCanAccessPeer, "cuDeviceCanAccessPeer", 4000, (*mut c_int, CUdevice, CUdevice);
    optional cuCtxEnablePeerAccess, "cuCtxEnablePeerAccess", 4000, (CUcontext, c_uint);

    // Contexts
    required cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", 7000, (*mut CUcontext, CUdevice);
    required cuDevicePrimaryCtxGetState, "cuDevicePrimaryCtxGetState", 7000,
        (CUdevice, *mut c_uint, *mut c_int);
    required cuCtxGetCurrent, "cuCtxGetCurrent", 4000, (*mut CUcontext);
    required cuCtxSetCurrent, "cuCtxSetCurrent", 4000, (CUcontext);
    required cuCtxGetDevice, "cuCtxGetDevice", 2000, (*mut CUdevice);
    required cuCtxSynchronize, "cuCtxSynchronize", 2000, ();
    required cuCtxGetStreamPriorityRange, "cuCtxGetStreamPriorityRange", 5050,
        (*mut c_int, *mut c_int);

    // Captures
    optional cuThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode", 10010,
        (*mut c_int);

    // Memory
    required cuMemGetInfo, "cuMemGetInfo_v2", 3020, (*mut usize, *mut usize);
    required cuMemAlloc, "cuMemAlloc_v2", 3020, (*mut CUdeviceptr, usize);
    required cuMemFree, "cuMemFree_v2", 3020, (CUdeviceptr);
    required cuMemHostAlloc, "cuMemHostAlloc", 2020, (*mut *mut c_void, usize, c_uint);
    required cuMemFreeHost, "cuMemFreeHost", 2000, (*mut c_void);
    optional cuMemHostRegister, "cuMemHostRegister_v2", 6050, (*mut c_void, usize, c_uint);
    optional cuMemHostUnregister, "cuMemHostUnregister", 4000, (*mut c_void);
    required cuPointerGetAttributes, "cuPointerGetAttributes", 7000,
        (c_uint, *mut c_uint, *mut *mut c_void, CUdeviceptr);
    optional cuMemGetAddressRange, "cuMemGetAddressRange_v2", 3020,
        (*mut CUdeviceptr, *mut usize, CUdeviceptr);

    // Virtual memory
    optional cuMemGetAllocationGranularity, "cuMemGetAllocationGranularity", 10020,
        (*mut usize, *const CUmemAllocationProp, c_uint);
    optional cuMemAddressReserve, "cuMemAddressReserve", 10020,
        (*mut CUdeviceptr, usize, usize, CUdeviceptr, c_ulonglong);
    optional cuMemAddressFree, "cuMemAddressFree", 10020, (CUdeviceptr, usize);
    optional cuMemCreate, "cuMemCreate", 10020,
        (*mut CUmemGenericAllocationHandle, usize, *const CUmemAllocationProp, c_ulonglong);
    optional cuMemRelease, "cuMemRelease", 10020, (CUmemGenericAllocationHandle);
    optional cuMemRetainAllocationHandle, "cuMemRetainAllocationHandle", 11000,
        (*mut CUmemGenericAllocationHandle, *mut c_void);
    optional cuMemMap, "cuMemMap", 10020,
        (CUdeviceptr, usize, usize, CUmemGenericAllocationHandle, c_ulonglong);
    optional cuMemUnmap, "cuMemUnmap", 10020, (CUdeviceptr, usize);
    optional cuMemSetAccess, "cuMemSetAccess", 10020,
        (CUdeviceptr, usize, *const CUmemAccessDesc, usize);
    optional cuMemExportToShareableHandle, "cuMemExportToShareableHandle", 10020,
        (*mut c_void, CUmemGenericAllocationHandle, c_uint, c_ulonglong);
    optional cuMemImportFromShareableHandle, "cuMemImportFromShareableHandle", 10020,
        (*mut CUmemGenericAllocationHandle, *mut c_void, c_uint);

    // Streams
    required cuStreamCreateWithPriority, "cuStreamCreateWithPriority", 5050,
        (*mut CUstream, c_uint, c_int);
    required cuStreamDestroy, "cuStreamDestroy_v2", 4000, (CUstream);
    required cuStreamQuery, "cuStreamQuery", 2000, (CUstream);
    required cuStreamSynchronize, "cuStreamSynchronize", 2000, (CUstream);
    required cuStreamWaitEvent, "cuStreamWaitEvent", 3020, (CUstream, CUevent, c_uint);
    optional cuStreamWriteValue32, "cuStreamWriteValue32_v2", 11070,
        (CUstream, CUdeviceptr, u32, c_uint);
    optional cuStreamGetId, "cuStreamGetId", 12000, (CUstream, *mut c_ulonglong);
    optional cuStreamGetPriority, "cuStreamGetPriority", 5050, (CUstream, *mut c_int);
    optional cuStreamIsCapturing, "cuStreamIsCapturing", 10000, (CUstream, *mut c_int);
    optional cuLaunchHostFunc, "cuLaunchHostFunc", 10000, (CUstream, CUhostFn, *mut c_void);
    optional cuStreamAddCallback, "cuStreamAddCallback", 5000,
        (CUstream, StreamCallback, *mut c_void, c_uint);

    // Events
    required cuEventCreate, "cuEventCreate", 2000, (*mut CUevent, c_uint);
    required cuEventDestroy, "cuEventDestroy_v2", 4000, (CUevent);
    required cuEventRecord, "cuEventRecord", 2000, (CUevent, CUstream);
    required cuEventQuery, "cuEventQuery", 2000, (CUevent);
    required cuEventSynchronize, "cuEventSynchronize", 2000, (CUevent);
    required cuEventElapsedTime, "cuEventElapsedTime", 2000, (*mut f32, CUevent, CUevent);

    // Work
    required cuMemcpyAsync, "cuMemcpyAsync", 4000, (CUdeviceptr, CUdeviceptr, usize, CUstream);
    optional cuMemcpyPeerAsync, "cuMemcpyPeerAsync", 4000,
        (CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, usize, CUstream);
    optional cuMemcpy2DAsync, "cuMemcpy2DAsync_v2", 3020, (*const CUDA_MEMCPY2D, CUstream);
    required cuMemsetD8Async, "cuMemsetD8Async", 3020, (CUdeviceptr, u8, usize, CUstream);
    optional cuMemsetD2D8Async, "cuMemsetD2D8Async", 3020,
        (CUdeviceptr, usize, u8, usize, usize, CUstream);
    optional cuModuleLoadDataEx, "cuModuleLoadDataEx", 2010,
        (*mut CUmodule, *const c_void, c_uint, *mut c_uint, *mut *mut c_void);
    optional cuModuleUnload, "cuModuleUnload", 2000, (CUmodule);
    optional cuModuleGetFunction, "cuModuleGetFunction", 2000,
        (*mut CUfunction, CUmodule, *const c_char);
    optional cuLaunchKernel, "cuLaunchKernel", 4000,
        (CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream,
         *mut *mut c_void, *mut *mut c_void);
    optional cuFuncGetAttribute, "cuFuncGetAttribute", 2020, (*mut c_int, c_int, CUfunction);
    optional cuFuncSetAttribute, "cuFuncSetAttribute", 9000, (CUfunction, c_int, c_int);
    optional cuFuncGetParamInfo, "cuFuncGetParamInfo", 12040,
        (CUfunction, usize, *mut usize, *mut usize);
    optional cuOccupancyMaxActiveBlocksPerMultiprocessor,
        "cuOccupancyMaxActiveBlocksPerMultiprocessor", 6050, (*mut c_int, CUfunction, c_int, usize);
    optional cuOccupancyMaxPotentialBlockSize, "cuOccupancyMaxPotentialBlockSize", 6050,
        (*mut c_int, *mut c_int, CUfunction, CUoccupancyB2DSize, usize, c_int);
    optional cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel", 9000,
        (CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream,
         *mut *mut c_void);
    optional cuLaunchKernelEx, "cuLaunchKernelEx", 11060,
        (*const c_void, CUfunction, *mut *mut c_void, *mut *mut c_void);

    // Graphs
    optional cuStreamBeginCapture, "cuStreamBeginCapture_v2", 10010, (CUstream, c_int);
    optional cuStreamEndCapture, "cuStreamEndCapture", 10000, (CUstream, *mut CUgraph);
    optional cuStreamGetCaptureInfo, "cuStreamGetCaptureInfo_v2", 11030,
        (CUstream, *mut c_int, *mut c_ulonglong, *mut CUgraph, *mut *const CUgraphNode, *mut usize);
    optional cuStreamUpdateCaptureDependencies, "cuStreamUpdateCaptureDependencies", 11030,
        (CUstream, *mut CUgraphNode, usize, c_uint);
    optional cuStreamBeginCaptureToGraph, "cuStreamBeginCaptureToGraph", 12030,
        (CUstream, CUgraph, *const CUgraphNode, *const CUgraphEdgeData, usize, c_int);
    optional cuGraphGetNodes, "cuGraphGetNodes", 10000, (CUgraph, *mut CUgraphNode, *mut usize);
    optional cuGraphDebugDotPrint, "cuGraphDebugDotPrint", 11030, (CUgraph, *const c_char, c_uint);
    optional cuGraphDestroy, "cuGraphDestroy", 10000, (CUgraph);
    optional cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags", 11040,
        (*mut CUgraphExec, CUgraph, c_ulonglong);
    optional cuGraphExecUpdate, "cuGraphExecUpdate_v2", 12000,
        (CUgraphExec, CUgraph, *mut c_void);
    optional cuGraphUpload, "cuGraphUpload", 11010, (CUgraphExec, CUstream);
    optional cuGraphLaunch, "cuGraphLaunch", 10000, (CUgraphExec, CUstream);
    optional cuGraphExecDestroy, "cuGraphExecDestroy", 10000, (CUgraphExec);
    optional cuGraphConditionalHandleCreate, "cuGraphConditionalHandleCreate", 12030,
        (*mut c_ulonglong, CUgraph, CUcontext, c_uint, c_uint);
    optional cuGraphAddNode, "cuGraphAddNode", 12020,
        (*mut CUgraphNode, CUgraph, *const CUgraphNode, usize, *mut CUgraphNodeParams);

    // Between processes
    optional cuIpcGetMemHandle, "cuIpcGetMemHandle", 4010, (*mut CUipcMemHandle, CUdeviceptr);
    optional cuIpcOpenMemHandle, "cuIpcOpenMemHandle_v2", 11000,
        (*mut CUdeviceptr, CUipcMemHandle, c_uint);
    optional cuIpcCloseMemHandle, "cuIpcCloseMemHandle", 4010, (CUdeviceptr);
    optional cuIpcGetEventHandle, "cuIpcGetEventHandle", 4010, (*mut CUipcEventHandle, CUevent);
    optional cuIpcOpenEventHandle, "cuIpcOpenEventHandle", 4010, (*mut CUevent, CUipcEventHandle);
}
