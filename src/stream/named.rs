//! A stream as a call named it, for calls that come back to it later.

use super::external;
use crate::context::Runtime;
use crate::driver::{StreamHandle, StreamRef};
use crate::thread_state;
use crate::types::DeviceIndex;

/// Who made a stream: the library, or the program, with the driver's id of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Maker(u64);

impl Maker {
    /// The library or the driver itself. The stream lives as long as the process.
    pub(crate) const LIBRARY: Maker = Maker(u64::MAX);
    /// The program; the driver has no ids.
    pub(crate) const UNKNOWN: Maker = Maker(0);

    pub(super) fn program(id: Option<u64>) -> Maker {
        id.filter(|id| *id != Maker::LIBRARY.0).map_or(Maker::UNKNOWN, Maker)
    }

    /// As a number, and back.
    pub(crate) fn to_bits(self) -> u64 {
        self.0
    }

    pub(crate) fn from_bits(bits: u64) -> Maker {
        Maker(bits)
    }

    /// Whether streams of these makers that had one handle are known to be two.
    pub(crate) fn is_other_than(self, other: Maker) -> bool {
        let library = [self, other].contains(&Maker::LIBRARY);
        self != other && (library || ![self, other].contains(&Maker::UNKNOWN))
    }
}

/// A stream as a call named it: the handle, and which stream had the handle then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) stream: StreamRef,
    pub(crate) maker: Maker,
}

impl Named {
    /// Whether the program made it, and so may have destroyed it by now.
    pub(crate) fn is_foreign(self) -> bool {
        self.maker != Maker::LIBRARY
    }

    /// Whether both are certainly one stream.
    fn is_surely(self, other: Named) -> bool {
        self == other && self.maker != Maker::UNKNOWN
    }

    /// Whether the running call may hand the stream to the driver: the library owns it, the call was
    /// passed it as an argument, or it is the calling thread's current stream. A handle that names
    /// another stream by now does not count. Without ids a handle that comes again may be another
    /// stream, so there only the current one counts.
    pub(crate) fn may_be_used(self, runtime: &Runtime, argument: Option<Named>) -> bool {
        !self.is_foreign()
            || argument.is_some_and(|argument| self.is_surely(argument))
            || (current_foreign(self.stream.device) == Some(self.stream)
                && self == external::name(runtime, self.stream))
    }
}

/// The calling thread's current stream of a device, if the program made it.
pub(crate) fn current_foreign(device: DeviceIndex) -> Option<StreamRef> {
    let id = thread_state::stream_id(device);
    let is_foreign = id != super::id::DEFAULT && id & 1 == 0;
    is_foreign.then_some(StreamRef { device, handle: StreamHandle(id as usize) })
}

#[cfg(test)]
mod tests {
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
