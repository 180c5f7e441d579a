//! The mode without caching (`PYTORCH_NO_CUDA_MEMORY_CACHING=1`): every allocation and free is the
//! driver's. Programs use it to find uses of memory after its free.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use sconce_base::config::Config;
use sconce_base::error::{Error, Result};
use sconce_base::lock::{Mutex, rank};
use sconce_base::types::{DeviceIndex, DevicePtr};

use super::plain;
use crate::context::Runtime;
use crate::stream::{self, GivingBack};

/// The live allocations, except those that are being freed.
static LIVE: Mutex<rank::UncachedLive, BTreeMap<usize, UncachedAllocation>> =
    Mutex::new(BTreeMap::new());

/// Allocations that were freed and that no process holds any more, still to be returned to the driver.
static LET_GO: Mutex<rank::UncachedLetGo, Vec<(usize, UncachedAllocation)>> =
    Mutex::new(Vec::new());

struct UncachedAllocation {
    device: DeviceIndex,
    bytes: usize,
    /// Other processes may ask to hold it.
    shared: bool,
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

/// Gets memory from the driver, and notes that a caller holds it.
pub(crate) fn obtain(runtime: &Runtime, device: DeviceIndex, bytes: usize) -> Result<usize> {
    let address = plain::obtain(runtime, device, bytes)?.0 as usize;
    let allocation = UncachedAllocation { device, bytes, shared: false, holds: 0, freed: false };
    LIVE.lock().insert(address, allocation);
    Ok(address)
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
    plain::give_back(runtime, allocation.device, DevicePtr(address as u64))
}

/// The allocation that holds an address: where it begins, its bytes and its device.
pub(crate) fn find(address: usize) -> Option<(usize, usize, DeviceIndex)> {
    let live = LIVE.lock();
    let (base, allocation) = live.range(..=address).next_back()?;
    let found = address - base < allocation.bytes && !allocation.freed;
    found.then_some((*base, allocation.bytes, allocation.device))
}

/// Lets other processes ask to hold an allocation. `None` when there is none at the address; `false` when
/// it was freed, and stays only because processes hold it.
pub(crate) fn share(address: usize) -> Option<bool> {
    let mut live = LIVE.lock();
    let (base, allocation) = live.range_mut(..=address).next_back()?;
    let found = address - base < allocation.bytes;
    allocation.shared |= found && !allocation.freed;
    found.then_some(!allocation.freed)
}

/// One more process holds the allocation at an address, if it is live and shared; returns where it
/// begins.
pub(crate) fn hold(address: usize) -> Option<usize> {
    let mut live = LIVE.lock();
    let (base, allocation) = live.range_mut(..=address).next_back()?;
    if address - base >= allocation.bytes || allocation.freed || !allocation.shared {
        return None;
    }
    allocation.holds += 1;
    Some(*base)
}

/// A process no longer holds an allocation. One that becomes free by that goes with [`free_let_go`].
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
    // A second thread waits for the first and finds nothing left.
    static ONE_AT_A_TIME: Mutex<rank::UncachedTurn, ()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock();
    let mut outcome = Ok(());
    let let_go = std::mem::take(&mut *LET_GO.lock());
    for (address, allocation) in let_go {
        let freed = begin_give_back(runtime, allocation.device)
            .and_then(|_no_capture_begins| to_driver(runtime, address, &allocation));
        if freed.is_err() {
            LET_GO.lock().push((address, allocation));
        }
        outcome = outcome.and(freed);
    }
    outcome
}

/// Refuses to free while a stream of the device is being captured: the free waits for the device, which
/// would spoil a capture that may not be the caller's.
fn begin_give_back(runtime: &Runtime, device: DeviceIndex) -> Result<GivingBack<'static>> {
    stream::give_back(runtime, device, None).ok_or_else(|| {
        Error::invalid_state(format!(
            "a stream of device {device} is being captured, and memory that other processes have \
             closed is returned to the driver when the capture has ended"
        ))
    })
}
