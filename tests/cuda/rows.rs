//! Copies and fills of rows, as the CUDA backend hands them to the driver.

#![allow(unsafe_code, reason = "reaches into the fake driver")]
#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

use sconce_base::error::Status;
use sconce_driver::prelude::*;
use sconce_driver::{RawAddress, StreamFlags, StreamRef};
use testkit::fake_cuda::{FIRST, open};

#[test]
fn rows_keep_their_shape_and_go_one_by_one_past_the_largest_pitch() {
    let fake = open(&[]).ok().unwrap();
    let driver = &fake.driver;
    let handle = driver.stream_create(FIRST, StreamFlags::default(), 0).unwrap();
    let stream = StreamRef { device: FIRST, handle };
    let ptr = driver.memory_alloc(FIRST, 1).unwrap();
    let device = RawAddress::from(ptr);
    // SAFETY: the fake looks at no memory.
    let address = |address| unsafe { RawAddress::from_caller(address) };
    let pinned = address(driver.host_alloc(FIRST, 1).unwrap());
    let ordinary = address(0x7000);
    let rows = |dst: RawAddress, src: RawAddress, types: i64, waits: i64| {
        let before = fake.state().synchronizes;
        driver.copy_2d_async((dst, 100), (src, 99), 98, 7, stream).unwrap();
        let (to, from) = (dst.get() as i64, src.get() as i64);
        assert_eq!(fake.state().words[..7], [to, 100, from, 99, 98, 7, types]);
        assert_eq!(fake.state().synchronizes - before, waits);
    };
    rows(device, pinned, 44, 0);
    rows(pinned, device, 44, 0);
    rows(device, ordinary, 41, 1);
    rows(ordinary, device, 14, 1);
    driver.fill_2d_async((ptr, 100), 0xCD, 98, 7, stream).unwrap();
    assert_eq!(fake.state().words[..5], [ptr.0 as i64, 100, 0xCD, 98, 7]);

    // The fake's largest pitch is 110, and a single row needs none.
    let copies = fake.state().copies;
    driver.copy_2d_async((device, 111), (pinned, 9), 9, 3, stream).unwrap();
    let (to, from) = (device.get() as i64 + 222, pinned.get() as i64 + 18);
    assert_eq!((fake.state().copies - copies, &fake.state().words[..3]), (3, &[to, from, 9][..]));
    driver.copy_2d_async((device, 0), (pinned, 0), 500, 1, stream).unwrap();
    assert_eq!((fake.state().copies - copies, fake.state().words[2]), (4, 500));
    driver.fill_2d_async((ptr, 111), 1, 9, 3, stream).unwrap();
    assert_eq!(fake.state().words[..3], [to, 1, 9]);
    driver.copy_2d_async((device, 0), (pinned, 0), 0, 5, stream).unwrap();
    driver.copy_2d_async((device, 5), (pinned, 5), 5, 0, stream).unwrap();
    let short = driver.copy_2d_async((device, 8), (pinned, 9), 9, 2, stream).unwrap_err();
    let far = driver.fill_2d_async((ptr, usize::MAX / 2), 0, 9, 3, stream).unwrap_err();
    for error in [short, far] {
        assert_eq!((error.status(), error.backend_code()), (Status::InvalidArgument, 0));
    }
    assert_eq!(fake.state().copies - copies, 4);
}
