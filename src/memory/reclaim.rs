//! What other rooms keep of a device's memory and can do without: asked for just before a request
//! fails.
//!
//! Plans of libraries hold memory that this allocator knows nothing of. Who keeps them registers a
//! function, which is called with no lock held and may call the driver.

use crate::lock::RwLock;

use crate::types::DeviceIndex;

/// Gives up to so many things of a device up; says how many it did. Later calls ask for more.
pub(crate) type GiveBack = fn(DeviceIndex, usize) -> usize;

static GIVERS: RwLock<Vec<GiveBack>> = RwLock::new(Vec::new());

/// Adds a function; once for each.
pub(crate) fn register(giver: GiveBack) {
    let mut givers = GIVERS.write();
    if !givers.iter().any(|known| std::ptr::fn_addr_eq(*known, giver)) {
        givers.push(giver);
    }
}

/// Asks for up to `most` things; `false` when there was nothing.
pub(super) fn give_back(device: DeviceIndex, most: usize) -> bool {
    let givers = GIVERS.read().clone();
    givers.iter().fold(0, |given: usize, giver| given.saturating_add(giver(device, most))) > 0
}
