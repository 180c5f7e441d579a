//! A pinned block cut into slots for pieces that are on their way. Pieces take the slots in turn; a
//! transfer takes one or more that lie in a row, and has an event that is complete when it is done.

use std::collections::VecDeque;
use std::ops::Range;

use sconce_base::error::Result;
use sconce_driver::{EventFlags, HostElements, HostRange, RawAddress};
use sconce_runtime::context::Runtime;
use sconce_runtime::event::NativeEvent;
use sconce_runtime::host_memory;
use sconce_runtime::stream::Stream;

use crate::copy::host_copy;

/// Slots for the time of a copy.
pub(super) struct Ring<'a> {
    runtime: &'a Runtime,
    stream: Stream,
    pub(super) slots: Slots,
    /// The transfers that are not known to be done: their events, and the piece after their last.
    under_way: VecDeque<(NativeEvent, usize)>,
    /// Transfers may be pending when this is dropped.
    pending: bool,
}

/// Where the slots are.
#[derive(Clone, Copy)]
pub(super) struct Slots {
    block: HostRange,
    bytes: usize,
    pub(super) count: usize,
}

impl Slots {
    /// The slot of a piece, with the slots after it in the row.
    pub(super) fn of(self, piece: usize) -> HostRange {
        self.block.part(piece % self.count * self.bytes, usize::MAX)
    }

    /// How many slots lie in a row from that of a piece on.
    pub(super) fn row(self, piece: usize) -> usize {
        self.count - piece % self.count
    }
}

impl<'a> Ring<'a> {
    /// Makes `count` slots of `bytes` bytes.
    pub(super) fn new(
        runtime: &'a Runtime,
        stream: Stream,
        bytes: usize,
        count: usize,
    ) -> Result<Ring<'a>> {
        let block = host_copy::pinned(count * bytes)?;
        let slots = Slots { block, bytes, count };
        Ok(Ring { runtime, stream, slots, under_way: VecDeque::new(), pending: false })
    }

    /// Queues a transfer of the pieces before `end`.
    pub(super) fn queue(
        &mut self,
        end: usize,
        dst: RawAddress,
        src: RawAddress,
        bytes: usize,
    ) -> Result<()> {
        let event = NativeEvent::obtain(self.runtime, self.stream.device(), EventFlags::default())?;
        // Noted first: a call that fails may have queued all the same.
        self.pending = true;
        let driver = self.runtime.driver();
        driver.copy_direct_async(dst, src, bytes, self.stream.driver_ref())?;
        driver.event_record(event.handle(), self.stream.driver_ref())?;
        self.under_way.push_back((event, end));
        Ok(())
    }

    /// From now on threads fill the slots of pieces, or empty them. Told here, if the backend follows the host, because
    /// those threads never call it.
    pub(super) fn host_uses(&self, pieces: Range<usize>, writes: bool) {
        let driver = self.runtime.driver();
        if !driver.observes_host() {
            return;
        }
        let Range { start: mut piece, end } = pieces;
        while piece < end {
            let row = self.slots.row(piece).min(end - piece);
            let address = self.slots.of(piece).get();
            let sizes = &[(row * self.slots.bytes) as i64];
            driver.host_used(&HostElements { address, element: 1, sizes, strides: &[1] }, writes);
            piece += row;
        }
    }

    /// How many transfers are under way.
    pub(super) fn depth(&self) -> usize {
        self.under_way.len()
    }

    /// The piece after the last of the oldest transfer, if that is done.
    pub(super) fn take_done(&mut self) -> Result<Option<usize>> {
        let Some((event, end)) = self.under_way.front() else { return Ok(None) };
        if !self.runtime.driver().event_query(event.handle())? {
            return Ok(None);
        }
        let end = *end;
        self.under_way.pop_front();
        Ok(Some(end))
    }

    /// Waits for the oldest transfer.
    pub(super) fn wait(&self) -> Result<()> {
        match self.under_way.front() {
            Some((event, _)) => self.runtime.driver().event_synchronize(event.handle()),
            None => Ok(()),
        }
    }

    /// Notes that all transfers are done.
    pub(super) fn mark_done(&mut self) {
        self.pending = false;
    }
}

impl Drop for Ring<'_> {
    /// The block is not handed out again before its transfers are done.
    fn drop(&mut self) {
        let Slots { block, .. } = self.slots;
        if self.pending {
            host_memory::record_use(self.runtime, block.get(), self.stream);
        }
        if let Err(error) = host_memory::free(block.get()) {
            sconce_base::log::warn(format_args!("a pinned block was not returned: {error}"));
        }
    }
}
