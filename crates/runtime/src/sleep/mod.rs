//! Sleep and wake: where the bytes of a pool are while its memory is the driver's, and how they get there and back. See
//! `docs/design/sleep.md`. What happens to pages and blocks is in [`crate::memory`].
//!
//! | file | idea |
//! |---|---|
//! | `layout` | from blocks to places in storage, and the pieces that are copied |
//! | `host_block` | memory of the host that holds bytes |
//! | `transfers` | the stream of the copies, and which of them are done |
//! | `discarded` | no storage |
//! | `pinned` | pinned memory, which a device copies to itself |
//! | `movers` | threads that move bytes between staging and storage |
//! | `staged` | storage behind staging: ordinary memory and files |
//! | `storage` | ordinary memory and files |

mod discarded;
#[allow(unsafe_code, reason = "memory from the system, and copies of it")]
mod host_block;
mod layout;
mod movers;
mod pinned;
mod staged;
mod storage;
mod transfers;

use std::path::PathBuf;

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;

use crate::context::{Runtime, runtime};
use crate::device;
use crate::memory::pool::{self, Key};
use crate::memory::sleep::{self as pages, LiveBlock, SavedBytes};
use crate::memory::{SleepMode, SleepState};

/// Where the bytes of live blocks go while their pool sleeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SleepPlace {
    /// Nowhere: they are lost.
    Discard,
    /// To pinned memory of the host.
    HostPinned,
    /// To ordinary memory of the host.
    HostPageable,
    /// To a file without a name in this folder.
    File(PathBuf),
}

impl SleepPlace {
    fn mode(&self) -> SleepMode {
        match self {
            SleepPlace::Discard => SleepMode::Discard,
            SleepPlace::HostPinned => SleepMode::HostPinned,
            SleepPlace::HostPageable => SleepMode::HostPageable,
            SleepPlace::File(_) => SleepMode::File,
        }
    }

    /// Makes storage for the bytes of blocks.
    fn make(&self, blocks: &[LiveBlock]) -> Result<Box<dyn SavedBytes>> {
        Ok(match self {
            SleepPlace::Discard => Box::new(discarded::Discarded),
            SleepPlace::HostPinned => Box::new(pinned::PinnedCopy::new(blocks)?),
            SleepPlace::HostPageable => Box::new(storage::in_memory(blocks)?),
            SleepPlace::File(folder) => Box::new(storage::in_file(blocks, folder)?),
        })
    }
}

/// What wakes with the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeMode {
    /// The bytes of live blocks.
    Restore,
    /// Nothing: what live blocks hold is undefined.
    Empty,
}

/// The number of a pool; the default pool is 0.
fn number(pool: Option<Key>) -> Result<u64> {
    pool.map_or(Ok(0), pool::number)
}

/// The number of a pool that is awake, or of one that is not. Another thread may have been first, and the pool may be
/// gone.
fn if_awake(device: DeviceIndex, number: u64, awake: bool) -> Option<u64> {
    (pages::state(device, number).is_none() == awake).then_some(number)
}

/// Puts a pool (`None`: the default pool) to sleep on a device (-1: the current one).
pub fn sleep(pool: Option<Key>, index: i32, place: &SleepPlace) -> Result<()> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    let number = || number(pool).map(Some);
    pages::sleep(runtime, device, &number, place.mode(), |blocks| place.make(blocks)).map(|_| ())
}

/// Wakes a pool on a device. When this returns, its bytes are there.
pub fn wake(pool: Option<Key>, index: i32, mode: WakeMode) -> Result<()> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    pages::wake(runtime, device, &|| number(pool).map(Some), mode == WakeMode::Restore)
}

/// The state of a pool on a device; `None` if it is awake.
pub fn state(pool: Option<Key>, index: i32) -> Result<Option<SleepState>> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    Ok(pages::state(device, number(pool)?))
}

/// Where the byte of an address is in memory of the host while its pool sleeps there.
pub fn backup_pointer(pool: Option<Key>, address: usize) -> Result<usize> {
    runtime()?;
    pages::saved_at(number(pool)?, address)
}

/// Puts all pools of a device to sleep that have memory there and are awake, and the default pool. If one cannot, those
/// that this call has put to sleep are woken again.
pub fn sleep_device(index: i32, place: &SleepPlace) -> Result<()> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    let mut asleep = Vec::new();
    for number in pages::pools_with_memory(device) {
        let awake = || Ok(if_awake(device, number, true));
        match pages::sleep(runtime, device, &awake, place.mode(), |blocks| place.make(blocks)) {
            Ok(fell) => asleep.extend(fell.then_some(number)),
            Err(error) => return Err(wake_again(runtime, device, &asleep, error)),
        }
    }
    Ok(())
}

#[cold]
fn wake_again(
    runtime: &Runtime,
    device: DeviceIndex,
    asleep: &[u64],
    error: sconce_base::error::Error,
) -> sconce_base::error::Error {
    let mut error = error;
    for number in asleep {
        if let Err(second) =
            pages::wake(runtime, device, &|| Ok(if_awake(device, *number, false)), true)
        {
            error = error.followed_by(second.message());
        }
    }
    error
}

/// Wakes all pools of a device that are asleep. If one cannot, it and those after it stay asleep.
pub fn wake_device(index: i32, mode: WakeMode) -> Result<()> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    for number in pages::asleep_on(device) {
        let asleep = || Ok(if_awake(device, number, false));
        pages::wake(runtime, device, &asleep, mode == WakeMode::Restore)?;
    }
    Ok(())
}
