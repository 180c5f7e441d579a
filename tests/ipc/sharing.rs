//! Two processes see the same bytes.

use crate::remote::Remote;
use crate::{alone, device};
use sconce_driver::EventFlags;
use sconce_runtime::{event, ipc, memory};

const MIB: usize = 1 << 20;

#[test]
fn both_see_what_the_other_writes() {
    let _alone = alone();
    let block = memory::alloc(3 * MIB).unwrap();
    device::fill(block, 7, 3 * MIB);
    let export = ipc::export(block).unwrap();
    let mut other = Remote::start();
    let there = other.open(&export);
    assert!(other.read(there, 3 * MIB).iter().all(|byte| *byte == 7));
    other.fill(there + 100, 9, 50);
    assert_eq!(device::read(block + 99, 3), [7, 9, 9]);
    device::fill(block, 1, 1);
    assert_eq!(other.read(there, 2), [1, 7]);
    other.close(there);
    assert_eq!(device::read(block + 100, 1), [9], "closing leaves the memory alone");
    memory::free(block).unwrap();
}

#[test]
fn blocks_of_a_segment_share_its_handle_and_differ_by_offset() {
    let _alone = alone();
    let blocks: Vec<usize> = (0..3).map(|_| memory::alloc(1000).unwrap()).collect();
    let (base, bytes) = memory::base_of(blocks[2]).unwrap();
    let exports: Vec<_> = blocks.iter().map(|block| ipc::export(*block).unwrap()).collect();
    for (block, (handle, offset)) in blocks.iter().zip(&exports) {
        assert_eq!((handle, *offset), (&exports[0].0, block - base));
        device::fill(*block, *offset as u8 | (*offset >> 8) as u8, 1000);
    }
    // Any address in a block will do.
    let inside = ipc::export(blocks[1] + 10).unwrap();
    assert_eq!(inside, (exports[0].0, blocks[1] + 10 - base));
    let mut other = Remote::start();
    let there: Vec<usize> = exports.iter().map(|export| other.open(export)).collect();
    let start = there[0] - exports[0].1;
    for (at, block) in there.iter().zip(&blocks) {
        assert_eq!(at - start, block - base, "the same mapping, once");
        assert_eq!(other.read(*at, 1000), device::read(*block, 1000));
    }
    assert_eq!(other.open(&inside), there[1] + 10);
    assert_eq!(other.number("count ipc_memory_open"), 1);
    let beyond = other.try_open(&(exports[0].0, bytes)).unwrap_err();
    assert_eq!(beyond.0, "SCONCE_ERROR_INVALID_ARGUMENT");
    assert!(beyond.1.contains("offset_bytes"), "{}", beyond.1);
    for block in blocks {
        memory::free(block).unwrap();
    }
}

#[test]
fn openings_count_and_close_in_any_order() {
    let _alone = alone();
    let blocks: Vec<usize> = (0..2).map(|_| memory::alloc(1000).unwrap()).collect();
    let exports: Vec<_> = blocks.iter().map(|block| ipc::export(*block).unwrap()).collect();
    let mut other = Remote::start();
    let first = other.open(&exports[0]);
    assert_eq!(other.open(&exports[0]), first);
    let second = other.open(&exports[1]);
    other.close(first);
    other.close(second);
    assert_eq!(other.number("count ipc_memory_close"), 0);
    let twice = other.ask(&format!("close {second}")).unwrap_err();
    assert_eq!(twice.0, "SCONCE_ERROR_INVALID_ARGUMENT");
    assert_eq!(other.read(first, 8), device::read(blocks[0], 8));
    other.close(first);
    assert_eq!(other.number("count ipc_memory_close"), 1);
    for address in [first, second, first + 8, 64, usize::MAX] {
        let closed = other.ask(&format!("close {address}")).unwrap_err();
        assert_eq!(closed.0, "SCONCE_ERROR_INVALID_ARGUMENT", "{address:#x}");
    }
    other.close(0);
    // And once more, from the beginning.
    let again = other.open(&exports[1]);
    assert_eq!(other.read(again, 8), device::read(blocks[1], 8));
    other.close(again);
    for block in blocks {
        memory::free(block).unwrap();
    }
}

#[test]
fn memory_of_the_driver_itself_is_shared_too() {
    let _alone = alone();
    let driver = device::runtime().driver();
    let plain = driver.memory_alloc(device::ZERO, 2 * MIB).unwrap();
    device::fill(plain.0 as usize, 5, 2 * MIB);
    let export = ipc::export(plain.0 as usize + 4096).unwrap();
    assert_eq!(export.1, 4096);
    assert_eq!(ipc::export(plain.0 as usize).unwrap(), (export.0, 0));
    let mut other = Remote::start();
    let there = other.open(&export);
    assert_eq!(other.read(there, 4), [5; 4]);
    // Its lifetime is the program's business.
    other.close(there);
    driver.memory_free(device::ZERO, plain).unwrap();
    let gone = other.try_open(&export).unwrap_err();
    assert_eq!(gone.0, "SCONCE_ERROR_INVALID_HANDLE");
}

#[test]
fn three_processes_share_a_block() {
    let _alone = alone();
    let block = memory::alloc(MIB).unwrap();
    let export = ipc::export(block).unwrap();
    let mut others = [Remote::start(), Remote::start()];
    let there: Vec<usize> = others.iter_mut().map(|other| other.open(&export)).collect();
    others[0].fill(there[0], 3, MIB);
    assert_eq!(others[1].read(there[1], 2), [3, 3]);
    memory::free(block).unwrap();
    others[0].close(there[0]);
    ipc::collect().unwrap();
    assert_eq!(crate::waiting_bytes(), MIB as i64, "one of two has closed it");
    others[1].close(there[1]);
    ipc::collect().unwrap();
    assert_eq!(crate::waiting_bytes(), 0);
}

#[test]
fn an_event_orders_what_two_processes_do_to_the_memory() {
    let _alone = alone();
    let stream = sconce_runtime::stream::from_pool(0, 0).unwrap();
    let block = memory::alloc_on(MIB, stream).unwrap();
    let flags = EventFlags { interprocess: true, ..EventFlags::default() };
    let ready = event::create(flags).unwrap();
    sconce::sim_controls::set_latency_ns(20_000_000).unwrap();
    let to = sconce_base::types::DevicePtr(block as u64);
    device::runtime().driver().fill_async(to, 6, MIB, stream.driver_ref()).unwrap();
    event::record(device::runtime(), ready, stream).unwrap();
    sconce::sim_controls::set_latency_ns(0).unwrap();
    let handle = event::ipc_handle(ready).unwrap();
    let export = ipc::export(block).unwrap();
    let mut other = Remote::start();
    let there = other.open(&export);
    other.ask(&format!("await {}", crate::remote::to_hex(&handle.0))).unwrap();
    assert!(other.read(there, MIB).iter().all(|byte| *byte == 6));
    other.close(there);
    event::destroy(ready).unwrap();
    memory::free(block).unwrap();
}
