//! What a pool that sleeps gives back, keeps and refuses.

use sconce_base::error::Status;
use sconce_runtime::memory::{self, pool, shared_blocks};
use sconce_runtime::sleep::{self, SleepPlace, WakeMode};
use testkit::memory::structure;

use super::{
    MIB, alloc, allocated, folder, free_bytes, holds, inside, places, pool_stream, refused,
    reserved, state, with_pages,
};
use crate::queued::{fill, read};

#[test]
fn memory_comes_back_at_its_addresses_with_its_bytes() {
    with_pages("memory_comes_back_at_its_addresses_with_its_bytes", "1G", || {
        let free_at_start = free_bytes();
        let (own, other) = (pool_stream(), pool_stream());
        let private = pool::create().unwrap();
        let outside = alloc(3 * MIB, own);
        fill(outside, 99, 3 * MIB, own);
        let held: Vec<(usize, usize)> = inside(private, || {
            let sizes = [(5 * MIB, own), (700, own), (12 * MIB, other), (40 * MIB + 512, own)];
            sizes.map(|(bytes, on)| (alloc(bytes, on), bytes)).to_vec()
        });
        let spare = inside(private, || alloc(20 * MIB, own));
        for (place, (address, bytes)) in held.iter().enumerate() {
            fill(*address, place as u8 + 1, *bytes, own);
        }
        memory::free(spare).unwrap();
        let (live, before) = (allocated(), reserved());
        for place in places() {
            let free_before = free_bytes();
            sleep::sleep(Some(private), 0, &place).unwrap();
            structure::assert_sound();
            let asleep = state(Some(private)).unwrap();
            let needed: usize = held.iter().map(|(_, bytes)| bytes.next_multiple_of(512)).sum();
            assert_eq!(asleep.saved_bytes, needed as u64, "only live bytes travel");
            assert!(asleep.sleeping_bytes >= needed as u64);
            assert_eq!(allocated(), live, "what callers hold they still hold");
            assert_eq!(reserved(), 4 * MIB as i64, "all but the memory outside");
            assert!(free_bytes() > free_before + 50 * MIB, "{}", free_bytes());
            assert_eq!(memory::page_figures(0).unwrap().sleeping_bytes, asleep.sleeping_bytes);
            assert!(holds(&read(outside, 3 * MIB, own), 99));
            sleep::wake(Some(private), 0, WakeMode::Restore).unwrap();
            structure::assert_sound();
            assert_eq!(state(Some(private)), None);
            assert_eq!(reserved() as u64, asleep.sleeping_bytes + 4 * MIB as u64);
            for (place, (address, bytes)) in held.iter().enumerate() {
                let data = read(*address, *bytes, other);
                assert!(holds(&data, place as u8 + 1), "block {place}");
            }
        }
        assert!(reserved() < before, "free pages did not come back");
        inside(private, || memory::free(alloc(MIB, own)).unwrap());
        held.iter().for_each(|(address, _)| memory::free(*address).unwrap());
        memory::free(outside).unwrap();
        pool::destroy(private).unwrap();
        structure::assert_all_given_back(&[free_at_start]);
    });
}

#[test]
fn discarded_bytes_and_empty_memory_hold_nothing() {
    with_pages("discarded_bytes_and_empty_memory_hold_nothing", "1G", || {
        let own = pool_stream();
        let block = alloc(6 * MIB, own);
        for (place, mode) in
            [(SleepPlace::Discard, WakeMode::Restore), (SleepPlace::HostPinned, WakeMode::Empty)]
        {
            fill(block, 7, 6 * MIB, own);
            sleep::sleep(None, 0, &place).unwrap();
            assert_eq!(reserved(), 0);
            sleep::wake(None, 0, mode).unwrap();
            assert_eq!(memory::usable_bytes(block).unwrap(), 6 * MIB);
            // Fresh memory of the simulator.
            assert!(holds(&read(block, 6 * MIB, own), 0xFF), "{place:?}");
        }
        memory::free(block).unwrap();
    });
}

