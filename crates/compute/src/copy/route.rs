//! The route of a copy: where it runs and when the call returns, from the kinds of memory of both sides. It is
//! the table of `docs/design/copy.md`.

use sconce_base::types::DeviceIndex;
use sconce_runtime::operand::address_range::MemoryKind;

/// Where a copy runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CopyRoute {
    /// On the calling thread.
    Host,
    /// On the current stream of a device, with nothing that the host must be careful with.
    Within(DeviceIndex),
    /// On the current stream of a device, from or to pinned memory.
    Pinned(DeviceIndex),
    /// On the current stream of a device; the call reads the source before it returns.
    FromOrdinary(DeviceIndex),
    /// On the current stream of a device; the call returns when all is written.
    ToOrdinary(DeviceIndex),
    /// On the current stream of the source's device, which the destination's is ordered with.
    Between {
        from: DeviceIndex,
        to: DeviceIndex,
        /// A side is managed memory, which is no device's own.
        managed: bool,
        /// It is the destination's: kernels of `from` can use both sides as they are.
        into_managed: bool,
    },
}

impl CopyRoute {
    pub(super) fn of(dst: MemoryKind, src: MemoryKind) -> CopyRoute {
        use MemoryKind::{Device, Managed, Ordinary, Pinned};
        match (dst, src) {
            (Ordinary | Pinned, Ordinary | Pinned) => CopyRoute::Host,
            (Device(device) | Managed(device), Pinned)
            | (Pinned, Device(device) | Managed(device)) => CopyRoute::Pinned(device),
            (Device(device) | Managed(device), Ordinary) => CopyRoute::FromOrdinary(device),
            (Ordinary, Device(device) | Managed(device)) => CopyRoute::ToOrdinary(device),
            (Device(to) | Managed(to), Device(from) | Managed(from)) if from == to => {
                CopyRoute::Within(from)
            }
            (Device(to) | Managed(to), Device(from) | Managed(from)) => {
                let managed = [dst, src].iter().any(|side| matches!(side, Managed(_)));
                let into_managed = matches!(dst, Managed(_));
                CopyRoute::Between { from, to, managed, into_managed }
            }
        }
    }

    /// Whether the call waits for the stream once the copy is queued.
    pub(super) fn waits(self, non_blocking: bool) -> bool {
        !non_blocking && matches!(self, CopyRoute::Pinned(_) | CopyRoute::FromOrdinary(_))
    }

    /// Whether a graph can hold it: nothing can be waited for there, and ordinary memory may be gone
    /// when the graph runs.
    pub(super) fn can_be_captured(self, non_blocking: bool) -> bool {
        match self {
            CopyRoute::Host | CopyRoute::Within(_) | CopyRoute::Between { .. } => true,
            CopyRoute::Pinned(_) => non_blocking,
            CopyRoute::FromOrdinary(_) | CopyRoute::ToOrdinary(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::MemoryKind::{Device, Managed, Ordinary, Pinned};
    use super::*;

    const ZERO: DeviceIndex = DeviceIndex::ZERO;

    #[test]
    fn every_pairing_has_the_route_of_the_table() {
        let one = DeviceIndex::new(1).unwrap();
        let between = |from, to, [managed, into_managed]: [bool; 2]| CopyRoute::Between {
            from,
            to,
            managed,
            into_managed,
        };
        for (src, dst, route) in [
            (Ordinary, Ordinary, CopyRoute::Host),
            (Ordinary, Pinned, CopyRoute::Host),
            (Pinned, Ordinary, CopyRoute::Host),
            (Pinned, Pinned, CopyRoute::Host),
            (Pinned, Device(one), CopyRoute::Pinned(one)),
            (Device(one), Pinned, CopyRoute::Pinned(one)),
            (Ordinary, Device(one), CopyRoute::FromOrdinary(one)),
            (Device(one), Ordinary, CopyRoute::ToOrdinary(one)),
            (Device(one), Device(one), CopyRoute::Within(one)),
            (Device(ZERO), Device(one), between(ZERO, one, [false, false])),
            (Device(one), Device(ZERO), between(one, ZERO, [false, false])),
            (Managed(ZERO), Device(one), between(ZERO, one, [true, false])),
            (Device(one), Managed(ZERO), between(one, ZERO, [true, true])),
            (Managed(one), Device(one), CopyRoute::Within(one)),
            (Managed(one), Managed(one), CopyRoute::Within(one)),
            (Ordinary, Managed(one), CopyRoute::FromOrdinary(one)),
            (Managed(one), Pinned, CopyRoute::Pinned(one)),
        ] {
            assert_eq!(CopyRoute::of(dst, src), route, "{src:?} to {dst:?}");
        }
    }

    #[test]
    fn routes_differ_in_whether_they_wait_and_can_be_captured() {
        let between = CopyRoute::of(Device(DeviceIndex::new(1).unwrap()), Device(ZERO));
        for (route, non_blocking, waits, captured) in [
            (CopyRoute::Pinned(ZERO), true, false, true),
            (CopyRoute::Pinned(ZERO), false, true, false),
            (CopyRoute::FromOrdinary(ZERO), true, false, false),
            (CopyRoute::FromOrdinary(ZERO), false, true, false),
            (CopyRoute::ToOrdinary(ZERO), true, false, false),
            (CopyRoute::ToOrdinary(ZERO), false, false, false),
            (CopyRoute::Within(ZERO), false, false, true),
            (between, false, false, true),
            (CopyRoute::Host, false, false, true),
        ] {
            assert_eq!(route.waits(non_blocking), waits, "{route:?} {non_blocking}");
            assert_eq!(route.can_be_captured(non_blocking), captured, "{route:?} {non_blocking}");
        }
    }
}
