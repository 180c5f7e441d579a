//! The owner of a stream, and a stream as a call named it.

use sconce_driver::StreamRef;

/// The owner of a stream: the library, or the program with the driver's id of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Maker(u64);

impl Maker {
    /// The library or the driver. The stream lives as long as the process.
    pub(crate) const LIBRARY: Maker = Maker(u64::MAX);
    /// The program, where the driver has no ids of streams.
    pub(crate) const UNKNOWN: Maker = Maker(0);

    pub(super) fn program(id: Option<u64>) -> Maker {
        id.filter(|id| *id != Maker::LIBRARY.0).map_or(Maker::UNKNOWN, Maker)
    }

    /// The owner as a number, for [`Maker::from_bits`].
    pub(crate) fn to_bits(self) -> u64 {
        self.0
    }

    pub(crate) fn from_bits(bits: u64) -> Maker {
        Maker(bits)
    }

    /// Whether two streams of these owners that had one handle are known to be different streams.
    pub(crate) fn is_other_than(self, other: Maker) -> bool {
        let library = [self, other].contains(&Maker::LIBRARY);
        self != other && (library || ![self, other].contains(&Maker::UNKNOWN))
    }
}

/// A stream as a call named it: the handle, and the owner of the stream that had the handle then. Kept for
/// calls that use the stream later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    pub(crate) stream: StreamRef,
    pub(crate) maker: Maker,
}

impl Named {
    /// Whether the program made the stream, and so may have destroyed it by now.
    pub fn is_foreign(self) -> bool {
        self.maker != Maker::LIBRARY
    }

    /// Whether both are certainly the same stream.
    pub(super) fn is_surely(self, other: Named) -> bool {
        self == other && self.maker != Maker::UNKNOWN
    }
}

#[cfg(test)]
mod tests {
    use sconce_base::types::DeviceIndex;

    use super::*;

    #[test]
    fn only_known_ids_prove_that_streams_are_one_or_two() {
        let stream = StreamRef::default_of(DeviceIndex::ZERO);
        let [one, two, unknown] = [Some(1), Some(2), None].map(Maker::program);
        let named = |maker| Named { stream, maker };
        assert!(one.is_other_than(two) && one.is_other_than(Maker::LIBRARY));
        assert!(unknown.is_other_than(Maker::LIBRARY));
        assert!(!one.is_other_than(one) && !one.is_other_than(unknown));
        assert!(named(one).is_surely(named(one)));
        assert!(!named(one).is_surely(named(two)) && !named(unknown).is_surely(named(unknown)));
        assert!(named(one).is_foreign() && named(unknown).is_foreign());
        assert!(!named(Maker::LIBRARY).is_foreign());
    }
}
