//! What is shared, at which offsets, and what is refused.

use super::*;
use crate::soon;
use sconce::sim_controls as sim;
use sconce_base::error::Status;
use sconce_base::types::DevicePtr;
use sconce_runtime::stream;
use testkit::{in_child, simulated};

#[test]
fn both_processes_see_every_page_and_nothing_else_is_written() {
    let _alone = with_pages();
    let all = Neighbours::new(7 * MIB);
    let export = ipc::export(all.block).unwrap();
    assert_eq!(export.1, all.block % PAGE, "the place in the first page");
    let mut other = Remote::start();
    let there = other.open(&export);
    assert_eq!(there % PAGE, export.1);
    assert!(other.holds(there, 2, all.bytes));
    for (at, byte) in (0..all.bytes).step_by(MIB).zip(10..) {
        other.fill(there + at, byte, MIB);
    }
    for (at, byte) in (0..all.bytes).step_by(MIB).zip(10..) {
        assert!(holds(&device::read(all.block + at, MIB), byte), "at {at}");
    }
    device::fill(all.block, 9, all.bytes);
    assert!(other.holds(there, 9, all.bytes));
    let pages = (export.1 + all.bytes).div_ceil(PAGE);
    for (call, count) in [
        ("physical_import", pages),
        ("virtual_map", pages),
        ("physical_release", pages),
        ("virtual_reserve", 1),
        ("virtual_set_access", 1),
        ("ipc_memory_open", 0),
    ] {
        assert_eq!(other.number(&format!("count {call}")), count, "{call}");
    }
    memory::check::walk().unwrap();
    other.close(there);
    for call in ["virtual_unmap", "virtual_release"] {
        assert_eq!(other.number(&format!("count {call}")), 1, "{call}");
    }
    assert_eq!(other.number("sharing"), 0);
    all.assert_untouched();
    memory::free(all.block).unwrap();
    all.free_others();
}

/// Pages of one block, in the order in which the block has them, wherever they were before.
#[test]
fn pages_that_were_put_together_arrive_in_order() {
    let _alone = with_pages();
    let (block, kept) = pieced_together();
    for page in 0..4 {
        device::fill(block + page * PAGE, 20 + page as u8, PAGE);
    }
    let export = ipc::export(block).unwrap();
    let mut other = Remote::start();
    let there = other.open(&export);
    for page in 0..4 {
        assert!(other.holds(there + page * PAGE, 20 + page as u8, PAGE), "page {page}");
    }
    // Across a border of pages.
    other.fill(there + PAGE - 8, 50, 16);
    assert!(holds(&device::read(block + PAGE - 8, 16), 50));
    other.close(there);
    kept.into_iter().chain([block]).for_each(|block| memory::free(block).unwrap());
}

#[test]
fn each_block_has_a_handle_of_its_own_and_openings_count() {
    let _alone = with_pages();
    let all = Neighbours::new(3 * MIB);
    let exports = [all.before, all.block, all.after].map(|block| ipc::export(block).unwrap());
    assert_ne!(exports[0].0, exports[1].0);
    assert_ne!(exports[1].0, exports[2].0);
    assert_eq!(ipc::export(all.block).unwrap(), exports[1], "the same bytes each time");
    let inside = ipc::export(all.block + 1000).unwrap();
    assert_eq!(inside, (exports[1].0, exports[1].1 + 1000));
    let mut other = Remote::start();
    let there = exports.each_ref().map(|export| other.open(export));
    assert_eq!(other.open(&exports[1]), there[1], "mapped once");
    assert_eq!(other.open(&inside), there[1] + 1000);
    // Two blocks of one page are mapped apart, and are one memory.
    other.fill(there[0], 30, BESIDE);
    assert!(holds(&device::read(all.before, BESIDE), 30));
    other.close(there[0]);
    other.close(there[1]);
    other.close(there[1] + 1000);
    assert!(other.holds(there[1], 2, 3 * MIB), "open once more");
    other.close(there[1]);
    let closed = other.ask(&format!("close {}", there[1])).unwrap_err();
    assert_eq!(closed.0, "SCONCE_ERROR_INVALID_ARGUMENT");
    assert!(other.holds(there[2], 3, BESIDE), "another block's pages stay");
    other.close(there[2]);
    assert_eq!(other.number("sharing"), 0);
    memory::free(all.block).unwrap();
    all.free_others();
}

