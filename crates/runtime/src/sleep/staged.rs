//! Storage behind staging. The device copies to and from a ring of pinned slots; threads move the bytes between the
//! slots and the storage. Each slot takes as many pieces as fit, so that small blocks travel together.

use std::ops::Range;

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;
use sconce_driver::HostRange;

use super::host_block::PinnedStore;
use super::layout::{StorageLayout, StoredPiece};
use super::movers::Movers;
use super::transfers::{Transfers, Way};
use crate::context::Runtime;
use crate::memory::sleep::{LiveBlock, SavedBytes};

/// The bytes of a slot.
const SLOT: u64 = 2 << 20;
/// The most slots: some are being copied while others are being moved.
const SLOTS: usize = 16;

/// Where bytes are kept: parcels with an offset in each.
pub(super) trait ByteShelf: Send + Sync {
    /// Keeps bytes that lie in staging.
    fn put(&self, parcel: usize, offset: u64, from: HostRange) -> Result<()>;
    /// Brings bytes back to staging.
    fn get(&self, parcel: usize, offset: u64, into: HostRange) -> Result<()>;
    /// Where a byte is, if it is in memory of the host.
    fn place(&self, parcel: usize, offset: u64) -> Option<usize>;
}

/// Blocks on a shelf.
pub(super) struct ShelvedCopy<S> {
    layout: StorageLayout,
    shelf: S,
}

/// What travels through a slot at a time, and where in the slot each piece lies.
struct Slice {
    pieces: Vec<(StoredPiece, usize)>,
}

impl Slice {
    /// The slices of pieces: each piece is cut to fit, and each slice takes what fits.
    fn all_of(pieces: &[StoredPiece]) -> Vec<Slice> {
        let mut slices: Vec<Slice> = Vec::new();
        let mut unused = 0;
        for piece in pieces {
            let mut rest = *piece;
            while rest.bytes > 0 {
                if unused == 0 {
                    slices.push(Slice { pieces: Vec::new() });
                    unused = SLOT;
                }
                let bytes = rest.bytes.min(unused);
                let (at, now) = ((SLOT - unused) as usize, StoredPiece { bytes, ..rest });
                if let Some(slice) = slices.last_mut() {
                    slice.pieces.push((now, at));
                }
                unused -= bytes;
                rest = StoredPiece {
                    address: rest.address + bytes,
                    bytes: rest.bytes - bytes,
                    offset: rest.offset + bytes,
                    ..rest
                };
            }
        }
        slices
    }

    fn begin(&self) -> u64 {
        self.pieces.first().map_or(u64::MAX, |(piece, _)| piece.address)
    }

    fn end(&self) -> u64 {
        self.pieces.last().map_or(0, |(piece, _)| piece.address + piece.bytes)
    }

    /// Calls `each` for what lies side by side in storage: the parcel, the offset, and the range of the slot.
    fn rows(&self, mut each: impl FnMut(usize, u64, Range<usize>) -> Result<()>) -> Result<()> {
        let follows = |(one, _): &(StoredPiece, usize), (next, _): &(StoredPiece, usize)| {
            one.parcel == next.parcel && one.offset + one.bytes == next.offset
        };
        for row in self.pieces.chunk_by(follows) {
            let bytes: u64 = row.iter().map(|(piece, _)| piece.bytes).sum();
            if let Some((piece, at)) = row.first() {
                each(piece.parcel, piece.offset, *at..*at + bytes as usize)?;
            }
        }
        Ok(())
    }
}

/// Slots for the time of an operation.
struct Staging {
    block: PinnedStore,
    slots: usize,
}

impl Staging {
    fn new(slices: usize) -> Result<Staging> {
        let slots = slices.clamp(1, SLOTS);
        Ok(Staging { block: PinnedStore::new(slots * SLOT as usize)?, slots })
    }

    /// The slot of a slice.
    fn slot(&self, slice: usize) -> HostRange {
        self.block.range().part(slice % self.slots * SLOT as usize, SLOT as usize)
    }
}

/// An operation: the slices and what is under way.
struct SlotPassage<'a> {
    slices: &'a [Slice],
    staging: &'a Staging,
    transfers: Transfers<'a>,
    movers: &'a Movers<'a>,
}

