//! Frees, closings and deaths, in every order.

use super::*;
use crate::{soon, waiting_bytes};
use sconce_base::error::Status;

/// The pages of a block that is open elsewhere neither move nor go back, whatever happens to others.
#[test]
fn pages_that_another_process_has_open_stay() {
    let _alone = with_pages();
    let (block, kept) = pieced_together();
    device::fill(block, 6, 4 * PAGE);
    let export = ipc::export(block).unwrap();
    let mut other = Remote::start();
    let there = other.open(&export);
    memory::free(block).unwrap();
    assert_eq!(waiting_bytes(), 4 * PAGE as i64);
    memory::check::walk().unwrap();
    let pages = memory::page_figures(0).unwrap().pages;
    memory::empty_cache().unwrap();
    assert_eq!(memory::page_figures(0).unwrap().pages, pages, "none of them is free");
    // The pages of the freed block would serve these.
    let fresh = memory::alloc(8 * PAGE).unwrap();
    device::fill(fresh, 0xEE, 8 * PAGE);
    memory::free(fresh).unwrap();
    kept.into_iter().for_each(|block| memory::free(block).unwrap());
    memory::empty_cache().unwrap();
    assert_eq!(reserved(), 4 * PAGE as i64, "what the other process has open");
    assert!(other.holds(there, 6, 4 * PAGE));
    assert_eq!(other.try_open(&export).unwrap_err().0, "SCONCE_ERROR_INVALID_HANDLE");
    assert!(ipc::export(block).unwrap_err().message().contains("freed already"));
    memory::check::walk().unwrap();
    other.close(there);
    ipc::collect().unwrap();
    assert_eq!(waiting_bytes(), 0);
    memory::check::walk().unwrap();
    memory::empty_cache().unwrap();
    assert_eq!((reserved(), memory::page_figures(0).unwrap().pages), (0, 0));
}

/// A block that nobody has open any more is ordinary memory again: its pages move.
#[test]
fn pages_move_again_after_the_last_closing() {
    let _alone = with_pages();
    let (block, kept) = pieced_together();
    let export = ipc::export(block).unwrap();
    let mut other = Remote::start();
    let there = other.open(&export);
    other.close(there);
    memory::free(block).unwrap();
    ipc::collect().unwrap();
    let before = reserved();
    kept.into_iter().for_each(|block| memory::free(block).unwrap());
    let all = memory::alloc(before as usize).unwrap();
    assert_eq!(reserved(), before, "of these pages");
    memory::free(all).unwrap();
    memory::check::walk().unwrap();
}

#[test]
fn a_handle_never_means_a_later_block_at_its_address() {
    let _alone = with_pages();
    let first = memory::alloc(3 * PAGE).unwrap();
    let old = ipc::export(first).unwrap();
    memory::free(first).unwrap();
    let mut other = Remote::start();
    let gone = other.try_open(&old).unwrap_err();
    assert_eq!(gone.0, "SCONCE_ERROR_INVALID_HANDLE");
    assert!(gone.1.contains("freed"), "{}", gone.1);
    assert_eq!(memory::alloc(3 * PAGE).unwrap(), first);
    assert_eq!(other.try_open(&old).unwrap_err().0, "SCONCE_ERROR_INVALID_HANDLE");
    let new = ipc::export(first).unwrap();
    assert_ne!(new.0, old.0);
    assert_eq!(other.try_open(&old).unwrap_err().0, "SCONCE_ERROR_INVALID_HANDLE");
    let there = other.open(&new);
    other.close(there);
    memory::free(first).unwrap();
    ipc::collect().unwrap();
    assert_eq!(waiting_bytes(), 0);
}

#[test]
fn what_a_killed_process_had_open_is_free_again() {
    let _alone = with_pages();
    let block = memory::alloc(3 * PAGE).unwrap();
    let export = ipc::export(block).unwrap();
    let mut others = [Remote::start(), Remote::start()];
    let there = others.each_mut().map(|other| other.open(&export));
    memory::free(block).unwrap();
    others[0].kill();
    ipc::collect().unwrap();
    assert_eq!(waiting_bytes(), 3 * PAGE as i64, "one of two is left");
    others[1].fill(there[1], 5, 3 * PAGE);
    others[1].kill();
    soon("the thread learns of it", || waiting_bytes() == 0);
    assert_eq!(memory::alloc(3 * PAGE).unwrap(), block);
    memory::free(block).unwrap();
    memory::check::walk().unwrap();
}

#[test]
fn pages_of_a_process_that_has_ended_can_be_used_until_they_are_closed() {
    let _alone = with_pages();
    let mut other = Remote::start_with_pages();
    let there = other.number(&format!("alloc {}", 3 * PAGE));
    other.fill(there, 8, 3 * PAGE);
    let export = other.export(there);
    let here = open(&export);
    other.kill();
    assert!(holds(&device::read(here, 3 * PAGE), 8));
    device::fill(here + PAGE, 2, MIB);
    assert_eq!(device::read(here + PAGE - 1, 2), [8, 2]);
    let dead = ipc::open(0, &export.0, export.1).unwrap_err();
    assert_eq!(dead.status(), Status::InvalidHandle, "{dead}");
    ipc::close(here).unwrap();
    let closed = ipc::close(here).unwrap_err();
    assert_eq!(closed.status(), Status::InvalidArgument, "{closed}");
    let dead = ipc::open(0, &export.0, export.1).unwrap_err();
    assert_eq!(dead.status(), Status::InvalidHandle, "{dead}");
}

/// Each process is killed at some point of an opening; the other one forgets it.
#[test]
fn deaths_amid_an_opening_leave_nothing() {
    let _alone = with_pages();
    let block = memory::alloc(40 * PAGE).unwrap();
    let export = ipc::export(block).unwrap();
    for pause_us in [0, 300, 1000, 3000, 10_000] {
        let mut other = Remote::start();
        other.ask("count virtual_map").unwrap();
        other.tell_open(&export);
        std::thread::sleep(std::time::Duration::from_micros(pause_us));
        other.kill();
    }
    memory::free(block).unwrap();
    soon("nobody holds it", || waiting_bytes() == 0);
    memory::check::walk().unwrap();
    let before = device::shared_descriptors();
    for pause_us in [0, 300, 1000, 3000, 10_000] {
        let mut other = Remote::start_with_pages();
        let there = other.number(&format!("alloc {}", 40 * PAGE));
        let export = other.export(there);
        std::thread::scope(|scope| {
            let opening = scope.spawn(|| ipc::open(0, &export.0, export.1));
            std::thread::sleep(std::time::Duration::from_micros(pause_us));
            other.kill();
            match opening.join().unwrap() {
                Ok(here) => ipc::close(here).unwrap(),
                Err(error) => assert_eq!(error.status(), Status::InvalidHandle, "{error}"),
            }
        });
    }
    assert_eq!(device::shared_descriptors(), before);
}
