//! Virtual memory, whose handles are the library's own.

use crate::remote::Remote;
use crate::{alone, device};
use sconce_base::error::Status;
use sconce_runtime::ipc;

#[test]
fn virtual_memory_is_shared_by_any_address_in_it() {
    let _alone = alone();
    let memory = device::map_virtual(true);
    let start = memory.ptr.0 as usize;
    device::fill(start, 3, memory.bytes);
    let export = ipc::export(start + 1000).unwrap();
    assert_eq!(export.1, 1000);
    assert_eq!(ipc::export(start).unwrap(), (export.0, 0), "the same bytes each time");
    let mut other = Remote::start();
    let there = other.open(&export);
    assert!(other.read(there - 1000, memory.bytes).iter().all(|byte| *byte == 3));
    other.fill(there, 4, 2);
    assert_eq!(device::read(start + 999, 3), [3, 4, 4]);
    assert_eq!(other.open(&(export.0, 0)), there - 1000, "mapped once");
    assert_eq!(other.number("count virtual_map"), 1);
    let beyond = other.try_open(&(export.0, memory.bytes)).unwrap_err();
    assert_eq!(beyond.0, "SCONCE_ERROR_INVALID_ARGUMENT");
    other.close(there);
    other.close(there - 1000);
    assert_eq!(other.number("sharing"), 0);
    for call in ["unmap", "release"] {
        assert_eq!(other.number(&format!("count virtual_{call}")), 1, "{call}");
    }
    memory.release();
}

#[test]
fn who_has_opened_it_keeps_it_and_nobody_else_can() {
    let _alone = alone();
    let memory = device::map_virtual(true);
    let start = memory.ptr.0 as usize;
    device::fill(start, 3, memory.bytes);
    let export = ipc::export(start).unwrap();
    let mut other = Remote::start();
    let there = other.open(&export);
    memory.unmap();
    let gone = other.try_open(&(export.0, 8)).unwrap_err();
    assert_eq!(gone.0, "SCONCE_ERROR_INVALID_HANDLE");
    // The same address again, but not what was exported.
    memory.map();
    assert_eq!(other.try_open(&(export.0, 8)).unwrap_err().0, "SCONCE_ERROR_INVALID_HANDLE");
    assert_ne!(ipc::export(start).unwrap().0, export.0);
    memory.release();
    assert!(other.read(there, 100).iter().all(|byte| *byte == 3));
    other.close(there);
}

#[test]
fn virtual_memory_of_a_process_that_has_ended_can_be_used_until_it_is_closed() {
    let _alone = alone();
    let mut other = Remote::start();
    let there = other.number("virtual 1");
    other.fill(there, 6, 100);
    let export = other.export(there);
    let here = ipc::open(0, &export.0, 0).unwrap();
    other.kill();
    assert_eq!(device::read(here, 100), [6; 100]);
    assert_eq!(ipc::open(0, &export.0, 0).unwrap_err().status(), Status::InvalidHandle);
    ipc::close(here).unwrap();
    let dead = ipc::open(0, &export.0, 0).unwrap_err();
    assert_eq!(dead.status(), Status::InvalidHandle, "{dead}");
}

#[test]
fn what_was_not_made_shareable_is_refused_with_the_remedy() {
    let _alone = alone();
    let memory = device::map_virtual(false);
    let error = ipc::export(memory.ptr.0 as usize).unwrap_err();
    assert_eq!(error.status(), Status::InvalidArgument, "{error}");
    assert!(error.message().contains("shareable by file descriptor"), "{error}");
    let ptr = memory.ptr.0 as usize;
    memory.release();
    assert_eq!(ipc::export(ptr).unwrap_err().status(), Status::InvalidArgument);
}

/// Drivers differ in how they say it.
#[test]
fn a_driver_may_refuse_what_is_not_shareable_in_several_words() {
    let _alone = alone();
    let memory = device::map_virtual(true);
    for code in [1, 400, 800, 801] {
        sconce::sim_controls::fail_call("physical_export", 1, code).unwrap();
        let error = ipc::export(memory.ptr.0 as usize).unwrap_err();
        assert_eq!(error.status(), Status::InvalidArgument, "{error}");
        sconce::sim_controls::fail_call("ipc_memory_export", 1, code).unwrap();
        ipc::export(memory.ptr.0 as usize).unwrap();
    }
    memory.release();
}
