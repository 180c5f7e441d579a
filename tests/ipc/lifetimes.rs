//! What is freed here while it is used there is not used again.

use crate::remote::Remote;
use crate::{alone, device, soon, waiting_bytes};
use sconce_runtime::{ipc, memory};

const MIB: usize = 1 << 20;

/// A block of 4 MiB in a segment of its own size, exported.
fn exported() -> (usize, (sconce_driver::IpcHandle, usize)) {
    let block = memory::alloc(4 * MIB).unwrap();
    device::fill(block, 4, 4 * MIB);
    (block, ipc::export(block).unwrap())
}

#[test]
fn what_was_freed_before_it_was_opened_cannot_be_opened() {
    let _alone = alone();
    let (block, export) = exported();
    memory::free(block).unwrap();
    assert_eq!(waiting_bytes(), 0, "nobody uses it");
    let mut other = Remote::start();
    let gone = other.try_open(&export).unwrap_err();
    assert_eq!(gone.0, "SCONCE_ERROR_INVALID_HANDLE");
    assert!(gone.1.contains("freed"), "{}", gone.1);
    // Somebody else's block by now.
    assert_eq!(memory::alloc(4 * MIB).unwrap(), block);
    let other_owner = other.try_open(&export).unwrap_err();
    assert_eq!(other_owner.0, "SCONCE_ERROR_INVALID_HANDLE");
    memory::free(block).unwrap();
    // Nor when its segment has gone back.
    memory::empty_cache().unwrap();
    assert_eq!(other.try_open(&export).unwrap_err().0, "SCONCE_ERROR_INVALID_HANDLE");
    assert_eq!(other.number("sharing"), 0, "no connection is left");
}

#[test]
fn a_neighbour_that_was_not_exported_cannot_be_opened() {
    let _alone = alone();
    let (block, neighbour) = (memory::alloc(1024).unwrap(), memory::alloc(1024).unwrap());
    let export = ipc::export(block).unwrap();
    let mut other = Remote::start();
    let there = other.open(&export);
    let offset = export.1 + (neighbour - block);
    let refused = other.try_open(&(export.0, offset)).unwrap_err();
    assert_eq!(refused.0, "SCONCE_ERROR_INVALID_HANDLE");
    other.close(there);
    memory::free(block).unwrap();
    memory::free(neighbour).unwrap();
}

#[test]
fn a_block_that_is_open_elsewhere_is_not_handed_out_until_it_is_closed() {
    let _alone = alone();
    let (block, export) = exported();
    let mut other = Remote::start();
    let there = other.open(&export);
    memory::free(block).unwrap();
    assert_eq!(waiting_bytes(), 4 * MIB as i64);
    assert!(memory::free(block).unwrap_err().message().contains("freed already"));
    let meanwhile = memory::alloc(4 * MIB).unwrap();
    assert_ne!(meanwhile, block);
    device::fill(meanwhile, 0xEE, 4 * MIB);
    assert!(other.read(there, 4 * MIB).iter().all(|byte| *byte == 4));
    // It is freed, so nobody new may use it, not even who has it open.
    assert_eq!(other.try_open(&export).unwrap_err().0, "SCONCE_ERROR_INVALID_HANDLE");
    assert!(ipc::export(block).unwrap_err().message().contains("freed already"));
    // Nor does anything wait for it.
    memory::empty_cache().unwrap();
    memory::check::walk().unwrap();
    let snapshot = memory::snapshot().unwrap();
    let state = snapshot.blocks.iter().find(|b| b.address == block as u64).unwrap().state;
    assert_eq!(state, memory::snapshot::BlockState::PendingFree);
    other.close(there);
    ipc::collect().unwrap();
    assert_eq!(waiting_bytes(), 0);
    assert_eq!(memory::alloc(4 * MIB).unwrap(), block);
    memory::free(block).unwrap();
    memory::free(meanwhile).unwrap();
    memory::check::walk().unwrap();
}

