//! What one thread needs to move pieces: a pinned block cut into slots, each with an event that
//! tells when its transfer is done.
//!
//! The slots are used in turn, so that one is filled or emptied while the other's transfer runs.

use super::pieces::{LARGEST, Piece};
use super::slots;
use crate::context::Runtime;
use crate::driver::{EventFlags, RawAddress, StreamRef};
use crate::error::Result;
use crate::event::NativeEvent;

/// Slots of a lane.
pub(super) const SLOTS: usize = 2;

/// Room for a piece.
pub(super) struct Slot {
    pub(super) address: RawAddress,
    /// Recorded after each transfer. It spins: a transfer is done within microseconds, sooner than a
    /// thread that sleeps is woken.
    pub(super) event: NativeEvent,
    /// The piece that is on its way to or from here.
    pub(super) piece: Option<Piece>,
}

/// A ring of slots.
pub(super) struct Lane {
    block: usize,
    stream: StreamRef,
    pub(super) slots: [Slot; SLOTS],
    /// The slot whose turn it is.
    pub(super) turn: usize,
}

impl Lane {
    pub(super) fn new(runtime: &Runtime, stream: StreamRef) -> Result<Lane> {
        let event = || NativeEvent::obtain(runtime, stream.device, EventFlags::default());
        let events = [event()?, event()?];
        let block = slots::alloc(stream.device)?;
        let mut place = block;
        let slots = events.map(|event| {
            let address = super::bytes::of_slot(place);
            place += LARGEST;
            Slot { address, event, piece: None }
        });
        Ok(Lane { block, stream, slots, turn: 0 })
    }

    /// The slot whose turn it is.
    pub(super) fn slot(&mut self) -> &mut Slot {
        &mut self.slots[self.turn % SLOTS]
    }

    pub(super) fn advance(&mut self) {
        self.turn = (self.turn + 1) % SLOTS;
    }
}

impl Drop for Lane {
    /// The block is not used again before its transfers are done.
    fn drop(&mut self) {
        let pending = self.slots.iter().any(|slot| slot.piece.is_some());
        if let Err(error) = slots::free(self.block, pending.then_some(self.stream)) {
            crate::log::warn(format_args!("a pinned block was not given back: {error}"));
        }
    }
}
