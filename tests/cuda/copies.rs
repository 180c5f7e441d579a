//! Copies and fills of bytes, as the CUDA backend hands them to the driver.

#![allow(unsafe_code, reason = "reaches into the fake driver")]
#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

use sconce_base::error::Status;
use sconce_base::types::DevicePtr;
use sconce_driver::RawAddress;
use sconce_driver::prelude::*;
use testkit::fake_cuda::{FIRST, fake, second, stream_of};

#[test]
fn a_copy_with_ordinary_memory_waits_and_others_do_not() {
    let fake = fake();
    let driver = &fake.driver;
    let stream = stream_of(&fake, FIRST);
    let device = RawAddress::from(driver.memory_alloc(FIRST, 1).unwrap());
    // SAFETY: the fake looks at no memory.
    let address = |address| unsafe { RawAddress::from_caller(address) };
    let pinned = address(driver.host_alloc(FIRST, 1).unwrap());
    let ordinary = address(0x7000);
    let waits = |dst: RawAddress, src: RawAddress| {
        let before = fake.state().synchronizes;
        driver.copy_async(dst, src, 8, stream).unwrap();
        assert_eq!(fake.state().words[..3], [dst.get() as i64, src.get() as i64, 8]);
        fake.state().synchronizes - before
    };
    assert_eq!(waits(device, pinned), 0);
    assert_eq!(waits(pinned, device), 0);
    assert_eq!(waits(device, ordinary), 1);
    assert_eq!(waits(ordinary, device), 1);
    let copies = fake.state().copies;
    driver.copy_async(device, pinned, 0, stream).unwrap();
    assert_eq!(fake.state().copies, copies);
    fake.state().code = 700;
    let error = driver.copy_async(device, pinned, 8, stream).unwrap_err();
    assert_eq!((error.status(), error.backend_code()), (Status::Driver, 700));
}

#[test]
fn host_memory_as_an_address_of_a_device_never_reaches_the_drivers_copies() {
    let fake = fake();
    let driver = &fake.driver;
    let stream = stream_of(&fake, FIRST);
    let device = RawAddress::from(driver.memory_alloc(FIRST, 1).unwrap());
    let copies = fake.state().copies;
    // SAFETY: the fake looks at no memory.
    let short = unsafe { RawAddress::from_caller_within(0x7000, 0, 7) };
    let pinned = DevicePtr(driver.host_alloc(FIRST, 1).unwrap() as u64);
    for host in [short, RawAddress::from(DevicePtr(0x7000)), RawAddress::from(pinned)] {
        for (dst, src, name) in [(host, device, "dst"), (device, host, "src")] {
            for refused in [
                driver.copy_async(dst, src, 8, stream),
                driver.copy_direct_async(dst, src, 8, stream),
                driver.copy_2d_async((dst, 100), (src, 100), 8, 2, stream),
                driver.copy_2d_async((dst, 111), (src, 111), 8, 2, stream),
            ] {
                let error = refused.unwrap_err();
                assert_eq!(error.status(), Status::InvalidArgument);
                assert!(error.message().starts_with(name), "{error}");
            }
        }
        assert!(driver.host_register(FIRST, host, 8).is_err());
    }
    assert_eq!(fake.state().copies, copies);
    // A caller's promise suffices. The address is not looked up: the fake knows no memory there.
    assert_eq!(driver.copy_direct_async(device, short, 7, stream), Ok(()));
    assert_eq!(fake.state().copies, copies + 1);
    // So does a caller's knowledge that it is memory of a device.
    // SAFETY: the fake looks at no memory.
    let known = unsafe { RawAddress::of_device_memory(0x7000) };
    assert_eq!(driver.copy_direct_async(known.offset(8), known, 8, stream), Ok(()));
    assert_eq!(fake.state().copies, copies + 2);
}

#[test]
fn copies_between_devices_and_fills_keep_their_arguments() {
    let fake = fake();
    let stream = stream_of(&fake, second());
    let (dst, src) = ((FIRST, DevicePtr(11)), (second(), DevicePtr(22)));
    fake.driver.copy_peer_async(dst, src, 8, stream).unwrap();
    assert_eq!(fake.state().words[..4], [11, 0, 22, 1]);
    fake.driver.fill_async(DevicePtr(33), 0xAB, 9, stream).unwrap();
    assert_eq!(fake.state().words[..3], [33, 0xAB, 9]);
    fake.driver.enable_peer_access(FIRST, second()).unwrap();
    assert_eq!(fake.state().words[..2], [0, 1]);
    assert_eq!(fake.driver.can_access_peer(FIRST, FIRST), Ok(true));
}
