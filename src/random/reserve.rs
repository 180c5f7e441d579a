//! Pieces of a device's sequence for kernels of the caller.

use super::capture;
use super::device_work::{DeviceWork, ProcessDevices};
use super::generator::{Draw, dead, device_of, outside_capture, with_draw, with_state};
use crate::collections::slab::Key;
use crate::context::runtime;
use crate::error::Result;
use crate::philox::rounded_increment;
use crate::stream;

/// Reserves a piece of the sequence for a kernel of the caller. Returns the seed and the begin of the piece.
#[inline]
pub fn reserve(key: Key, increment: u64) -> Result<(u64, u64)> {
    let increment = rounded_increment(increment);
    let reserved = with_state(key, |state| {
        if state.record.is_some() {
            return Ok(None);
        }
        Ok(Some(state.reserve(increment)))
    })?;
    match reserved {
        Some(reserved) => Ok(reserved),
        None => reserve_captured(key, increment),
    }
}

#[cold]
fn reserve_captured(key: Key, increment: u64) -> Result<(u64, u64)> {
    let device = device_of(key)?;
    let (work, stream) = outside_capture(device)?;
    // A slot of this call alone, since it is read after the lock is released.
    capture::prepare(&work, device)?;
    let slot = capture::new_place(&work, device)?;
    let record = with_state(key, |state| Ok(state.record))?.ok_or_else(dead)?;
    record.take(&work, increment, slot, stream)?;
    let [seed, offset] = work.read(device, slot)?;
    Ok((seed, offset))
}

/// Makes the generator's device ready for captures.
pub fn prepare_capture(key: Key) -> Result<()> {
    let device = device_of(key)?;
    capture::prepare(&ProcessDevices(runtime()?), device)
}

/// Reserves for a launch on the calling thread's current stream, which may be captured.
pub fn reserve_for_launch(key: Key, increment: u64) -> Result<Draw> {
    let runtime = runtime()?;
    let work = ProcessDevices(runtime);
    let stream = stream::current_on(runtime, device_of(key)?)?.driver_ref();
    if work.is_capturing(stream)? {
        let mut drawn = None;
        with_draw(key, &work, stream, rounded_increment(increment), |draw| {
            drawn = Some(draw);
            Ok(())
        })?;
        if let Some(draw) = drawn {
            return Ok(draw);
        }
    }
    let (seed, offset) = reserve(key, increment)?;
    Ok(Draw::Host { seed, offset })
}
