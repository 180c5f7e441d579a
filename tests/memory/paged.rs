//! What tests of pages and of pools that sleep share.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use sconce_runtime::memory;
use sconce_runtime::stream::Stream;

pub(crate) const MIB: usize = 1 << 20;

/// A test in a process of its own, with pages.
#[track_caller]
pub(crate) fn with_pages(test: &str, memory: &str, body: impl FnOnce()) {
    with_pages_on("1", test, memory, body);
}

/// The same with several devices.
#[track_caller]
pub(crate) fn with_pages_on(devices: &str, test: &str, memory: &str, body: impl FnOnce()) {
    let environment = [
        ("SCONCE_BACKEND", "sim"),
        ("SCONCE_SIM_DEVICES", devices),
        ("SCONCE_LOG", "off"),
        ("SCONCE_SIM_MEMORY", memory),
        ("SCONCE_ALLOC_CONF", "policy:pages"),
        ("RUST_BACKTRACE", "0"),
    ];
    testkit::in_child(test, &environment, body);
}

pub(crate) fn alloc(bytes: usize, on: Stream) -> usize {
    memory::alloc_on(bytes, on).unwrap()
}

pub(crate) fn reserved() -> i64 {
    memory::stats(0).unwrap().reserved_bytes.all.current
}