#[test]
fn only_the_exported_block_can_be_opened() {
    let _alone = with_pages();
    let all = Neighbours::new(3 * MIB);
    let (handle, offset) = ipc::export(all.block).unwrap();
    let mut other = Remote::start();
    // In the first and in the last of its pages.
    for offset in [0, offset - 1, offset + all.bytes] {
        let refused = other.try_open(&(handle, offset)).unwrap_err();
        assert_eq!(refused.0, "SCONCE_ERROR_INVALID_HANDLE", "{offset}");
        assert!(refused.1.contains("offset_bytes"), "{}", refused.1);
    }
    for offset in [3 * PAGE, usize::MAX] {
        let refused = other.try_open(&(handle, offset)).unwrap_err();
        assert_eq!(refused.0, "SCONCE_ERROR_INVALID_ARGUMENT", "{offset}");
    }
    assert_eq!(ipc::open(0, &handle, offset).unwrap_err().status(), Status::InvalidArgument);
    assert_eq!(other.number("sharing"), 0);
    assert_eq!(other.number("count virtual_reserve"), 0);
    let there = other.open(&(handle, offset + all.bytes - 1));
    assert_eq!(other.read(there, 1), [2]);
    let passed_on = other.ask(&format!("export {there}")).unwrap_err();
    assert_eq!(passed_on.0, "SCONCE_ERROR_INVALID_ARGUMENT");
    memory::free(all.block).unwrap();
    all.free_others();
}

/// A range of another process's memory may reach over the borders of its pages, but not further.
#[test]
fn copies_reach_over_the_borders_of_pages() {
    let _alone = with_pages();
    let mut other = Remote::start_with_pages();
    let there = other.number(&format!("alloc {}", 3 * PAGE));
    other.fill(there, 5, 3 * PAGE);
    let export = other.export(there);
    let here = open(&export);
    let copied = memory::alloc(3 * PAGE).unwrap();
    let copy = |from: usize, bytes| {
        let [to, from] = [copied, from].map(|at| DevicePtr(at as u64).into());
        sconce_compute::copy::copy(to, from, bytes, false)
    };
    copy(here, 3 * PAGE).unwrap();
    assert!(holds(&device::read(copied, 3 * PAGE), 5));
    let beyond = copy(here + PAGE, 2 * PAGE + 1).unwrap_err();
    assert_eq!(beyond.status(), Status::InvalidArgument, "{beyond}");
    ipc::close(here).unwrap();
    memory::free(copied).unwrap();
}

/// More pages than the system sends descriptors of in a message (253).
#[test]
fn a_block_of_many_pages_travels_in_several_messages() {
    let name = "pages::rules::a_block_of_many_pages_travels_in_several_messages";
    in_child(name, &[(device::MEMORY, "1073741824")], || {
        let _alone = with_pages();
        let bytes = 260 * PAGE;
        let block = memory::alloc(bytes).unwrap();
        assert_eq!(memory::page_figures(0).unwrap().pages, 260);
        let mark = |page: usize| (page % 251) as u8;
        for page in 0..260 {
            device::fill(block + page * PAGE, mark(page), 64);
        }
        let export = ipc::export(block).unwrap();
        let mut other = Remote::start_with(&[(device::MEMORY, "1073741824")]);
        let there = other.open(&export);
        for page in 0..260 {
            assert!(other.holds(there + page * PAGE, mark(page), 64), "page {page}");
        }
        other.fill(there + bytes - 1, 77, 1);
        assert_eq!(device::read(block + bytes - 1, 1), [77]);
        for call in ["physical_import", "virtual_map", "physical_release"] {
            assert_eq!(other.number(&format!("count {call}")), 260, "{call}");
        }
        assert_eq!(sim::call_count("physical_export").unwrap(), 2 * 260, "asked, and sent");
        other.close(there);
        memory::free(block).unwrap();
        ipc::collect().unwrap();
        memory::empty_cache().unwrap();
        assert_eq!(reserved(), 0);
    });
}