#[test]
fn a_pool_that_is_asleep_gives_no_memory_and_says_so() {
    with_pages("a_pool_that_is_asleep_gives_no_memory_and_says_so", "1G", || {
        let own = pool_stream();
        let private = pool::create().unwrap();
        let number = pool::number(private).unwrap();
        let held = inside(private, || alloc(2 * MIB, own));
        let outside = alloc(2 * MIB, own);
        sleep::sleep(Some(private), 0, &SleepPlace::HostPinned).unwrap();
        for bytes in [512, 2 * MIB, 100 * MIB] {
            let words = format!("pool {number} on device 0 is asleep (sconce_memory_pool_sleep)");
            let error = inside(private, || refused(memory::alloc_on(bytes, own), &words));
            assert_eq!(error.status(), Status::InvalidState);
        }
        // The default pool is awake.
        memory::free(alloc(512, own)).unwrap();
        let again = sleep::sleep(Some(private), 0, &SleepPlace::Discard);
        assert_eq!(refused(again, "is asleep already").status(), Status::InvalidState);
        sleep::sleep(None, 0, &SleepPlace::HostPinned).unwrap();
        refused(memory::alloc_on(512, own), "the default pool of device 0 is asleep");
        refused(memory::alloc(512), "the default pool of device 0 is asleep");
        sleep::wake(Some(private), 0, WakeMode::Restore).unwrap();
        inside(private, || memory::free(alloc(512, own)).unwrap());
        refused(memory::alloc_on(512, own), "the default pool of device 0 is asleep");
        let awake = sleep::wake(Some(private), 0, WakeMode::Restore);
        assert_eq!(refused(awake, "is not asleep").status(), Status::InvalidState);
        sleep::wake(None, 0, WakeMode::Restore).unwrap();
        memory::free(alloc(512, own)).unwrap();
        memory::free(held).unwrap();
        memory::free(outside).unwrap();
        structure::assert_sound();
    });
}

#[test]
fn frees_work_while_memory_sleeps_and_drop_what_was_saved() {
    with_pages("frees_work_while_memory_sleeps_and_drop_what_was_saved", "1G", || {
        let free_at_start = free_bytes();
        let own = pool_stream();
        let blocks: Vec<usize> = (0..12).map(|_| alloc(3 * MIB, own)).collect();
        for (place, block) in blocks.iter().enumerate() {
            fill(*block, place as u8, 3 * MIB, own);
        }
        sleep::sleep(None, 0, &SleepPlace::HostPageable).unwrap();
        let asleep = state(None).unwrap();
        // By this thread, and by another one.
        for block in &blocks[..4] {
            memory::free(*block).unwrap();
        }
        std::thread::scope(|scope| {
            scope.spawn(|| blocks[4..8].iter().for_each(|block| memory::free(*block).unwrap()));
        });
        refused(memory::free(blocks[0]), "freed already");
        structure::assert_sound();
        memory::empty_cache().unwrap();
        structure::assert_sound();
        let left = state(None).unwrap().sleeping_bytes;
        assert_eq!(left, asleep.sleeping_bytes - 24 * MIB as u64, "whole pages are forgotten");
        sleep::wake(None, 0, WakeMode::Restore).unwrap();
        assert_eq!(reserved(), left as i64);
        for (place, block) in blocks.iter().enumerate().skip(8) {
            assert!(holds(&read(*block, 3 * MIB, own), place as u8));
            memory::free(*block).unwrap();
        }
        structure::assert_all_given_back(&[free_at_start]);
        // When nothing is left, neither are saved bytes.
        let last = alloc(5 * MIB, own);
        sleep::sleep(None, 0, &SleepPlace::HostPinned).unwrap();
        assert!(
            sconce_runtime::host_memory::stats().unwrap().active_bytes.current >= 5 * MIB as i64
        );
        memory::free(last).unwrap();
        memory::empty_cache().unwrap();
        let asleep = state(None).unwrap();
        assert_eq!((asleep.sleeping_bytes, asleep.saved_bytes), (0, 0));
        assert_eq!(sconce_runtime::host_memory::stats().unwrap().active_bytes.current, 0);
        sleep::wake(None, 0, WakeMode::Restore).unwrap();
    });
}

