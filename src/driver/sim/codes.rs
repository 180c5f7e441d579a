//! The error numbers that the simulator returns, as CUDA numbers and spells them.
#![forbid(unsafe_code)]

use crate::error::{Error, Status};

use crate::driver::sim::call::Call;

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
pub(crate) const MEMORY_ALREADY_REGISTERED: i32 = 712;
pub(crate) const MEMORY_NOT_REGISTERED: i32 = 713;
pub(crate) const MISALIGNED_ADDRESS: i32 = 716;
pub(crate) const LAUNCH_FAILED: i32 = 719;
pub(crate) const NOT_SUPPORTED: i32 = 801;
pub(crate) const STREAM_CAPTURE_UNSUPPORTED: i32 = 900;
pub(crate) const STREAM_CAPTURE_INVALIDATED: i32 = 901;
pub(crate) const STREAM_CAPTURE_MERGE: i32 = 902;
pub(crate) const STREAM_CAPTURE_UNMATCHED: i32 = 903;
pub(crate) const STREAM_CAPTURE_UNJOINED: i32 = 904;
pub(crate) const STREAM_CAPTURE_ISOLATION: i32 = 905;
pub(crate) const STREAM_CAPTURE_IMPLICIT: i32 = 906;
pub(crate) const CAPTURED_EVENT: i32 = 907;
pub(crate) const STREAM_CAPTURE_WRONG_THREAD: i32 = 908;

/// Number, spelling after `CUDA_ERROR_`, and what it means to a caller.
const TABLE: &[(i32, &str, Status)] = &[
    (INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", Status::InvalidArgument),
    (OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", Status::OutOfMemory),
    (3, "CUDA_ERROR_NOT_INITIALIZED", Status::Driver),
    (4, "CUDA_ERROR_DEINITIALIZED", Status::Driver),
    (46, "CUDA_ERROR_DEVICE_UNAVAILABLE", Status::Driver),
    (100, "CUDA_ERROR_NO_DEVICE", Status::NoDevice),
    (INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", Status::InvalidDevice),
    (200, "CUDA_ERROR_INVALID_IMAGE", Status::Driver),
    (INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", Status::Driver),
    (208, "CUDA_ERROR_ALREADY_MAPPED", Status::InvalidState),
    (209, "CUDA_ERROR_NO_BINARY_FOR_GPU", Status::Driver),
    (214, "CUDA_ERROR_ECC_UNCORRECTABLE", Status::Driver),
    (PEER_ACCESS_UNSUPPORTED, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", Status::NotSupported),
    (220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", Status::Driver),
    (OPERATING_SYSTEM, "CUDA_ERROR_OPERATING_SYSTEM", Status::Driver),
    (INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", Status::InvalidHandle),
    (ILLEGAL_STATE, "CUDA_ERROR_ILLEGAL_STATE", Status::InvalidState),
    (NOT_FOUND, "CUDA_ERROR_NOT_FOUND", Status::Driver),
    (NOT_READY, "CUDA_ERROR_NOT_READY", Status::NotReady),
    (ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", Status::Driver),
    (701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", Status::Driver),
    (702, "CUDA_ERROR_LAUNCH_TIMEOUT", Status::Driver),
    (704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", Status::Driver),
    (705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", Status::InvalidState),
    (709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", Status::Driver),
    (710, "CUDA_ERROR_ASSERT", Status::Driver),
    (711, "CUDA_ERROR_TOO_MANY_PEERS", Status::Driver),
    (MEMORY_ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", Status::InvalidState),
    (MEMORY_NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", Status::InvalidState),
    (714, "CUDA_ERROR_HARDWARE_STACK_ERROR", Status::Driver),
    (715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", Status::Driver),
    (MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS", Status::Driver),
    (717, "CUDA_ERROR_INVALID_ADDRESS_SPACE", Status::Driver),
    (718, "CUDA_ERROR_INVALID_PC", Status::Driver),
    (LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", Status::Driver),
    (800, "CUDA_ERROR_NOT_PERMITTED", Status::Driver),
    (NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", Status::NotSupported),
    (STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", Status::InvalidState),
    (STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", Status::InvalidState),
    (STREAM_CAPTURE_MERGE, "CUDA_ERROR_STREAM_CAPTURE_MERGE", Status::InvalidState),
    (STREAM_CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", Status::InvalidState),
    (STREAM_CAPTURE_UNJOINED, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", Status::InvalidState),
    (STREAM_CAPTURE_ISOLATION, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", Status::InvalidState),
    (STREAM_CAPTURE_IMPLICIT, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", Status::InvalidState),
    (CAPTURED_EVENT, "CUDA_ERROR_CAPTURED_EVENT", Status::InvalidState),
    (STREAM_CAPTURE_WRONG_THREAD, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", Status::InvalidState),
    (999, "CUDA_ERROR_UNKNOWN", Status::Driver),
];

/// The failure of `call` with the driver's number `code`; numbers CUDA does not have keep their
/// value and are spelled as unrecognised.
pub(crate) fn failure(call: Call, code: i32) -> Error {
    let (name, status) = TABLE
        .iter()
        .find(|(number, ..)| *number == code)
        .map_or(("an unrecognised error", Status::Driver), |(_, name, status)| (*name, *status));
    Error::driver(status, call.name(), code, name)
}

/// The failure of `call`, with a text before it that names the argument and the remedy.
pub(crate) fn failure_because(call: Call, code: i32, why: impl std::fmt::Display) -> Error {
    failure(call, code).context(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_numbers_have_their_spelling_and_kind_and_others_survive() {
        let error = failure(Call::MemoryAlloc, 2);
        assert_eq!(error.status(), Status::OutOfMemory);
        assert_eq!(error.message(), "memory_alloc failed: CUDA_ERROR_OUT_OF_MEMORY (2)");
        let odd = failure(Call::KernelLaunch, 12345);
        assert_eq!((odd.status(), odd.backend_code()), (Status::Driver, 12345));
    }

    #[test]
    fn the_table_is_sorted_and_without_twins() {
        assert!(TABLE.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
