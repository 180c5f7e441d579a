//! Segments: memory that is pinned in one piece, and where the blocks in it begin.

use std::collections::BTreeMap;

use super::rounding::{Kind, PAGE, UNIT};
use super::starts::Starts;

/// How a segment was pinned, and so how it is freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PinnedBy {
    /// Pinned by the driver.
    Driver,
    /// Got from the system, then registered with the driver.
    Registered,
}

/// Memory that is pinned in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) address: usize,
    pub(crate) bytes: usize,
    pub(crate) kind: Kind,
    pub(crate) source: PinnedBy,
}

impl Segment {
    /// The bytes of which its blocks are multiples.
    fn unit(&self) -> usize {
        match self.kind {
            Kind::Small | Kind::Reserve => UNIT,
            Kind::Large => PAGE,
            Kind::Alone => self.bytes.max(1),
        }
    }
}

/// A place of the table: a segment, or what a segment that has gone has left.
struct SegmentPlace {
    segment: Segment,
    unit_bits: u32,
    starts: Starts,
}

impl SegmentPlace {
    fn new(segment: Segment) -> SegmentPlace {
        let unit_bits = segment.unit().next_power_of_two().trailing_zeros();
        SegmentPlace {
            segment,
            unit_bits,
            starts: Starts::new((segment.bytes >> unit_bits).max(1)),
        }
    }

    #[inline]
    fn number(&self, address: usize) -> usize {
        address.wrapping_sub(self.segment.address) >> self.unit_bits
    }
}

/// All segments of the heap, by number and by address. Numbers are used again.
pub(crate) struct Segments {
    places: Vec<Option<SegmentPlace>>,
    by_address: BTreeMap<usize, u32>,
}

impl Segments {
    pub(crate) const fn new() -> Segments {
        Segments { places: Vec::new(), by_address: BTreeMap::new() }
    }

    /// Adds a segment without blocks; returns its number.
    pub(crate) fn add(&mut self, segment: Segment) -> u32 {
        let place = Some(SegmentPlace::new(segment));
        let number = match self.places.iter().position(Option::is_none) {
            Some(number) => {
                self.places[number] = place;
                number
            }
            None => {
                self.places.push(place);
                self.places.len() - 1
            }
        };
        self.by_address.insert(segment.address, number as u32);
        number as u32
    }

    /// Takes a segment out.
    pub(crate) fn remove(&mut self, number: u32) -> Option<Segment> {
        let segment = self.places.get_mut(number as usize)?.take()?.segment;
        self.by_address.remove(&segment.address);
        Some(segment)
    }

    /// A block of a segment begins at an address.
    #[inline]
    pub(crate) fn begins(&mut self, number: u32, address: usize) {
        if let Some(Some(place)) = self.places.get_mut(number as usize) {
            place.starts.insert(place.number(address));
        }
    }

    /// No block of the segment begins there any more.
    #[inline]
    pub(crate) fn ends(&mut self, number: u32, address: usize) {
        if let Some(Some(place)) = self.places.get_mut(number as usize) {
            place.starts.remove(place.number(address));
        }
    }

    /// Where the block begins that holds an address; `None` outside of all segments.
    pub(crate) fn start_of(&self, address: usize) -> Option<usize> {
        let (_, number) = self.by_address.range(..=address).next_back()?;
        let place = self.places.get(*number as usize)?.as_ref()?;
        let Segment { address: first, bytes, .. } = place.segment;
        if address - first >= bytes {
            return None;
        }
        let start = place.starts.at_or_below(place.number(address))?;
        Some(first + (start << place.unit_bits))
    }

    /// Every segment, by address, with its number.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u32, Segment)> {
        self.by_address.values().filter_map(|number| {
            let place = self.places.get(*number as usize)?.as_ref()?;
            Some((*number, place.segment))
        })
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.by_address.len()
    }
}
