//! The status numbers of cuBLAS.

use sconce_base::error::{Error, Status};

use super::library_failure;

/// `cublasStatus_t`: number, spelling, and the status that it means to a caller.
const CODES: &[(i32, &str, Status)] = &[
    (1, "CUBLAS_STATUS_NOT_INITIALIZED", Status::Driver),
    (3, "CUBLAS_STATUS_ALLOC_FAILED", Status::OutOfMemory),
    (7, "CUBLAS_STATUS_INVALID_VALUE", Status::InvalidArgument),
    (8, "CUBLAS_STATUS_ARCH_MISMATCH", Status::NotSupported),
    (11, "CUBLAS_STATUS_MAPPING_ERROR", Status::Driver),
    (13, "CUBLAS_STATUS_EXECUTION_FAILED", Status::Driver),
    (14, "CUBLAS_STATUS_INTERNAL_ERROR", Status::Driver),
    (15, "CUBLAS_STATUS_NOT_SUPPORTED", Status::NotSupported),
    (16, "CUBLAS_STATUS_LICENSE_ERROR", Status::Driver),
];

/// The failure of a call with the library's number `code`, which is not 0.
pub fn blas_failure(call: &str, code: i32) -> Error {
    library_failure(CODES, call, code)
}
