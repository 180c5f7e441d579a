//! Copies between ordinary host memory and a device, staged through pinned memory. See
//! `docs/design/copy.md`, "Ordinary memory".
//!
//! | file | idea |
//! |---|---|
//! | `pieces` | how a range is cut |
//! | `ring` | the pinned memory, its transfers and their events |
//! | `work` | moving pieces, by any thread |
//! | `send`, `receive` | what the calling thread does, each way |
//! | `jobs`, `helpers` | the queue of copies that want help, and the threads that help |

mod helpers;
mod jobs;
mod pieces;
mod receive;
mod ring;
mod send;
mod work;

#[cfg(all(test, not(loom)))]
mod tests;

use jobs::{Arc, Job};
use pieces::{Pieces, SMALLEST};
use ring::Ring;
use work::{Direction, StagedWork};

use sconce_base::error::Result;
use sconce_driver::{RawAddress, RelaxedCapture, StreamRef};
use sconce_runtime::context::Runtime;
use sconce_runtime::host_memory;
use sconce_runtime::stream::Stream;

/// From this size on a range is cut, and threads share it.
const SHARED: usize = 4 * SMALLEST;

/// The most slots: they stay in the processor's cache, and last for as long as a thread may be
/// late.
const MOST_SLOTS: usize = 64;

/// The bytes of pinned memory in use by queued transfers above which a copy waits for its stream.
const MOST_AHEAD: usize = 256 << 20;

/// With this many helpers the link to the device is the bottleneck: the calling thread then only
/// queues transfers.
const ENOUGH_HELPERS: usize = 6;

/// Copies ordinary memory to a device. Returns when the source may be changed; transfers may be
/// pending then.
pub(super) fn to_device(
    runtime: &Runtime,
    stream: Stream,
    dst: RawAddress,
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
    src: RawAddress,
    bytes: usize,
) -> Result<()> {
    copy(runtime, stream, Direction::ToHost, src, dst, bytes)
}

/// A copy, as its calling thread sees it.
struct StagedCopy<'a> {
    job: &'a Arc<Job<StagedWork>>,
    device: RawAddress,
    pieces: Pieces,
    /// How many threads can help.
    helper_count: usize,
}

impl StagedCopy<'_> {
    fn on_device(&self, offset: usize) -> RawAddress {
        self.device.offset(offset)
    }

    /// Asks for help that is still outstanding.
    fn get_help(&self, helpers: &mut usize) {
        helpers::jobs().post(self.job, std::mem::take(helpers));
    }
}

fn copy(
    runtime: &Runtime,
    stream: Stream,
    direction: Direction,
    device: RawAddress,
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
    let job = Job::new(StagedWork::new(direction, host.host(bytes)?, pieces, ring.slots));
    let helper_count =
        if bytes < SHARED { 0 } else { helpers::most_helpers().min(pieces.count() - 1) };
    let copy = StagedCopy { job: &job, device, pieces, helper_count };
    let mut helpers = helper_count;
    // Behind work that may take long the caller begins alone: helpers are for copies that move.
    if helper_count > 0 {
        let _asks = runtime.driver().asks_for_itself();
        if runtime.driver().stream_query(stream.driver_ref())? {
            copy.get_help(&mut helpers);
        }
    }
    // Dropped in this order, in whichever way this ends: helpers stop, then all have left, then the
    // ring goes.
    let _end = helpers::jobs().finish_later(&job);
    let _stop = StopOnDrop(&job.work);
    match direction {
        Direction::ToDevice => copy.send(&job.work, &mut ring, helpers),
        Direction::ToHost => copy.receive(&job.work, &mut ring, helpers),
    }
}

/// Ends the wait of helpers for further pieces.
struct StopOnDrop<'a>(&'a StagedWork);

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
    device: RawAddress,
    host: RawAddress,
    bytes: usize,
) -> Result<()> {
    match direction {
        Direction::ToDevice => runtime.driver().copy_async(device, host, bytes, stream),
        Direction::ToHost => runtime.driver().copy_async(host, device, bytes, stream),
    }
}
