//! The mode without caching (`PYTORCH_NO_CUDA_MEMORY_CACHING=1`): every allocation and free is the
//! driver's. For finding out who uses memory after its free.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::lock::Mutex;

use crate::config::Config;
use crate::context::Runtime;
use crate::driver::RelaxedCapture;
use crate::error::{Error, Result, Status};
use crate::memory::miss::out_of_memory;
use crate::memory::miss::reclaim;
use crate::memory::miss::steps::{Wanted, check_size};
use crate::stream::{self, Stream};
use crate::types::{DeviceIndex, DevicePtr};

/// The allocations, but those that are being freed.
static LIVE: Mutex<BTreeMap<usize, UncachedAllocation>> = Mutex::new(BTreeMap::new());

/// Freed, and no process holds them any more: the driver is still to be told.
static LET_GO: Mutex<Vec<(usize, UncachedAllocation)>> = Mutex::new(Vec::new());

struct UncachedAllocation {
    device: DeviceIndex,
    bytes: usize,
    /// Other processes may ask to hold it.
    lent: bool,
    /// How often other processes hold it.
    holds: usize,
    /// Its caller has freed it.
    freed: bool,
}

/// Whether the environment asks for this mode.
#[inline]
pub(crate) fn is_on() -> bool {
    Config::get().no_memory_caching
}

pub(crate) fn alloc(runtime: &Runtime, bytes: usize, stream: Stream) -> Result<usize> {
    check_size(bytes)?;
    let device = stream.device();
    let obtain = || {
        let _relaxed = RelaxedCapture::enter(runtime.driver())?;
        runtime.driver().memory_alloc(device, bytes)
    };
    let address = obtain().or_else(|error| {
        let again = error.status() == Status::OutOfMemory && reclaim::free_idle_blocks(device) > 0;
        if again { obtain() } else { Err(error) }
    });
    match address {
        Ok(address) => {
            let allocation =
                UncachedAllocation { device, bytes, lent: false, holds: 0, freed: false };
            LIVE.lock().insert(address.0 as usize, allocation);
            Ok(address.0 as usize)
        }
        Err(error) if error.status() == Status::OutOfMemory => {
            // Not by its id: a cache that is found by that is used.
            let in_use = crate::memory::streams::lookup::of_handle(
                runtime,
                device,
                stream.driver_ref().handle,
            )?;
            let cache = in_use.cache();
            Err(out_of_memory::report(
                runtime,
                cache,
                bytes,
                Wanted { pool: 0, bytes },
                bytes as u64,
            ))
        }
        Err(error) => Err(error),
    }
}

/// Frees an allocation; `None` when there is none at the address. One that other processes hold goes
/// when the last of them lets go of it.
pub(crate) fn free(runtime: &Runtime, address: usize) -> Option<Result<()>> {
    let allocation = {
        let mut live = LIVE.lock();
        let Entry::Occupied(mut entry) = live.entry(address) else { return None };
        if entry.get().freed {
            return None;
        }
        if entry.get().holds != 0 {
            entry.get_mut().freed = true;
            return Some(Ok(()));
        }
        entry.remove()
    };
    let freed = to_driver(runtime, address, &allocation);
    if freed.is_err() {
        LIVE.lock().insert(address, allocation);
    }
    Some(freed)
}

fn to_driver(runtime: &Runtime, address: usize, allocation: &UncachedAllocation) -> Result<()> {
    let _relaxed = RelaxedCapture::enter(runtime.driver())?;
    runtime.driver().memory_free(allocation.device, DevicePtr(address as u64))
}

/// The allocation that holds an address: where it begins, its bytes and its device.
pub(crate) fn find(address: usize) -> Option<(usize, usize, DeviceIndex)> {
    let live = LIVE.lock();
    let (base, allocation) = live.range(..=address).next_back()?;
    let found = address - base < allocation.bytes && !allocation.freed;
    found.then_some((*base, allocation.bytes, allocation.device))
}

/// Lets other processes ask for an allocation. `None` when there is none at the address; `false` when
/// it was freed, and is only there for those who hold it.
pub(crate) fn lend(address: usize) -> Option<bool> {
    let mut live = LIVE.lock();
    let (base, allocation) = live.range_mut(..=address).next_back()?;
    let found = address - base < allocation.bytes;
    allocation.lent |= found && !allocation.freed;
    found.then_some(!allocation.freed)
}

/// One more process holds the allocation at an address, if it is live and has been lent; tells where
/// it begins.
pub(crate) fn hold(address: usize) -> Option<usize> {
    let mut live = LIVE.lock();
    let (base, allocation) = live.range_mut(..=address).next_back()?;
    if address - base >= allocation.bytes || allocation.freed || !allocation.lent {
        return None;
    }
    allocation.holds += 1;
    Some(*base)
}

/// A process lets go of an allocation. What becomes free by that goes with [`free_let_go`].
pub(crate) fn release_hold(base: usize) {
    let mut live = LIVE.lock();
    let Some(allocation) = live.get_mut(&base) else { return };
    allocation.holds -= 1;
    if allocation.holds == 0
        && allocation.freed
        && let Some(allocation) = live.remove(&base)
    {
        LET_GO.lock().push((base, allocation));
    }
}

/// Whether anything is to be done by [`free_let_go`].
pub(crate) fn has_let_go() -> bool {
    !LET_GO.lock().is_empty()
}

/// Gives what was freed and let go of back to the driver, which waits for the device. What it will
/// not take stays for the next time.
pub(crate) fn free_let_go(runtime: &Runtime) -> Result<()> {
    // Who comes second finds it done.
    static GOING_ON: Mutex<()> = Mutex::new(());
    let _going_on = GOING_ON.lock();
    let mut outcome = Ok(());
    let let_go = std::mem::take(&mut *LET_GO.lock());
    for (address, allocation) in let_go {
        let freed = refuse_capture(runtime, allocation.device)
            .and_then(|()| to_driver(runtime, address, &allocation));
        if freed.is_err() {
            LET_GO.lock().push((address, allocation));
        }
        outcome = outcome.and(freed);
    }
    outcome
}

/// A capture does not survive that its device is waited for, and it is not the caller's.
fn refuse_capture(runtime: &Runtime, device: DeviceIndex) -> Result<()> {
    if stream::is_under_capture(runtime, device) {
        return Err(Error::invalid_state(format!(
            "a stream of device {device} is being captured, and memory that other processes have \
             closed is given back when the capture has ended"
        )));
    }
    Ok(())
}
