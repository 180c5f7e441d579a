//! Where a tensor's memory is: the CPU or a device.

use std::fmt;

use sconce_base::error::Result;
use sconce_base::types::{CPU, DeviceIndex};
use sconce_runtime::context::runtime;
use sconce_runtime::device;

/// The CPU or a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// Memory of the host, pinned or not.
    Cpu,
    /// Memory of a device.
    Device(DeviceIndex),
}

impl Place {
    /// The place with a number of the C API: a device's index, -1 for the current device, or [`CPU`].
    #[inline]
    pub fn resolve(number: i32) -> Result<Place> {
        if number == CPU {
            return Ok(Place::Cpu);
        }
        device::resolve(runtime()?, number).map(Place::Device)
    }

    /// The number of the C API.
    pub(crate) fn number(self) -> i32 {
        match self {
            Place::Cpu => CPU,
            Place::Device(device) => device.as_i32(),
        }
    }

    /// The device, if it is one.
    #[inline]
    pub(crate) fn device(self) -> Option<DeviceIndex> {
        match self {
            Place::Cpu => None,
            Place::Device(device) => Some(device),
        }
    }
}

/// The name that torch has for it.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Cpu => f.write_str("cpu"),
            Place::Device(device) => write!(f, "cuda:{device}"),
        }
    }
}
