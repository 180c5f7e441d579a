//! How the driver's codes become errors.
//!
//! Codes stay integers. Those that have a status of their own are in the table of `sconce_driver::nvidia`;
//! every other one is `Status::Driver` with its number and the driver's spelling, so that a code from a
//! newer driver is reported, not misread.

use std::ffi::{CStr, c_char};
use std::ops::RangeInclusive;
use std::ptr::null;

use cudarc::driver::sys::CUresult;
use sconce_base::error::{Error, Result, Status};
use sconce_driver::nvidia::{driver_failure, is_of_queued_work, status_of};

use super::libraries::api::Api;

pub(super) const SUCCESS: i32 = CUresult::CUDA_SUCCESS as i32;
pub(super) const INVALID_VALUE: i32 = CUresult::CUDA_ERROR_INVALID_VALUE as i32;
pub(super) const NOT_INITIALIZED: i32 = CUresult::CUDA_ERROR_NOT_INITIALIZED as i32;
pub(super) const DEINITIALIZED: i32 = CUresult::CUDA_ERROR_DEINITIALIZED as i32;
pub(super) const NO_DEVICE: i32 = CUresult::CUDA_ERROR_NO_DEVICE as i32;
pub(super) const INVALID_CONTEXT: i32 = CUresult::CUDA_ERROR_INVALID_CONTEXT as i32;
pub(super) const NOT_FOUND: i32 = CUresult::CUDA_ERROR_NOT_FOUND as i32;
pub(super) const NOT_READY: i32 = CUresult::CUDA_ERROR_NOT_READY as i32;
pub(super) const PEER_ACCESS_ALREADY_ENABLED: i32 =
    CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED as i32;

/// `CUDA_ERROR_STREAM_CAPTURE_*` and `CUDA_ERROR_CAPTURED_EVENT`.
pub(super) const CAPTURE_CODES: RangeInclusive<i32> = 900..=908;

/// What helps after a failure of queued work, which CUDA reports at any later call and without the operation's name.
const OF_QUEUED_WORK: &str = "an operation that was queued before, or this one, has failed, and the device with it; \
                              CUDA_LAUNCH_BLOCKING=1 reports the failure at the operation's own call. Restart the process";

impl Api {
    /// Turns the code of `call` into a result.
    #[inline]
    pub(super) fn check(&self, call: &str, code: i32) -> Result<()> {
        if code == SUCCESS { Ok(()) } else { Err(self.failure(call, code)) }
    }

    /// Turns the code of a query into "done" or "not yet"; neither allocates.
    #[inline]
    pub(super) fn check_ready(&self, call: &str, code: i32) -> Result<bool> {
        match code {
            SUCCESS => Ok(true),
            NOT_READY => Ok(false),
            code => Err(self.failure(call, code)),
        }
    }

    /// The error of a call that returned `code`.
    #[cold]
    #[inline(never)]
    pub(super) fn failure(&self, call: &str, code: i32) -> Error {
        self.failure_as(status_of(code), call, code)
    }

    /// The error of a call that returned `code`, with the status that the code means for this call.
    #[cold]
    #[inline(never)]
    pub(super) fn failure_as(&self, status: Status, call: &str, code: i32) -> Error {
        failure_of(status, call, code, &self.code_name(code))
    }

    fn code_name(&self, code: i32) -> String {
        code_name(self.cuGetErrorName().ok(), code)
    }
}

/// `cuGetErrorName`.
pub(super) type GetErrorName = unsafe extern "C" fn(i32, *mut *const c_char) -> i32;

/// The error of a driver's call that returned `code`, for code without an [`Api`].
#[cold]
#[inline(never)]
pub(super) fn failure_by_name(get_name: Option<GetErrorName>, call: &str, code: i32) -> Error {
    failure_of(status_of(code), call, code, &code_name(get_name, code))
}

fn failure_of(status: Status, call: &str, code: i32, name: &str) -> Error {
    let error = driver_failure(status, call, code, name);
    if is_of_queued_work(code) { error.with_remedy(OF_QUEUED_WORK) } else { error }
}

fn code_name(get_name: Option<GetErrorName>, code: i32) -> String {
    const UNKNOWN: &str = "unknown error";
    let Some(get_name) = get_name else { return UNKNOWN.to_owned() };
    let mut name = null();
    // SAFETY: any integer may be asked about; `name` outlives the call.
    let answer = unsafe { get_name(code, &mut name) };
    if answer != SUCCESS || name.is_null() {
        return UNKNOWN.to_owned();
    }
    // SAFETY: on success a NUL-terminated string that the driver keeps for ever.
    unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
}

/// Makes a call that releases something. If the driver has shut down at process exit the call
/// succeeds: nothing is left to release.
#[inline]
pub(super) fn released(release: impl FnOnce() -> Result<()>) -> Result<()> {
    match release() {
        Err(error) if error.backend_code() == DEINITIALIZED => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_of_queued_work_tells_what_helps() {
        let failed = |code| failure_by_name(None, "cuCtxSynchronize", code).message().to_owned();
        assert!(failed(700).starts_with("cuCtxSynchronize failed: "), "{}", failed(700));
        for word in ["queued before", "CUDA_LAUNCH_BLOCKING=1", "Restart the process"] {
            assert!(failed(700).contains(word) && !failed(1).contains(word), "{}", failed(700));
        }
    }

    #[test]
    fn codes_with_a_kind_map_to_it_and_all_others_to_driver() {
        assert_eq!(status_of(INVALID_VALUE), Status::InvalidArgument);
        assert_eq!(status_of(CUresult::CUDA_ERROR_OUT_OF_MEMORY as i32), Status::OutOfMemory);
        assert_eq!(status_of(NO_DEVICE), Status::NoDevice);
        assert_eq!(status_of(CUresult::CUDA_ERROR_INVALID_DEVICE as i32), Status::InvalidDevice);
        assert_eq!(status_of(CUresult::CUDA_ERROR_INVALID_HANDLE as i32), Status::InvalidHandle);
        assert_eq!(status_of(CUresult::CUDA_ERROR_ILLEGAL_STATE as i32), Status::InvalidState);
        assert_eq!(status_of(CUresult::CUDA_ERROR_ALREADY_MAPPED as i32), Status::InvalidState);
        assert_eq!(status_of(CUresult::CUDA_ERROR_NOT_MAPPED as i32), Status::InvalidState);
        assert_eq!(status_of(CUresult::CUDA_ERROR_NOT_SUPPORTED as i32), Status::NotSupported);
        assert_eq!(
            status_of(CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED as i32),
            Status::NotSupported
        );
        assert_eq!(
            status_of(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED as i32),
            Status::InvalidState
        );
        assert_eq!(status_of(NOT_READY), Status::NotReady);
        for code in [INVALID_CONTEXT, 700, 917, 918, 9999, -1, i32::MIN] {
            assert_eq!(status_of(code), Status::Driver, "{code}");
        }
    }

    #[test]
    fn only_the_shut_down_driver_is_forgiven() {
        let failed = |code| Err(Error::driver(Status::Driver, "cuStreamDestroy_v2", code, "name"));
        assert!(released(|| failed(DEINITIALIZED)).is_ok());
        assert!(released(|| failed(INVALID_VALUE)).is_err());
    }
}
