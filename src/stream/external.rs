//! Streams that somebody else made and owns.
//!
//! A handle cannot be checked without following it, so only handles that were announced by
//! [`from_external`] are accepted later: a made-up stream value is refused rather than followed.

use std::collections::BTreeSet;

use crate::lock::RwLock;

use super::Stream;
use crate::context::runtime;
use crate::device;
use crate::driver::{StreamHandle, StreamRef};
use crate::error::{Error, Result};
use crate::types::DeviceIndex;

static ANNOUNCED: RwLock<BTreeSet<(DeviceIndex, usize)>> = RwLock::new(BTreeSet::new());

/// CUDA's other spelling of the legacy default stream.
const LEGACY: usize = 1;

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
    runtime.driver().stream_check(StreamRef { device, handle })?;
    ANNOUNCED.write().insert((device, native));
    Ok(Stream { id: native as i64, device, handle })
}

/// An external stream that has been announced.
#[inline(never)]
pub(super) fn existing(device: DeviceIndex, native: usize) -> Option<StreamHandle> {
    ANNOUNCED.read().contains(&(device, native)).then_some(StreamHandle(native))
}
