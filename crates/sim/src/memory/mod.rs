//! The simulated memory: physical pages, the address space they are mapped into, pinned host memory.
//!
//! Device addresses lie in a window in which the host can read and write nothing, as on a real GPU. Work
//! reaches the memory through [`AddressSpace::resolve`], which checks at the time of the access that the
//! range is mapped and that the device may use it. A file imports only files above it in this table.
//!
//! | file | idea |
//! |---|---|
//! | `access` | the memory that an operation declares to read and write |
//! | `physical` | pages of a memory file, without an address |
//! | `ranges` | sets of free ranges |
//! | `pinned` | page-locked host memory |
//! | `sleeping` | addresses whose memory is asleep |
//! | `space` | the address space: which memory is mapped where, and which device may use it |
//! | `plain` | device memory that is allocated and freed, or opened from another process |
//! | `virtual_memory` | reserved addresses, physical memory, and mappings between the two |
//! | `sharing` | physical memory that other processes get |
//! | `view` | device memory as an operation sees it |

mod access;
mod physical;
mod pinned;
mod plain;
mod ranges;
mod sharing;
mod sleeping;
mod space;
mod view;
mod virtual_memory;

pub use access::{AccessStep, Accesses, Intent, MemoryAccess};
pub(super) use physical::{Backing, Extent, Physical};
pub(super) use sharing::{NotExported, PHYSICAL_FILE};
pub(super) use sleeping::take_complaint;
pub(super) use space::{Accessor, AddressSpace, DEVICE_FILE, Mapping, MappingKind};
pub(super) use view::DeviceMemoryView;
pub(super) use virtual_memory::GRANULARITY;
