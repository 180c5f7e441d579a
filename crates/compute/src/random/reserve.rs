//! Pieces of a device's sequence for kernels of the caller.

use std::sync::Arc;

use sconce_base::collections::slab::Key;
use sconce_base::error::{Error, Result, Status};
use sconce_base::types::DeviceIndex;
use sconce_math::philox::rounded_increment;
use sconce_runtime::context::runtime;
use sconce_runtime::stream;

use super::device::{DeviceRecord, DeviceWork, ProcessDevices, new_place, prepare};
use super::draw::{DrawRequest, with_draw};
use super::generator::{Draw, StateAt, device_of, with_state};
use super::numbers::refuse_in_capture;

/// Reserves a piece of the sequence for a kernel of the caller. Returns the seed and the begin of the piece.
#[inline]
pub fn reserve(key: Key, increment: u64) -> Result<(u64, u64)> {
    let increment = rounded_increment(increment);
    let reserved = with_state(key, |state| {
        Ok(match state.at {
            StateAt::Host => Some(state.reserve(increment)),
            StateAt::Launch(_) | StateAt::Device(_) => None,
        })
    })?;
    match reserved {
        Some(reserved) => Ok(reserved),
        None => reserve_elsewhere(key, increment),
    }
}

/// Where a piece is.
enum Reserved {
    Host(u64, u64),
    /// In the record of launches that are not done.
    Pending(Arc<DeviceRecord>),
    Device(&'static DeviceRecord),
}

#[cold]
fn reserve_elsewhere(key: Key, increment: u64) -> Result<(u64, u64)> {
    let device = device_of(key)?;
    refuse_in_capture(device)?;
    let work = ProcessDevices(runtime()?);
    loop {
        let found = with_state(key, |state| {
            state.return_to_host_if_done(&work)?;
            Ok(match &state.at {
                StateAt::Launch(record) => Reserved::Pending(Arc::clone(record)),
                StateAt::Device(record) => Reserved::Device(record),
                StateAt::Host => {
                    let (seed, offset) = state.reserve(increment);
                    Reserved::Host(seed, offset)
                }
            })
        })?;
        match found {
            Reserved::Host(seed, offset) => return Ok((seed, offset)),
            Reserved::Pending(record) => record.wait(&work)?,
            Reserved::Device(record) => {
                return reserve_on_device(&work, (key, device), record, increment);
            }
        }
    }
}

/// Takes a piece from a record, and reads where it begins.
fn reserve_on_device(
    work: &dyn DeviceWork,
    (key, device): (Key, DeviceIndex),
    record: &DeviceRecord,
    increment: u64,
) -> Result<(u64, u64)> {
    prepare(work, device)?;
    let slot = new_place(work, device)?;
    work.on_new_stream(device, &mut |stream| {
        // Uses of a record follow each other by its generator's lock.
        with_state(key, |_| {
            record.use_on(work, stream, || record.take(work, stream, increment, slot))
        })
    })?;
    let [seed, offset] = work.read(device, slot)?;
    Ok((seed, offset))
}

/// Makes the generator's device ready for captures.
pub fn prepare_capture(key: Key) -> Result<()> {
    let device = device_of(key)?;
    prepare(&ProcessDevices(runtime()?), device)
}

/// A piece for a launch of the caller: numbers, or the address in device memory that holds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchPiece {
    /// Seed and offset.
    Numbers(u64, u64),
    /// Where seed and offset lie when the launch runs.
    InMemory(u64),
}

/// Reserves for a launch on the calling thread's current stream, which may be captured.
pub fn reserve_for_launch(key: Key, increment: u64) -> Result<LaunchPiece> {
    let runtime = runtime()?;
    let work = ProcessDevices(runtime);
    let stream = stream::current_on(runtime, device_of(key)?)?.driver_ref();
    if !work.is_capturing(stream)? {
        let (seed, offset) = reserve(key, increment)?;
        return Ok(LaunchPiece::Numbers(seed, offset));
    }
    let mut piece = None;
    let request = DrawRequest { increment: rounded_increment(increment), is_whole: true };
    with_draw(key, &work, stream, request, |draw| {
        piece = Some(match draw {
            Draw::Host { seed, offset } => LaunchPiece::Numbers(seed, offset),
            Draw::Device { state, .. } => LaunchPiece::InMemory(state.0),
        });
        Ok(())
    })?;
    piece.ok_or_else(|| Error::new(Status::Internal, "nothing was reserved"))
}
