//! The `pinned_*` keys of the configuration, each by what it does, at the start and changed later.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "reads pinned memory")]

use std::time::{Duration, Instant};

use sconce::sim_controls as sim;
use sconce_base::error::Status;
use sconce_base::types::DeviceIndex;
use sconce_compute::sleep_kernel;
use sconce_driver::RawAddress;
use sconce_runtime::context::runtime;
use sconce_runtime::host_memory::{self, HostMemoryStats, check};
use sconce_runtime::memory;
use sconce_runtime::stream::{self, Stream};

const MIB: usize = 1 << 20;

/// In a process of its own, with a configuration from the environment.
fn with(test: &str, configuration: &str, act: impl FnOnce()) {
    let environment =
        [("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off"), ("SCONCE_ALLOC_CONF", configuration)];
    testkit::in_child(test, &environment, || {
        runtime().unwrap();
        act();
        check::walk().unwrap();
    });
}

fn stats() -> HostMemoryStats {
    host_memory::stats().unwrap()
}

fn pinned() -> i64 {
    stats().allocated_bytes.current
}

fn count(call: &str) -> u64 {
    sim::call_count(call).unwrap()
}

/// A stream with work that takes a while.
fn busy_stream(milliseconds: u64) -> Stream {
    let stream = stream::from_pool(0, 0).unwrap();
    sleep_kernel::sleep(runtime().unwrap(), stream, milliseconds * 1_000_000).unwrap();
    stream
}

/// Whether the system has memory behind an address.
fn is_mapped(address: usize) -> bool {
    let mut byte = 0;
    // SAFETY: the kernel says whether there is a page; nothing follows the address here.
    unsafe { libc::mincore((address / 4096 * 4096) as *mut libc::c_void, 1, &raw mut byte) == 0 }
}

/// What registering does, with as many threads as are configured.
fn registered() {
    let bytes = 9 * MIB + 1;
    let block = host_memory::alloc(bytes).unwrap();
    assert_eq!((count("host_register"), count("host_alloc")), (1, 0));
    assert!(host_memory::is_pinned(block).unwrap());
    assert!(host_memory::is_pinned(block + bytes - 1).unwrap());
    let resident = (block..block + bytes).step_by(4096).all(|page| {
        let mut there = 0_u8;
        // SAFETY: one page of the block, and room for the answer.
        let answer = unsafe { libc::mincore(page as *mut libc::c_void, 1, &raw mut there) };
        answer == 0 && there & 1 == 1
    });
    assert!(resident, "every page was touched before it was registered");
    // SAFETY: memory that this test holds.
    unsafe { std::ptr::write_bytes(block as *mut u8, 7, bytes) };
    host_memory::free(block).unwrap();
    assert_eq!(count("host_unregister"), 0, "kept");
    host_memory::empty_cache().unwrap();
    assert_eq!((count("host_unregister"), count("host_free"), pinned()), (1, 0, 0));
    assert!(!is_mapped(block), "the memory is the system's again");
    // What the driver allocated and what was registered each go back as they came.
    let block = host_memory::alloc(MIB).unwrap();
    memory::configure("pinned_use_cuda_host_register:False").unwrap();
    let other = host_memory::alloc(3 * MIB).unwrap();
    assert_eq!((count("host_register"), count("host_alloc")), (2, 1));
    host_memory::free(block).unwrap();
    host_memory::free(other).unwrap();
    host_memory::empty_cache().unwrap();
    assert_eq!((count("host_unregister"), count("host_free"), pinned()), (2, 1, 0));
}

#[test]
fn the_host_allocates_and_the_driver_registers() {
    let configuration = "pinned_use_cuda_host_register:True";
    with("the_host_allocates_and_the_driver_registers", configuration, registered);
}

#[test]
fn four_threads_touch_the_pages_to_be_registered() {
    let configuration = "pinned_use_cuda_host_register:True,pinned_num_register_threads:4";
    with("four_threads_touch_the_pages_to_be_registered", configuration, registered);
}

/// Waits until nothing is in use, without allocating.
fn until_free() {
    let begin = Instant::now();
    while stats().active_requests.current != 0 {
        assert!(begin.elapsed() < Duration::from_secs(20), "nobody looks after the block");
        std::thread::sleep(Duration::from_micros(200));
    }
}

