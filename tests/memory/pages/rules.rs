//! Which pages go where, what never moves, and what goes back.

use sconce_base::error::Status;
use sconce_base::types::DevicePtr;
use sconce_compute::sleep_kernel;
use sconce_runtime::context::runtime;
use sconce_runtime::memory;
use sconce_runtime::memory::pool::{self, PoolPolicy};
use sconce_runtime::stream;
use testkit::memory::structure;

use super::{MIB, Random, alloc, comb, figures, pool_stream, reserved, with_pages};

#[test]
fn free_pages_are_put_together_rather_than_new_ones_made() {
    with_pages("free_pages_are_put_together_rather_than_new_ones_made", "1G", || {
        let free_at_start = sconce_runtime::device::memory_info(0).unwrap().free_bytes;
        let own = pool_stream();
        let held = comb(16, 4 * MIB, own);
        let before = (reserved(), figures());
        // 32 MiB are free, in pieces of 4.
        let block = alloc(28 * MIB, own);
        assert_eq!(reserved(), before.0, "no new page");
        assert_eq!(figures().pages, before.1.pages);
        // The first piece is at the end of the run, which grows.
        assert_eq!(figures().aliases_made, 12);
        assert_eq!(figures().alias_bytes, 24 * MIB as u64);
        structure::assert_sound();
        memory::free(block).unwrap();
        for block in held {
            memory::free(block).unwrap();
        }
        structure::assert_all_given_back(&[free_at_start]);
        assert_eq!((figures().pages, figures().mappings), (0, 0));
    });
}

#[test]
fn a_layout_that_comes_back_makes_no_driver_call() {
    with_pages("a_layout_that_comes_back_makes_no_driver_call", "1G", || {
        let own = pool_stream();
        // 40 MiB are free in pieces of 4, and are put together in several ways.
        let held = comb(20, 4 * MIB, own);
        let round = || {
            for sizes in [&[30][..], &[20, 16], &[12, 12, 10]] {
                let blocks: Vec<usize> = sizes.iter().map(|mib| alloc(mib * MIB, own)).collect();
                blocks.into_iter().for_each(|block| memory::free(block).unwrap());
            }
        };
        for _ in 0..4 {
            round();
        }
        sconce::sim_controls::reset_call_counts().unwrap();
        let before = figures();
        for _ in 0..10 {
            round();
        }
        for call in ["physical_create", "virtual_map", "virtual_set_access", "virtual_unmap"] {
            assert_eq!(sconce::sim_controls::call_count(call).unwrap(), 0, "{call}");
        }
        assert_eq!(figures().aliases_made, before.aliases_made);
        structure::assert_sound();
        held.into_iter().for_each(|block| memory::free(block).unwrap());
    });
}

#[test]
fn mappings_stay_below_four_for_each_page() {
    with_pages("mappings_stay_below_four_for_each_page", "1G", || {
        let own = pool_stream();
        let mut random = Random(7);
        let mut held = Vec::new();
        for _ in 0..3_000 {
            if held.len() < 12 && random.place(2) == 0 || held.is_empty() {
                held.push(alloc((1 + random.place(24)) * MIB, own));
            } else {
                let block = held.swap_remove(random.place(held.len()));
                memory::free(block).unwrap();
            }
            let now = figures();
            assert!(now.mappings <= 4 * now.pages.max(1), "{now:?}");
        }
        assert!(figures().aliases_made > figures().pages, "too few to be put to the test");
        structure::assert_sound();
    });
}

#[test]
fn pages_of_a_stream_with_work_left_do_not_move_to_another() {
    let test = "pages_of_a_stream_with_work_left_do_not_move_to_another";
    with_pages(test, "1G", || {
        sconce::sim_controls::set_manual(true).unwrap();
        let runtime = runtime().unwrap();
        let (first, second) = (pool_stream(), pool_stream());
        let block = alloc(20 * MIB, first);
        sleep_kernel::sleep(runtime, first, 1000).unwrap();
        memory::free(block).unwrap();
        let before = reserved();
        let other = alloc(20 * MIB, second);
        assert_eq!(reserved(), before + 20 * MIB as i64, "the first stream still works");
        memory::free(other).unwrap();
        assert!(sconce::sim_controls::step(runtime, first).unwrap());
        let both = alloc(40 * MIB, second);
        assert_eq!(reserved(), before + 20 * MIB as i64, "the pages of both streams");
        memory::free(both).unwrap();
        structure::assert_sound();
    });
}

#[test]
fn giving_back_does_not_wait_for_other_streams() {
    with_pages("giving_back_does_not_wait_for_other_streams", "1G", || {
        sconce::sim_controls::set_manual(true).unwrap();
        let runtime = runtime().unwrap();
        let (own, busy) = (pool_stream(), pool_stream());
        let block = alloc(20 * MIB, own);
        memory::free(block).unwrap();
        sleep_kernel::sleep(runtime, busy, 1000).unwrap();
        // Nobody steps: waiting for the device would take for ever.
        memory::empty_cache().unwrap();
        assert_eq!(reserved(), 0);
        assert_eq!(sconce::sim_controls::pending(runtime, busy).unwrap(), 1);
        sconce::sim_controls::run_until_idle().unwrap();
        structure::assert_sound();
    });
}

