//! Two numbers between the host's stack and the device.

use crate::driver::{Driver, RawAddress, StreamRef};
use crate::error::Result;
use crate::types::DevicePtr;

const BYTES: usize = size_of::<[u64; 2]>();

/// Reads two numbers; waits for the stream.
pub(super) fn read(driver: &dyn Driver, from: DevicePtr, stream: StreamRef) -> Result<[u64; 2]> {
    let mut pair = [0_u64; 2];
    // SAFETY: a copy to pageable memory is complete when the call returns, and `pair` outlives it.
    let to = unsafe { RawAddress::from_caller(pair.as_mut_ptr() as usize) };
    driver.copy_async(to, from.into(), BYTES, stream)?;
    driver.stream_synchronize(stream)?;
    Ok(pair)
}

/// Writes two numbers; waits for the stream.
pub(super) fn write(
    driver: &dyn Driver,
    to: DevicePtr,
    pair: [u64; 2],
    stream: StreamRef,
) -> Result<()> {
    // SAFETY: the source is read before the call returns or the stream has been waited for, and
    // `pair` outlives both.
    let from = unsafe { RawAddress::from_caller(pair.as_ptr() as usize) };
    driver.copy_async(to.into(), from, BYTES, stream)?;
    driver.stream_synchronize(stream)
}
