//! What the scripts of `faults` do, and which calls of the driver are failed in each.

/// What a script does, and which calls are failed in it: all that it makes of each kind. Together these are the calls
/// that pages take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    /// Pages are put together, move between streams and pools, and go back when memory runs out. No stream has work.
    Moving,
    /// Other devices may use the pages.
    Peers,
    /// Streams have work when memory goes back, use blocks of each other, and segments stand beside pages.
    Working,
    /// There are too many mappings, which are undone behind an event.
    Evicting,
}

impl Case {
    pub(super) fn calls(self) -> &'static [&'static str] {
        match self {
            Case::Moving => &[
                "virtual_granularity",
                "virtual_reserve",
                "virtual_release",
                "physical_create",
                "physical_release",
                "virtual_map",
                "virtual_unmap",
                "virtual_set_access",
                "stream_query",
                "stream_is_capturing",
                "exchange_capture_mode",
            ],
            Case::Peers => &["virtual_set_access", "enable_peer_access", "can_access_peer"],
            Case::Working => &[
                "memory_alloc",
                "memory_free",
                "event_create",
                "event_record",
                "event_query",
                "event_synchronize",
                "stream_query",
                "device_synchronize",
                "virtual_release",
            ],
            Case::Evicting => &["event_create", "event_record", "event_query", "virtual_unmap"],
        }
    }
}
