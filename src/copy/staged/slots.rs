//! Pinned blocks for the time of a copy.

use parking_lot::Mutex;

use crate::context::runtime;
use crate::driver::{EventFlags, RelaxedCapture, StreamRef};
use crate::error::Result;
use crate::event::NativeEvent;
use crate::types::DeviceIndex;

/// Blocks that were given back; with what was queued on them then.
static SPARE: Mutex<Vec<(usize, Option<NativeEvent>)>> = Mutex::new(Vec::new());

pub(super) const BLOCK: usize = 2 * super::pieces::LARGEST;

pub(super) fn alloc(device: DeviceIndex) -> Result<usize> {
    let runtime = runtime()?;
    let mut spare = SPARE.lock();
    let done = spare.iter().position(|(_, event)| match event {
        None => true,
        Some(event) => matches!(runtime.driver().event_query(event.handle()), Ok(true)),
    });
    if let Some(place) = done {
        return Ok(spare.swap_remove(place).0);
    }
    drop(spare);
    runtime.driver().host_alloc(device, BLOCK)
}

pub(super) fn free(address: usize, noted: Option<StreamRef>) -> Result<()> {
    let runtime = runtime()?;
    let _relaxed = RelaxedCapture::enter(runtime.driver())?;
    let record = |stream: StreamRef| {
        let event = NativeEvent::obtain(runtime, stream.device, EventFlags::default())?;
        runtime.driver().event_record(event.handle(), stream)?;
        Result::Ok(event)
    };
    match noted.map(record).transpose() {
        Ok(event) => SPARE.lock().push((address, event)),
        Err(_) => return runtime.driver().host_free(address),
    }
    Ok(())
}

/// For tests: the next copies need new ones.
#[cfg(test)]
pub(super) fn forget_spare() {
    SPARE.lock().clear();
}
