//! Sizes: how requests are rounded, which pool serves them, and what is asked of the driver.

/// The smallest block, and what every block is a multiple of.
pub(crate) const BLOCK_UNIT: usize = 512;
/// Rounded requests up to this go to the small pool.
pub(crate) const SMALL_LIMIT: usize = 1 << 20;
/// Bytes of a segment of the small pool.
pub(crate) const SMALL_SEGMENT: usize = 2 << 20;
/// Bytes of a segment for large requests below [`LARGE_OWN_SEGMENT`], unless configured.
pub(crate) const LARGE_SEGMENT: usize = 20 << 20;
/// From here a request gets a segment of its own size, rounded up to [`LARGE_ROUNDING`].
pub(crate) const LARGE_OWN_SEGMENT: usize = 10 << 20;
/// What segments of large requests are multiples of.
pub(crate) const LARGE_ROUNDING: usize = 2 << 20;
/// Requests of this size and above are refused before anything else.
pub(crate) const TOO_LARGE: usize = 1 << 60;

/// Which of the two pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PoolKind {
    /// Blocks up to 1 MiB.
    Small,
    /// Blocks above.
    Large,
}

impl PoolKind {
    /// The pool that serves a rounded size.
    #[inline]
    pub fn of(rounded: usize) -> PoolKind {
        if rounded <= SMALL_LIMIT { PoolKind::Small } else { PoolKind::Large }
    }

    /// As torch spells it.
    pub fn name(self) -> &'static str {
        match self {
            PoolKind::Small => "small",
            PoolKind::Large => "large",
        }
    }
}

/// The next multiple of 512; at least 512.
#[inline]
pub(crate) fn round_to_unit(bytes: usize) -> usize {
    (bytes.max(1) + (BLOCK_UNIT - 1)) & !(BLOCK_UNIT - 1)
}

/// What is asked of the driver for a rounded size.
pub(crate) fn segment_bytes(rounded: usize, large_segment: usize) -> usize {
    if rounded <= SMALL_LIMIT {
        SMALL_SEGMENT
    } else if rounded < LARGE_OWN_SEGMENT {
        large_segment
    } else {
        rounded.next_multiple_of(LARGE_ROUNDING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_are_torchs() {
        assert_eq!([0, 1, 512, 513].map(round_to_unit), [512, 512, 512, 1024]);
        assert_eq!(PoolKind::of(1 << 20), PoolKind::Small);
        assert_eq!(PoolKind::of((1 << 20) + 512), PoolKind::Large);
        let segment = |bytes| segment_bytes(bytes, LARGE_SEGMENT);
        assert_eq!(segment(1 << 20), 2 << 20);
        assert_eq!(segment((1 << 20) + 512), 20 << 20);
        assert_eq!(segment((10 << 20) - 512), 20 << 20);
        assert_eq!(segment(10 << 20), 10 << 20);
        assert_eq!(segment((10 << 20) + 512), 12 << 20);
    }
}
