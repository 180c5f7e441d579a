//! Generators whose place in the sequence lives on the device.
//!
//! What a graph captures is replayed without the host: a fill that carried its offset would give
//! the same numbers at every replay. From its first captured fill on, a generator's truth is
//! therefore a *record* in device memory, and every fill, captured or not, begins with a tiny kernel
//! that takes its piece of the sequence there, atomically, and notes it in a *slot* that the fill
//! reads. Replays and ordinary fills continue one sequence in the order in which they run, which is
//! what torch gives too, and no piece is taken twice whatever streams they run on.
//!
//! The record holds differences to what the generator was when it began (a change of the seed by
//! exclusive or, and how far the offset has come), so that fresh zeros are right and nothing has to
//! be written while a stream is being captured. `docs/design/random.md` tells more.

use super::device_work::{DeviceWork, RandomKernel};
use crate::driver::StreamRef;
use crate::error::{Error, Result, Status};
use crate::kernels::TakeLaunch;
use crate::types::{DeviceIndex, DevicePtr};

/// Where a captured generator's truth is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    device: DeviceIndex,
    place: DevicePtr,
    /// Seed and offset when it began.
    seed: u64,
    offset: u64,
}

/// Makes a device ready for captures, as far as it is not; also during one. May allocate, hence not
/// under a lock.
pub(super) fn prepare(work: &dyn DeviceWork, device: DeviceIndex) -> Result<()> {
    let arena = work.arena(device);
    if arena.is_low() {
        arena.add(work.allocate_chunk(device)?);
    }
    Ok(())
}

/// A place of 16 bytes for a record or a slot.
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
    /// Moves a generator's truth to the device. No driver call.
    pub(super) fn begin(
        work: &dyn DeviceWork,
        device: DeviceIndex,
        seed: u64,
        offset: u64,
    ) -> Result<Record> {
        Ok(Record { device, place: new_place(work, device)?, seed, offset })
    }

    /// Takes the next piece of the sequence, in stream order; the slot then holds seed and offset.
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
