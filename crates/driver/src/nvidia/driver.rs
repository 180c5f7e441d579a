//! The status numbers of the driver (`CUresult`).

use sconce_base::error::{Cause, Error, Status};

/// The refusal of a call that a host function made.
#[cold]
pub fn not_permitted(why: &str) -> Error {
    driver_failure(Status::Driver, "the call", 800, "CUDA_ERROR_NOT_PERMITTED").context(why)
}

/// `CUresult`: number, spelling, and the status that it means to a caller.
const CODES: &[(i32, &str, Status)] = &[
    (1, "CUDA_ERROR_INVALID_VALUE", Status::InvalidArgument),
    (2, "CUDA_ERROR_OUT_OF_MEMORY", Status::OutOfMemory),
    (3, "CUDA_ERROR_NOT_INITIALIZED", Status::Driver),
    (4, "CUDA_ERROR_DEINITIALIZED", Status::Driver),
    (46, "CUDA_ERROR_DEVICE_UNAVAILABLE", Status::Driver),
    (100, "CUDA_ERROR_NO_DEVICE", Status::NoDevice),
    (101, "CUDA_ERROR_INVALID_DEVICE", Status::InvalidDevice),
    (200, "CUDA_ERROR_INVALID_IMAGE", Status::Driver),
    (201, "CUDA_ERROR_INVALID_CONTEXT", Status::Driver),
    (208, "CUDA_ERROR_ALREADY_MAPPED", Status::InvalidState),
    (209, "CUDA_ERROR_NO_BINARY_FOR_GPU", Status::Driver),
    (211, "CUDA_ERROR_NOT_MAPPED", Status::InvalidState),
    (214, "CUDA_ERROR_ECC_UNCORRECTABLE", Status::Driver),
    (217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", Status::NotSupported),
    (220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", Status::Driver),
    (304, "CUDA_ERROR_OPERATING_SYSTEM", Status::Driver),
    (400, "CUDA_ERROR_INVALID_HANDLE", Status::InvalidHandle),
    (401, "CUDA_ERROR_ILLEGAL_STATE", Status::InvalidState),
    (500, "CUDA_ERROR_NOT_FOUND", Status::Driver),
    (600, "CUDA_ERROR_NOT_READY", Status::NotReady),
    (700, "CUDA_ERROR_ILLEGAL_ADDRESS", Status::Driver),
    (701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", Status::Driver),
    (702, "CUDA_ERROR_LAUNCH_TIMEOUT", Status::Driver),
    (704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", Status::Driver),
    (705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", Status::InvalidState),
    (709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", Status::Driver),
    (710, "CUDA_ERROR_ASSERT", Status::Driver),
    (711, "CUDA_ERROR_TOO_MANY_PEERS", Status::Driver),
    (712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", Status::InvalidState),
    (713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", Status::InvalidState),
    (714, "CUDA_ERROR_HARDWARE_STACK_ERROR", Status::Driver),
    (715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", Status::Driver),
    (716, "CUDA_ERROR_MISALIGNED_ADDRESS", Status::Driver),
    (717, "CUDA_ERROR_INVALID_ADDRESS_SPACE", Status::Driver),
    (718, "CUDA_ERROR_INVALID_PC", Status::Driver),
    (719, "CUDA_ERROR_LAUNCH_FAILED", Status::Driver),
    (800, "CUDA_ERROR_NOT_PERMITTED", Status::Driver),
    (801, "CUDA_ERROR_NOT_SUPPORTED", Status::NotSupported),
    (900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", Status::InvalidState),
    (901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", Status::InvalidState),
    (902, "CUDA_ERROR_STREAM_CAPTURE_MERGE", Status::InvalidState),
    (903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", Status::InvalidState),
    (904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", Status::InvalidState),
    (905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", Status::InvalidState),
    (906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", Status::InvalidState),
    (907, "CUDA_ERROR_CAPTURED_EVENT", Status::InvalidState),
    (908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", Status::InvalidState),
    (999, "CUDA_ERROR_UNKNOWN", Status::Driver),
];

/// Failures of queued work: illegal addresses, time-outs, assertions and the like. Whichever call reports one, a GPU
/// refuses every call afterwards until the process ends.
const DEVICE_FAILED: [i32; 9] = [700, 702, 710, 714, 715, 716, 717, 718, 719];

fn row(code: i32) -> Option<&'static (i32, &'static str, Status)> {
    CODES.iter().find(|(number, ..)| *number == code)
}

/// The status that a number means to a caller; `Driver` for a number that is not in the table.
pub fn status_of(code: i32) -> Status {
    row(code).map_or(Status::Driver, |(.., status)| *status)
}

/// The spelling of a number.
pub fn name_of(code: i32) -> &'static str {
    row(code).map_or("an unrecognised error", |(_, name, _)| *name)
}

/// Whether a number is a failure of queued work, after which a device refuses every call.
pub fn is_of_queued_work(code: i32) -> bool {
    DEVICE_FAILED.contains(&code)
}

/// The failure of a call with the number `code`, spelled `name` by the driver.
pub fn driver_failure(status: Status, call: &str, code: i32, name: &str) -> Error {
    let error = Error::driver(status, call, code, name);
    match code {
        711 => error.with_cause(Cause::TooManyPeers),
        800 => error.with_cause(Cause::NotPermitted),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_without_twins() {
        assert!(CODES.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn numbers_that_callers_act_on_have_a_cause() {
        let cause = |code| driver_failure(status_of(code), "call", code, name_of(code)).cause();
        assert_eq!(cause(711), Some(Cause::TooManyPeers));
        assert_eq!(cause(800), Some(Cause::NotPermitted));
        assert_eq!([cause(1), cause(2), cause(201), cause(700), cause(12345)], [None; 5]);
        assert!([700, 719].into_iter().all(is_of_queued_work));
        assert!(![1, 2, 201, 900, 12345].into_iter().any(is_of_queued_work));
    }
}
