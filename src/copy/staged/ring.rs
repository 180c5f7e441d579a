//! The pinned memory of a copy: a block of the host cache, cut into slots. Each thread has a lane of
//! them and uses them in turn, so that one is filled or emptied while the other's transfer runs.

use super::bytes;
use super::pieces::Piece;
use crate::context::Runtime;
use crate::driver::{EventFlags, RawAddress, StreamRef};
use crate::error::Result;
use crate::event::NativeEvent;
use crate::host_memory;

/// Slots of a lane.
pub(super) const SLOTS: usize = 2;

/// A block of the host cache for the time of a copy.
pub(super) struct Ring {
    block: usize,
    slot_bytes: usize,
    lanes: usize,
}

impl Ring {
    pub(super) fn new(lanes: usize, slot_bytes: usize) -> Result<Ring> {
        let block = host_memory::alloc(lanes * SLOTS * slot_bytes)?;
        Ok(Ring { block, slot_bytes, lanes })
    }

    /// All of its lanes, for transfers on a device.
    pub(super) fn lanes(&self, runtime: &Runtime, stream: StreamRef) -> Result<Vec<Lane>> {
        let lane = |lane: usize| {
            let slot = |slot: usize| {
                let event = NativeEvent::obtain(runtime, stream.device, EventFlags::default())?;
                let place = self.block + (lane * SLOTS + slot) * self.slot_bytes;
                Ok(Slot { address: bytes::of_slot(place), event, piece: None })
            };
            Ok(Lane { slots: [slot(0)?, slot(1)?], turn: 0 })
        };
        (0..self.lanes).map(lane).collect()
    }

    /// Transfers of the stream may be pending: the block is not used again before they are done.
    pub(super) fn note_use(&self, runtime: &Runtime, stream: StreamRef) {
        host_memory::record_use(runtime, self.block, stream);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if let Err(error) = host_memory::free(self.block) {
            crate::log::warn(format_args!("a pinned block was not given back: {error}"));
        }
    }
}

/// Room for a piece.
pub(super) struct Slot {
    pub(super) address: RawAddress,
    /// Recorded after each transfer. Waiting for it spins: a transfer is done within microseconds,
    /// sooner than a thread that sleeps is woken.
    pub(super) event: NativeEvent,
    /// The piece that is on its way to or from here.
    pub(super) piece: Option<Piece>,
}

/// The slots of one thread.
pub(super) struct Lane {
    pub(super) slots: [Slot; SLOTS],
    turn: usize,
}

impl Lane {
    /// The slot whose turn it is.
    pub(super) fn slot(&mut self) -> &mut Slot {
        &mut self.slots[self.turn % SLOTS]
    }

    pub(super) fn next(&mut self) {
        self.turn = (self.turn + 1) % SLOTS;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots.iter().all(|slot| slot.piece.is_none())
    }
}
