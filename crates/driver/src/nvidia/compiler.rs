//! The status numbers of NVRTC.

use sconce_base::error::{Error, Status};

use super::library_failure;

/// `nvrtcResult`: number, spelling, and the status that it means to a caller.
const CODES: &[(i32, &str, Status)] = &[
    (1, "NVRTC_ERROR_OUT_OF_MEMORY", Status::OutOfMemory),
    (2, "NVRTC_ERROR_PROGRAM_CREATION_FAILURE", Status::Driver),
    (3, "NVRTC_ERROR_INVALID_INPUT", Status::InvalidArgument),
    (4, "NVRTC_ERROR_INVALID_PROGRAM", Status::Driver),
    (5, "NVRTC_ERROR_INVALID_OPTION", Status::InvalidArgument),
    (6, "NVRTC_ERROR_COMPILATION", Status::InvalidArgument),
    (7, "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE", Status::LibraryNotFound),
    (8, "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION", Status::Driver),
    (9, "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION", Status::Driver),
    (10, "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID", Status::InvalidArgument),
    (11, "NVRTC_ERROR_INTERNAL_ERROR", Status::Driver),
    (12, "NVRTC_ERROR_TIME_FILE_WRITE_FAILED", Status::Io),
    (13, "NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED", Status::Driver),
    (14, "NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED", Status::Driver),
    (15, "NVRTC_ERROR_PCH_CREATE", Status::Driver),
    (16, "NVRTC_ERROR_CANCELLED", Status::Driver),
    (17, "NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED", Status::Io),
    (18, "NVRTC_ERROR_BUSY", Status::Driver),
];

/// The failure of a call with the library's number `code`, which is not 0.
#[cold]
#[inline(never)]
pub fn compiler_failure(call: &str, code: i32) -> Error {
    library_failure(CODES, call, code)
}
