//! The error numbers that the simulator returns: those of CUDA.
#![forbid(unsafe_code)]

use sconce_base::error::Error;
use sconce_driver::nvidia::{driver_failure, name_of, status_of};

use crate::call::Call;

pub(crate) const INVALID_VALUE: i32 = 1;
pub(crate) const OUT_OF_MEMORY: i32 = 2;
pub(crate) const INVALID_DEVICE: i32 = 101;
pub(crate) const INVALID_CONTEXT: i32 = 201;
pub(crate) const PEER_ACCESS_UNSUPPORTED: i32 = 217;
pub(crate) const OPERATING_SYSTEM: i32 = 304;
pub(crate) const INVALID_HANDLE: i32 = 400;
pub(crate) const ILLEGAL_STATE: i32 = 401;
pub(crate) const NOT_FOUND: i32 = 500;
pub(crate) const NOT_READY: i32 = 600;
pub(crate) const ILLEGAL_ADDRESS: i32 = 700;
pub(crate) const ASSERT: i32 = 710;
pub(crate) const MEMORY_ALREADY_REGISTERED: i32 = 712;
pub(crate) const MEMORY_NOT_REGISTERED: i32 = 713;
pub(crate) const MISALIGNED_ADDRESS: i32 = 716;
pub(crate) const LAUNCH_FAILED: i32 = 719;
pub(crate) const NOT_SUPPORTED: i32 = 801;
pub(crate) const NOT_PERMITTED: i32 = 800;
pub(crate) const STREAM_CAPTURE_UNSUPPORTED: i32 = 900;
pub(crate) const STREAM_CAPTURE_INVALIDATED: i32 = 901;
pub(crate) const STREAM_CAPTURE_MERGE: i32 = 902;
pub(crate) const STREAM_CAPTURE_UNMATCHED: i32 = 903;
pub(crate) const STREAM_CAPTURE_UNJOINED: i32 = 904;
pub(crate) const STREAM_CAPTURE_ISOLATION: i32 = 905;
pub(crate) const STREAM_CAPTURE_IMPLICIT: i32 = 906;
pub(crate) const CAPTURED_EVENT: i32 = 907;
pub(crate) const STREAM_CAPTURE_WRONG_THREAD: i32 = 908;

/// The failure of `call` with the driver's number `code`. Numbers that CUDA does not have keep
/// their value.
pub(crate) fn failure(call: Call, code: i32) -> Error {
    driver_failure(status_of(code), call.name(), code, name_of(code))
}

/// The spelling of a number.
pub(crate) fn spelled(code: i32) -> &'static str {
    name_of(code)
}

/// The failure of `call`, with a text before it that names the argument and the remedy.
pub(crate) fn failure_because(call: Call, code: i32, why: impl std::fmt::Display) -> Error {
    failure(call, code).context(why)
}

#[cfg(test)]
mod tests {
    use sconce_base::error::Status;

    use super::*;

    #[test]
    fn known_numbers_have_their_spelling_and_kind_and_others_survive() {
        let error = failure(Call::MemoryAlloc, 2);
        assert_eq!(error.status(), Status::OutOfMemory);
        assert_eq!(error.message(), "memory_alloc failed: CUDA_ERROR_OUT_OF_MEMORY (2)");
        let odd = failure(Call::KernelLaunch, 12345);
        assert_eq!((odd.status(), odd.backend_code()), (Status::Driver, 12345));
    }
}
