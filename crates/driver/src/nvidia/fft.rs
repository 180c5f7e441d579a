//! The status numbers of cuFFT.

use sconce_base::error::{Error, Status};

use super::library_failure;

const INVALID_PLAN: i32 = 1;

/// `cufftResult`: number, spelling, and the status that it means to a caller.
const CODES: &[(i32, &str, Status)] = &[
    (INVALID_PLAN, "CUFFT_INVALID_PLAN", Status::Driver),
    (2, "CUFFT_ALLOC_FAILED", Status::OutOfMemory),
    (3, "CUFFT_INVALID_TYPE", Status::NotSupported),
    (4, "CUFFT_INVALID_VALUE", Status::InvalidArgument),
    (5, "CUFFT_INTERNAL_ERROR", Status::Driver),
    (6, "CUFFT_EXEC_FAILED", Status::Driver),
    (7, "CUFFT_SETUP_FAILED", Status::Driver),
    (8, "CUFFT_INVALID_SIZE", Status::NotSupported),
    (9, "CUFFT_UNALIGNED_DATA", Status::InvalidArgument),
    (11, "CUFFT_INVALID_DEVICE", Status::Driver),
    (13, "CUFFT_NO_WORKSPACE", Status::Driver),
    (14, "CUFFT_NOT_IMPLEMENTED", Status::NotSupported),
    (16, "CUFFT_NOT_SUPPORTED", Status::NotSupported),
    (17, "CUFFT_MISSING_DEPENDENCY", Status::LibraryNotFound),
    (18, "CUFFT_NVRTC_FAILURE", Status::Driver),
    (19, "CUFFT_NVJITLINK_FAILURE", Status::Driver),
    (20, "CUFFT_NVSHMEM_FAILURE", Status::Driver),
];

/// The failure of a call with the library's number `code`, which is not 0.
#[cold]
#[inline(never)]
pub fn fft_failure(call: &str, code: i32) -> Error {
    library_failure(CODES, call, code)
}

/// The failure of a call that gives a plan its shape. A plan that the library calls invalid there has
/// a shape that the library does not take.
pub fn fft_refusal(call: &str, code: i32) -> Error {
    let error = fft_failure(call, code);
    if code == INVALID_PLAN { error.with_status(Status::NotSupported) } else { error }
}