#[test]
fn a_pool_that_is_destroyed_asleep_goes_with_its_last_block() {
    with_pages("a_pool_that_is_destroyed_asleep_goes_with_its_last_block", "1G", || {
        let free_at_start = free_bytes();
        let own = pool_stream();
        for (wakes, destroyed_first) in [(false, false), (true, false), (false, true), (true, true)]
        {
            let private = pool::create().unwrap();
            let held: Vec<usize> =
                inside(private, || (0..3).map(|_| alloc(4 * MIB, own)).collect());
            fill(held[2], 5, 4 * MIB, own);
            if destroyed_first {
                // A device sleeps with what is left of such pools.
                pool::destroy(private).unwrap();
                sleep::sleep_device(0, &SleepPlace::HostPinned).unwrap();
            } else {
                sleep::sleep(Some(private), 0, &SleepPlace::HostPinned).unwrap();
                pool::destroy(private).unwrap();
            }
            memory::free(held[0]).unwrap();
            structure::assert_sound();
            if wakes {
                sleep::wake_device(0, WakeMode::Restore).unwrap();
                assert!(holds(&read(held[2], 4 * MIB, own), 5));
            }
            memory::free(held[1]).unwrap();
            memory::free(held[2]).unwrap();
            structure::assert_all_given_back(&[free_at_start]);
            let pages = memory::page_figures(0).unwrap();
            assert_eq!((pages.pages, pages.mappings, pages.sleeping_bytes), (0, 0, 0));
            // Nothing is left to wake but the default pool.
            sleep::wake_device(0, WakeMode::Restore).unwrap();
        }
        // The pinned copies are free again.
        sconce_runtime::host_memory::empty_cache().unwrap();
        let pinned = sconce_runtime::host_memory::stats().unwrap();
        assert_eq!(pinned.allocated_bytes.current, 0);
    });
}

#[test]
fn memory_that_is_not_of_pages_cannot_sleep_and_is_named() {
    with_pages("memory_that_is_not_of_pages_cannot_sleep_and_is_named", "1G", || {
        let own = pool_stream();
        memory::configure("policy:segments").unwrap();
        let plain = alloc(30 * MIB, own);
        memory::configure("policy:pages").unwrap();
        let paged = alloc(4 * MIB, own);
        fill(paged, 3, 4 * MIB, own);
        let asleep = sleep::sleep(None, 0, &SleepPlace::HostPinned);
        let error = refused(asleep, &format!("the block at {plain:#x} is in one of them"));
        assert_eq!(error.status(), Status::NotSupported);
        assert!(error.message().contains("policy:pages (expandable_segments:True)"), "{error}");
        assert_eq!(state(None), None);
        memory::free(alloc(512, own)).unwrap();
        shared_blocks::share(plain).unwrap().unwrap();
        let asleep = sleep::sleep(None, 0, &SleepPlace::HostPinned);
        refused(asleep, &format!("the block at {plain:#x} is one that other processes may use"));
        memory::free(plain).unwrap();
        sleep::sleep(None, 0, &SleepPlace::HostPinned).unwrap();
        assert_eq!(reserved(), 0, "free segments went back");
        sleep::wake(None, 0, WakeMode::Restore).unwrap();
        assert!(holds(&read(paged, 4 * MIB, own), 3));
        memory::free(paged).unwrap();
        structure::assert_sound();
    });
}

#[test]
fn without_memory_a_pool_stays_asleep_and_can_be_woken_later() {
    with_pages("without_memory_a_pool_stays_asleep_and_can_be_woken_later", "64M", || {
        let free_at_start = free_bytes();
        let own = pool_stream();
        let private = pool::create().unwrap();
        let held = inside(private, || alloc(40 * MIB, own));
        fill(held, 8, 40 * MIB, own);
        sleep::sleep(Some(private), 0, &SleepPlace::HostPageable).unwrap();
        let greedy = alloc(30 * MIB, own);
        let asleep = state(Some(private));
        let free_before = free_bytes();
        let woken = sleep::wake(Some(private), 0, WakeMode::Restore);
        let error = refused(woken, "needs 41943040 bytes to wake, and the device has less");
        assert_eq!(error.status(), Status::OutOfMemory);
        assert_eq!((state(Some(private)), free_bytes()), (asleep, free_before));
        structure::assert_sound();
        // Cached memory is given back for it.
        memory::free(greedy).unwrap();
        sleep::wake(Some(private), 0, WakeMode::Restore).unwrap();
        assert!(holds(&read(held, 40 * MIB, own), 8));
        sleep::sleep(Some(private), 0, &SleepPlace::HostPageable).unwrap();
        memory::set_fraction(0.5, 0).unwrap();
        let woken = sleep::wake(Some(private), 0, WakeMode::Restore);
        refused(woken, "the limit of this process does not allow that");
        memory::set_fraction(1.0, 0).unwrap();
        sleep::wake(Some(private), 0, WakeMode::Restore).unwrap();
        assert!(holds(&read(held, 40 * MIB, own), 8));
        memory::free(held).unwrap();
        pool::destroy(private).unwrap();
        structure::assert_all_given_back(&[free_at_start]);
    });
}

