//! Setting bytes: on a device, work of the current device's current stream.

use super::{host_bytes, side, transfer};
use crate::context::{Runtime, runtime};
use crate::device::reach;
use crate::driver::{PointerKind, RawAddress};
use crate::error::Result;
use crate::stream::{Stream, after_enqueue};
use crate::thread_state;
use crate::types::DevicePtr;

/// Sets bytes: work of the current device's current stream, or of this thread for host memory.
pub fn set(ptr: RawAddress, value: u8, bytes: usize) -> Result<()> {
    let runtime = runtime()?;
    if bytes == 0 {
        return Ok(());
    }
    let Some(stream) = stream_for(runtime, ptr, bytes)? else {
        host_bytes::fill(ptr, value, bytes);
        return Ok(());
    };
    let ptr = DevicePtr(ptr.get() as u64);
    runtime.driver().fill_async(ptr, value, bytes, stream.driver_ref())?;
    after_enqueue(runtime, stream)
}

/// The stream that sets the `bytes` from `ptr` on; none for host memory.
pub(super) fn stream_for(
    runtime: &Runtime,
    ptr: RawAddress,
    bytes: usize,
) -> Result<Option<Stream>> {
    let start = ptr.get();
    if start == 0 {
        return Err(side::null(bytes, "ptr"));
    }
    let too_far = || side::too_far(start, bytes, "ptr");
    let end = start.checked_add(bytes).ok_or_else(too_far)?;
    let current = thread_state::device();
    let info = reach::check(runtime, current, start, "ptr")?;
    if info.kind == PointerKind::Unregistered {
        return Ok(None);
    }
    if !reach::extends_to(runtime.driver(), &info, end)? {
        return Err(too_far());
    }
    match info.kind {
        PointerKind::PinnedHost => Ok(None),
        _ => transfer::current_stream(runtime, current).map(Some),
    }
}
