//! Tests of the checker by itself, without a driver.
//!
//! | file | idea |
//! |---|---|
//! | `edges` | what orders two operations: each kind once with the wait, once without |
//! | `hangs` | waits that do not end, and calls of ranks that wait for each other |
//! | `life` | memory that is no live block's, or that nobody has written |
//! | `overlap` | which bytes two operations share |
//! | `page` | the page of small programs |
//! | `random` | random programs, beside an oracle that keeps the whole graph of what precedes what |
//! | `refused` | operations that the driver refuses |

mod edges;
mod hangs;
mod life;
mod overlap;
mod page;
mod random;
mod refused;

use sconce_base::types::DeviceIndex;
use sconce_driver::{StreamHandle, StreamRef};

use crate::checker::{Checker, Use};
use crate::report::FindingKind;
use crate::testing::FORGED;

/// Memory that the cases use.
const X: u64 = 0x10_0000;
const BYTES: u64 = 512;

fn stream(device: i32, number: usize) -> StreamRef {
    let handle = StreamHandle::from_driver(FORGED, number);
    StreamRef { device: device_index(device), handle }
}

fn device_index(device: i32) -> DeviceIndex {
    DeviceIndex::new(device).expect("a device")
}

/// Streams that the legacy default stream does not wait for.
fn a() -> StreamRef {
    stream(0, 0x1000)
}

fn b() -> StreamRef {
    stream(0, 0x2000)
}

fn c() -> StreamRef {
    stream(0, 0x3000)
}

/// A stream that the legacy default stream waits for, and the legacy default stream.
fn blocking() -> StreamRef {
    stream(0, 0x4000)
}

fn legacy() -> StreamRef {
    StreamRef { device: device_index(0), handle: StreamHandle::DEFAULT }
}

fn checker() -> Checker {
    let mut checker = Checker::default();
    for non_blocking in [a(), b(), c()] {
        checker.stream_created(non_blocking, true);
    }
    checker.stream_created(blocking(), false);
    checker
}

fn write(checker: &mut Checker, stream: StreamRef) {
    checker.queued(stream, "the write", Some(vec![Use::writes(X, BYTES)]));
}

fn read(checker: &mut Checker, stream: StreamRef) {
    checker.queued(stream, "the read", Some(vec![Use::reads(X, BYTES)]));
}

/// The kinds of the reports, in the order in which they were found.
fn kinds(checker: &Checker) -> Vec<FindingKind> {
    checker.reports.all().iter().map(|report| report.kind).collect()
}
