//! A copy that several threads work on, each with a lane of its own.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::bytes;
use super::lane::{Lane, SLOTS, Slot};
use super::pieces::{Piece, Pieces};
use crate::driver::{Driver, RawAddress, RelaxedCapture, StreamRef};
use crate::error::{Error, Result};
use crate::types::DevicePtr;

/// Which way a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    ToDevice,
    ToHost,
}

/// A copy under way.
pub(super) struct Transfer {
    pub(super) driver: &'static dyn Driver,
    pub(super) stream: StreamRef,
    pub(super) direction: Direction,
    pub(super) device: DevicePtr,
    pub(super) host: RawAddress,
    pub(super) pieces: Pieces,
    pub(super) lanes: Mutex<Vec<Lane>>,
    pub(super) failure: Mutex<Option<Error>>,
    pub(super) failed: AtomicBool,
}

impl Transfer {
    /// Moves pieces until all are taken, or something has failed. `first` is called once, when a
    /// transfer of this thread is known to be done.
    pub(super) fn work(&self, mut first: impl FnMut()) {
        let Some(mut lane) = self.lanes.lock().pop() else { return };
        let outcome =
            RelaxedCapture::enter(self.driver).and_then(|_relaxed| match self.direction {
                Direction::ToDevice => self.fill(&mut lane, &mut first),
                Direction::ToHost => self.drain(&mut lane, &mut first),
            });
        self.lanes.lock().push(lane);
        if let Err(error) = outcome {
            self.fail(error);
        }
    }

    pub(super) fn fail(&self, error: Error) {
        self.failure.lock().get_or_insert(error);
        self.failed.store(true, Ordering::Relaxed);
    }

    /// The next piece; none after a failure.
    fn take(&self) -> Option<Piece> {
        if self.failed.load(Ordering::Relaxed) { None } else { self.pieces.take() }
    }

    fn fill(&self, lane: &mut Lane, first: &mut dyn FnMut()) -> Result<()> {
        loop {
            let slot = lane.slot();
            if slot.piece.is_some() {
                self.driver.event_synchronize(slot.event.handle())?;
                slot.piece = None;
                first();
            }
            let Some(piece) = self.take() else { return Ok(()) };
            bytes::copy(slot.address, bytes::advance(self.host, piece.offset), piece.bytes);
            self.queue(slot, piece)?;
            lane.advance();
        }
    }

    fn drain(&self, lane: &mut Lane, first: &mut dyn FnMut()) -> Result<()> {
        for _ in 0..SLOTS {
            let Some(piece) = self.take() else { break };
            self.queue(lane.slot(), piece)?;
            lane.advance();
        }
        loop {
            let slot = lane.slot();
            let Some(piece) = slot.piece else {
                // The range may have had fewer pieces than the lane has slots.
                if lane.slots.iter().all(|slot| slot.piece.is_none()) {
                    return Ok(());
                }
                lane.advance();
                continue;
            };
            self.driver.event_synchronize(slot.event.handle())?;
            first();
            bytes::copy(bytes::advance(self.host, piece.offset), slot.address, piece.bytes);
            slot.piece = None;
            if let Some(piece) = self.take() {
                self.queue(slot, piece)?;
            }
            lane.advance();
        }
    }

    fn queue(&self, slot: &mut Slot, piece: Piece) -> Result<()> {
        // Noted first: a call that fails may have queued all the same.
        slot.piece = Some(piece);
        let device = RawAddress::from(DevicePtr(self.device.0 + piece.offset as u64));
        let (dst, src) = match self.direction {
            Direction::ToDevice => (device, slot.address),
            Direction::ToHost => (slot.address, device),
        };
        self.driver.copy_async(dst, src, piece.bytes, self.stream)?;
        self.driver.event_record(slot.event.handle(), self.stream)
    }
}