#[test]
fn memory_that_the_driver_does_not_share_is_refused_with_the_remedy() {
    let _alone = with_pages();
    // As drivers say it; another error means that the driver failed, and is one.
    sim::fail_call("physical_create", 1, 801).unwrap();
    sim::reset_call_counts().unwrap();
    let block = memory::alloc(4 * MIB).unwrap();
    let pages = memory::page_figures(0).unwrap().pages;
    assert_eq!(sim::call_count("physical_create").unwrap(), pages + 1, "asked once");
    for _ in 0..2 {
        let error = ipc::export(block).unwrap_err();
        assert_eq!(error.status(), Status::NotSupported, "{error}");
        assert!(error.message().contains("policy:segments"), "{error}");
        assert!(error.message().contains("not made shareable"), "{error}");
    }
    device::fill(block, 5, 4 * MIB);
    memory::free(block).unwrap();
    memory::check::walk().unwrap();
    memory::empty_cache().unwrap();
    assert_eq!(reserved(), 0);
}

#[test]
fn pages_are_shared_while_a_stream_is_captured() {
    let _alone = with_pages();
    let block = memory::alloc(3 * PAGE).unwrap();
    device::fill(block, 4, 3 * PAGE);
    let mut other = Remote::start();
    let mut there = 0;
    simulated::captured(device::runtime(), stream::from_pool(0, 0).unwrap(), || {
        there = other.open(&ipc::export(block).unwrap());
    });
    assert!(other.holds(there, 4, 3 * PAGE));
    other.close(there);
    memory::free(block).unwrap();
}

/// A device with peer access uses the memory of another process, whichever of the two came first.
#[test]
fn peers_use_what_is_open_here() {
    let _alone = with_pages();
    let mut other = Remote::start_with_pages();
    let (block, mapped) = (other.number(&format!("alloc {}", 3 * PAGE)), other.number("virtual 1"));
    let exports = [other.export(block), other.export(mapped)];
    let peer = stream::from_pool(1, 0).unwrap().driver_ref();
    let driver = device::runtime().driver();
    let fill = |address: usize, byte: u8| {
        driver.fill_async(DevicePtr(address as u64), byte, PAGE, peer)?;
        driver.stream_synchronize(peer)
    };
    let early = exports.each_ref().map(open);
    sconce_runtime::device::enable_peer_access(1, 0).unwrap();
    for (here, there) in early.into_iter().zip([block, mapped]) {
        fill(here, 8).unwrap();
        assert!(other.holds(there, 8, PAGE));
        ipc::close(here).unwrap();
    }
    for (export, there) in exports.iter().zip([block, mapped]) {
        let here = open(export);
        fill(here, 9).unwrap();
        assert!(other.holds(there, 9, PAGE));
        ipc::close(here).unwrap();
        // The peer's access is the second of the opening.
        let before = device::shared_descriptors();
        sim::fail_call("virtual_set_access", 2, 999).unwrap();
        let error = ipc::open(0, &export.0, export.1).unwrap_err();
        assert_eq!(error.backend_code(), 999, "{error}");
        assert_eq!(device::shared_descriptors(), before);
        assert_eq!(ipc::close(here).unwrap_err().status(), Status::InvalidArgument);
    }
    other.ask(&format!("free {block}")).unwrap();
    other.ask("collect").unwrap();
    assert_eq!(other.number(&format!("alloc {}", 3 * PAGE)), block, "nothing holds it");
}

/// A door of freed memory is closed when many are made.
#[test]
fn the_doors_of_freed_blocks_are_closed() {
    let _alone = with_pages();
    let before = device::shared_descriptors();
    for _ in 0..200 {
        let block = memory::alloc(1024).unwrap();
        ipc::export(block).unwrap();
        memory::free(block).unwrap();
    }
    soon("few sockets are left", || device::shared_descriptors() < before + 50);
}
