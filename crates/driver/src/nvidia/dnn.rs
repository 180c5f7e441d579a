//! The status numbers of cuDNN.

use sconce_base::error::{Error, Status};

/// The failure of a call with `cudnnStatus_t` number `code`, which is not 0. The thousands of a number
/// are its kind, the rest the case.
pub fn dnn_failure(call: &str, code: i32) -> Error {
    let (name, status) = match code {
        1001 => ("CUDNN_STATUS_NOT_INITIALIZED", Status::Driver),
        1002 => ("CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH", Status::LibraryNotFound),
        1008 => ("CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED", Status::LibraryNotFound),
        2000..3000 => ("CUDNN_STATUS_BAD_PARAM", Status::InvalidArgument),
        3000..4000 => ("CUDNN_STATUS_NOT_SUPPORTED", Status::NotSupported),
        4003 => ("CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED", Status::OutOfMemory),
        4004 => ("CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED", Status::OutOfMemory),
        4000..5000 => ("CUDNN_STATUS_INTERNAL_ERROR", Status::Driver),
        5000..6000 => ("CUDNN_STATUS_EXECUTION_FAILED", Status::Driver),
        _ => ("an unrecognised error", Status::Driver),
    };
    Error::driver(status, call, code, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_told_by_their_kind() {
        for (code, status, name) in [
            (1001, Status::Driver, "CUDNN_STATUS_NOT_INITIALIZED"),
            (1002, Status::LibraryNotFound, "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH"),
            (1007, Status::Driver, "an unrecognised error"),
            (1008, Status::LibraryNotFound, "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED"),
            (2000, Status::InvalidArgument, "CUDNN_STATUS_BAD_PARAM"),
            (2012, Status::InvalidArgument, "CUDNN_STATUS_BAD_PARAM"),
            (3014, Status::NotSupported, "CUDNN_STATUS_NOT_SUPPORTED"),
            (4002, Status::Driver, "CUDNN_STATUS_INTERNAL_ERROR"),
            (4003, Status::OutOfMemory, "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED"),
            (4004, Status::OutOfMemory, "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED"),
            (4005, Status::Driver, "CUDNN_STATUS_INTERNAL_ERROR"),
            (5001, Status::Driver, "CUDNN_STATUS_EXECUTION_FAILED"),
            (6000, Status::Driver, "an unrecognised error"),
        ] {
            let error = dnn_failure("call", code);
            assert_eq!((error.status(), error.backend_code()), (status, code));
            assert!(error.message().contains(&format!("{name} ({code})")), "{error}");
        }
    }
}