#[test]
fn a_thread_in_the_background_looks_after_blocks() {
    let configuration = "pinned_use_background_threads:True";
    with("a_thread_in_the_background_looks_after_blocks", configuration, || {
        for turn in 0..20 {
            let block = host_memory::alloc(MIB).unwrap();
            let stream = busy_stream(turn % 3);
            host_memory::record_stream(block, stream).unwrap();
            host_memory::free(block).unwrap();
            until_free();
            assert!(stream::query(runtime().unwrap(), stream).unwrap(), "not before it is done");
            assert_eq!(host_memory::alloc(MIB).unwrap(), block);
            host_memory::free(block).unwrap();
            // Asleep or awake when the next block comes.
            std::thread::sleep(Duration::from_micros(100 * turn));
        }
    });
}

#[test]
fn without_the_thread_allocations_look() {
    with("without_the_thread_allocations_look", "", || {
        let block = host_memory::alloc(MIB).unwrap();
        let stream = busy_stream(0);
        host_memory::record_stream(block, stream).unwrap();
        host_memory::free(block).unwrap();
        stream::synchronize(runtime().unwrap(), stream).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(stats().active_requests.current, 1);
        // Asked for at run time, it begins with the next allocation.
        memory::configure("pinned_use_background_threads:True").unwrap();
        host_memory::free(host_memory::alloc(64).unwrap()).unwrap();
        until_free();
    });
}

#[test]
fn the_reserve_is_pinned_once_and_kept() {
    let configuration = "pinned_reserve_segment_size_mb:16";
    with("the_reserve_is_pinned_once_and_kept", configuration, || {
        let small = host_memory::alloc(100).unwrap();
        let large = host_memory::alloc(5 * MIB).unwrap();
        assert_eq!((count("host_alloc"), pinned()), (1, 16 * MIB as i64));
        // What the reserve has no room for comes from elsewhere.
        let larger = host_memory::alloc(12 * MIB).unwrap();
        assert_eq!((count("host_alloc"), pinned()), (2, 28 * MIB as i64));
        for block in [small, large, larger] {
            host_memory::free(block).unwrap();
        }
        host_memory::empty_cache().unwrap();
        assert_eq!((count("host_free"), pinned()), (1, 16 * MIB as i64));
        let whole = host_memory::alloc(16 * MIB).unwrap();
        assert_eq!(count("host_alloc"), 2, "its pieces are one again");
        host_memory::free(whole).unwrap();
    });
}

#[test]
fn a_reserve_that_there_is_no_room_for_is_done_without() {
    let configuration = "pinned_reserve_segment_size_mb:16";
    with("a_reserve_that_there_is_no_room_for_is_done_without", configuration, || {
        sim::fail_call("host_alloc", 1, 2).unwrap();
        let blocks = [MIB, 3 * MIB].map(|bytes| host_memory::alloc(bytes).unwrap());
        assert_eq!((count("host_alloc"), pinned()), (3, 4 * MIB as i64), "it is tried once");
        // A change of the settings has it tried again.
        memory::configure("pinned_reserve_segment_size_mb:8").unwrap();
        host_memory::free(host_memory::alloc(5 * MIB).unwrap()).unwrap();
        assert_eq!(pinned(), 12 * MIB as i64);
        for block in blocks {
            host_memory::free(block).unwrap();
        }
    });
}

#[test]
fn a_reserve_larger_than_the_address_space_is_done_without() {
    let configuration = "pinned_reserve_segment_size_mb:17592186044416";
    with("a_reserve_larger_than_the_address_space_is_done_without", configuration, || {
        let block = host_memory::alloc(3 * MIB).unwrap();
        assert_eq!((count("host_alloc"), pinned()), (2, 3 * MIB as i64));
        host_memory::free(block).unwrap();
        memory::configure(
            "pinned_use_cuda_host_register:True,pinned_reserve_segment_size_mb:17592186044415",
        )
        .unwrap();
        host_memory::free(host_memory::alloc(4 * MIB).unwrap()).unwrap();
        assert_eq!(count("host_register"), 1, "only the block was registered");
    });
}

#[test]
fn a_reserve_that_is_asked_for_later_comes_with_the_next_miss() {
    with("a_reserve_that_is_asked_for_later_comes_with_the_next_miss", "", || {
        let before = host_memory::alloc(MIB).unwrap();
        memory::configure("pinned_reserve_segment_size_mb:8").unwrap();
        let after = host_memory::alloc(2 * MIB).unwrap();
        assert_eq!((count("host_alloc"), pinned()), (2, 9 * MIB as i64));
        host_memory::free(before).unwrap();
        host_memory::free(after).unwrap();
        host_memory::empty_cache().unwrap();
        assert_eq!(pinned(), 8 * MIB as i64);
    });
}

