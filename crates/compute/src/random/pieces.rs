//! Pieces of a generator's sequence, wherever its state is.

use std::sync::Arc;

use sconce_base::error::Result;
use sconce_base::types::DevicePtr;
use sconce_driver::StreamRef;

use super::device::{DeviceRecord, DeviceWork, queue_write};
use super::generator::{Draw, GeneratorState, StateAt};

impl GeneratorState {
    /// Reserves a piece of the sequence, where the state is on the host.
    #[inline]
    pub(super) fn reserve(&mut self, increment: u64) -> (u64, u64) {
        let offset = self.offset;
        self.offset = offset.wrapping_add(increment);
        (self.seed, offset)
    }

    /// Returns the state to the host if the launches are done in whose record it is.
    pub(super) fn return_to_host_if_done(&mut self, work: &dyn DeviceWork) -> Result<()> {
        if let StateAt::Launch(record) = &self.at
            && record.is_past(work)?
            && let Some((_, offset)) = record.told(work)
        {
            (self.offset, self.at) = (offset, StateAt::Host);
        }
        Ok(())
    }

    /// Moves the state to the device, for ever.
    pub(super) fn move_to_device(
        &mut self,
        work: &dyn DeviceWork,
    ) -> Result<&'static DeviceRecord> {
        let record = DeviceRecord::beginning_with(work, self.device, self.seed, self.offset)?;
        let record: &'static DeviceRecord = Box::leak(Box::new(record));
        self.at = StateAt::Device(record);
        Ok(record)
    }

    /// A piece for a launch on a stream, outside of captures.
    pub(super) fn draw(
        &mut self,
        work: &dyn DeviceWork,
        stream: StreamRef,
        increment: u64,
    ) -> Result<Draw> {
        self.return_to_host_if_done(work)?;
        if let StateAt::Host = self.at {
            let (seed, offset) = self.reserve(increment);
            return Ok(Draw::Host { seed, offset });
        }
        let slot = self.slot(work, stream)?;
        if let Some(record) = self.at.record() {
            record.use_on(work, stream, || record.take(work, stream, increment, slot))?;
        }
        Ok(Draw::Device { state: slot, ahead: 0 })
    }

    /// A piece for a launch of a graph, which finds its begin in a cell.
    pub(super) fn give(
        &mut self,
        work: &dyn DeviceWork,
        stream: StreamRef,
        increment: u64,
        cell: DevicePtr,
    ) -> Result<()> {
        self.return_to_host_if_done(work)?;
        match self.at.record() {
            Some(record) => {
                record.use_on(work, stream, || record.take(work, stream, increment, cell))
            }
            None => {
                let begin = self.reserve(increment);
                queue_write(work, stream, cell, begin)
            }
        }
    }

    /// Passes the state to the record of a graph, whose launch `launch` queues. Afterwards the state is in the record
    /// until the launch is done.
    pub(super) fn lend(
        &mut self,
        work: &dyn DeviceWork,
        stream: StreamRef,
        record: &Arc<DeviceRecord>,
        launch: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        self.return_to_host_if_done(work)?;
        let is_there = matches!(&self.at, StateAt::Launch(other) if Arc::ptr_eq(other, record));
        record.use_on(work, stream, || {
            match self.at.record() {
                _ if is_there => {}
                None => record.set(work, stream, self.seed, self.offset)?,
                Some(other) => {
                    other.use_on(work, stream, || record.take_over(work, stream, other))?;
                }
            }
            launch()?;
            match self.at {
                StateAt::Device(own) => {
                    own.use_on(work, stream, || own.take_over(work, stream, record))
                }
                _ => Ok(()),
            }
        })?;
        if !matches!(self.at, StateAt::Device(_)) {
            self.at = StateAt::Launch(Arc::clone(record));
        }
        Ok(())
    }
}
