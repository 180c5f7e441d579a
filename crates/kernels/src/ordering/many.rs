//! What the kernel of `kernels/gather_many.cu` is launched with.

use sconce_base::types::DevicePtr;
use sconce_driver::{Dim3, LaunchShape};

use super::super::signature::JOIN_MANY;

/// The most pieces of a launch, a block's threads, and how many units each copies; `kernels/gather_many.cu` has them
/// too.
pub const MANY_PIECES: usize = 253;
const THREADS: u32 = 256;
const EACH: u32 = 4;
/// The most bytes of a piece: the grid has as many blocks for every piece as the longest one needs.
pub const MANY_BYTES: u64 = 64 << 10;
/// Slots before the pieces, and of a piece.
const BEFORE_PIECES: usize = 2;
const OF_PIECE: usize = 2;

const _: () = assert!(JOIN_MANY.slots() == BEFORE_PIECES + OF_PIECE * MANY_PIECES);

/// The kernel.
pub const JOIN_MANY_NAME: &str = "sconce_join_many";

/// Bytes that are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManyPiece {
    pub src: DevicePtr,
    /// Where they go, from the beginning of the destination.
    pub start: u32,
    /// 1 to [`MANY_BYTES`].
    pub bytes: u32,
}

/// A launch of 1 to [`MANY_PIECES`] pieces. It is large, so it is filled in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManyLaunch {
    pub dst: DevicePtr,
    pub pieces: Vec<ManyPiece>,
}

impl ManyPiece {
    /// Units of the widest kind that fits addresses and size, as the kernel chooses it.
    fn units(&self, dst: DevicePtr) -> u32 {
        let to = dst.0.wrapping_add(u64::from(self.start));
        let all = to | self.src.0 | u64::from(self.bytes);
        self.bytes >> all.trailing_zeros().min(4)
    }
}

impl ManyLaunch {
    /// Grid, and the slots of the kernel's parameter.
    pub fn launch(&self) -> (LaunchShape, [u64; JOIN_MANY.slots()]) {
        let mut slots = [0; JOIN_MANY.slots()];
        slots[0] = self.dst.0;
        slots[1] = self.pieces.len() as u64;
        let mut most = 1;
        for (piece, slots) in
            self.pieces.iter().zip(slots[BEFORE_PIECES..].chunks_exact_mut(OF_PIECE))
        {
            most = most.max(piece.units(self.dst));
            slots[0] = piece.src.0;
            slots[1] = u64::from(piece.start) | (u64::from(piece.bytes) << 32);
        }
        let x = most.div_ceil(THREADS * EACH);
        let grid = Dim3 { x, y: self.pieces.len().min(MANY_PIECES) as u32, z: 1 };
        (LaunchShape { grid, block: Dim3::line(THREADS), shared_bytes: 0 }, slots)
    }

    /// Reads the slots of a launch.
    pub fn read(slots: &[u64]) -> Option<ManyLaunch> {
        if slots.len() != JOIN_MANY.slots() || slots[1] > MANY_PIECES as u64 {
            return None;
        }
        let pieces = slots[BEFORE_PIECES..].chunks_exact(OF_PIECE).take(slots[1] as usize);
        let piece = |slots: &[u64]| ManyPiece {
            src: DevicePtr(slots[0]),
            start: slots[1] as u32,
            bytes: (slots[1] >> 32) as u32,
        };
        Some(ManyLaunch { dst: DevicePtr(slots[0]), pieces: pieces.map(piece).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_is_read_as_it_was_packed() {
        let piece = |src, start, bytes| ManyPiece { src: DevicePtr(src), start, bytes };
        let pieces =
            vec![piece(512, 0, 400), piece(1024, 400, 12), piece(1 << 40, u32::MAX - 9, 1)];
        let launch = ManyLaunch { dst: DevicePtr(0x7000), pieces };
        let (shape, slots) = launch.launch();
        assert_eq!(shape.grid, Dim3 { x: 1, y: 3, z: 1 });
        assert_eq!(ManyLaunch::read(&slots), Some(launch));
        assert_eq!(ManyLaunch::read(&slots[1..]), None);
    }

    #[test]
    fn the_grid_has_blocks_for_the_longest_piece_in_its_units() {
        for (start, bytes, x) in
            [(0, 64 << 10, 4), (16, 16 << 10, 1), (4, 64 << 10, 16), (1, 1025, 2)]
        {
            let pieces = vec![ManyPiece { src: DevicePtr(512), start, bytes }];
            let shape = ManyLaunch { dst: DevicePtr(1024), pieces }.launch().0;
            assert_eq!(shape.grid.x, x, "{start} {bytes}");
        }
    }
}
