//! `CUDA_VISIBLE_DEVICES` on simulated devices.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use sconce::sconce_status::*;
use sconce::*;
use testkit::{in_child, last_message};

const SIM: (&str, &str) = ("SCONCE_BACKEND", "sim");
const FOUR: (&str, &str) = ("SCONCE_SIM_DEVICES", "4");

fn properties(device: i32) -> sconce_device_properties {
    // SAFETY: all of its fields are numbers.
    let mut properties: sconce_device_properties = unsafe { std::mem::zeroed() };
    properties.struct_size = size_of::<sconce_device_properties>() as u32;
    // SAFETY: a struct of the right size.
    assert_eq!(unsafe { sconce_device_get_properties(device, &raw mut properties) }, SCONCE_OK);
    properties
}

fn buses() -> Vec<i32> {
    (0..sconce_device_count()).map(|device| properties(device).pci_bus_id).collect()
}

#[test]
fn a_process_sees_the_devices_of_the_list_in_its_order() {
    let visible = ("CUDA_VISIBLE_DEVICES", "3,1,7,0");
    in_child("a_process_sees_the_devices_of_the_list_in_its_order", &[SIM, FOUR, visible], || {
        assert_eq!(sconce_device_count(), 2);
        // Device 3 is on bus 4.
        assert_eq!(buses(), [4, 2]);
        assert_ne!(properties(0).uuid, properties(1).uuid);
        assert_eq!(sconce_device_set_current(1), SCONCE_OK);
        assert_eq!(sconce_device_set_current(2), SCONCE_ERROR_INVALID_DEVICE);
        let mut address = std::ptr::null_mut();
        // SAFETY: a good place.
        assert_eq!(unsafe { sconce_memory_alloc(1 << 20, &raw mut address) }, SCONCE_OK);
        let mut device = -1;
        // SAFETY: a good place.
        assert_eq!(unsafe { sconce_device_of_pointer(address, &raw mut device) }, SCONCE_OK);
        assert_eq!(device, 1);
        assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    });
}

#[test]
fn a_list_may_name_uuids() {
    let visible = ("CUDA_VISIBLE_DEVICES", "GPU-53636f6e-6365-8073-a96d-000000000002");
    in_child("a_list_may_name_uuids", &[SIM, FOUR, visible], || {
        assert_eq!(buses(), [3]);
        assert_eq!(properties(0).uuid[15], 2);
    });
}

#[test]
fn a_list_that_shows_nothing_leaves_no_device_and_is_named() {
    let visible = ("CUDA_VISIBLE_DEVICES", "-1");
    in_child(
        "a_list_that_shows_nothing_leaves_no_device_and_is_named",
        &[SIM, FOUR, visible],
        || {
            assert!(!sconce_is_available());
            assert_eq!(sconce_device_count(), 0);
            assert_eq!(sconce_init(), SCONCE_ERROR_NO_DEVICE);
            for part in ["CUDA_VISIBLE_DEVICES=-1", "none of the 4 simulated devices"] {
                assert!(last_message().contains(part), "{}", last_message());
            }
        },
    );
}

#[test]
fn a_program_that_asks_for_devices_gets_them() {
    let visible = ("CUDA_VISIBLE_DEVICES", "1");
    in_child("a_program_that_asks_for_devices_gets_them", &[SIM, visible], || {
        let options = sconce_options {
            struct_size: size_of::<sconce_options>() as u32,
            backend: sconce_backend::SCONCE_BACKEND_SIM as i32,
            sim_devices: 3,
            sim_sms: 0,
            sim_memory_bytes: 0,
        };
        // SAFETY: a complete struct.
        assert_eq!(unsafe { sconce_init_with(&options) }, SCONCE_OK, "{}", last_message());
        assert_eq!(buses(), [1, 2, 3]);
    });
}
