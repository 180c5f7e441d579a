//! What is no memory, and no handle.

use crate::remote::Remote;
use crate::{alone, device};
use sconce_base::error::Status;
use sconce_driver::IpcHandle;
use sconce_runtime::{ipc, memory};

#[test]
fn what_is_no_live_device_memory_is_not_exported() {
    let _alone = alone();
    let host = 5_u64;
    let pinned = device::runtime().driver().host_alloc(device::ZERO, 4096).unwrap();
    for address in [0, 64, usize::MAX, (&raw const host) as usize, pinned] {
        let error = ipc::export(address).unwrap_err();
        assert_eq!(error.status(), Status::InvalidArgument, "{address:#x}: {error}");
        assert!(error.message().contains("ptr"), "{error}");
    }
    device::runtime().driver().host_free(pinned).unwrap();
    let block = memory::alloc(512).unwrap();
    memory::free(block).unwrap();
    let error = ipc::export(block).unwrap_err();
    assert!(error.message().contains("freed already"), "{error}");
}

#[test]
fn what_is_no_handle_is_not_opened() {
    let _alone = alone();
    let mut damaged = [0; 64];
    damaged[..12].copy_from_slice(b"sconce-vmem\0");
    for bytes in [[0; 64], [0xFF; 64], [1; 64], damaged] {
        let error = ipc::open(0, &IpcHandle(bytes), 0).unwrap_err();
        assert_eq!(error.status(), Status::InvalidArgument, "{error}");
    }
    // One that looks well but that nobody made.
    let mut content = [0; IpcHandle::CONTENT_BYTES];
    content[..12].copy_from_slice(b"sconce-vmem\0");
    content[12] = 3;
    let nobodys = IpcHandle::sealed(&content);
    let error = ipc::open(0, &nobodys, 0).unwrap_err();
    assert_eq!(error.status(), Status::InvalidHandle, "{error}");
    assert_eq!(ipc::open(99, &nobodys, 0).unwrap_err().status(), Status::InvalidDevice);
}

#[test]
fn a_handle_with_any_one_bit_flipped_is_not_opened() {
    let _alone = alone();
    let mut other = Remote::start();
    let places = [other.number("alloc 4096"), other.number("virtual 1")];
    for place in places {
        let (handle, offset) = other.export(place);
        for bit in 0..512 {
            let mut damaged = handle;
            damaged.0[bit / 8] ^= 1 << (bit % 8);
            let error = ipc::open(0, &damaged, offset).unwrap_err();
            assert_eq!(error.status(), Status::InvalidArgument, "bit {bit}: {error}");
            assert!(error.message().contains("damaged"), "bit {bit}: {error}");
        }
        ipc::close(ipc::open(0, &handle, offset).unwrap()).unwrap();
    }
}

#[test]
fn the_names_of_sockets_show_no_handle() {
    let _alone = alone();
    let mut other = Remote::start();
    let place = other.number("alloc 4096");
    let (handle, _) = other.export(place);
    let names = std::fs::read_to_string("/proc/net/unix").unwrap();
    let name = format!("@sconce-ipc-{}", sconce_base::sha256::hex(&handle.0));
    assert!(names.lines().any(|line| line.ends_with(&name)), "{name} is not in {names}");
}

#[test]
fn a_process_has_its_own_memory_already() {
    let _alone = alone();
    let block = memory::alloc(512).unwrap();
    let (handle, offset) = ipc::export(block).unwrap();
    let error = ipc::open(0, &handle, offset).unwrap_err();
    assert_eq!(error.status(), Status::InvalidArgument, "{error}");
    assert!(error.message().contains("this process"), "{error}");
    // The driver's own handle of something that was never exported here.
    let driver = device::runtime().driver();
    let plain = driver.memory_alloc(device::ZERO, 4096).unwrap();
    let handle = driver.ipc_memory_export(plain).unwrap();
    let error = ipc::open(0, &handle, 0).unwrap_err();
    assert_eq!(error.status(), Status::InvalidArgument, "{error}");
    driver.memory_free(device::ZERO, plain).unwrap();
    memory::free(block).unwrap();
}

#[test]
fn memory_of_another_process_is_not_passed_on() {
    let _alone = alone();
    let mut other = Remote::start();
    for make in ["alloc 4096", "virtual 1"] {
        let there = other.number(make);
        let export = other.export(there);
        let here = ipc::open(0, &export.0, export.1).unwrap();
        let error = ipc::export(here).unwrap_err();
        assert_eq!(error.status(), Status::InvalidArgument, "{error}");
        assert!(error.message().contains("another process"), "{error}");
        assert_eq!(ipc::close(here + 1).unwrap_err().status(), Status::InvalidArgument);
        assert!(memory::free(here).is_err());
        ipc::close(here).unwrap();
    }
}

#[test]
fn memory_is_opened_on_its_own_device_only() {
    let _alone = alone();
    let mut other = Remote::start();
    for make in ["alloc 4096", "virtual 1"] {
        let there = other.number(make);
        let export = other.export(there);
        let error = ipc::open(1, &export.0, export.1).unwrap_err();
        assert_eq!(error.status(), Status::InvalidArgument, "{error}");
        assert!(error.message().contains("another device"), "{error}");
        let here = ipc::open(0, &export.0, export.1).unwrap();
        ipc::close(here).unwrap();
    }
}

#[test]
fn a_handle_without_a_door_is_opened_and_untracked() {
    let _alone = alone();
    let mut other = Remote::start();
    let there = other.number("alloc 4096");
    let export = other.export_without_door(there);
    sconce::sim_controls::reset_call_counts().unwrap();
    let here = ipc::open(0, &export, 512).unwrap();
    assert_eq!(ipc::open(0, &export, 1024).unwrap(), here + 512);
    let bytes = 2 << 20;
    for offset in [bytes, usize::MAX] {
        let error = ipc::open(0, &export, offset).unwrap_err();
        assert_eq!(error.status(), Status::InvalidArgument, "{error}");
    }
    ipc::close(here).unwrap();
    ipc::close(here + 512).unwrap();
    let error = ipc::open(0, &export, bytes).unwrap_err();
    assert_eq!(error.status(), Status::InvalidArgument, "{error}");
    let left = sconce::sim_controls::call_count("ipc_memory_open").unwrap();
    assert_eq!(sconce::sim_controls::call_count("ipc_memory_close").unwrap(), left);
}
