//! A piece of memory got from the driver, and the table of a stream's segments.

use super::block::BlockId;
use super::size_class::PoolKind;

/// A segment in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) address: u64,
    pub(super) bytes: u64,
    pub(super) kind: PoolKind,
    /// The place of its pool in the heap's table.
    pub(super) pool: u16,
    /// It was counted as oversize.
    pub(super) oversize: bool,
    /// Its block with the lowest address.
    pub(super) first: BlockId,
}

/// The segments of one stream; places are used again.
pub(super) struct Segments {
    places: Vec<Option<Segment>>,
    unused: Vec<u32>,
}

impl Segments {
    pub(super) const fn new() -> Segments {
        Segments { places: Vec::new(), unused: Vec::new() }
    }

    pub(super) fn add(&mut self, segment: Segment) -> u32 {
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

    pub(super) fn remove(&mut self, place: u32) {
        self.places[place as usize] = None;
        self.unused.push(place);
    }

    /// The segment's first block is another one now.
    #[inline]
    pub(super) fn set_first(&mut self, place: u32, first: BlockId) {
        if let Some(segment) = &mut self.places[place as usize] {
            segment.first = first;
        }
    }

    /// Every segment with its place.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Segment)> {
        (0..).zip(&self.places).filter_map(|(place, segment)| Some((place, segment.as_ref()?)))
    }
}