#[test]
fn what_is_larger_than_is_kept_goes_back_at_once() {
    let configuration = "pinned_max_cached_size_mb:4";
    with("what_is_larger_than_is_kept_goes_back_at_once", configuration, || {
        let kept = host_memory::alloc(4 * MIB).unwrap();
        let single = host_memory::alloc(4 * MIB + 1).unwrap();
        host_memory::free(kept).unwrap();
        assert_eq!(count("host_free"), 0);
        host_memory::free(single).unwrap();
        assert_eq!((count("host_free"), pinned()), (1, 4 * MIB as i64));
        assert!(!host_memory::is_pinned(single).unwrap());
        // After the work that uses it, by whoever finds that out.
        assert_eq!(host_memory::alloc(4 * MIB).unwrap(), kept);
        let single = host_memory::alloc(6 * MIB).unwrap();
        let stream = busy_stream(5);
        host_memory::record_stream(single + 4097, stream).unwrap();
        host_memory::free(single).unwrap();
        assert_eq!((count("host_free"), stats().active_requests.current), (1, 2));
        stream::synchronize(runtime().unwrap(), stream).unwrap();
        let next = host_memory::alloc(64 << 10).unwrap();
        assert_eq!(count("host_free"), 2);
        assert!(pinned() < 5 * MIB as i64, "{}", pinned());
        host_memory::free(next).unwrap();
        // At run time: nothing is kept, then everything.
        memory::configure("pinned_max_cached_size_mb:0").unwrap();
        host_memory::free(host_memory::alloc(10).unwrap()).unwrap();
        assert_eq!(count("host_free"), 3);
        memory::configure("").unwrap();
        host_memory::free(host_memory::alloc(50 * MIB).unwrap()).unwrap();
        assert!(pinned() >= 54 * MIB as i64, "{}", pinned());
        host_memory::free(kept).unwrap();
    });
}

#[test]
fn others_pinned_memory_is_freed_where_that_is_asked_for() {
    with("others_pinned_memory_is_freed_where_that_is_asked_for", "", || {
        let driver = runtime().unwrap().driver();
        let foreign = driver.host_alloc(DeviceIndex::ZERO, 8192).unwrap();
        let refused = |address: usize| {
            let error = host_memory::free(address).unwrap_err();
            assert_eq!(error.status(), Status::InvalidArgument, "{error}");
            let told = ["is not pinned memory of this library", "was freed already"];
            assert!(told.iter().any(|text| error.message().contains(text)), "{error}");
        };
        refused(foreign);
        memory::configure("pinned_free_catch_all:True").unwrap();
        refused(foreign + 64);
        let ordinary = Box::new([0_u8; 8192]);
        refused(ordinary.as_ptr() as usize);
        host_memory::free(foreign).unwrap();
        assert!(!host_memory::is_pinned(foreign).unwrap());
        refused(foreign);
        // Registered memory is its maker's: the driver will not free it.
        // SAFETY: `ordinary` outlives its registration.
        let registered = unsafe { RawAddress::from_caller(ordinary.as_ptr() as usize) };
        driver.host_register(DeviceIndex::ZERO, registered, 8192).unwrap();
        assert!(host_memory::free(registered.get()).is_err());
        assert!(host_memory::is_pinned(registered.get()).unwrap());
        driver.host_unregister(registered.get()).unwrap();
        // Its own memory is not the driver's to free, however often it is freed.
        let own = host_memory::alloc(MIB).unwrap();
        host_memory::free(own).unwrap();
        refused(own);
        assert_eq!(pinned(), MIB as i64);
    });
}

/// Sizes are rounded to pages at most, with or without the key.
#[test]
fn nothing_is_rounded_to_a_power_of_two() {
    let configuration = "pinned_max_round_threshold_mb:2";
    with("nothing_is_rounded_to_a_power_of_two", configuration, || {
        let bytes = 5 * MIB + 1;
        let block = host_memory::alloc(bytes).unwrap();
        assert_eq!(stats().active_bytes.current, (5 * MIB + 4096) as i64);
        host_memory::free(block).unwrap();
        memory::configure("").unwrap();
        assert_eq!(host_memory::alloc(bytes).unwrap(), block);
        host_memory::free(block).unwrap();
    });
}
