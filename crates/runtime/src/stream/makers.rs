//! For each handle that a call named, the owner of its stream.
//!
//! The id of a foreign stream is the number of its handle, and a caller can pass any number. So an id
//! becomes a handle only through [`announced`], which returns the handle that a call named.
//!
//! The driver uses the handle of a destroyed stream again. An owner that differs from the one before means
//! that the handle names another stream now.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use sconce_base::lock::{RwLock, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::{StreamHandle, StreamRef};

use super::known_captures::is_in_known_capture;
use super::maker::{Maker, Named};
use crate::context::Runtime;

/// The handles and owners, by device and the handle's number.
type OwnersOfStreams = BTreeMap<(DeviceIndex, usize), (StreamHandle, Maker)>;

static MAKERS: RwLock<rank::StreamMakers, OwnersOfStreams> = RwLock::new(BTreeMap::new());

/// The number of times that a handle was found to name another stream than before.
static REPLACEMENTS: AtomicU64 = AtomicU64::new(0);

/// The functions that are called then. They must neither lock nor call the driver, since the caller may
/// hold locks.
static ON_REPLACEMENT: RwLock<rank::StreamReplacement, Vec<fn()>> = RwLock::new(Vec::new());

/// The owner of the stream that had a handle when a call named it last; `None` if no call has.
#[inline]
pub(super) fn known(stream: StreamRef) -> Option<Maker> {
    MAKERS.read().get(&(stream.device, stream.handle.native())).map(|(_, maker)| *maker)
}

/// The handle that has a number; `None` if no call has named it.
#[inline]
pub(super) fn announced(device: DeviceIndex, native: usize) -> Option<StreamHandle> {
    MAKERS.read().get(&(device, native)).map(|(handle, _)| *handle)
}

/// The owner of the calling thread's default stream of a device: the same handle names another stream on another
/// thread.
#[cold]
pub(super) fn of_thread(runtime: &Runtime, stream: StreamRef) -> Maker {
    of_program(runtime, stream, None)
}

/// The owner of a stream of the program. A captured stream is still the one that it was at the beginning of the capture,
/// which named it: the driver takes the question for its id as work that a capture does not allow, and ends the capture.
pub(super) fn of_program(runtime: &Runtime, stream: StreamRef, known: Option<Maker>) -> Maker {
    if is_in_known_capture(runtime, stream).unwrap_or(true) {
        return known.unwrap_or(Maker::UNKNOWN);
    }
    Maker::program(runtime.driver().stream_id(stream).ok().flatten())
}

/// Notes the owner of the stream that has a handle now.
pub(super) fn note(stream: StreamRef, maker: Maker) {
    let mut makers = MAKERS.write();
    let named = (stream.handle, maker);
    let before = makers.insert((stream.device, stream.handle.native()), named);
    if before.is_some_and(|(_, before)| before.is_other_than(maker)) {
        note_replacement();
    }
}

/// Notes that the library made a stream: a stream of the program that had the handle before is gone.
pub(super) fn made_by_the_library(stream: StreamRef) {
    let mut makers = MAKERS.write();
    if let Some((_, maker)) = makers.get_mut(&(stream.device, stream.handle.native())) {
        *maker = Maker::LIBRARY;
        note_replacement();
    }
}

fn note_replacement() {
    REPLACEMENTS.fetch_add(1, Ordering::Release);
    ON_REPLACEMENT.read().iter().for_each(|act| act());
}

/// Registers a function that is called whenever a handle is found to name another stream than before. A
/// function that is registered already is not registered again.
pub fn on_replacement(act: fn()) {
    let mut known = ON_REPLACEMENT.write();
    if !known.iter().any(|known| std::ptr::fn_addr_eq(*known, act)) {
        known.push(act);
    }
}

/// The stream that a handle named last. Handles that no call named are the library's.
pub(crate) fn last_named(stream: StreamRef) -> Named {
    Named { stream, maker: known(stream).unwrap_or(Maker::LIBRARY) }
}

/// The number of times that a handle was found to name another stream than before.
pub fn replacements() -> u64 {
    REPLACEMENTS.load(Ordering::Acquire)
}
