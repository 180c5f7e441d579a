//! A value for each device that a process can address.

use std::ops::Index;

use crate::types::{DeviceIndex, MAX_DEVICES};

/// A value for each device.
#[derive(Debug)]
pub struct PerDevice<T>([T; MAX_DEVICES]);

impl<T> PerDevice<T> {
    /// The values in the order of the devices. For statics there is [`per_device!`].
    pub const fn new(values: [T; MAX_DEVICES]) -> PerDevice<T> {
        PerDevice(values)
    }

    /// The value of each device, made by a function.
    pub fn from_fn(mut make: impl FnMut(DeviceIndex) -> T) -> PerDevice<T> {
        PerDevice(std::array::from_fn(|index| make(DeviceIndex::from_u8(index as u8))))
    }

    /// The devices with their values.
    pub fn iter(&self) -> impl Iterator<Item = (DeviceIndex, &T)> {
        self.0.iter().enumerate().map(|(index, value)| (DeviceIndex::from_u8(index as u8), value))
    }
}

impl<T> Index<DeviceIndex> for PerDevice<T> {
    type Output = T;

    #[inline]
    fn index(&self, device: DeviceIndex) -> &T {
        &self.0[device.as_usize()]
    }
}

/// A [`PerDevice`] whose values are made by a constant expression, for statics.
#[macro_export]
macro_rules! per_device {
    ($make:expr) => {
        $crate::collections::per_device::PerDevice::new(
            [const { $make }; $crate::types::MAX_DEVICES],
        )
    };
}
pub use per_device;

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn each_device_has_a_value_of_its_own() {
        let values: PerDevice<Cell<i32>> = per_device!(Cell::new(0));
        for index in 0..MAX_DEVICES as i32 {
            values[DeviceIndex::new(index).unwrap()].set(index + 1);
        }
        let seen: Vec<(i32, i32)> =
            values.iter().map(|(device, value)| (device.as_i32(), value.get())).collect();
        assert_eq!(seen.len(), MAX_DEVICES);
        assert!(seen.iter().all(|(device, value)| *value == device + 1));
        let numbers = PerDevice::from_fn(|device| device.as_i32());
        assert!(numbers.iter().all(|(device, number)| device.as_i32() == *number));
    }
}
