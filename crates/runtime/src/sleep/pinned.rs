//! Bytes in pinned memory: the device copies to it and from it at its own speed, while pages are unmapped or mapped.

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;

use super::host_block::PinnedStore;
use super::layout::{PIECE, StorageLayout, groups};
use super::transfers::{Transfers, Way};
use crate::context::Runtime;
use crate::memory::sleep::{LiveBlock, SavedBytes};

/// How many groups of copies are under way while pages are unmapped or mapped.
const DEPTH: usize = 4;

/// Blocks in pinned memory.
pub(super) struct PinnedCopy {
    layout: StorageLayout,
    parcels: Vec<PinnedStore>,
}

impl PinnedCopy {
    /// Makes pinned storage for blocks.
    pub(super) fn new(blocks: &[LiveBlock]) -> Result<PinnedCopy> {
        let layout = StorageLayout::new(blocks);
        let parcels = layout.parcels.iter().map(|bytes| PinnedStore::new(*bytes as usize));
        Ok(PinnedCopy { parcels: parcels.collect::<Result<_>>()?, layout })
    }

    /// Copies the pieces of blocks. `before` is called with the end of each group before it is queued, `after` with the
    /// beginning of the next one when it is done.
    fn copy(
        &self,
        transfers: &mut Transfers<'_>,
        blocks: &[LiveBlock],
        before: &mut dyn FnMut(u64) -> Result<()>,
        after: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let pieces = self.layout.pieces(blocks);
        let groups = groups(&pieces, PIECE);
        let begin =
            |group: usize| groups.get(group).map_or(u64::MAX, |group| pieces[group.start].address);
        let mut done = 0;
        for (number, group) in groups.iter().enumerate() {
            let these = &pieces[group.clone()];
            before(these.last().map_or(0, |piece| piece.address + piece.bytes))?;
            for piece in these {
                let parcel = self.parcels[piece.parcel].range();
                let host = parcel.part(piece.offset as usize, piece.bytes as usize);
                transfers.queue(piece.address, host)?;
            }
            transfers.end_group()?;
            if number + 1 - done >= DEPTH {
                transfers.wait()?;
                done += 1;
                after(begin(done))?;
            }
        }
        while done < groups.len() {
            transfers.wait()?;
            done += 1;
            after(begin(done))?;
        }
        Ok(())
    }
}

impl SavedBytes for PinnedCopy {
    fn save(
        &mut self,
        runtime: &Runtime,
        device: DeviceIndex,
        blocks: &[LiveBlock],
        saved: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let mut transfers = Transfers::new(runtime, device, Way::Save)?;
        let outcome = self.copy(&mut transfers, blocks, &mut |_| Ok(()), saved);
        if !transfers.wait_for_all() {
            self.parcels.iter_mut().for_each(PinnedStore::lose);
        }
        outcome
    }

    fn restore(
        &self,
        runtime: &Runtime,
        device: DeviceIndex,
        blocks: &[LiveBlock],
        reach: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let mut transfers = Transfers::new(runtime, device, Way::Restore)?;
        let outcome = self.copy(&mut transfers, blocks, reach, &mut |_| Ok(()));
        // The memory is only read, and stays while the pool sleeps.
        transfers.wait_for_all();
        outcome
    }

    fn bytes(&self) -> u64 {
        self.layout.bytes()
    }

    fn place_of(&self, address: u64) -> Option<usize> {
        let (parcel, offset) = self.layout.place_of(address)?;
        Some(self.parcels[parcel].range().get() + offset as usize)
    }
}
