//! Streams that the program made and owns.
//!
//! A handle cannot be checked without following it, so only handles that were announced by
//! [`from_external`] are accepted later: a made-up stream value is refused rather than followed.
//!
//! The program may destroy its stream at any time, and the driver gives the handle to another stream
//! later. So a handle is handed to the driver only in a call that names it, and what such a call
//! learns (the driver's id of the stream) is kept: an id that differs from the one before means that
//! the handle names another stream now.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::lock::RwLock;

use super::named::{Maker, Named};
use super::{Stream, pool};
use crate::context::{Runtime, runtime};
use crate::device::{self, parked};
use crate::driver::{StreamHandle, StreamRef};
use crate::error::{Error, Result};
use crate::types::DeviceIndex;

/// Who made the stream that a handle named last.
static ANNOUNCED: RwLock<BTreeMap<(DeviceIndex, usize), Maker>> = RwLock::new(BTreeMap::new());

/// How often a handle was found to name another stream than before.
static REPLACEMENTS: AtomicU64 = AtomicU64::new(0);

/// What to call then. Nothing of it may lock or call the driver: the caller may hold locks.
static ON_REPLACEMENT: RwLock<Vec<fn()>> = RwLock::new(Vec::new());

/// CUDA's other spelling of the legacy default stream.
const LEGACY: usize = 1;
/// CUDA's name of the calling thread's own default stream.
const PER_THREAD: usize = 2;

/// The stream behind a handle of the driver on a device (-1: the current one).
///
/// NULL and CUDA's handle for the legacy stream are the default stream, as in torch.
pub fn from_external(native: usize, index: i32) -> Result<Stream> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    if native == 0 || native == LEGACY {
        return super::default(device.as_i32());
    }
    if native & 1 == 1 {
        return Err(Error::invalid_argument(format!(
            "native is {native:#x}, which is no stream handle: handles are even"
        )));
    }
    let handle = StreamHandle(native);
    let stream = StreamRef { device, handle };
    runtime.driver().stream_check(stream)?;
    if name(runtime, stream).is_foreign() {
        parked::named(runtime, stream);
    }
    Ok(Stream { id: native as i64, device, handle })
}

/// An external stream that has been announced.
#[inline(never)]
pub(super) fn existing(device: DeviceIndex, native: usize) -> Option<StreamHandle> {
    ANNOUNCED.read().contains_key(&(device, native)).then_some(StreamHandle(native))
}

/// Notes which stream a handle names. The running call must name the handle: unless the library owns
/// the stream, the driver is asked.
pub(crate) fn name(runtime: &Runtime, stream: StreamRef) -> Named {
    let StreamRef { device, handle } = stream;
    let key = (device, handle.0);
    let known = ANNOUNCED.read().get(&key).copied();
    let is_own = match known {
        _ if handle.0 <= LEGACY => return Named { stream, maker: Maker::LIBRARY },
        Some(maker) => maker == Maker::LIBRARY,
        None => handle.0 == PER_THREAD || pool::owns(stream),
    };
    let maker = match is_own {
        true => Maker::LIBRARY,
        false => Maker::program(runtime.driver().stream_id(stream).ok().flatten()),
    };
    // An unknown id says nothing against the one that was known before.
    let is_news = known.is_none_or(|known| known != maker && maker != Maker::UNKNOWN);
    if is_news {
        let mut announced = ANNOUNCED.write();
        let before = announced.insert(key, maker);
        if before.is_some_and(|before| before.is_other_than(maker)) {
            note_replacement();
        }
    }
    Named { stream, maker }
}

/// The library made a stream: if a stream of the program had the handle before, that is gone.
pub(super) fn made_by_the_library(stream: StreamRef) {
    let mut announced = ANNOUNCED.write();
    if let Some(maker) = announced.get_mut(&(stream.device, stream.handle.0)) {
        *maker = Maker::LIBRARY;
        note_replacement();
    }
}

fn note_replacement() {
    REPLACEMENTS.fetch_add(1, Ordering::Release);
    ON_REPLACEMENT.read().iter().for_each(|act| act());
}

/// Has `act` called whenever a handle is found to name another stream than before; once for each
/// function.
pub(crate) fn on_replacement(act: fn()) {
    let mut known = ON_REPLACEMENT.write();
    if !known.iter().any(|known| std::ptr::fn_addr_eq(*known, act)) {
        known.push(act);
    }
}

/// Which stream a handle named last. Handles that were never announced are the library's.
pub(crate) fn last_named(stream: StreamRef) -> Named {
    let key = (stream.device, stream.handle.0);
    let maker = ANNOUNCED.read().get(&key).copied().unwrap_or(Maker::LIBRARY);
    Named { stream, maker }
}

/// How often a handle was found to name another stream than before.
pub(crate) fn replacements() -> u64 {
    REPLACEMENTS.load(Ordering::Acquire)
}
