//! A piece of memory got from the driver, and the table of a stream's segments.

use crate::caching::BlockId;
use crate::caching::size_class::PoolKind;

/// A segment in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentRecord {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    pub(crate) kind: PoolKind,
    /// The place of its pool in the heap's table.
    pub(crate) pool: u16,
    /// It was counted as oversize.
    pub(crate) oversize: bool,
    /// It is a run of pages, which grows and shrinks.
    pub(crate) paged: bool,
    /// Its block with the lowest address.
    pub(crate) first: BlockId,
}

/// The segments of one stream; places are used again.
pub(crate) struct SegmentRecords {
    places: Vec<Option<SegmentRecord>>,
    unused: Vec<u32>,
}

impl SegmentRecords {
    pub(crate) const fn new() -> SegmentRecords {
        SegmentRecords { places: Vec::new(), unused: Vec::new() }
    }

    pub(crate) fn add(&mut self, segment: SegmentRecord) -> u32 {
        match self.unused.pop() {
            Some(place) => {
                self.places[place as usize] = Some(segment);
                place
            }
            None => {
                self.places.push(Some(segment));
                (self.places.len() - 1) as u32
            }
        }
    }

    pub(crate) fn remove(&mut self, place: u32) {
        self.places[place as usize] = None;
        self.unused.push(place);
    }

    /// The segment at a place.
    pub(crate) fn get(&self, place: u32) -> Option<&SegmentRecord> {
        self.places.get(place as usize)?.as_ref()
    }

    /// Moves the ends of a segment.
    pub(crate) fn set_bounds(&mut self, place: u32, address: u64, bytes: u64) {
        if let Some(segment) = &mut self.places[place as usize] {
            (segment.address, segment.bytes) = (address, bytes);
        }
    }

    /// The segment belongs to the pool at another place of the heap's table now.
    pub(crate) fn set_pool(&mut self, place: u32, pool: u16) {
        if let Some(segment) = &mut self.places[place as usize] {
            segment.pool = pool;
        }
    }

    /// The segment's first block is another one now.
    #[inline]
    pub(crate) fn set_first(&mut self, place: u32, first: BlockId) {
        if let Some(segment) = &mut self.places[place as usize] {
            segment.first = first;
        }
    }

    /// Every segment with its place.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &SegmentRecord)> {
        (0..).zip(&self.places).filter_map(|(place, segment)| Some((place, segment.as_ref()?)))
    }
}
