//! Newtypes that all crates share: device indices and device addresses.

use std::fmt;

/// The number of devices that a process can address: a power of two (torch has 120).
pub const MAX_DEVICES: usize = 64;

/// The number that names the CPU where the C API takes a device.
pub const CPU: i32 = -2;

/// The index of a device that exists (0-based, below the backend's count).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceIndex(u8);

impl DeviceIndex {
    /// Device 0.
    pub const ZERO: DeviceIndex = DeviceIndex(0);

    /// The device with this index, when the index can name one at all (`0..MAX_DEVICES`).
    pub const fn new(index: i32) -> Option<DeviceIndex> {
        if index >= 0 && (index as usize) < MAX_DEVICES {
            Some(DeviceIndex(index as u8))
        } else {
            None
        }
    }

    /// As an array index of [`MAX_DEVICES`] entries.
    pub const fn as_usize(self) -> usize {
        // The mask never changes the value; it lets the compiler omit the bounds check.
        self.0 as usize & (MAX_DEVICES - 1)
    }

    /// The number in its smallest form.
    pub const fn as_u8(self) -> u8 {
        self.0
    }

    /// Undoes [`DeviceIndex::as_u8`].
    pub const fn from_u8(index: u8) -> DeviceIndex {
        DeviceIndex(index)
    }

    /// The index as the C API has it.
    pub const fn as_i32(self) -> i32 {
        self.0 as i32
    }
}

impl fmt::Display for DeviceIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An address in device memory, or in address space reserved for it. Never dereferenced by the
/// host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DevicePtr(pub u64);

impl DevicePtr {
    /// The address `bytes` further on.
    #[must_use]
    pub const fn offset(self, bytes: u64) -> DevicePtr {
        DevicePtr(self.0 + bytes)
    }
}

impl fmt::Display for DevicePtr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}
