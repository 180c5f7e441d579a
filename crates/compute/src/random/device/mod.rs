//! What fills and generators use of a device.
//!
//! Each file uses only files above it.
//!
//! | file | idea |
//! |---|---|
//! | `newest_use` | the order in which streams use memory of the device |
//! | `host_pairs` | two numbers in host memory that a device reads and writes |
//! | `arena` | device memory for the numbers that graphs draw from |
//! | `work` | the device, as a trait: kernels, memory, events |
//! | `places` | such memory for a draw, also during a capture |
//! | `record` | a seed and an offset on the device |
//! | `process` | the devices of the process |

mod arena;
mod host_pairs;
mod newest_use;
mod places;
mod process;
mod record;
mod work;

pub(super) use arena::{Arena, Retired};
#[cfg(test)]
pub(super) use host_pairs::HostPair;
pub(super) use newest_use::NewestUse;
pub(super) use places::{new_place, prepare};
pub(super) use process::ProcessDevices;
pub(super) use record::{DeviceRecord, queue_take, queue_write};
pub(super) use work::{DeviceWork, RandomKernel};
