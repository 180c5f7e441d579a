//! How much of a device's memory the library takes for a plan.
//!
//! A library does not tell, so the device's memory is looked at before and after. What the allocator
//! got from the driver meanwhile is not the plan's, and of plans that are made at once every byte
//! counts for one of them. What others than this library took meanwhile cannot be told apart.

use crate::lock::Mutex;

use crate::context::Runtime;
use crate::memory;
use crate::types::{DeviceIndex, MAX_DEVICES};

static DEVICES: [Mutex<Making>; MAX_DEVICES] = [const { Mutex::new(Making::NONE) }; MAX_DEVICES];

/// The plans of a device that are being made.
struct Making {
    count: usize,
    /// What neither they nor the allocator had when it was last looked; `None` where the driver did
    /// not say.
    rest: Option<u64>,
}

impl Making {
    const NONE: Making = Making { count: 0, rest: None };

    fn begin(&mut self, look: impl FnOnce() -> Option<u64>) {
        // With others on the way, what was taken until now is told to whichever ends first.
        if self.count == 0 || self.rest.is_none() {
            self.rest = look();
        }
        self.count += 1;
    }

    /// What was taken and nobody was told of yet.
    fn told(&mut self, now: Option<u64>) -> u64 {
        let before = std::mem::replace(&mut self.rest, now);
        before.zip(now).map_or(0, |(before, now)| before.saturating_sub(now))
    }
}

/// A plan that is being made.
pub(super) struct Measure<'a> {
    runtime: &'a Runtime,
    device: DeviceIndex,
}

impl<'a> Measure<'a> {
    pub(super) fn begin(runtime: &'a Runtime, device: DeviceIndex) -> Self {
        DEVICES[device.as_usize()].lock().begin(|| rest(runtime, device));
        Measure { runtime, device }
    }

    /// The bytes that were taken.
    pub(super) fn end(self) -> u64 {
        let mut making = DEVICES[self.device.as_usize()].lock();
        // Looked at under the lock: an older look must not follow a newer one.
        making.told(rest(self.runtime, self.device))
    }
}

impl Drop for Measure<'_> {
    fn drop(&mut self) {
        DEVICES[self.device.as_usize()].lock().count -= 1;
    }
}

/// What is free, and what the allocator has.
fn rest(runtime: &Runtime, device: DeviceIndex) -> Option<u64> {
    let look = || runtime.driver().memory_info(device);
    let (reserved, info) = memory::reserved_as_seen(device, look);
    info.ok().map(|info| reserved + info.free_bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_is_told_once() {
        let mut making = Making::NONE;
        making.begin(|| Some(100));
        assert_eq!(making.told(Some(70)), 30);
        making.count -= 1;
        // Looked at anew: it is not known what happened in between.
        making.begin(|| Some(60));
        making.begin(|| panic!("the first one has looked"));
        assert_eq!(making.told(Some(35)), 25);
        making.count -= 1;
        assert_eq!(making.told(Some(30)), 5);
        making.count -= 1;
        assert_eq!(making.count, 0);
    }

    #[test]
    fn nothing_is_told_where_memory_came_back_or_the_driver_says_nothing() {
        let mut making = Making::NONE;
        making.begin(|| Some(100));
        assert_eq!(making.told(Some(120)), 0);
        assert_eq!(making.told(None), 0);
        assert_eq!(making.told(Some(50)), 0);
        assert_eq!(making.told(Some(40)), 10);
        let mut making = Making::NONE;
        making.begin(|| None);
        making.begin(|| Some(100));
        assert_eq!(making.told(Some(90)), 10);
    }
}
