//! The functions of cuFFT.

use std::ffi::{c_int, c_longlong, c_void};

use cudarc::cufft::sys::{cudaStream_t, cufftHandle};

use crate::libraries::library::library_functions;

library_functions! {
    /// The functions of one opened `libcufft`.
    FftFunctions;

    required cufftCreate(*mut cufftHandle) -> i32;
    required cufftSetAutoAllocation(cufftHandle, c_int) -> i32;
    // plan, rank, sizes, then of input and output embed, stride, distance, type; batch, workspace,
    // type of the calculation
    required cufftXtMakePlanMany(
        cufftHandle, c_int, *mut c_longlong,
        *mut c_longlong, c_longlong, c_longlong, c_int,
        *mut c_longlong, c_longlong, c_longlong, c_int,
        c_longlong, *mut usize, c_int,
    ) -> i32;
    required cufftSetStream(cufftHandle, cudaStream_t) -> i32;
    required cufftSetWorkArea(cufftHandle, *mut c_void) -> i32;
    required cufftXtExec(cufftHandle, *mut c_void, *mut c_void, c_int) -> i32;
    required cufftDestroy(cufftHandle) -> i32;
    optional cufftGetVersion(*mut c_int) -> i32;
}
