//! Copies between ordinary host memory and a device, staged through pinned memory by several
//! threads. See `docs/design/copy.md`, "Ordinary memory".
//!
//! | file | idea |
//! |---|---|
//! | `pieces` | how a range is cut |
//! | `transfer` | what each thread does |
//! | `lane`, `slots` | the pinned memory of a thread |
//! | `board`, `crew` | the threads, and how a copy gets their help |
//! | `bytes` | moving a piece |

mod board;
#[allow(unsafe_code, reason = "moves bytes between addresses that callers vouch for")]
mod bytes;
mod crew;
mod lane;
mod pieces;
mod slots;
mod transfer;

#[cfg(all(test, not(loom)))]
mod tests;

use std::sync::atomic::AtomicBool;

use board::Errand;
use lane::Lane;
use parking_lot::Mutex;
use pieces::Pieces;
use transfer::{Direction, Transfer};

use crate::context::Runtime;
use crate::driver::{RawAddress, RelaxedCapture, StreamRef};
use crate::error::Result;
use crate::stream::Stream;
use crate::types::DevicePtr;

/// From this size on staging pays.
pub(super) const LEAST: usize = 1 << 20;

/// Another thread is worth waking for this much.
const SHARE: usize = 256 << 10;

/// Copies ordinary memory to a device. Returns when the source may be changed; transfers may be
/// pending then.
pub(super) fn to_device(
    runtime: &Runtime,
    stream: Stream,
    dst: DevicePtr,
    src: RawAddress,
    bytes: usize,
) -> Result<()> {
    copy(runtime, stream.driver_ref(), Direction::ToDevice, dst, src, bytes)
}

/// Copies device memory to ordinary memory. Returns when all of it is written.
pub(super) fn to_host(
    runtime: &Runtime,
    stream: Stream,
    dst: RawAddress,
    src: DevicePtr,
    bytes: usize,
) -> Result<()> {
    copy(runtime, stream.driver_ref(), Direction::ToHost, src, dst, bytes)
}

fn copy(
    runtime: &Runtime,
    stream: StreamRef,
    direction: Direction,
    device: DevicePtr,
    host: RawAddress,
    bytes: usize,
) -> Result<()> {
    let driver = runtime.driver();
    let _relaxed = RelaxedCapture::enter(driver)?;
    let wanted = (crew::helpers() + 1).min(bytes / SHARE).max(1);
    let lanes: Vec<Lane> = (0..wanted).map_while(|_| Lane::new(runtime, stream).ok()).collect();
    if lanes.is_empty() {
        return by_the_driver(runtime, stream, direction, device, host, bytes);
    }
    let threads = lanes.len();
    let errand = Errand::new(Transfer {
        driver,
        stream,
        direction,
        device,
        host,
        pieces: Pieces::new(bytes, threads),
        lanes: Mutex::new(lanes),
        failure: Mutex::new(None),
        failed: AtomicBool::new(false),
    });
    // Behind work that may take long the caller begins alone: the crew is for copies that move.
    let mut helpers = threads - 1;
    let mut get_help = || crew::board().post(&errand, std::mem::take(&mut helpers));
    match driver.stream_query(stream) {
        Ok(true) => get_help(),
        Ok(false) => {}
        Err(error) => errand.work.fail(error),
    }
    {
        let _end = crew::board().finish_later(&errand);
        errand.work.work(get_help);
    }
    errand.work.lanes.lock().clear();
    let failure = errand.work.failure.lock().take();
    failure.map_or(Ok(()), Err)
}

/// Without pinned memory.
fn by_the_driver(
    runtime: &Runtime,
    stream: StreamRef,
    direction: Direction,
    device: DevicePtr,
    host: RawAddress,
    bytes: usize,
) -> Result<()> {
    match direction {
        Direction::ToDevice => runtime.driver().copy_async(device.into(), host, bytes, stream),
        Direction::ToHost => runtime.driver().copy_async(host, device.into(), bytes, stream),
    }
}
