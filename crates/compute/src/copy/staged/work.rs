//! Moving pieces between the caller's memory and the slots: what any thread may help with.
//!
//! Helpers never call the driver. Its calls take turns at a lock, and the more threads call at once
//! the longer each takes: one thread that queues all transfers keeps up where eight did not.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use sconce_base::error::{Error, Result, Status};
use sconce_driver::HostRange;

use super::pieces::Pieces;
use super::ring::Slots;
use crate::copy::host_copy;

/// Which way a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    ToDevice,
    ToHost,
}

/// A copy under way.
pub(super) struct StagedWork {
    direction: Direction,
    host: HostRange,
    pieces: Pieces,
    slots: Slots,
    /// The next piece that is to be moved.
    next: AtomicUsize,
    /// Pieces below this one may be moved: their slots are ready for it.
    open: AtomicUsize,
    /// For each slot, one more than the piece that was moved through it last.
    moved: Vec<AtomicUsize>,
    /// Nothing more is to be moved.
    stopped: AtomicBool,
}

impl StagedWork {
    pub(super) fn new(
        direction: Direction,
        host: HostRange,
        pieces: Pieces,
        slots: Slots,
    ) -> StagedWork {
        StagedWork {
            direction,
            host,
            pieces,
            slots,
            next: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            moved: (0..slots.count).map(|_| AtomicUsize::new(0)).collect(),
            stopped: AtomicBool::new(false),
        }
    }

    /// Lets pieces below `piece` be moved.
    pub(super) fn open_until(&self, piece: usize) {
        self.open.store(piece, Ordering::Release);
    }

    /// Whether a piece has been moved.
    pub(super) fn is_moved(&self, piece: usize) -> bool {
        self.moved[piece % self.slots.count].load(Ordering::Acquire) > piece
    }

    /// Has everybody leave.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Fails when a helper has stopped the work, which it does only when it could not go on.
    pub(super) fn check(&self) -> Result<()> {
        if self.stopped.load(Ordering::Relaxed) {
            return Err(Error::new(Status::Internal, "a thread that helps with copies has failed"));
        }
        Ok(())
    }

    /// Moves the next piece if it may be moved.
    pub(super) fn move_one(&self) -> bool {
        let piece = self.next.load(Ordering::Relaxed);
        if piece >= self.open.load(Ordering::Acquire).min(self.pieces.count())
            || self
                .next
                .compare_exchange(piece, piece + 1, Ordering::Relaxed, Ordering::Relaxed)
                .is_err()
        {
            return false;
        }
        let (offset, length) = self.pieces.run(piece, 1);
        let host = self.host.part(offset, length);
        let slot = self.slots.of(piece).part(0, length);
        match self.direction {
            // A slot that is used once is not in the cache: reading it there costs more than writing
            // past. One that is used again is.
            Direction::ToDevice if self.pieces.count() <= self.slots.count => {
                host_copy::copy_past_the_cache(slot, host);
            }
            Direction::ToDevice => host_copy::copy_apart(slot, host),
            Direction::ToHost => host_copy::copy_apart(host, slot),
        }
        self.moved[piece % self.slots.count].store(piece + 1, Ordering::Release);
        true
    }

    /// Moves pieces until all are taken.
    pub(super) fn help(&self) {
        let count = self.pieces.count();
        let mut patience = Patience::default();
        while self.next.load(Ordering::Relaxed) < count && !self.stopped.load(Ordering::Relaxed) {
            if self.move_one() {
                patience = Patience::default();
            } else {
                patience.wait();
            }
        }
    }
}

/// Waiting that begins by looking again and again, and ends by sleeping between looks.
#[derive(Default)]
pub(super) struct Patience {
    looks: u32,
}

impl Patience {
    /// Looks before others are let run, and before the thread sleeps: some 10 µs and 100 µs.
    const SPINS: u32 = 200;
    const YIELDS: u32 = 400;

    pub(super) fn is_over(&self) -> bool {
        self.looks >= Self::YIELDS
    }

    pub(super) fn wait(&mut self) {
        self.looks = self.looks.saturating_add(1);
        if self.looks < Self::SPINS {
            std::hint::spin_loop();
        } else if self.looks < Self::YIELDS {
            std::thread::yield_now();
        } else {
            std::thread::sleep(Duration::from_micros(50));
        }
    }
}