impl SlotPassage<'_> {
    fn queue(&mut self, slice: usize) -> Result<()> {
        let slot = self.staging.slot(slice);
        for (piece, at) in &self.slices[slice].pieces {
            self.transfers.queue(piece.address, slot.part(*at, piece.bytes as usize))?;
        }
        self.transfers.end_group()
    }

    fn save(&mut self, saved: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        let (count, slots) = (self.slices.len(), self.staging.slots);
        let (mut queued, mut arrived, mut kept) = (0, 0, 0);
        while kept < count {
            if queued < count.min(kept + slots) {
                self.queue(queued)?;
                queued += 1;
                continue;
            }
            if arrived < queued {
                self.transfers.wait()?;
                self.movers.post(arrived);
                arrived += 1;
            } else {
                self.movers.wait(kept)?;
            }
            let before = kept;
            while kept < arrived && self.movers.is_done(kept)? {
                kept += 1;
            }
            if kept > before {
                saved(self.slices.get(kept).map_or(u64::MAX, Slice::begin))?;
            }
        }
        Ok(())
    }

    fn restore(&mut self, reach: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        let (count, slots) = (self.slices.len(), self.staging.slots);
        let (mut asked, mut queued, mut done) = (0, 0, 0);
        while done < count {
            if asked < count.min(done + slots) {
                self.movers.post(asked);
                asked += 1;
            } else if queued < asked && self.movers.is_done(queued)? {
                reach(self.slices[queued].end())?;
                self.queue(queued)?;
                queued += 1;
            } else if self.transfers.take_done()? {
                done += 1;
            } else if self.transfers.depth() > 0 {
                self.transfers.wait()?;
                done += 1;
            } else {
                self.movers.wait(queued)?;
            }
        }
        Ok(())
    }
}

impl<S: ByteShelf> ShelvedCopy<S> {
    /// Blocks whose storage `make` makes, given the bytes of each parcel.
    pub(super) fn new(
        blocks: &[LiveBlock],
        make: impl FnOnce(&[u64]) -> Result<S>,
    ) -> Result<ShelvedCopy<S>> {
        let layout = StorageLayout::new(blocks);
        Ok(ShelvedCopy { shelf: make(&layout.parcels)?, layout })
    }

    fn pass(
        &self,
        runtime: &Runtime,
        device: DeviceIndex,
        blocks: &[LiveBlock],
        way: Way,
        step: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let slices = Slice::all_of(&self.layout.pieces(blocks));
        if slices.is_empty() {
            return Ok(());
        }
        let mut staging = Staging::new(slices.len())?;
        let transfers = Transfers::new(runtime, device, way)?;
        let work = |slice: usize| {
            let slot = staging.slot(slice);
            slices[slice].rows(|parcel, offset, range| {
                let part = slot.part(range.start, range.len());
                match way {
                    Way::Save => self.shelf.put(parcel, offset, part),
                    Way::Restore => self.shelf.get(parcel, offset, part),
                }
            })
        };
        let movers = Movers::new(slices.len(), &work);
        let (outcome, done) = std::thread::scope(|scope| {
            let threads = movers.start(scope);
            let mut passage =
                SlotPassage { slices: &slices, staging: &staging, transfers, movers: &movers };
            let outcome = match way {
                Way::Save => passage.save(step),
                Way::Restore => passage.restore(step),
            };
            movers.end(threads);
            (outcome, passage.transfers.wait_for_all())
        });
        if !done {
            staging.block.lose();
        }
        outcome
    }
}

impl<S: ByteShelf> SavedBytes for ShelvedCopy<S> {
    fn save(
        &mut self,
        runtime: &Runtime,
        device: DeviceIndex,
        blocks: &[LiveBlock],
        saved: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        self.pass(runtime, device, blocks, Way::Save, saved)
    }

    fn restore(
        &self,
        runtime: &Runtime,
        device: DeviceIndex,
        blocks: &[LiveBlock],
        reach: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        self.pass(runtime, device, blocks, Way::Restore, reach)
    }

    fn bytes(&self) -> u64 {
        self.layout.bytes()
    }

    fn place_of(&self, address: u64) -> Option<usize> {
        let (parcel, offset) = self.layout.place_of(address)?;
        self.shelf.place(parcel, offset)
    }
}
