//! The UUIDs of simulated devices, and which of these a process sees.
#![forbid(unsafe_code)]

use sconce_base::types::DeviceIndex;
use sconce_driver::VisibleDevices;

/// Those of a machine with `count` devices that a list names; all without a list.
pub(crate) fn visible(list: Option<&str>, count: i32) -> VisibleDevices {
    let devices = (0..count).filter_map(DeviceIndex::new);
    let uuids: Vec<String> = devices.map(|device| uuid_text(uuid(device))).collect();
    VisibleDevices::of(list, &uuids)
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
        let devices = super::visible(Some(list), 4);
        let all = (0..devices.count()).filter_map(DeviceIndex::new);
        all.map(|device| devices.number_of(device).as_i32()).collect()
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
        assert_eq!(super::visible(None, 3).count(), 3);
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
        let devices = super::visible(Some("3,1"), 4);
        let device = |index| DeviceIndex::new(index).unwrap();
        assert_eq!(devices.number_of(device(0)), device(3));
        assert_eq!(devices.numbered(device(1)), Some(device(1)));
        assert_eq!(devices.numbered(device(0)), None);
    }
}