#[test]
fn saved_bytes_can_be_replaced_where_they_are() {
    with_pages("saved_bytes_can_be_replaced_where_they_are", "1G", || {
        let own = pool_stream();
        let private = pool::create().unwrap();
        let [first, second] = inside(private, || [alloc(5 * MIB, own), alloc(3 * MIB, own)]);
        let outside = alloc(512, own);
        fill(first, 1, 5 * MIB, own);
        fill(second, 2, 3 * MIB, own);
        refused(sleep::backup_pointer(Some(private), first), "is not asleep");
        for place in [SleepPlace::HostPinned, SleepPlace::HostPageable] {
            sleep::sleep(Some(private), 0, &place).unwrap();
            let at = sleep::backup_pointer(Some(private), first + 100).unwrap();
            assert_eq!(sleep::backup_pointer(Some(private), first).unwrap() + 100, at);
            // SAFETY: the bytes are the library's until the pool wakes, and nobody else uses them.
            #[allow(unsafe_code, reason = "writes to the saved bytes")]
            unsafe {
                std::ptr::write_bytes(at as *mut u8, 9, 4 * MIB);
            }
            refused(sleep::backup_pointer(None, first), "not of the default pool");
            refused(sleep::backup_pointer(Some(private), outside), "is not asleep");
            refused(sleep::backup_pointer(Some(private), 12345), "not memory of this allocator");
            sleep::wake(Some(private), 0, WakeMode::Restore).unwrap();
            let data = read(first, 5 * MIB, own);
            assert!(holds(&data[..100], 1));
            assert!(holds(&data[100..4 * MIB + 100], 9));
            assert!(holds(&data[4 * MIB + 100..], 1));
            assert!(holds(&read(second, 3 * MIB, own), 2));
        }
        for place in [SleepPlace::Discard, SleepPlace::File(folder())] {
            sleep::sleep(Some(private), 0, &place).unwrap();
            refused(
                sleep::backup_pointer(Some(private), first),
                "whose bytes are not in memory of the host",
            );
            sleep::wake(Some(private), 0, WakeMode::Restore).unwrap();
        }
    });
}

#[test]
fn a_device_sleeps_as_a_whole_and_wakes_in_parts() {
    with_pages("a_device_sleeps_as_a_whole_and_wakes_in_parts", "1G", || {
        let own = pool_stream();
        let [one, two] = [pool::create().unwrap(), pool::create().unwrap()];
        let of_one = inside(one, || alloc(4 * MIB, own));
        let of_two = inside(two, || alloc(6 * MIB, own));
        let outside = alloc(2 * MIB, own);
        let blocks = [(of_one, 4 * MIB, 1), (of_two, 6 * MIB, 2), (outside, 2 * MIB, 3)];
        blocks.iter().for_each(|(at, bytes, value)| fill(*at, *value, *bytes, own));
        sleep::sleep_device(0, &SleepPlace::HostPinned).unwrap();
        assert_eq!(reserved(), 0);
        // Those that sleep are left alone.
        sleep::sleep_device(0, &SleepPlace::HostPinned).unwrap();
        sleep::wake(Some(two), 0, WakeMode::Restore).unwrap();
        assert_eq!(reserved(), 6 * MIB as i64);
        assert!(holds(&read(of_two, 6 * MIB, own), 2));
        structure::assert_sound();
        sleep::wake_device(0, WakeMode::Restore).unwrap();
        for (at, bytes, value) in blocks {
            assert!(holds(&read(at, bytes, own), value));
        }
        // One that cannot sleep keeps the others awake.
        memory::configure("policy:segments").unwrap();
        let plain = inside(two, || alloc(2 * MIB, own));
        let error = refused(sleep::sleep_device(0, &SleepPlace::HostPinned), "cannot sleep");
        assert_eq!(error.status(), Status::NotSupported);
        assert_eq!([state(None), state(Some(one)), state(Some(two))], [None; 3]);
        assert!(holds(&read(of_one, 4 * MIB, own), 1));
        memory::free(plain).unwrap();
        structure::assert_sound();
    });
}
