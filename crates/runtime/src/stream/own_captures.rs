//! The captures of this library's graphs, for work that is queued meanwhile: which graph it becomes a part of, and what
//! that graph does at its launches beside its nodes.
//!
//! Work may be queued by any thread, on any stream that takes part in the capture. The driver numbers captures, so a
//! stream belongs to the capture whose number is that of the stream on which the capture began.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use sconce_base::error::{Result, Status};
use sconce_base::lock::{Mutex, rank};
use sconce_driver::StreamRef;

use super::value::Stream;
use crate::context::Runtime;
use crate::graph_shared::Share;

/// What a graph does at each launch beside its nodes, such as giving its random fills a piece of the sequence.
pub trait LaunchMember: Any + Send + Sync {
    /// Queues a launch on a stream: calls `queue` once, and queues what comes before and after it.
    fn launch(&self, stream: Stream, queue: &mut dyn FnMut() -> Result<()>) -> Result<()>;
}

/// The members of a graph.
pub type LaunchMembers = Vec<Arc<dyn LaunchMember>>;

/// Queues a launch with all members around it.
pub fn launch_with(
    members: &[Arc<dyn LaunchMember>],
    stream: Stream,
    queue: &mut dyn FnMut() -> Result<()>,
) -> Result<()> {
    match members.split_first() {
        None => queue(),
        Some((first, rest)) => first.launch(stream, &mut || launch_with(rest, stream, queue)),
    }
}

/// What a graph keeps beside the memory of its pool, because its nodes have addresses in it; each thing once, by its
/// address.
pub type KeptByCapture = BTreeMap<usize, Share>;

/// The capture that a captured stream is in.
pub enum CaptureSeen {
    /// That of a graph of this library, by the number of the graph's capture.
    Own {
        /// The number.
        capture: u64,
        /// The work becomes a part of a body of a conditional node, which may run any number of times.
        is_body: bool,
    },
    /// One that other code began, or that the driver does not number.
    Other,
}

struct OwnCapture {
    capture: u64,
    /// The stream on which the capture of the graph, or of a body, began.
    origin: Stream,
    /// The driver's number of the capture, for a stream of the program: other calls may not pass its handle to the
    /// driver.
    number: Option<u64>,
    is_body: bool,
    members: LaunchMembers,
    kept: KeptByCapture,
}

/// The captures under way, and their bodies. The driver is called with the lock held; nothing else is.
static UNDER_WAY: Mutex<rank::OwnCaptures, Vec<OwnCapture>> = Mutex::new(Vec::new());

/// Notes that the capture of a graph has begun, or that of a body of a graph.
pub fn begin_own_capture(runtime: &Runtime, capture: u64, origin: Stream, is_body: bool) {
    let number = if origin.is_foreign() {
        // A driver without numbers has no such capture.
        runtime.driver().stream_capture_number(origin.driver_ref()).unwrap_or_default()
    } else {
        None
    };
    let (members, kept) = (Vec::new(), BTreeMap::new());
    UNDER_WAY.lock().push(OwnCapture { capture, origin, number, is_body, members, kept });
}

/// Notes that the capture of a body ends.
pub fn end_own_body(capture: u64, origin: Stream) {
    UNDER_WAY
        .lock()
        .retain(|known| !(known.is_body && known.capture == capture && known.origin == origin));
}

/// Notes that the capture of a graph ends, with all its bodies. Returns the members of the graph, and what it keeps.
pub fn end_own_capture(capture: u64) -> (LaunchMembers, KeptByCapture) {
    let (mut members, mut kept) = (Vec::new(), BTreeMap::new());
    UNDER_WAY.lock().retain_mut(|known| {
        let is_other = known.capture != capture;
        if !is_other {
            members.append(&mut known.members);
            kept.append(&mut known.kept);
        }
        is_other
    });
    (members, kept)
}

/// Work that was queued into a capture uses something as long as its graph may be launched. If the capture is that of a
/// graph of this library, the graph keeps it; nobody says when other graphs are gone, so it then stays for ever. Says
/// whether a graph of this library keeps it. Called with no lock held.
pub fn keep_for_capture(seen: &CaptureSeen, share: Share) -> bool {
    let left = match seen {
        CaptureSeen::Own { capture, .. } => keep(*capture, share),
        CaptureSeen::Other => Some(share),
    };
    // A capture that has ended meanwhile is as good as another's.
    left.map(std::mem::forget).is_none()
}

/// Makes a graph that is being captured keep something. Returns it if the capture has ended.
fn keep(capture: u64, share: Share) -> Option<Share> {
    let known_already = {
        let mut under_way = UNDER_WAY.lock();
        let is_it = |known: &&mut OwnCapture| known.capture == capture && !known.is_body;
        let Some(known) = under_way.iter_mut().find(is_it) else { return Some(share) };
        known.kept.insert(Arc::as_ptr(&share).cast::<()>().addr(), share)
    };
    drop(known_already);
    None
}

/// The capture that a stream is in, which is being captured.
pub fn capture_of(runtime: &Runtime, stream: StreamRef) -> Result<CaptureSeen> {
    let driver = runtime.driver();
    let own =
        |known: &OwnCapture| CaptureSeen::Own { capture: known.capture, is_body: known.is_body };
    let under_way = UNDER_WAY.lock();
    let is_origin =
        |known: &&OwnCapture| !known.origin.is_foreign() && known.origin.driver_ref() == stream;
    if let Some(known) = under_way.iter().find(is_origin) {
        return Ok(own(known));
    }
    // It is the program's, or has joined the capture of another stream.
    let number = match driver.stream_capture_number(stream) {
        Err(error) if error.status() == Status::NotSupported => return Ok(CaptureSeen::Other),
        number => number?,
    };
    for known in under_way.iter() {
        let of_known = match known.origin.is_foreign() {
            true => known.number,
            false => driver.stream_capture_number(known.origin.driver_ref())?,
        };
        if of_known.is_some() && of_known == number {
            return Ok(own(known));
        }
    }
    Ok(CaptureSeen::Other)
}

/// The member of a type of the graph that is being captured, made if the graph has none; `None` if the capture has
/// ended.
pub fn member_of<T: LaunchMember>(capture: u64, make: impl FnOnce() -> T) -> Option<Arc<T>> {
    let mut under_way = UNDER_WAY.lock();
    let known = under_way.iter_mut().find(|known| known.capture == capture && !known.is_body)?;
    let existing = known.members.iter().find_map(|member| {
        let member = Arc::clone(member);
        let any: Arc<dyn Any + Send + Sync> = member;
        any.downcast::<T>().ok()
    });
    Some(existing.unwrap_or_else(|| {
        let made = Arc::new(make());
        known.members.push(Arc::clone(&made) as Arc<dyn LaunchMember>);
        made
    }))
}
