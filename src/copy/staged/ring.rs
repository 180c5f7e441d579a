//! A pinned block cut into slots for pieces that are on their way, each with an event that tells
//! when its transfer is done. Pieces take the slots in turn.

use super::bytes;
use crate::context::Runtime;
use crate::driver::{EventFlags, EventHandle, RawAddress, StreamRef};
use crate::error::Result;
use crate::event::NativeEvent;
use crate::host_memory;

/// The most slots: 16 MiB of the largest pieces.
const MOST_SLOTS: usize = 32;

/// Slots for the time of a copy.
pub(super) struct Ring<'a> {
    runtime: &'a Runtime,
    stream: StreamRef,
    pub(super) slots: Slots,
    events: Vec<NativeEvent>,
    /// Transfers from or to the slots have been queued that nobody has seen the end of.
    pending: bool,
}

/// Where the slots are.
#[derive(Clone, Copy)]
pub(super) struct Slots {
    block: usize,
    bytes: usize,
    pub(super) count: usize,
}

impl Slots {
    /// The slot of a piece.
    pub(super) fn of(self, piece: usize) -> RawAddress {
        bytes::of_slot(self.block + piece % self.count * self.bytes)
    }
}

impl<'a> Ring<'a> {
    /// Slots of so many bytes, as many as the pieces need.
    pub(super) fn new(
        runtime: &'a Runtime,
        stream: StreamRef,
        bytes: usize,
        pieces: usize,
    ) -> Result<Ring<'a>> {
        let count = pieces.clamp(1, MOST_SLOTS);
        let events = (0..count)
            .map(|_| NativeEvent::obtain(runtime, stream.device, EventFlags::default()))
            .collect::<Result<_>>()?;
        let block = host_memory::alloc(count * bytes)?;
        Ok(Ring { runtime, stream, slots: Slots { block, bytes, count }, events, pending: false })
    }

    fn event(&self, piece: usize) -> EventHandle {
        self.events[piece % self.slots.count].handle()
    }

    /// Queues a piece's transfer.
    pub(super) fn queue(
        &mut self,
        piece: usize,
        dst: RawAddress,
        src: RawAddress,
        bytes: usize,
    ) -> Result<()> {
        // Noted first: a call that fails may have queued all the same.
        self.pending = true;
        let driver = self.runtime.driver();
        driver.copy_direct_async(dst, src, bytes, self.stream)?;
        driver.event_record(self.event(piece), self.stream)
    }

    /// Whether a piece's transfer is done.
    pub(super) fn is_done(&self, piece: usize) -> Result<bool> {
        self.runtime.driver().event_query(self.event(piece))
    }

    /// Waits until a piece's transfer is done.
    pub(super) fn wait_for(&self, piece: usize) -> Result<()> {
        self.runtime.driver().event_synchronize(self.event(piece))
    }

    /// All transfers are known to be done.
    pub(super) fn settle(&mut self) {
        self.pending = false;
    }
}

impl Drop for Ring<'_> {
    /// The block is not handed out again before its transfers are done.
    fn drop(&mut self) {
        let Slots { block, .. } = self.slots;
        if self.pending {
            host_memory::record_use(self.runtime, block, self.stream);
        }
        if let Err(error) = host_memory::free(block) {
            crate::log::warn(format_args!("a pinned block was not given back: {error}"));
        }
    }
}
