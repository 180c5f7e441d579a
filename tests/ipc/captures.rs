//! Closing waits for the device, which no capture survives: it is put off until the capture has ended.

use crate::remote::Remote;
use crate::{alone, device};
use sconce::sim_controls as sim;
use sconce_base::error::Status;
use sconce_runtime::{ipc, memory, stream};
use testkit::{in_child, simulated};

/// Does something while a stream of the device is being captured; the capture must survive it.
fn captured(work: impl FnOnce()) {
    simulated::captured(device::runtime(), stream::from_pool(0, 0).unwrap(), work);
}

#[test]
fn memory_stays_open_while_a_stream_is_captured() {
    let _alone = alone();
    let mut other = Remote::start();
    let there = other.number("alloc 1000");
    let (handle, offset) = other.export(there);
    let here = ipc::open(0, &handle, offset).unwrap();
    assert_eq!(ipc::open(0, &handle, offset).unwrap(), here);
    captured(|| {
        // One of two openings: nothing is waited for.
        ipc::close(here).unwrap();
        let error = ipc::close(here).unwrap_err();
        assert_eq!(error.status(), Status::InvalidState, "{error}");
        assert!(error.message().contains("device 0 is being captured"), "{error}");
    });
    other.fill(there, 7, 1000);
    assert_eq!(device::read(here, 1000), vec![7; 1000]);
    ipc::close(here).unwrap();
}

#[test]
fn without_caching_memory_goes_back_after_the_capture() {
    let name = "captures::without_caching_memory_goes_back_after_the_capture";
    in_child(name, &[("PYTORCH_NO_CUDA_MEMORY_CACHING", "1")], || {
        let _alone = alone();
        let block = memory::alloc(100_000).unwrap();
        let mut other = Remote::start();
        let there = other.open(&ipc::export(block).unwrap());
        memory::free(block).unwrap();
        captured(|| {
            other.close(there);
            let error = loop {
                match ipc::collect() {
                    Ok(()) => std::thread::yield_now(), // Not heard of it yet, or others are at it.
                    Err(error) => break error,
                }
                assert_eq!(sim::call_count("memory_free").unwrap(), 0);
            };
            assert_eq!(error.status(), Status::InvalidState, "{error}");
        });
        ipc::collect().unwrap();
        assert_eq!(sim::call_count("memory_free").unwrap(), 1);
    });
}
