//! Rows of bytes that lie a pitch apart. A range of bytes is one row.
#![forbid(unsafe_code)]

use crate::memory::{Intent, MemoryAccess};

/// Copies and fills release the address space's lock after this many bytes, so that allocations do not
/// wait long for it.
pub(super) const PIECE_BYTES: usize = 4 << 20;

/// The shape of one side of a copy, or of a fill.
#[derive(Clone, Copy)]
pub(crate) struct ByteRows {
    /// Bytes of a row.
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Bytes from the beginning of a row to that of the next.
    pub(crate) pitch: usize,
}

impl ByteRows {
    /// A range of bytes.
    pub(crate) fn single(bytes: usize) -> ByteRows {
        ByteRows { width: bytes, height: 1, pitch: bytes }
    }

    /// The shape, for people.
    pub(crate) fn text(&self) -> String {
        match self.height {
            1 => format!("{} bytes", self.width),
            height => format!("{height} rows of {} bytes", self.width),
        }
    }

    /// Bytes from the first one of the first row to the last one of the last row, the gaps included.
    /// `None` when rows overlap or end beyond all addresses.
    pub(crate) fn span(&self, address: usize) -> Option<usize> {
        let last = self.height - 1;
        let bytes = last.checked_mul(self.pitch)?.checked_add(self.width)?;
        let end = address.checked_add(bytes)?;
        (last == 0 || self.pitch >= self.width).then_some(end - address)
    }

    /// Whether `usable` holds for all of the span, or else for each row. It is called with an offset and
    /// a number of bytes.
    pub(crate) fn each(&self, span: usize, usable: impl Fn(usize, usize) -> bool) -> bool {
        usable(0, span) || (0..self.height).all(|row| usable(row * self.pitch, self.width))
    }

    /// The access to the rows of which the first begins at `address`.
    pub(crate) fn access(&self, intent: Intent, address: u64) -> MemoryAccess {
        let rows = [(self.height as u64, self.pitch as i64)];
        MemoryAccess::strided(intent, address, self.width as u64, rows)
    }
}
