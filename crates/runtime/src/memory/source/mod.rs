//! Where device memory comes from. All allocations and frees that the allocator asks of the driver are
//! here.
//!
//! | file | idea |
//! |---|---|
//! | `plain` | one allocation of the driver for each segment |
//! | `pages/` | physical pages and reserved addresses, joined as needed |
//! | `pool_policy` | pools whose memory is made in another way than the settings say |
//! | `uncached` | the mode without caching: allocations that callers hold, by address |

pub(super) mod pages;
mod plain;
pub(super) mod pool_policy;
pub(super) mod uncached;

use sconce_base::error::Result;
use sconce_base::types::{DeviceIndex, DevicePtr};

use crate::context::Runtime;

/// A source of device memory. Its functions are called with no cache and no ledger locked, since the
/// driver may wait for the device.
pub(super) trait Source: Sync {
    /// Gets memory of a device. The status of a failure is `OutOfMemory` if there is not enough.
    fn obtain(&self, runtime: &Runtime, device: DeviceIndex, bytes: usize) -> Result<DevicePtr>;

    /// Gives memory back that the source gave. It stays the allocator's if this fails.
    fn give_back(&self, runtime: &Runtime, device: DeviceIndex, address: DevicePtr) -> Result<()>;
}

/// The plain source.
static PLAIN: plain::Plain = plain::Plain;

/// The source of the segments of all caches. Runs of pages come from [`pages`].
pub(super) fn of_segments() -> &'static dyn Source {
    &PLAIN
}
