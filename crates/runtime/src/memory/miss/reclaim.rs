//! Memory of a device that other modules of the library keep and can do without. The allocator asks for it
//! before a request fails.
//!
//! There are two kinds. Blocks of this allocator that are kept for reuse, such as the workspaces of
//! cuBLAS, are cheap to free: the allocator frees them as soon as the driver has refused a
//! request, and when its cache is emptied. Plans of libraries hold memory that this allocator knows
//! nothing of and are costly to make again: they go last.
//!
//! The functions are called with no lock held and may call the driver.

use sconce_base::lock::{RwLock, rank};
use sconce_base::types::DeviceIndex;

/// Frees up to a number of objects of a device and returns how many it freed. Later calls ask for more.
pub(crate) type GiveBack = fn(DeviceIndex, usize) -> usize;

static GIVERS: RwLock<rank::Givers, Vec<GiveBack>> = RwLock::new(Vec::new());

/// Adds a function; once for each.
pub fn register(giver: GiveBack) {
    let mut givers = GIVERS.write();
    if !givers.iter().any(|known| std::ptr::fn_addr_eq(*known, giver)) {
        givers.push(giver);
    }
}

/// Asks for up to `most` things; `false` when there was nothing.
pub(crate) fn give_back(device: DeviceIndex, most: usize) -> bool {
    let givers = GIVERS.read().clone();
    givers.iter().fold(0, |given: usize, giver| given.saturating_add(giver(device, most))) > 0
}

/// A module that keeps blocks of this allocator for reuse.
pub struct BlockHolder {
    /// Frees the blocks of a device that are not in use, and returns their bytes.
    pub give_back: fn(DeviceIndex) -> usize,
    /// What the out-of-memory message says about the blocks that are still held.
    pub describe: fn(DeviceIndex) -> Option<String>,
}

static HOLDERS: RwLock<rank::BlockHolders, Vec<&'static BlockHolder>> = RwLock::new(Vec::new());

/// Adds a holder; once for each.
pub fn register_holder(holder: &'static BlockHolder) {
    HOLDERS.write().push(holder);
}

/// Frees all blocks of a device that other modules keep but do not use; returns their bytes.
pub(crate) fn free_idle_blocks(device: DeviceIndex) -> usize {
    let holders = HOLDERS.read().clone();
    holders.iter().map(|holder| (holder.give_back)(device)).sum()
}

/// Sentences about the blocks that other modules hold.
pub(crate) fn held_blocks(device: DeviceIndex) -> String {
    let holders = HOLDERS.read().clone();
    let sentences = holders.iter().filter_map(|holder| (holder.describe)(device));
    sentences.map(|sentence| sentence + ". ").collect()
}
