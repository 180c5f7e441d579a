//! A measurement, run by hand on a real device: bytes a second both ways, beside the driver's path.

use std::time::Instant;

use sconce_base::types::DeviceIndex;
use sconce_driver::{RawAddress, StreamRef};
use sconce_runtime::context::runtime;
use sconce_runtime::stream::Stream;

use crate::copy::host_copy::of_test;

fn best(times: usize, mut run: impl FnMut()) -> f64 {
    (0..times).fold(f64::MAX, |best, _| {
        let begun = Instant::now();
        run();
        best.min(begun.elapsed().as_secs_f64())
    })
}

fn median(times: usize, mut run: impl FnMut()) -> f64 {
    let mut all: Vec<f64> = (0..times).map(|_| best(1, &mut run)).collect();
    all.sort_by(f64::total_cmp);
    all[times / 2]
}

#[test]
#[ignore = "measures"]
fn speed() {
    let runtime = runtime().unwrap();
    let driver = runtime.driver();
    let stream = Stream::from_parts(runtime, 0, 0).unwrap();
    let most = 1_usize << 30;
    let device = RawAddress::from(driver.memory_alloc(DeviceIndex::ZERO, most).unwrap());
    let pinned = driver.host_alloc(DeviceIndex::ZERO, most).unwrap();
    let mut ordinary = vec![1_u8; most];
    let [pinned, host] =
        [pinned, ordinary.as_mut_ptr() as usize].map(|address| of_test(address, most).raw());
    let sync = || driver.stream_synchronize(StreamRef::default_of(DeviceIndex::ZERO)).unwrap();
    let there = |from, bytes| {
        driver.copy_async(device, from, bytes, stream.driver_ref()).unwrap();
        sync();
    };
    let here = |to, bytes| {
        driver.copy_async(to, device, bytes, stream.driver_ref()).unwrap();
        sync();
    };
    println!("{:>10} {:>28} {:>28}", "", "to device", "to host");
    println!(
        "{:>10} {:>9}{:>9}{:>10} {:>9}{:>9}{:>9}{:>10}  GiB/s, median",
        "bytes", "pinned", "driver", "staged", "pinned", "driver", "staged", "fresh"
    );
    for shift in [18, 19, 20, 21, 22, 24, 26, 28, 30] {
        let bytes = 1_usize << shift;
        let times = ((4_usize << 30) / bytes).clamp(7, 200);
        let gib = |seconds: f64| bytes as f64 / seconds / (1 << 30) as f64;
        let staged_there = || {
            super::super::to_device(runtime, stream, device, host, bytes).unwrap();
            sync();
        };
        let staged_here = || super::super::to_host(runtime, stream, host, device, bytes).unwrap();
        let fresh = || {
            let mut memory = Vec::<u8>::with_capacity(bytes);
            let to = of_test(memory.as_mut_ptr() as usize, bytes).raw();
            super::super::to_host(runtime, stream, to, device, bytes).unwrap();
        };
        staged_there();
        println!(
            "{bytes:>10} {:9.1}{:9.1}{:10.1} {:9.1}{:9.1}{:9.1}{:10.1}",
            gib(median(times, || there(pinned, bytes))),
            gib(median(times.min(40), || there(host, bytes))),
            gib(median(times, staged_there)),
            gib(median(times, || here(pinned, bytes))),
            gib(median(times.min(40), || here(host, bytes))),
            gib(median(times, staged_here)),
            gib(median(times.min(9), fresh)),
        );
    }
}
