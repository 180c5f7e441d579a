//! Without caching: what is open elsewhere goes back to the driver when it is closed.

use crate::remote::Remote;
use crate::{alone, device, soon};
use sconce::sim_controls as sim;
use sconce_runtime::{ipc, memory};
use testkit::in_child;

const UNCACHED: &[(&str, &str)] = &[("PYTORCH_NO_CUDA_MEMORY_CACHING", "1")];

fn frees() -> u64 {
    sim::call_count("memory_free").unwrap()
}

#[test]
fn without_caching_the_driver_gets_memory_back_after_the_last_closing() {
    let name = "uncached::without_caching_the_driver_gets_memory_back_after_the_last_closing";
    in_child(name, UNCACHED, || {
        let _alone = alone();
        let block = memory::alloc(100_000).unwrap();
        device::fill(block, 5, 100_000);
        let export = ipc::export(block + 10).unwrap();
        assert_eq!(export.1, 10);
        let mut other = Remote::start();
        let there = other.open(&export);
        memory::free(block).unwrap();
        assert_eq!(frees(), 0);
        assert!(memory::free(block).is_err() && memory::base_of(block).is_err());
        assert!(ipc::export(block).unwrap_err().message().contains("freed already"));
        assert_eq!(other.try_open(&export).unwrap_err().0, "SCONCE_ERROR_INVALID_HANDLE");
        let meanwhile = memory::alloc(100_000).unwrap();
        device::fill(meanwhile, 1, 100_000);
        assert!(other.read(there - 10, 100_000).iter().all(|byte| *byte == 5));
        other.close(there);
        ipc::collect().unwrap();
        assert_eq!(frees(), 1);
        // By itself, and of a process that has died.
        let there = other.open(&ipc::export(meanwhile).unwrap());
        assert_eq!(other.read(there, 1), [1]);
        memory::free(meanwhile).unwrap();
        other.kill();
        soon("the memory went back", || frees() == 2);
    });
}

#[test]
fn what_nobody_opened_goes_back_at_once() {
    in_child("uncached::what_nobody_opened_goes_back_at_once", UNCACHED, || {
        let _alone = alone();
        let block = memory::alloc(100_000).unwrap();
        let export = ipc::export(block).unwrap();
        let mut other = Remote::start();
        let there = other.open(&export);
        other.close(there);
        ipc::collect().unwrap();
        memory::free(block).unwrap();
        assert_eq!(frees(), 1);
        assert_eq!(other.try_open(&export).unwrap_err().0, "SCONCE_ERROR_INVALID_HANDLE");
    });
}

#[test]
fn what_the_driver_would_not_take_is_given_back_by_the_next_collecting() {
    let name = "uncached::what_the_driver_would_not_take_is_given_back_by_the_next_collecting";
    in_child(name, UNCACHED, || {
        let _alone = alone();
        let block = memory::alloc(100_000).unwrap();
        let export = ipc::export(block).unwrap();
        let mut other = Remote::start();
        let there = other.open(&export);
        memory::free(block).unwrap();
        let free = device::runtime().driver().memory_info(device::ZERO).unwrap().free_bytes;
        sim::fail_call("memory_free", 1, 999).unwrap();
        other.close(there);
        soon("it was tried", || frees() == 1);
        ipc::collect().unwrap();
        let now = device::runtime().driver().memory_info(device::ZERO).unwrap().free_bytes;
        assert!(now > free, "{now} after {free}");
    });
}

#[test]
fn doors_of_memory_that_is_gone_are_shut() {
    in_child("uncached::doors_of_memory_that_is_gone_are_shut", UNCACHED, || {
        let _alone = alone();
        for _ in 0..300 {
            let block = memory::alloc(1000).unwrap();
            ipc::export(block).unwrap();
            memory::free(block).unwrap();
        }
        let doors = device::shared_descriptors();
        assert!(doors <= 40, "{doors} doors");
    });
}
