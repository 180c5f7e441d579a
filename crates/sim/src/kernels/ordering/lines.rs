//! Elements of a line, read and written with steps. Every range is checked, and that it is aligned.

use crate::codes;
use crate::memory::DeviceMemoryView;

/// A line: where it begins, the bytes from one element to the next, and the bytes of an element.
#[derive(Clone, Copy)]
pub(super) struct ElementLine {
    pub(super) start: u64,
    pub(super) step: i64,
    pub(super) width: usize,
}

/// Elements a piece; small enough for the stack of a worker.
const PIECE: usize = 512;

impl ElementLine {
    fn at(self, index: u64) -> u64 {
        self.start.wrapping_add_signed((index as i64).wrapping_mul(self.step))
    }

    fn check(self) -> Result<(), i32> {
        let bits = self.start | self.step as u64;
        let aligned = bits.is_multiple_of(self.width as u64);
        if aligned { Ok(()) } else { Err(codes::MISALIGNED_ADDRESS) }
    }

    /// Elements that are read or written at once.
    fn piece(self) -> usize {
        if self.step == self.width as i64 { PIECE } else { 1 }
    }

    /// The bits of `n` elements.
    pub(super) fn read(self, memory: &DeviceMemoryView<'_>, n: u32) -> Result<Vec<u64>, i32> {
        self.check()?;
        let mut all = Vec::with_capacity(n as usize);
        let mut buffer = [0; PIECE * 8];
        let piece = self.piece();
        let mut done = 0;
        while done < n {
            let elements = piece.min((n - done) as usize);
            let bytes = &mut buffer[..elements * self.width];
            memory.read(self.at(u64::from(done)), bytes)?;
            for element in bytes.chunks_exact(self.width) {
                let mut bits = [0; 8];
                bits[..self.width].copy_from_slice(element);
                all.push(u64::from_le_bytes(bits));
            }
            done += elements as u32;
        }
        Ok(all)
    }

    /// Writes the bits of all elements.
    pub(super) fn write(self, memory: &DeviceMemoryView<'_>, all: &[u64]) -> Result<(), i32> {
        self.check()?;
        let mut buffer = [0; PIECE * 8];
        let piece = self.piece();
        for (number, elements) in (0..).zip(all.chunks(piece)) {
            let bytes = &mut buffer[..elements.len() * self.width];
            for (bytes, bits) in bytes.chunks_exact_mut(self.width).zip(elements) {
                bytes.copy_from_slice(&bits.to_le_bytes()[..self.width]);
            }
            memory.write(self.at(number * piece as u64), bytes)?;
        }
        Ok(())
    }
}