/// While a thread that gives pages back waits for one stream, requests on another undo unused mappings. The pages
/// on their way out keep theirs.
#[test]
fn pages_on_their_way_out_keep_their_mappings() {
    with_pages("pages_on_their_way_out_keep_their_mappings", "1G", || {
        let free_at_start = sconce_runtime::device::memory_info(0).unwrap().free_bytes;
        let (own, busy) = (pool_stream(), pool_stream());
        let mut random = Random(7);
        let mut held = Vec::new();
        while held.is_empty() || figures().mappings <= 3 * figures().pages {
            if held.len() < 12 && random.place(2) == 0 || held.is_empty() {
                held.push(alloc((1 + random.place(24)) * MIB, own));
            } else {
                memory::free(held.swap_remove(random.place(held.len()))).unwrap();
            }
        }
        held.into_iter().for_each(|block| memory::free(block).unwrap());
        stream::synchronize(runtime().unwrap(), own).unwrap();
        sconce::sim_controls::set_manual(true).unwrap();
        let runtime = runtime().unwrap();
        let block = alloc(2 * MIB, busy);
        sleep_kernel::sleep(runtime, busy, 1000).unwrap();
        memory::free(block).unwrap();
        std::thread::scope(|scope| {
            sconce::sim_controls::reset_call_counts().unwrap();
            let giving_back = scope.spawn(memory::empty_cache);
            while sconce::sim_controls::call_count("event_synchronize").unwrap() == 0 {
                std::thread::yield_now();
            }
            // The first marks what its stream no longer uses, the second undoes it.
            let blocks = [2, 30].map(|mib| {
                let block = alloc(mib * MIB, own);
                while sconce::sim_controls::step(runtime, own).unwrap() {}
                block
            });
            assert!(!giving_back.is_finished(), "it waits for the busy stream");
            assert!(figures().mappings >= figures().pages, "{:?}", figures());
            sconce::sim_controls::run_until_idle().unwrap();
            giving_back.join().unwrap().unwrap();
            structure::assert_sound();
            blocks.into_iter().for_each(|block| memory::free(block).unwrap());
        });
        sconce::sim_controls::set_manual(false).unwrap();
        structure::assert_all_given_back(&[free_at_start]);
        assert_eq!((figures().pages, figures().mappings), (0, 0));
    });
}

#[test]
fn a_free_part_of_a_run_goes_back_and_the_rest_stays() {
    with_pages("a_free_part_of_a_run_goes_back_and_the_rest_stays", "1G", || {
        let own = pool_stream();
        let held = comb(10, 6 * MIB, own);
        assert_eq!(reserved(), 60 * MIB as i64);
        memory::empty_cache().unwrap();
        assert_eq!(reserved(), 30 * MIB as i64);
        structure::assert_sound();
        // The addresses are used again.
        let again = alloc(6 * MIB, own);
        structure::assert_sound();
        for block in held.into_iter().chain([again]) {
            memory::free(block).unwrap();
        }
    });
}

#[test]
fn a_request_that_only_fits_without_the_free_pages_elsewhere_gets_them() {
    let test = "a_request_that_only_fits_without_the_free_pages_elsewhere_gets_them";
    with_pages(test, "64M", || {
        let runtime = runtime().unwrap();
        let (first, second) = (pool_stream(), pool_stream());
        let held = comb(8, 6 * MIB, first);
        // The stream is busy, so its pages cannot move; they go through the driver.
        sleep_kernel::sleep(runtime, first, 400_000_000).unwrap();
        let block = alloc(34 * MIB, second);
        let stats = memory::stats(0).unwrap();
        assert_eq!((stats.num_ooms, stats.num_alloc_retries), (0, 1));
        let refused = memory::alloc_on(12 * MIB, second).unwrap_err();
        assert_eq!(refused.status(), Status::OutOfMemory);
        structure::assert_sound();
        memory::free(block).unwrap();
        held.into_iter().for_each(|block| memory::free(block).unwrap());
        memory::free(alloc(62 * MIB, second)).unwrap();
    });
}

#[test]
fn private_pools_share_no_page_and_go_back_when_trimmed() {
    with_pages("private_pools_share_no_page_and_go_back_when_trimmed", "1G", || {
        let own = pool_stream();
        let block = alloc(20 * MIB, own);
        memory::free(block).unwrap();
        let pool = pool::create().unwrap();
        pool::begin(pool, 0).unwrap();
        let held = comb(4, 4 * MIB, own);
        assert_eq!(reserved(), 36 * MIB as i64, "nothing of the default pool");
        let apart = alloc(8 * MIB, own);
        assert_eq!(figures().aliases_made, 0, "a graph may name these addresses");
        pool::end(pool, 0).unwrap();
        let default = alloc(24 * MIB, own);
        assert_eq!(reserved(), 44 * MIB as i64, "24 of the default pool, 16 + 4 of the other");
        memory::free(default).unwrap();
        held.into_iter().chain([apart]).for_each(|block| memory::free(block).unwrap());
        structure::assert_sound();
        assert_eq!(pool::trim(pool).unwrap(), 20 * MIB);
        assert_eq!(reserved(), 24 * MIB as i64);
        pool::destroy(pool).unwrap();
        structure::assert_sound();
    });
}

