//! What the choice of a kernel depends on: properties of a device, asked for once.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use std::mem::{size_of, zeroed};
use std::sync::OnceLock;

use super::image::MOST_DEVICES;
use crate::error::{Error, Result};
use crate::sconce::{api, check};

/// Properties of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// The compute capability: its major and minor number.
    pub capability: (i32, i32),
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Shared memory of a multiprocessor, in bytes.
    pub shared_bytes: u32,
}

impl Properties {
    /// Those of a device.
    pub fn of(device: i32) -> Result<Properties> {
        static KNOWN: [OnceLock<Properties>; MOST_DEVICES] =
            [const { OnceLock::new() }; MOST_DEVICES];
        let known = usize::try_from(device)
            .ok()
            .and_then(|device| KNOWN.get(device))
            .ok_or_else(|| Error::not_supported(format!("device {device} is not one of 64")))?;
        match known.get() {
            Some(properties) => Ok(*properties),
            None => {
                let asked = Properties::ask(device)?;
                Ok(*known.get_or_init(|| asked))
            }
        }
    }

    fn ask(device: i32) -> Result<Properties> {
        // SAFETY: the structure has numbers and arrays of numbers alone, which may be 0.
        let mut found: api::sconce_device_properties = unsafe { zeroed() };
        found.struct_size = size_of::<api::sconce_device_properties>() as u32;
        // SAFETY: the place is valid for a write, and says how large it is.
        check(unsafe { api::sconce_device_get_properties(device, &mut found) })?;
        Ok(Properties {
            capability: (found.major, found.minor),
            multiprocessors: found.multi_processor_count.max(1) as u32,
            shared_bytes: u32::try_from(found.shared_memory_per_multi_processor_bytes)
                .unwrap_or(u32::MAX),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_simulated_device_has_properties_and_others_are_refused() {
        crate::testing::simulate();
        let properties = Properties::of(0).unwrap();
        assert!(properties.multiprocessors > 0 && properties.shared_bytes >= 48 << 10);
        assert!(properties.capability >= (7, 5), "{properties:?}");
        assert_eq!(Properties::of(0).unwrap(), properties);
        for device in [-1, 64] {
            assert_eq!(Properties::of(device).unwrap_err().status, api::SCONCE_ERROR_NOT_SUPPORTED);
        }
    }
}
