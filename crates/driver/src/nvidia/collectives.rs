//! The status numbers of NCCL.

use sconce_base::error::{Error, Status};

use super::library_failure;

/// `ncclResult_t`: number, spelling, and the status that it means to a caller.
const CODES: &[(i32, &str, Status)] = &[
    (1, "ncclUnhandledCudaError", Status::Driver),
    (2, "ncclSystemError", Status::Driver),
    (3, "ncclInternalError", Status::Driver),
    (4, "ncclInvalidArgument", Status::InvalidArgument),
    (5, "ncclInvalidUsage", Status::InvalidArgument),
    (6, "ncclRemoteError", Status::Remote),
    (7, "ncclInProgress", Status::NotReady),
    (8, "ncclTimeout", Status::Timeout),
];

/// The failure of a call with the library's number `code`, which is not 0.
#[cold]
#[inline(never)]
pub fn comm_failure(call: &str, code: i32) -> Error {
    library_failure(CODES, call, code)
}
