//! The mode without caching (`PYTORCH_NO_CUDA_MEMORY_CACHING=1`): every allocation and free is the
//! driver's. For finding out who uses memory after its free.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use super::exhausted;
use super::ladder::{Wanted, check_size};
use crate::config::Config;
use crate::context::Runtime;
use crate::driver::RelaxedCapture;
use crate::error::{Result, Status};
use crate::stream::Stream;
use crate::types::{DeviceIndex, DevicePtr};

/// The live allocations: their device and size.
static LIVE: Mutex<BTreeMap<usize, (DeviceIndex, usize)>> = Mutex::new(BTreeMap::new());

/// Whether the environment asks for this mode.
#[inline]
pub(super) fn is_on() -> bool {
    Config::get().no_memory_caching
}

pub(super) fn alloc(runtime: &Runtime, bytes: usize, stream: Stream) -> Result<usize> {
    check_size(bytes)?;
    let device = stream.device();
    let address = {
        let _relaxed = RelaxedCapture::enter(runtime.driver())?;
        runtime.driver().memory_alloc(device, bytes)
    };
    match address {
        Ok(address) => {
            LIVE.lock().insert(address.0 as usize, (device, bytes));
            Ok(address.0 as usize)
        }
        Err(error) if error.status() == Status::OutOfMemory => {
            // Not by its id: a cache that is found by that is used.
            let cache = super::table::of_handle(runtime, device, stream.driver_ref().handle)?;
            Err(exhausted::report(runtime, cache, bytes, Wanted { pool: 0, bytes }, bytes as u64))
        }
        Err(error) => Err(error),
    }
}

/// Frees an allocation; `None` when there is none at the address.
pub(super) fn free(runtime: &Runtime, address: usize) -> Option<Result<()>> {
    let (device, bytes) = LIVE.lock().remove(&address)?;
    let freed = RelaxedCapture::enter(runtime.driver())
        .and_then(|_relaxed| runtime.driver().memory_free(device, DevicePtr(address as u64)));
    if freed.is_err() {
        LIVE.lock().insert(address, (device, bytes));
    }
    Some(freed)
}

/// The allocation that holds an address: where it begins, its bytes and its device.
pub(super) fn find(address: usize) -> Option<(usize, usize, DeviceIndex)> {
    let live = LIVE.lock();
    let (base, (device, bytes)) = live.range(..=address).next_back()?;
    (address - base < *bytes).then_some((*base, *bytes, *device))
}