/// Each pool is made of what it was created for, beside a default pool that follows the settings.
#[test]
fn pools_have_a_policy_of_their_own() {
    with_pages("pools_have_a_policy_of_their_own", "1G", || {
        for (settings, policy, is_paged) in [
            ("policy:segments", PoolPolicy::Pages, true),
            ("policy:segments", PoolPolicy::OfSettings, false),
            ("policy:pages", PoolPolicy::Segments, false),
            ("policy:pages", PoolPolicy::OfSettings, true),
        ] {
            memory::configure(settings).unwrap();
            let (own, pool) = (pool_stream(), pool::create_with(policy).unwrap());
            pool::begin(pool, 0).unwrap();
            let held = comb(4, 3 * MIB, own);
            pool::end(pool, 0).unwrap();
            let default = alloc(3 * MIB, own);
            structure::assert_sound();
            let number = pool::number(pool).unwrap();
            for segment in memory::snapshot().unwrap().segments {
                let of_settings = settings == "policy:pages";
                let expected = if segment.pool_id.1 == number { is_paged } else { of_settings };
                assert_eq!(segment.is_expandable, expected, "{settings} {policy:?}");
            }
            held.into_iter().for_each(|block| memory::free(block).unwrap());
            // Blocks of 3 MiB side by side, in whole pages; segments have 20 MiB.
            let bytes = if is_paged { 12 * MIB } else { 20 * MIB };
            assert_eq!(pool::trim(pool).unwrap(), bytes, "{settings} {policy:?}");
            pool::destroy(pool).unwrap();
            memory::free(default).unwrap();
            memory::empty_cache().unwrap();
            structure::assert_sound();
        }
    });
}

#[test]
fn a_peer_enabled_later_may_use_every_page() {
    let environment = [
        ("SCONCE_BACKEND", "sim"),
        ("SCONCE_SIM_DEVICES", "2"),
        ("SCONCE_ALLOC_CONF", "expandable_segments:True"),
    ];
    testkit::in_child("a_peer_enabled_later_may_use_every_page", &environment, || {
        let runtime = runtime().unwrap();
        let own = pool_stream();
        let other = stream::from_pool(1, 0).unwrap();
        let fill = |address: usize| {
            let driver = runtime.driver();
            let filled = driver.fill_async(DevicePtr(address as u64), 1, 4096, other.driver_ref());
            filled.and_then(|()| driver.stream_synchronize(other.driver_ref()))
        };
        let held = comb(8, 4 * MIB, own);
        let alias = alloc(16 * MIB, own);
        assert!(figures().aliases_made > 0);
        sconce_runtime::device::enable_peer_access(1, 0).unwrap();
        let later = alloc(64 * MIB, own);
        for block in held.iter().chain([&alias, &later]) {
            fill(*block).unwrap();
        }
        structure::assert_sound();
    });
}

#[test]
fn pages_and_segments_stand_side_by_side_when_the_policy_changes() {
    with_pages("pages_and_segments_stand_side_by_side_when_the_policy_changes", "1G", || {
        let free_at_start = sconce_runtime::device::memory_info(0).unwrap().free_bytes;
        let own = pool_stream();
        let paged = alloc(30 * MIB, own);
        memory::configure("policy:segments").unwrap();
        let plain = alloc(30 * MIB, own);
        let small = alloc(5000, own);
        assert_eq!(memory::stats(0).unwrap().segment.all.current, 2);
        memory::configure("policy:pages").unwrap();
        let more = alloc(30 * MIB, own);
        structure::assert_sound();
        let snapshot = memory::snapshot().unwrap();
        let expandable = snapshot.segments.iter().filter(|segment| segment.is_expandable);
        assert_eq!(expandable.map(|segment| segment.bytes).sum::<u64>(), 60 * MIB as u64);
        for block in [paged, plain, small, more] {
            memory::free(block).unwrap();
        }
        structure::assert_all_given_back(&[free_at_start]);
    });
}

#[test]
fn without_pages_from_the_driver_segments_are_used() {
    with_pages("without_pages_from_the_driver_segments_are_used", "1G", || {
        sconce::sim_controls::fail_call("virtual_reserve", 1, 801).unwrap();
        let own = pool_stream();
        let block = alloc(30 * MIB, own);
        assert_eq!(memory::stats(0).unwrap().segment.all.current, 1);
        sconce::sim_controls::clear_faults().unwrap();
        let other = alloc(30 * MIB, own);
        assert_eq!(figures().page_bytes, 30 * MIB as u64);
        structure::assert_sound();
        memory::free(block).unwrap();
        memory::free(other).unwrap();
    });
}
