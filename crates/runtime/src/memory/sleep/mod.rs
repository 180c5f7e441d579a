//! Pools that sleep: their pages go back to the driver, and come back at the same addresses. `docs/design/sleep.md`
//! says how.
//!
//! | file | idea |
//! |---|---|
//! | `mark` | setting the runs of a pool apart, at one moment for all threads, and bringing them back |
//! | `fall` | falling asleep: waiting, saving, taking the memory of pages |
//! | `rise` | memory for the pages of a pool, and their bytes |
//! | `wake` | waking |
//! | `sweep` | what was freed while its pool slept |
//! | `state` | what is known of a pool that sleeps |
//! | `fix` | fixing a pool that does not sleep |
//!
//! Where the saved bytes are is not this module's business: `SavedBytes` is a trait, which `crate::sleep` implements.

mod fall;
mod fix;
mod mark;
mod rise;
mod state;
mod sweep;
mod wake;

use std::collections::BTreeMap;

use sconce_base::collections::per_device::{PerDevice, per_device};
use sconce_base::error::Result;
use sconce_base::lock::{Mutex, MutexGuard, rank};
use sconce_base::types::DeviceIndex;

use crate::context::Runtime;

pub use super::streams::sleepers::SleepMode;
pub(crate) use super::streams::sleepers::all_of as asleep_on;
pub(crate) use fall::sleep;
pub(crate) use fix::fix;
pub use state::SleepState;
pub(crate) use state::{device_asleep_at, pools_with_memory, saved_at};
pub use state::{refusal, refuse_asleep, sleeping_bytes, state};
pub(crate) use sweep::{drop_free, pool_destroyed};
pub(crate) use wake::wake;

/// A live block of a pool that falls asleep, or sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LiveBlock {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
}

/// Where the bytes of live blocks are while their pool sleeps.
pub(crate) trait SavedBytes: Send {
    /// Saves the bytes of blocks, which are in the order of addresses, and calls `saved` now and then with an address
    /// below which all of them are saved. Nothing is under way when this returns, whatever it returns.
    fn save(
        &mut self,
        runtime: &Runtime,
        device: DeviceIndex,
        blocks: &[LiveBlock],
        saved: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<()>;

    /// Brings the bytes of blocks back that were saved, or of what is left of them. Before it writes below an
    /// address, it calls `reach` with that address. Nothing is under way when this returns.
    fn restore(
        &self,
        runtime: &Runtime,
        device: DeviceIndex,
        blocks: &[LiveBlock],
        reach: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<()>;

    /// How many bytes it holds.
    fn bytes(&self) -> u64;

    /// Where the byte of an address is in memory of the host, if it is there.
    fn place_of(&self, address: u64) -> Option<usize>;
}

/// What there is of a pool beside its runs while it sleeps.
struct SavedPool {
    /// `None` once no block is left that they belong to.
    bytes: Option<Box<dyn SavedBytes>>,
    /// Live blocks were saved below this address. Beyond it they are still in their pages: it is less than all
    /// addresses only if falling asleep failed, and so did the way back.
    below: u64,
    /// The pool was destroyed.
    is_destroyed: bool,
}

/// The number of a pool, or why it has none any more; `None` if there is nothing to do. Asked when no other thread puts
/// pools of the device to sleep or wakes them: from then on [`pool_destroyed`] waits.
pub(crate) type PoolNumber<'a> = &'a dyn Fn() -> Result<Option<u64>>;

/// The pools of a device that are asleep, by their numbers.
type SavedPools = BTreeMap<u64, SavedPool>;

/// Locked as long as a pool of the device falls asleep or wakes: one thread at a time does that. Before all other locks
/// of the allocator.
static SAVED: PerDevice<Mutex<rank::PoolSleep, SavedPools>> =
    per_device!(Mutex::new(BTreeMap::new()));

fn lock(device: DeviceIndex) -> MutexGuard<'static, rank::PoolSleep, SavedPools> {
    SAVED[device].lock()
}
