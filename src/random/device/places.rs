//! Generators whose seed and offset are on the device.
//!
//! A graph is replayed without the host: a captured fill that contained its offset would draw the same
//! numbers at every replay. From its first captured fill on, a generator's seed and offset are therefore a
//! *record* in device memory. Each fill, captured or not, begins with a small kernel that takes its piece of
//! the sequence from the record, atomically, and writes it to a *slot* that the fill reads. Replays and
//! ordinary fills continue one sequence in the order in which they run, as in torch, and no piece is taken
//! twice, whatever streams they run on.
//!
//! The record contains differences to the generator's seed and offset at its begin (a change of the seed by
//! exclusive or, and the advance of the offset). So a record of zeros is valid, and nothing has to be written
//! while a stream is being captured.

use super::device_work::{DeviceWork, RandomKernel};
use crate::driver::StreamRef;
use crate::error::{Error, Result, Status};
use crate::kernels::TakeLaunch;
use crate::types::{DeviceIndex, DevicePtr};

/// The record of a captured generator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    device: DeviceIndex,
    place: DevicePtr,
    /// The generator's seed and offset when the record began.
    seed: u64,
    offset: u64,
}

/// Makes a device ready for captures, also during one. May allocate, and must therefore be called without a
/// lock.
pub(super) fn prepare(work: &dyn DeviceWork, device: DeviceIndex) -> Result<()> {
    let arena = work.arena(device);
    if arena.is_low() {
        arena.add(work.allocate_chunk(device)?);
    }
    Ok(())
}

/// Device memory for a record or a slot.
pub(super) fn new_place(work: &dyn DeviceWork, device: DeviceIndex) -> Result<DevicePtr> {
    work.arena(device).take().ok_or_else(|| {
        Error::new(
            Status::OutOfMemory,
            format!(
                "device {device} has no memory left for generators that graphs use; free some, or \
                 call sconce_generator_prepare_capture while there is"
            ),
        )
    })
}

impl Record {
    /// Moves a generator's seed and offset to the device. Calls no driver.
    pub(super) fn begin(
        work: &dyn DeviceWork,
        device: DeviceIndex,
        seed: u64,
        offset: u64,
    ) -> Result<Record> {
        Ok(Record { device, place: new_place(work, device)?, seed, offset })
    }

    /// Takes the next piece of the sequence in stream order, and writes seed and offset to the slot.
    pub(super) fn take(
        &self,
        work: &dyn DeviceWork,
        increment: u64,
        slot: DevicePtr,
        stream: StreamRef,
    ) -> Result<()> {
        let Record { place: record, seed, offset, .. } = *self;
        let launch = TakeLaunch { record, increment, slot, seed, offset };
        work.launch(RandomKernel::Take, [1, 1], 1, &launch.arguments(), stream)
    }

    /// Seed and offset after all work queued so far. Waits for the device.
    pub(super) fn read(&self, work: &dyn DeviceWork) -> Result<(u64, u64)> {
        let [change, taken] = work.read(self.device, self.place)?;
        Ok((self.seed ^ change, self.offset.wrapping_add(taken)))
    }

    /// Sets seed and offset for all work queued from now on. Waits for the device.
    pub(super) fn write(&self, work: &dyn DeviceWork, seed: u64, offset: u64) -> Result<()> {
        let pair = [self.seed ^ seed, offset.wrapping_sub(self.offset)];
        work.write(self.device, self.place, pair)
    }
}
