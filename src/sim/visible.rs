//! The devices of the simulated machine that a process sees: `CUDA_VISIBLE_DEVICES`, as CUDA reads it.
#![forbid(unsafe_code)]

use crate::types::{DeviceIndex, MAX_DEVICES};

/// The numbers on the machine of the devices that the process sees, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VisibleDevices(Vec<DeviceIndex>);

impl VisibleDevices {
    /// Those that a list names among `count` devices; all without a list. The list ends before its first entry that
    /// names no device. If it names a device twice, no device is visible.
    pub(crate) fn of(list: Option<&str>, count: i32) -> VisibleDevices {
        let VisibleDevices(all) = VisibleDevices::all(count);
        let Some(list) = list else { return VisibleDevices(all) };
        let texts: Vec<String> = all.iter().map(|device| uuid_text(uuid(*device))).collect();
        let by_uuid = list.trim_start().starts_with("GPU-");
        let mut visible = Vec::new();
        for entry in list.split(',') {
            let number =
                if by_uuid { by_prefix(entry.trim(), &texts) } else { leading_number(entry) };
            let Some(device) = number.and_then(|number| all.get(number)) else { break };
            if visible.contains(device) {
                return VisibleDevices(Vec::new());
            }
            visible.push(*device);
        }
        VisibleDevices(visible)
    }

    /// All devices of a machine.
    pub(crate) fn all(count: i32) -> VisibleDevices {
        VisibleDevices((0..count).filter_map(DeviceIndex::new).collect())
    }

    /// How many there are.
    pub(crate) fn count(&self) -> i32 {
        self.0.len() as i32
    }

    /// The number on the machine of a device of the process.
    pub(crate) fn number_of(&self, device: DeviceIndex) -> DeviceIndex {
        self.0.get(device.as_usize()).copied().unwrap_or(device)
    }

    /// The device of the process with a number on the machine.
    pub(crate) fn numbered(&self, number: DeviceIndex) -> Option<DeviceIndex> {
        let place = self.0.iter().position(|other| *other == number)?;
        DeviceIndex::new(place as i32)
    }
}

/// The device whose text begins with this; none if there are several.
fn by_prefix(entry: &str, texts: &[String]) -> Option<usize> {
    let entry = entry.strip_prefix("GPU-")?.to_ascii_lowercase();
    let mut found = (0..texts.len()).filter(|place| texts[*place].starts_with(&entry));
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

/// The version-8 UUID of the device with a number on the machine, which is the same in every process.
pub(crate) fn uuid(number: DeviceIndex) -> [u8; 16] {
    let mut uuid = *b"Sconce\x80sim\0\0\0\0\0\0";
    uuid[8] = 0x80 | (uuid[8] & 0x3f);
    uuid[15] = number.as_i32() as u8;
    uuid
}

/// As NVIDIA's tools write it, without `GPU-`.
fn uuid_text(uuid: [u8; 16]) -> String {
    let hex: String = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visible(list: &str) -> Vec<i32> {
        let devices = VisibleDevices::of(Some(list), 4);
        devices.0.into_iter().map(DeviceIndex::as_i32).collect()
    }

    #[test]
    fn a_list_names_devices_by_their_numbers() {
        let table: &[(&str, &[i32])] = &[
            ("0,1,2,3", &[0, 1, 2, 3]),
            ("3,1", &[3, 1]),
            (" 2 , 0 ", &[2, 0]),
            ("+1", &[1]),
            // Behind the number anything may follow.
            ("1gpu2,2ampere", &[1, 2]),
            ("", &[]),
            (" ", &[]),
            // The first that names no device ends the list.
            ("-1", &[]),
            ("1,-1,2", &[1]),
            ("0,4,1", &[0]),
            ("0,,1", &[0]),
            ("1,none,2", &[1]),
            ("none", &[]),
            ("99999999999999999999", &[]),
            ("1,GPU-5363", &[1]),
            ("MIG-1234", &[]),
            // A device that is named twice.
            ("0,1,0", &[]),
            ("1,01", &[]),
            ("0,4,0", &[0]),
        ];
        for (list, expected) in table {
            assert_eq!(visible(list), *expected, "{list:?}");
        }
        assert_eq!(VisibleDevices::of(None, 3).count(), 3);
    }

    #[test]
    fn a_list_names_devices_by_their_uuids() {
        let text = |last: u8| format!("GPU-53636f6e-6365-8073-a96d-0000000000{last:02x}");
        assert_eq!(uuid_text(uuid(DeviceIndex::new(2).unwrap())), text(2)["GPU-".len()..]);
        assert_eq!(visible(&text(2)), [2]);
        assert_eq!(visible(&[text(3), text(0)].join(",")), [3, 0]);
        assert_eq!(visible(&text(1).to_uppercase()), [1]);
        // Several devices begin like this.
        assert_eq!(visible("GPU-5363"), []);
        assert_eq!(visible(&[text(1), text(9), text(0)].join(",")), [1]);
        assert_eq!(visible(&[text(1), text(1)].join(",")), []);
        assert_eq!(visible(&[text(1), String::from("0")].join(",")), [1]);
    }

    #[test]
    fn numbers_lead_back_to_devices() {
        let devices = VisibleDevices::of(Some("3,1"), 4);
        let device = |index| DeviceIndex::new(index).unwrap();
        assert_eq!(devices.number_of(device(0)), device(3));
        assert_eq!(devices.numbered(device(1)), Some(device(1)));
        assert_eq!(devices.numbered(device(0)), None);
    }
}
