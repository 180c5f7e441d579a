//! What a request becomes, and how much is pinned when no free piece fits.

/// Blocks are multiples of this: a cache line, so that blocks of different threads share none.
pub(crate) const UNIT: usize = 64;
/// Larger blocks are multiples of this, and so are segments.
pub(crate) const PAGE: usize = 4096;
/// The largest small request.
pub(crate) const SMALL_MOST: usize = 1 << 20;
/// A segment for small requests is at least, and unless it grows at most, this large.
const SMALL_SEGMENT: usize = 64 << 10;
/// No segment is made larger than this for requests to come.
const GROWTH_MOST: usize = 32 << 20;
/// The part of all pinned memory that a new segment may have for requests to come.
const GROWTH_PART: usize = 32;
/// Requests from here on are refused before rounding could overflow.
const TOO_LARGE: usize = 1 << 60;

/// Which requests a segment is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Up to [`SMALL_MOST`].
    Small,
    /// Above.
    Large,
    /// Any; pinned once and never freed.
    Reserve,
    /// The one block it was made for; freed with that block.
    Alone,
}

impl Kind {
    /// The kinds whose free pieces may serve others.
    pub(crate) const KEPT: usize = 3;

    /// The kinds whose segments go back when nothing uses them.
    pub(crate) const GIVEN_BACK: [Kind; 2] = [Kind::Small, Kind::Large];

    pub(crate) fn of(rounded: usize) -> Kind {
        if rounded <= SMALL_MOST { Kind::Small } else { Kind::Large }
    }
}

/// The bytes of the block that serves a request; `None` when that is more than any machine has.
#[inline]
pub(crate) fn round(bytes: usize) -> Option<usize> {
    if bytes <= SMALL_MOST {
        return Some(bytes.next_multiple_of(UNIT));
    }
    (bytes < TOO_LARGE).then(|| bytes.next_multiple_of(PAGE))
}

/// The bytes of a new segment for a block of `rounded` bytes, when `pinned` bytes are pinned already.
pub(crate) fn segment_bytes(kind: Kind, rounded: usize, pinned: usize) -> usize {
    let growth = (pinned / GROWTH_PART).min(GROWTH_MOST);
    let wanted = match kind {
        Kind::Small => rounded.max(growth).max(SMALL_SEGMENT),
        Kind::Large => rounded.max(growth),
        Kind::Reserve | Kind::Alone => rounded,
    };
    wanted.next_multiple_of(PAGE)
}

/// Whether a free piece is cut for a request though merging the shelved blocks might yield one that
/// fits better. For small requests any is: the search would cost more than the bytes.
pub(crate) fn is_close(piece: usize, rounded: usize) -> bool {
    rounded <= SMALL_MOST || piece <= rounded + rounded / 8
}

/// How much more of a kind may be pinned than was in use at a time, by a process that has used so
/// much: a twelfth, so that both kinds together stay below a fifth.
pub(crate) fn allowance(most_used: usize) -> usize {
    most_used / 12
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_become_units_and_pages() {
        assert_eq!(round(1), Some(64));
        assert_eq!(round(SMALL_MOST), Some(SMALL_MOST));
        assert_eq!(round(SMALL_MOST + 1), Some(SMALL_MOST + PAGE));
        assert_eq!(round(TOO_LARGE), None);
        assert_eq!(round(usize::MAX), None);
        assert_eq!((Kind::of(SMALL_MOST), Kind::of(SMALL_MOST + PAGE)), (Kind::Small, Kind::Large));
    }

    #[test]
    fn segments_grow_with_what_is_pinned() {
        assert_eq!(segment_bytes(Kind::Small, 64, 0), SMALL_SEGMENT);
        assert_eq!(segment_bytes(Kind::Small, 64, 320 << 20), 10 << 20);
        assert_eq!(segment_bytes(Kind::Large, 3 << 20, 0), 3 << 20);
        assert_eq!(segment_bytes(Kind::Large, 3 << 20, usize::MAX), GROWTH_MOST);
        assert_eq!(segment_bytes(Kind::Large, 64 << 20, usize::MAX), 64 << 20);
        assert_eq!(segment_bytes(Kind::Alone, PAGE + 64, usize::MAX), 2 * PAGE);
    }

    #[test]
    fn large_requests_cut_pieces_of_about_their_size() {
        assert!(is_close(64 << 20, SMALL_MOST));
        assert!(is_close(9 << 20, 8 << 20));
        assert!(!is_close((9 << 20) + PAGE, 8 << 20));
    }
}