#[test]
fn without_collecting_it_is_free_soon_after() {
    let _alone = alone();
    let (block, export) = exported();
    let mut other = Remote::start();
    let there = other.open(&export);
    memory::free(block).unwrap();
    other.close(there);
    soon("the thread has let go of it", || waiting_bytes() == 0);
}

#[test]
fn requests_are_hits_while_a_block_waits_for_another_process() {
    let _alone = alone();
    let (block, export) = exported();
    let mut other = Remote::start();
    let there = other.open(&export);
    memory::free(block).unwrap();
    let warm = memory::alloc(1000).unwrap();
    memory::free(warm).unwrap();
    sconce::sim_controls::reset_call_counts().unwrap();
    for _ in 0..100 {
        memory::free(memory::alloc(1000).unwrap()).unwrap();
    }
    assert_eq!(
        sconce::sim_controls::call_count("exchange_capture_mode").unwrap(),
        0,
        "nobody polls"
    );
    other.close(there);
}

#[test]
fn a_full_device_goes_on_without_what_other_processes_hold() {
    let _alone = alone();
    let total = device::runtime().driver().memory_info(device::ZERO).unwrap().total_bytes;
    let big = memory::alloc(total / 2).unwrap();
    let export = ipc::export(big).unwrap();
    let mut other = Remote::start();
    let there = other.open(&export);
    memory::free(big).unwrap();
    let refused = memory::alloc(total / 2 + 20 * MIB).unwrap_err();
    assert_eq!(refused.status(), sconce_base::error::Status::OutOfMemory);
    other.close(there);
    ipc::collect().unwrap();
    memory::free(memory::alloc(total / 2 + 20 * MIB).unwrap()).unwrap();
}

#[test]
fn streams_and_processes_that_use_a_block_are_both_awaited() {
    let _alone = alone();
    for process_first in [true, false] {
        let (block, export) = exported();
        let mut other = Remote::start();
        let there = other.open(&export);
        let stream = sconce_runtime::stream::from_pool(0, 0).unwrap();
        sconce::sim_controls::set_manual(true).unwrap();
        let to = sconce_base::types::DevicePtr(block as u64);
        device::runtime().driver().fill_async(to, 1, 8, stream.driver_ref()).unwrap();
        memory::record_stream(block, stream).unwrap();
        memory::free(block).unwrap();
        let finish = || {
            sconce::sim_controls::set_manual(false).unwrap();
            sconce::sim_controls::run_until_idle().unwrap();
            device::runtime().driver().device_synchronize(device::ZERO).unwrap();
        };
        if process_first {
            other.close(there);
            ipc::collect().unwrap();
            assert_eq!(waiting_bytes(), 4 * MIB as i64, "the stream's work has not finished");
            finish();
            // A request that takes the slow path looks at the events.
            memory::free(memory::alloc(100).unwrap()).unwrap();
        } else {
            finish();
            memory::free(memory::alloc(100).unwrap()).unwrap();
            assert_eq!(waiting_bytes(), 4 * MIB as i64, "the process has not closed it");
            memory::check::walk().unwrap();
            other.close(there);
            ipc::collect().unwrap();
        }
        assert_eq!(waiting_bytes(), 0);
        memory::check::walk().unwrap();
    }
}

#[test]
fn closing_waits_for_the_work_that_uses_the_memory() {
    let _alone = alone();
    let blocks: Vec<usize> = (0..2).map(|_| memory::alloc(1024).unwrap()).collect();
    let exports: Vec<_> = blocks.iter().map(|block| ipc::export(*block).unwrap()).collect();
    let mut other = Remote::start();
    let there: Vec<usize> = exports.iter().map(|export| other.open(export)).collect();
    let before = other.number("count device_synchronize");
    other.close(there[0]);
    assert_eq!(other.number("count device_synchronize"), before + 1, "of an offset");
    other.close(there[1]);
    assert!(other.number("count device_synchronize") >= before + 2, "of the allocation");
    for block in blocks {
        memory::free(block).unwrap();
    }
}
