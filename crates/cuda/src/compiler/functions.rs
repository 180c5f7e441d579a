//! The functions of NVRTC. A program is a pointer that the library makes.

use std::ffi::{c_char, c_int, c_void};

use sconce_base::error::Result;
use sconce_driver::nvidia::compiler_failure;

use crate::libraries::library::library_functions;
use crate::result::SUCCESS;

/// Turns what a function returned into an error unless it has succeeded.
pub(super) fn check(call: &str, code: i32) -> Result<()> {
    if code == SUCCESS { Ok(()) } else { Err(compiler_failure(call, code)) }
}

library_functions! {
    /// The functions of one opened `libnvrtc`.
    CompilerFunctions;

    // program, source, name, number of headers, their texts, their names
    required nvrtcCreateProgram(
        *mut *mut c_void, *const c_char, *const c_char, c_int, *const *const c_char,
        *const *const c_char,
    ) -> i32;
    required nvrtcAddNameExpression(*mut c_void, *const c_char) -> i32;
    required nvrtcCompileProgram(*mut c_void, c_int, *const *const c_char) -> i32;
    required nvrtcGetProgramLogSize(*mut c_void, *mut usize) -> i32;
    required nvrtcGetProgramLog(*mut c_void, *mut c_char) -> i32;
    required nvrtcGetPTXSize(*mut c_void, *mut usize) -> i32;
    required nvrtcGetPTX(*mut c_void, *mut c_char) -> i32;
    optional nvrtcGetCUBINSize(*mut c_void, *mut usize) -> i32;
    optional nvrtcGetCUBIN(*mut c_void, *mut c_char) -> i32;
    required nvrtcGetLoweredName(*mut c_void, *const c_char, *mut *const c_char) -> i32;
    required nvrtcDestroyProgram(*mut *mut c_void) -> i32;
    optional nvrtcGetNumSupportedArchs(*mut c_int) -> i32;
    optional nvrtcGetSupportedArchs(*mut c_int) -> i32;
}
