//! The number of devices, and the check of their indices.

use sconce_base::error::{Error, Result, Status};
use sconce_base::types::DeviceIndex;

use super::follow::current_of_thread;
use crate::context::Runtime;

/// How many devices there are; 0 without a backend.
pub fn count() -> i32 {
    crate::context::count_devices()
}

/// The device that an index of the C API names; -1 is the current one.
#[inline(always)]
pub fn resolve(runtime: &Runtime, index: i32) -> Result<DeviceIndex> {
    if index == -1 {
        return current_of_thread(runtime);
    }
    checked(runtime, index)
}

/// The device with this index; -1 is not allowed.
#[inline]
pub fn checked(runtime: &Runtime, index: i32) -> Result<DeviceIndex> {
    // The count is at most `MAX_DEVICES`; as unsigned numbers negative indices are too large.
    if (index as u32) < runtime.device_count() as u32 {
        Ok(DeviceIndex::from_u8(index as u8))
    } else {
        Err(out_of_range(runtime, index))
    }
}

#[cold]
#[inline(never)]
fn out_of_range(runtime: &Runtime, index: i32) -> Error {
    Error::new(
        Status::InvalidDevice,
        format!(
            "device index {index} is out of range [0, {}); -1 means the current device",
            runtime.device_count()
        ),
    )
}
