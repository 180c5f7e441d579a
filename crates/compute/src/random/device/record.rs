//! A seed and an offset in device memory, from which work takes pieces of the sequence in the order in which it runs.
//!
//! The record holds differences to a base: a change of the seed (exclusive or), and the advance of the offset. With the
//! generator's numbers as base, fresh memory of zeros is a valid record; with zeros as base, the record holds seed and
//! offset themselves.

use sconce_base::error::Result;
use sconce_base::lock::{Mutex, rank};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::StreamRef;
use sconce_kernels::TakeLaunch;

use super::arena::{Arena, Retired};
use super::host_pairs::HostPair;
use super::newest_use::NewestUse;
use super::places::{new_place, no_place};
use super::work::{DeviceWork, RandomKernel};

/// A record. Its memory comes back when nothing names it any more.
pub(in crate::random) struct DeviceRecord {
    pub(in crate::random) device: DeviceIndex,
    pub(in crate::random) place: DevicePtr,
    /// The seed and the offset that the contents are differences to.
    base: (u64, u64),
    /// Where a kernel writes seed and offset after each use, for the host.
    told: Option<&'static HostPair>,
    newest: Mutex<rank::GeneratorRecord, NewestUse>,
    arena: &'static Arena,
}

/// Queues a kernel that takes a piece of what is at `from`, and writes where the piece begins to `to`.
pub(in crate::random) fn queue_take(
    work: &dyn DeviceWork,
    stream: StreamRef,
    (from, base): (DevicePtr, (u64, u64)),
    increment: u64,
    to: DevicePtr,
) -> Result<()> {
    let launch = TakeLaunch { record: from, increment, slot: to, seed: base.0, offset: base.1 };
    work.launch(RandomKernel::Take, [1, 1], 1, &launch.arguments(), stream)
}

/// Queues a kernel that writes two numbers to device memory.
pub(in crate::random) fn queue_write(
    work: &dyn DeviceWork,
    stream: StreamRef,
    to: DevicePtr,
    pair: (u64, u64),
) -> Result<()> {
    let arena = work.arena(stream.device);
    let zero = arena.zero().ok_or_else(|| no_place(stream.device))?;
    arena.reach_zeros(|zeroing| {
        let is_past = work.is_past(zeroing)?;
        if is_past { Ok(true) } else { work.follow(stream, zeroing).map(|()| false) }
    })?;
    queue_take(work, stream, (zero, pair), 0, to)
}

impl DeviceRecord {
    /// A record of the launches of a graph, whose contents each launch sets.
    pub(in crate::random) fn of_launches(
        work: &dyn DeviceWork,
        device: DeviceIndex,
    ) -> Result<DeviceRecord> {
        let told = Some(work.new_pair(device)?);
        let (place, arena) = (new_place(work, device)?, work.arena(device));
        Ok(DeviceRecord { device, place, base: (0, 0), told, newest: Mutex::default(), arena })
    }

    /// A record that begins with a generator's numbers, also for a stream that is being captured. Waits for its zeros.
    pub(in crate::random) fn beginning_with(
        work: &dyn DeviceWork,
        device: DeviceIndex,
        seed: u64,
        offset: u64,
    ) -> Result<DeviceRecord> {
        let arena = work.arena(device);
        let place = arena.take_zeros().ok_or_else(|| no_place(device))?;
        arena.reach_zeros(|zeroing| work.wait(zeroing).map(|()| true))?;
        let base = (seed, offset);
        Ok(DeviceRecord { device, place, base, told: None, newest: Mutex::default(), arena })
    }

    /// Queues a use on a stream, behind all uses queued before. The lock of the record's generator is held, so that
    /// uses follow each other.
    pub(in crate::random) fn use_on(
        &self,
        work: &dyn DeviceWork,
        stream: StreamRef,
        queue: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        // The record's own lock is not held meanwhile: `queue` takes those of other records and generators.
        let mut newest = self.newest.lock().clone();
        work.follow(stream, &newest)?;
        // Even work of which a part fails counts as a use.
        let queued = queue().and_then(|()| self.tell(work, stream));
        let marked = work.mark(stream, &mut newest);
        *self.newest.lock() = newest;
        queued.and(marked)
    }

    /// Writes the numbers for the host.
    fn tell(&self, work: &dyn DeviceWork, stream: StreamRef) -> Result<()> {
        let Some(pair) = self.told else { return Ok(()) };
        let to = DevicePtr(pair.as_ptr().addr() as u64);
        queue_take(work, stream, (self.place, self.base), 0, to)
    }

    /// Takes a piece in the order of a use that [`use_on`](Self::use_on) queues, or inside of a graph.
    pub(in crate::random) fn take(
        &self,
        work: &dyn DeviceWork,
        stream: StreamRef,
        increment: u64,
        to: DevicePtr,
    ) -> Result<()> {
        queue_take(work, stream, (self.place, self.base), increment, to)
    }

    /// Sets the numbers to those of another record, in the order of uses of both.
    pub(in crate::random) fn take_over(
        &self,
        work: &dyn DeviceWork,
        stream: StreamRef,
        from: &DeviceRecord,
    ) -> Result<()> {
        // What is written is the difference to this record's base.
        let base = (from.base.0 ^ self.base.0, from.base.1.wrapping_sub(self.base.1));
        queue_take(work, stream, (from.place, base), 0, self.place)
    }

    /// Sets the numbers, in the order of a use. For records with zeros as base.
    pub(in crate::random) fn set(
        &self,
        work: &dyn DeviceWork,
        stream: StreamRef,
        seed: u64,
        offset: u64,
    ) -> Result<()> {
        queue_write(
            work,
            stream,
            self.place,
            (seed ^ self.base.0, offset.wrapping_sub(self.base.1)),
        )
    }

    /// Whether all uses so far are done.
    pub(in crate::random) fn is_past(&self, work: &dyn DeviceWork) -> Result<bool> {
        work.is_past(&self.newest.lock())
    }

    /// Waits until all uses so far are done.
    pub(in crate::random) fn wait(&self, work: &dyn DeviceWork) -> Result<()> {
        let newest = self.newest.lock().clone();
        work.wait(&newest)
    }

    /// Seed and offset as of the last use that is done, if a kernel writes them for the host.
    pub(in crate::random) fn told(&self, work: &dyn DeviceWork) -> Option<(u64, u64)> {
        let [seed, offset] = work.told(self.told?);
        Some((seed, offset))
    }

    /// Reads seed and offset. Waits for the uses so far, and for nothing else.
    pub(in crate::random) fn read(&self, work: &dyn DeviceWork) -> Result<(u64, u64)> {
        self.wait(work)?;
        let [change, advance] = work.read(self.device, self.place)?;
        Ok((self.base.0 ^ change, self.base.1.wrapping_add(advance)))
    }

    /// Sets seed and offset. Waits for the uses so far, and for nothing else.
    pub(in crate::random) fn write(
        &self,
        work: &dyn DeviceWork,
        seed: u64,
        offset: u64,
    ) -> Result<()> {
        self.wait(work)?;
        let pair = [seed ^ self.base.0, offset.wrapping_sub(self.base.1)];
        work.write(self.device, self.place, pair)
    }
}

impl Drop for DeviceRecord {
    fn drop(&mut self) {
        // What a capture of other code has used is in use for ever; it is never dropped.
        let (places, newest) = (vec![self.place], std::mem::take(&mut *self.newest.lock()));
        self.arena.retire(Retired { places, pair: self.told, newest });
    }
}
