//! The simulated memory: physical pages, the address space they are mapped into, pinned host
//! memory.
//!
//! What the driver hands out as device addresses lies in a window in which the host can read and
//! write nothing, as on a real GPU. Work reaches the memory through [`AddressSpace::resolve`], which
//! checks at the time of the access that the range is mapped and that the device may use it.

mod physical;
mod pinned;
mod plain;
mod ranges;
mod space;
mod virtual_memory;

pub(crate) use physical::{Backing, Extent, Physical};
pub(crate) use space::{Accessor, AddressSpace, DEVICE_FILE, Intent, Kind, Mapping};
pub(crate) use virtual_memory::{GRANULARITY, PHYSICAL_FILE};
