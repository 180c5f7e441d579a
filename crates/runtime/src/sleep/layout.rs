//! From blocks to places in storage, and the pieces that are copied.
//!
//! Blocks are stored one after another, in the order of their addresses, in *parcels*: each has as many blocks as fit
//! into 256 MiB, or one block that is larger. So every block lies in one piece, and a program can replace it there.

use std::ops::Range;

use crate::memory::sleep::LiveBlock;

/// The most bytes of a parcel with more than one block.
const PARCEL: u64 = 256 << 20;
/// The most bytes of a piece.
pub(super) const PIECE: u64 = 32 << 20;

/// A block in storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StoredBlock {
    address: u64,
    bytes: u64,
    parcel: usize,
    offset: u64,
}

/// Where blocks are in storage.
#[derive(Debug)]
pub(super) struct StorageLayout {
    blocks: Vec<StoredBlock>,
    /// The bytes of each parcel.
    pub(super) parcels: Vec<u64>,
}

/// Bytes that lie side by side on the device and in storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoredPiece {
    pub(super) address: u64,
    pub(super) bytes: u64,
    pub(super) parcel: usize,
    pub(super) offset: u64,
}

impl StorageLayout {
    /// A layout for blocks in the order of their addresses.
    pub(super) fn new(blocks: &[LiveBlock]) -> StorageLayout {
        let mut layout =
            StorageLayout { blocks: Vec::with_capacity(blocks.len()), parcels: vec![] };
        for &LiveBlock { address, bytes } in blocks {
            let offset = match layout.parcels.last_mut() {
                Some(last) if *last + bytes <= PARCEL => {
                    *last += bytes;
                    *last - bytes
                }
                _ => {
                    layout.parcels.push(bytes);
                    0
                }
            };
            let parcel = layout.parcels.len() - 1;
            layout.blocks.push(StoredBlock { address, bytes, parcel, offset });
        }
        layout
    }

    /// All bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.parcels.iter().sum()
    }

    /// The block that holds an address, if it was stored.
    fn block_at(&self, address: u64) -> Option<&StoredBlock> {
        let place = self.blocks.partition_point(|block| block.address <= address).checked_sub(1)?;
        self.blocks.get(place).filter(|block| address - block.address < block.bytes)
    }

    /// Where the byte of an address is: the parcel, and how far into it.
    pub(super) fn place_of(&self, address: u64) -> Option<(usize, u64)> {
        let block = self.block_at(address)?;
        Some((block.parcel, block.offset + address - block.address))
    }

    /// The pieces of blocks, or of the lower parts of blocks, that were stored; in the order of addresses.
    pub(super) fn pieces(&self, blocks: &[LiveBlock]) -> Vec<StoredPiece> {
        let mut pieces: Vec<StoredPiece> = Vec::new();
        for block in blocks {
            let Some((parcel, offset)) = self.place_of(block.address) else { continue };
            let stored = self.block_at(block.address).map_or(0, |stored| stored.bytes);
            let bytes = block.bytes.min(stored);
            match pieces.last_mut() {
                Some(last)
                    if last.address + last.bytes == block.address
                        && last.parcel == parcel
                        && last.offset + last.bytes == offset =>
                {
                    last.bytes += bytes;
                }
                _ => pieces.push(StoredPiece { address: block.address, bytes, parcel, offset }),
            }
        }
        pieces.iter().flat_map(|piece| cut(*piece, PIECE)).collect()
    }
}

/// A piece in parts of at most `most` bytes.
fn cut(piece: StoredPiece, most: u64) -> impl Iterator<Item = StoredPiece> {
    (0..piece.bytes).step_by(most as usize).map(move |from| StoredPiece {
        address: piece.address + from,
        bytes: most.min(piece.bytes - from),
        offset: piece.offset + from,
        ..piece
    })
}

/// Pieces in groups of at least `least` bytes, except for the last one.
pub(super) fn groups(pieces: &[StoredPiece], least: u64) -> Vec<Range<usize>> {
    let mut groups = Vec::new();
    let (mut first, mut bytes) = (0, 0);
    for (place, piece) in pieces.iter().enumerate() {
        bytes += piece.bytes;
        if bytes >= least || place + 1 == pieces.len() {
            groups.push(first..place + 1);
            (first, bytes) = (place + 1, 0);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn block(address: u64, bytes: u64) -> LiveBlock {
        LiveBlock { address: address * MIB, bytes: bytes * MIB }
    }

    #[test]
    fn blocks_lie_in_one_piece_each_and_parcels_are_bounded() {
        let blocks =
            [block(0, 200), block(200, 56), block(300, 1), block(301, 700), block(2000, 3)];
        let layout = StorageLayout::new(&blocks);
        assert_eq!(layout.parcels, [256 * MIB, MIB, 700 * MIB, 3 * MIB]);
        assert_eq!(layout.bytes(), 960 * MIB);
        assert_eq!(layout.place_of(201 * MIB), Some((0, 201 * MIB)));
        assert_eq!(layout.place_of(256 * MIB), None);
        assert_eq!(layout.place_of(301 * MIB + 5), Some((2, 5)));
        assert_eq!(layout.place_of(2003 * MIB), None);
        assert_eq!(layout.place_of(2003 * MIB - 1), Some((3, 3 * MIB - 1)));
    }

    #[test]
    fn pieces_join_neighbours_are_bounded_and_cover_what_is_asked_for() {
        let blocks = [block(0, 10), block(10, 30), block(40, 2), block(50, 4)];
        let layout = StorageLayout::new(&blocks);
        let of = |pieces: Vec<StoredPiece>| -> Vec<(u64, u64, u64)> {
            pieces.iter().map(|it| (it.address / MIB, it.bytes / MIB, it.offset / MIB)).collect()
        };
        assert_eq!(of(layout.pieces(&blocks)), [(0, 32, 0), (32, 10, 32), (50, 4, 42)]);
        // The second block was freed, and of the third only a part is wanted.
        let left = [blocks[0], block(40, 1), blocks[3]];
        assert_eq!(of(layout.pieces(&left)), [(0, 10, 0), (40, 1, 40), (50, 4, 42)]);
    }

    #[test]
    fn groups_have_enough_bytes() {
        let pieces: Vec<StoredPiece> = [3, 1, 5, 2, 1]
            .map(|bytes| StoredPiece { address: 0, bytes, parcel: 0, offset: 0 })
            .to_vec();
        assert_eq!(groups(&pieces, 4), [0..2, 2..3, 3..5]);
        assert!(groups(&[], 4).is_empty());
    }
}
