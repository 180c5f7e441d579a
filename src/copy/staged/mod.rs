//! Copies between ordinary host memory and a device, staged through pinned memory. See
//! `docs/design/copy.md`, "Ordinary memory".
//!
//! | file | idea |
//! |---|---|
//! | `pieces` | how a range is cut |
//! | `ring` | the pinned memory, its transfers and their events |
//! | `work` | moving pieces, by any thread |
//! | `send`, `receive` | what the calling thread does, each way |
//! | `board`, `crew` | the threads, and how a copy gets their help |
//! | `bytes` | moving a piece |

mod board;
#[allow(unsafe_code, reason = "moves bytes between addresses that callers vouch for")]
mod bytes;
mod crew;
mod pieces;
mod receive;
mod ring;
mod send;
mod work;

#[cfg(all(test, not(loom)))]
mod tests;

use board::{Arc, Errand};
use pieces::{Pieces, SMALLEST};
use ring::Ring;
use work::{Direction, Work};

use crate::context::Runtime;
use crate::driver::{RawAddress, RelaxedCapture, StreamRef};
use crate::error::Result;
use crate::host_memory;
use crate::stream::Stream;
use crate::types::DevicePtr;

/// From this size on a range is cut, and threads share it.
const SHARED: usize = 4 * SMALLEST;

/// The most slots: they stay in the processor's cache, and last for as long as a thread may be late.
const MOST_SLOTS: usize = 64;

/// With so many bytes of pinned memory waiting for devices that lag behind, a copy waits, too.
const MOST_AHEAD: usize = 256 << 20;

/// So many helpers move bytes as fast as a device takes them: the calling thread need not.
const CREW_ENOUGH: usize = 6;

/// Copies ordinary memory to a device. Returns when the source may be changed; transfers may be
/// pending then.
pub(super) fn to_device(
    runtime: &Runtime,
    stream: Stream,
    dst: DevicePtr,
    src: RawAddress,
    bytes: usize,
) -> Result<()> {
    copy(runtime, stream, Direction::ToDevice, dst, src, bytes)
}

/// Copies device memory to ordinary memory. Returns when all of it is written.
pub(super) fn to_host(
    runtime: &Runtime,
    stream: Stream,
    dst: RawAddress,
    src: DevicePtr,
    bytes: usize,
) -> Result<()> {
    copy(runtime, stream, Direction::ToHost, src, dst, bytes)
}

/// What the calling thread knows of its copy.
struct Copy<'a> {
    errand: &'a Arc<Errand<Work>>,
    device: DevicePtr,
    pieces: Pieces,
    /// How many threads can help.
    crew: usize,
}

impl Copy<'_> {
    fn on_device(&self, offset: usize) -> RawAddress {
        DevicePtr(self.device.0 + offset as u64).into()
    }

    /// Asks for help that is still outstanding.
    fn get_help(&self, helpers: &mut usize) {
        crew::board().post(self.errand, std::mem::take(helpers));
    }
}

fn copy(
    runtime: &Runtime,
    stream: Stream,
    direction: Direction,
    device: DevicePtr,
    host: RawAddress,
    bytes: usize,
) -> Result<()> {
    let _relaxed = RelaxedCapture::enter(runtime.driver())?;
    let pieces = if bytes < SHARED { Pieces::whole(bytes) } else { Pieces::shared(bytes) };
    let slots = pieces.count().min(MOST_SLOTS);
    let Ok(mut ring) = Ring::new(runtime, stream, pieces.each, slots) else {
        return by_the_driver(runtime, stream.driver_ref(), direction, device, host, bytes);
    };
    if host_memory::waiting_bytes() > MOST_AHEAD {
        runtime.driver().stream_synchronize(stream.driver_ref())?;
    }
    let errand = Errand::new(Work::new(direction, host.host(bytes)?, pieces, ring.slots));
    let crew = if bytes < SHARED { 0 } else { crew::helpers().min(pieces.count() - 1) };
    let copy = Copy { errand: &errand, device, pieces, crew };
    let mut helpers = crew;
    // Behind work that may take long the caller begins alone: the crew is for copies that move.
    if crew > 0 && runtime.driver().stream_query(stream.driver_ref())? {
        copy.get_help(&mut helpers);
    }
    // Dropped in this order, in whichever way this ends: helpers stop, then all have left, then the
    // ring goes.
    let _end = crew::board().finish_later(&errand);
    let _stop = StopOnDrop(&errand.work);
    match direction {
        Direction::ToDevice => copy.send(&errand.work, &mut ring, helpers),
        Direction::ToHost => copy.receive(&errand.work, &mut ring, helpers),
    }
}

/// Helpers wait for pieces that nobody opens any more.
struct StopOnDrop<'a>(&'a Work);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
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
