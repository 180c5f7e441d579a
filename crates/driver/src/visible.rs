//! The devices of a machine that a process sees: `CUDA_VISIBLE_DEVICES`, as CUDA reads it.
#![forbid(unsafe_code)]

use sconce_base::types::{DeviceIndex, MAX_DEVICES};

/// The numbers on the machine of the devices that the process sees, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisibleDevices(Vec<DeviceIndex>);

impl VisibleDevices {
    /// Those that a list names among devices with these UUIDs, in small letters and without `GPU-`; all without a list.
    /// The list ends before its first entry that names no device. If it names a device twice, no device is visible.
    pub fn of(list: Option<&str>, uuids: &[String]) -> VisibleDevices {
        let VisibleDevices(all) = VisibleDevices::all(uuids.len() as i32);
        let Some(list) = list else { return VisibleDevices(all) };
        let by_uuid = list.trim_start().starts_with("GPU-");
        let mut visible = Vec::new();
        for entry in list.split(',') {
            let number =
                if by_uuid { by_prefix(entry.trim(), uuids) } else { leading_number(entry) };
            let Some(device) = number.and_then(|number| all.get(number)) else { break };
            if visible.contains(device) {
                return VisibleDevices(Vec::new());
            }
            visible.push(*device);
        }
        VisibleDevices(visible)
    }

    /// All devices of a machine.
    pub fn all(count: i32) -> VisibleDevices {
        VisibleDevices((0..count).filter_map(DeviceIndex::new).collect())
    }

    /// How many there are.
    pub fn count(&self) -> i32 {
        self.0.len() as i32
    }

    /// The number on the machine of a device of the process.
    pub fn number_of(&self, device: DeviceIndex) -> DeviceIndex {
        self.0.get(device.as_usize()).copied().unwrap_or(device)
    }

    /// The device of the process with a number on the machine.
    pub fn numbered(&self, number: DeviceIndex) -> Option<DeviceIndex> {
        let place = self.0.iter().position(|other| *other == number)?;
        DeviceIndex::new(place as i32)
    }
}

/// The device whose UUID begins with this; none if there are several.
fn by_prefix(entry: &str, uuids: &[String]) -> Option<usize> {
    let entry = entry.strip_prefix("GPU-")?.to_ascii_lowercase();
    let mut found = (0..uuids.len()).filter(|place| uuids[*place].starts_with(&entry));
    found.next().filter(|_| found.next().is_none())
}

/// The number with which an entry begins: what follows it is ignored, as by C's `strtoul`.
fn leading_number(entry: &str) -> Option<usize> {
    let entry = entry.trim();
    let entry = entry.strip_prefix('+').unwrap_or(entry);
    let digits =
        entry.len() - entry.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    entry[..digits].parse().ok().filter(|number| *number < MAX_DEVICES)
}
