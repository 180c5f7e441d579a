//! Status codes.

use std::ffi::{CStr, c_char};

use sconce_base::error::Status;

/// The outcome of a call. Values never change once released.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_status {
    /// The call succeeded.
    SCONCE_OK = 0,
    /// An argument is not one that the call accepts; the message names it.
    SCONCE_ERROR_INVALID_ARGUMENT = 1,
    /// A device index names no device.
    SCONCE_ERROR_INVALID_DEVICE = 2,
    /// A handle was never returned by the library, has been destroyed, or is of another kind of object.
    SCONCE_ERROR_INVALID_HANDLE = 3,
    /// The object or the library is in a state that does not permit the call.
    SCONCE_ERROR_INVALID_STATE = 4,
    /// There is no device.
    SCONCE_ERROR_NO_DEVICE = 5,
    /// Device or host memory is exhausted.
    SCONCE_ERROR_OUT_OF_MEMORY = 6,
    /// A library that is opened at run time is missing or lacks a symbol; the message lists what
    /// was searched.
    SCONCE_ERROR_LIBRARY_NOT_FOUND = 7,
    /// The device, the driver or the backend cannot do this.
    SCONCE_ERROR_NOT_SUPPORTED = 8,
    /// The driver reported an error that has no status of its own; `sconce_last_error_backend_code`
    /// returns its number.
    SCONCE_ERROR_DRIVER = 9,
    /// A call combines memory or objects of different devices that it cannot combine.
    SCONCE_ERROR_CROSS_DEVICE = 10,
    /// The work in question has not finished.
    SCONCE_ERROR_NOT_READY = 11,
    /// The process was forked after devices had been initialised; the child cannot use them.
    SCONCE_ERROR_FORKED = 12,
    /// An operating system's operation failed, such as writing a file.
    SCONCE_ERROR_IO = 13,
    /// A defect of the library itself.
    SCONCE_ERROR_INTERNAL = 14,
    /// What the call waited for did not happen in the given time.
    SCONCE_ERROR_TIMEOUT = 15,
    /// Another process or rank that takes part has failed or has gone.
    SCONCE_ERROR_REMOTE = 16,
    /// The operation was ended by an abort.
    SCONCE_ERROR_ABORTED = 17,
}

impl From<Status> for sconce_status {
    fn from(status: Status) -> Self {
        match status {
            Status::Ok => Self::SCONCE_OK,
            Status::InvalidArgument => Self::SCONCE_ERROR_INVALID_ARGUMENT,
            Status::InvalidDevice => Self::SCONCE_ERROR_INVALID_DEVICE,
            Status::InvalidHandle => Self::SCONCE_ERROR_INVALID_HANDLE,
            Status::InvalidState => Self::SCONCE_ERROR_INVALID_STATE,
            Status::NoDevice => Self::SCONCE_ERROR_NO_DEVICE,
            Status::OutOfMemory => Self::SCONCE_ERROR_OUT_OF_MEMORY,
            Status::LibraryNotFound => Self::SCONCE_ERROR_LIBRARY_NOT_FOUND,
            Status::NotSupported => Self::SCONCE_ERROR_NOT_SUPPORTED,
            Status::Driver => Self::SCONCE_ERROR_DRIVER,
            Status::CrossDevice => Self::SCONCE_ERROR_CROSS_DEVICE,
            Status::NotReady => Self::SCONCE_ERROR_NOT_READY,
            Status::Forked => Self::SCONCE_ERROR_FORKED,
            Status::Io => Self::SCONCE_ERROR_IO,
            Status::Internal => Self::SCONCE_ERROR_INTERNAL,
            Status::Timeout => Self::SCONCE_ERROR_TIMEOUT,
            Status::Remote => Self::SCONCE_ERROR_REMOTE,
            Status::Aborted => Self::SCONCE_ERROR_ABORTED,
        }
    }
}

/// The names with the NUL that C wants.
const fn c_name(value: i32) -> &'static CStr {
    match value {
        0 => c"SCONCE_OK",
        1 => c"SCONCE_ERROR_INVALID_ARGUMENT",
        2 => c"SCONCE_ERROR_INVALID_DEVICE",
        3 => c"SCONCE_ERROR_INVALID_HANDLE",
        4 => c"SCONCE_ERROR_INVALID_STATE",
        5 => c"SCONCE_ERROR_NO_DEVICE",
        6 => c"SCONCE_ERROR_OUT_OF_MEMORY",
        7 => c"SCONCE_ERROR_LIBRARY_NOT_FOUND",
        8 => c"SCONCE_ERROR_NOT_SUPPORTED",
        9 => c"SCONCE_ERROR_DRIVER",
        10 => c"SCONCE_ERROR_CROSS_DEVICE",
        11 => c"SCONCE_ERROR_NOT_READY",
        12 => c"SCONCE_ERROR_FORKED",
        13 => c"SCONCE_ERROR_IO",
        14 => c"SCONCE_ERROR_INTERNAL",
        15 => c"SCONCE_ERROR_TIMEOUT",
        16 => c"SCONCE_ERROR_REMOTE",
        17 => c"SCONCE_ERROR_ABORTED",
        _ => c"SCONCE_STATUS_UNKNOWN",
    }
}

/// Returns the spelling of a status, e.g. `SCONCE_ERROR_NOT_READY`, as a static string.
///
/// - `status`: any number; `SCONCE_STATUS_UNKNOWN` is returned for one that is not a status.
/// - torch: `cudaGetErrorName`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_status_name(status: i32) -> *const c_char {
    c_name(status).as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_names_agree_with_the_error_type() {
        for status in Status::ALL {
            let code = sconce_status::from(status);
            assert_eq!(code as i32, status as i32);
            assert_eq!(c_name(code as i32).to_str(), Ok(status.name()));
        }
        assert_eq!(c_name(-1), c"SCONCE_STATUS_UNKNOWN");
    }
}
