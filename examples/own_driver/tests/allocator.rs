//! Allocator, streams and events of the runtime over the driver of this package.

#![allow(unsafe_code, reason = "copies to memory of the test")]
#![allow(clippy::unwrap_used, reason = "a failure of a test is a panic")]

use std::sync::{Mutex, MutexGuard, PoisonError};

use own_driver::{DEVICE_BYTES, OwnDriver};
use sconce_base::error::Status;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::*;
use sconce_runtime::context::{self, Backend, Runtime};
use sconce_runtime::event::{self, Key};
use sconce_runtime::memory::{self, MemoryStats};
use sconce_runtime::stream::{self, Stream};

const DEVICE: DeviceIndex = DeviceIndex::ZERO;
const MIB: usize = 1 << 20;
/// A block of the pool of large blocks, too large to share its segment.
const BYTES: usize = 12 * MIB;

/// The process's runtime, for one test at a time, with an empty cache.
struct Bench {
    driver: &'static OwnDriver,
    runtime: &'static Runtime,
    _alone: MutexGuard<'static, ()>,
}

fn bench() -> Bench {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let driver = own_driver::install();
    driver.hold(false);
    let runtime = context::runtime().unwrap();
    memory::empty_cache().unwrap();
    assert_eq!(driver.memory_in_use(), (0, 0), "an earlier test left memory");
    Bench { driver, runtime, _alone: alone }
}

fn stats() -> MemoryStats {
    memory::stats(0).unwrap()
}

fn event() -> Key {
    event::create(EventFlags::default()).unwrap()
}

fn streams() -> [Stream; 2] {
    [0, 0].map(|priority| stream::from_pool(0, priority).unwrap())
}

/// Fills a block.
fn fill(bench: &Bench, block: usize, value: u8, stream: Stream) {
    let at = DevicePtr(block as u64);
    bench.runtime.driver().fill_async(at, value, BYTES, stream.driver_ref()).unwrap();
}

/// Copies a block to another one.
fn copy(bench: &Bench, to: usize, from: usize, stream: Stream) {
    let [to, from] = [to, from].map(|block| DevicePtr(block as u64).into());
    bench.runtime.driver().copy_async(to, from, BYTES, stream.driver_ref()).unwrap();
}

/// The bytes at both ends of a block, once the stream's work is done.
fn ends(bench: &Bench, block: usize, stream: Stream) -> [u8; 2] {
    [0, BYTES - 1].map(|offset| {
        let mut byte = 0_u8;
        let address = (&raw mut byte).expose_provenance();
        // SAFETY: `byte` lives until the copy is done, since a copy to pageable memory waits.
        let to = unsafe { RawAddress::from_caller_within(address, 0, 1) };
        let from = DevicePtr((block + offset) as u64).into();
        bench.runtime.driver().copy_async(to, from, 1, stream.driver_ref()).unwrap();
        // The driver wrote it through the address.
        // SAFETY: `byte` is alive, and the copy is done.
        unsafe { (&raw const byte).read_volatile() }
    })
}

#[test]
fn the_backend_is_the_programs_own() {
    let bench = bench();
    assert_eq!(bench.runtime.backend(), Backend::Own);
    assert_eq!((bench.runtime.device_count(), context::count_devices()), (1, 1));
    let properties = bench.runtime.driver().device_properties(DEVICE).unwrap();
    assert_eq!(properties.total_memory_bytes, DEVICE_BYTES as u64);
}

#[test]
fn freed_memory_is_used_again_and_goes_back_to_the_driver_when_the_cache_is_emptied() {
    let bench = bench();
    let before = stats();
    let one = memory::alloc(BYTES).unwrap();
    let other = memory::alloc(BYTES).unwrap();
    assert_eq!(bench.driver.memory_in_use(), (2, 2 * BYTES));
    assert_ne!(one, other);
    assert_eq!(memory::base_of(one + 5).unwrap(), (one, BYTES));
    let driver = bench.runtime.driver();
    let info = driver.pointer_info(one + 5).unwrap();
    assert_eq!((info.kind, info.base.0 as usize), (PointerKind::Device(DEVICE), one));
    let elsewhere = (&raw const info) as usize;
    assert_eq!(driver.pointer_info(elsewhere).unwrap(), PointerInfo::unregistered(elsewhere));

    memory::free(one).unwrap();
    assert_eq!(bench.driver.memory_in_use(), (2, 2 * BYTES), "freed memory stays in the cache");
    assert_eq!(memory::alloc(BYTES).unwrap(), one, "the cache has the block");
    let seen = stats();
    assert_eq!(seen.num_device_alloc - before.num_device_alloc, 2, "the third request was a hit");
    assert_eq!(seen.allocation.all.allocated - before.allocation.all.allocated, 3);
    assert_eq!(seen.allocated_bytes.all.current, 2 * BYTES as i64);
    assert_eq!(seen.reserved_bytes.all.current, 2 * BYTES as i64);

    memory::free(one).unwrap();
    memory::free(other).unwrap();
    assert_eq!(memory::free(other).unwrap_err().status(), Status::InvalidArgument);
    assert_eq!((stats().allocated_bytes.all.current, bench.driver.memory_in_use().0), (0, 2));
    memory::empty_cache().unwrap();
    assert_eq!(bench.driver.memory_in_use(), (0, 0));
    assert_eq!(
        (stats().reserved_bytes.all.current, stats().num_device_free),
        (0, before.num_device_free + 2)
    );
}

#[test]
fn small_blocks_share_a_segment() {
    let bench = bench();
    let blocks: Vec<usize> = (0..100).map(|_| memory::alloc(1000).unwrap()).collect();
    assert_eq!(bench.driver.memory_in_use(), (1, 2 * MIB));
    blocks.into_iter().for_each(|block| memory::free(block).unwrap());
    memory::empty_cache().unwrap();
    assert_eq!(bench.driver.memory_in_use(), (0, 0));
}

#[test]
fn a_full_device_gets_its_cached_memory_back_before_a_request_fails() {
    let bench = bench();
    let before = stats();
    let half = memory::alloc(DEVICE_BYTES / 2).unwrap();
    memory::free(half).unwrap();
    let most = memory::alloc(DEVICE_BYTES - BYTES).unwrap();
    assert_eq!(bench.driver.memory_in_use(), (1, DEVICE_BYTES - BYTES));
    let refused = memory::alloc(2 * BYTES).unwrap_err();
    assert_eq!(refused.status(), Status::OutOfMemory, "{refused}");
    let seen = stats();
    assert_eq!(seen.num_alloc_retries - before.num_alloc_retries, 2);
    assert_eq!(seen.num_ooms - before.num_ooms, 1);
    memory::free(most).unwrap();
    memory::empty_cache().unwrap();
    assert_eq!(bench.driver.memory_in_use(), (0, 0));
}

#[test]
fn a_block_that_another_stream_uses_is_not_handed_out_before_that_stream_is_done() {
    let bench = bench();
    let [own, other] = streams();
    let block = memory::alloc_on(BYTES, own).unwrap();
    bench.driver.hold(true);
    fill(&bench, block, 1, other);
    memory::record_stream(block, other).unwrap();
    memory::free(block).unwrap();
    assert!(!stream::query(bench.runtime, other).unwrap());
    let second = memory::alloc_on(BYTES, own).unwrap();
    assert_ne!(second, block, "the other stream still writes the block");

    stream::synchronize(bench.runtime, other).unwrap();
    assert!(stream::query(bench.runtime, other).unwrap());
    assert_eq!(memory::alloc_on(BYTES, own).unwrap(), block, "the other stream is done");
    // Without a use by another stream the block is free at once: the stream's own work is in order.
    memory::free(block).unwrap();
    assert_eq!(memory::alloc_on(BYTES, own).unwrap(), block);
    for block in [block, second] {
        memory::free(block).unwrap();
    }
    memory::empty_cache().unwrap();
    assert_eq!(bench.driver.memory_in_use(), (0, 0));
}

#[test]
fn an_event_orders_two_streams_whichever_the_device_would_run_first() {
    let bench = bench();
    let [one, other] = streams();
    let [source, early, late] = [0, 0, 0].map(|_| memory::alloc(BYTES).unwrap());
    for (value, first, second) in [(3, one, other), (7, other, one)] {
        fill(&bench, source, 0, first);
        stream::synchronize_device(0).unwrap();
        bench.driver.hold(true);
        let filled = event();
        assert!(event::query(filled).unwrap(), "without a record there is nothing to wait for");
        // The fill stands behind more work than the copy, so that only the wait delays the copy.
        [50, 51, value].into_iter().for_each(|value| fill(&bench, source, value, first));
        event::record(bench.runtime, filled, first).unwrap();
        event::wait(bench.runtime, second, filled).unwrap();
        copy(&bench, early, source, second);
        // Later work of the first stream, which waits for a copy behind more work than it.
        (0..6).for_each(|_| fill(&bench, late, 0, second));
        copy(&bench, late, source, second);
        event::record(bench.runtime, filled, second).unwrap();
        event::wait(bench.runtime, first, filled).unwrap();
        fill(&bench, source, 100, first);
        assert!(!event::query(filled).unwrap());
        assert!(!stream::query(bench.runtime, second).unwrap());

        event::synchronize(filled).unwrap();
        assert!(event::query(filled).unwrap());
        assert_eq!(ends(&bench, early, second), [value; 2]);
        assert_eq!(ends(&bench, late, second), [value; 2]);
        assert_eq!(ends(&bench, source, first), [100; 2]);
        event::destroy(filled).unwrap();
        assert_eq!(event::query(filled).unwrap_err().status(), Status::InvalidHandle);
        bench.driver.hold(false);
    }
    for block in [source, early, late] {
        memory::free(block).unwrap();
    }
    memory::empty_cache().unwrap();
    assert_eq!(bench.driver.memory_in_use(), (0, 0));
}

#[test]
fn what_the_driver_lacks_is_refused_or_answered() {
    let bench = bench();
    let driver = bench.runtime.driver();
    let [stream, _] = streams();
    assert!(!stream::is_capturing(bench.runtime, stream).unwrap());
    assert_eq!(driver.stream_capture_number(stream.driver_ref()).unwrap(), None);
    assert_eq!(stream::priority(bench.runtime, stream).unwrap(), 0);
    assert_eq!(driver.can_access_peer(DEVICE, DEVICE), Ok(true));
    assert_eq!(driver.fft_most_plans(), usize::MAX);
    // The mode and the current device are the thread's, as on a driver that knows captures and contexts.
    let relaxed = RelaxedCapture::enter(driver).unwrap();
    driver.bind_device(DEVICE).unwrap();
    let other_thread = || {
        let mode = driver.exchange_capture_mode(CaptureMode::Global);
        (mode, driver.current_device(), driver.current_context())
    };
    let seen = std::thread::scope(|scope| scope.spawn(other_thread).join().unwrap());
    assert_eq!(seen, (Ok(CaptureMode::Global), Ok(None), Ok(0)));
    assert_eq!(driver.current_device(), Ok(Some(DEVICE)));
    assert_eq!(driver.exchange_capture_mode(CaptureMode::Relaxed), Ok(CaptureMode::Relaxed));
    drop(relaxed);
    assert_eq!(driver.exchange_capture_mode(CaptureMode::Global), Ok(CaptureMode::Global));

    macro_rules! refused {
        ($($method:ident($($argument:expr),*): $what:literal;)*) => {$(
            let error = driver.$method($($argument),*).err().expect(stringify!($method));
            assert_eq!(error.status(), Status::NotSupported);
            let says = concat!(stringify!($method), " is not supported: the backend has no ", $what);
            assert_eq!(error.message(), says);
        )*};
    }
    let (at, null) = (stream.driver_ref(), DevicePtr(0));
    refused! {
        device_processes(DEVICE): "reports of the processes on a device";
        enable_peer_access(DEVICE, DEVICE): "peers";
        host_alloc(DEVICE, 1): "page-locked host memory";
        virtual_granularity(DEVICE): "virtual memory";
        stream_check(at): "streams of other code";
        copy_peer_async((DEVICE, null), (DEVICE, null), 1, at): "copies between devices";
        capture_begin(at, CaptureMode::Global): "captures";
        condition_create(at): "conditional nodes";
        ipc_memory_export(null): "memory shared between processes";
        blas_create(DEVICE): "library of products";
        dnn_create(DEVICE): "library of convolutions";
        dnn_version(): "library of convolutions";
        comm_version(): "library of collective calls";
        comm_group_start(): "library of collective calls";
    }
    let elapsed = {
        let [start, end] = [0, 0]
            .map(|_| event::create(EventFlags { timing: true, ..EventFlags::default() }).unwrap());
        for event in [start, end] {
            event::record(bench.runtime, event, stream).unwrap();
        }
        event::elapsed_ms(start, end).unwrap_err()
    };
    assert_eq!(elapsed.status(), Status::NotSupported, "{elapsed}");
    assert!(
        sconce_runtime::host_memory::alloc(1000)
            .is_err_and(|error| error.status() == Status::NotSupported)
    );
}

#[test]
fn rows_are_copied_and_filled_one_by_one() {
    let bench = bench();
    let (driver, stream) = (bench.runtime.driver(), stream::default(0).unwrap().driver_ref());
    let block = memory::alloc(BYTES).unwrap();
    let at = DevicePtr(block as u64);
    driver.fill_async(at, 0, 64, stream).unwrap();
    driver.fill_2d_async((at, 16), 1, 3, 2, stream).unwrap();
    let mut rows = [9_u8; 12];
    let address = rows.as_mut_ptr().expose_provenance();
    // SAFETY: `rows` lives until the copies are done, since a copy to pageable memory waits.
    let to = unsafe { RawAddress::from_caller_within(address, 0, 12) };
    driver.copy_2d_async((to, 6), (at.into(), 16), 4, 2, stream).unwrap();
    assert_eq!(rows, [1, 1, 1, 0, 9, 9, 1, 1, 1, 0, 9, 9]);
    // Nothing to copy, one row with any pitch, and what cannot be.
    driver.copy_2d_async((to, 0), (at.into(), 0), 0, 5, stream).unwrap();
    driver.copy_2d_async((to, 0), (at.into(), 0), 5, 0, stream).unwrap();
    driver.fill_2d_async((at, 0), 2, 3, 1, stream).unwrap();
    for (pitch, height) in [(2, 2), (usize::MAX, 3)] {
        let refused = driver.fill_2d_async((at, pitch), 3, 3, height, stream).unwrap_err();
        assert_eq!(refused.status(), Status::InvalidArgument, "{refused}");
    }
    driver.copy_2d_async((to, 0), (at.into(), 0), 4, 1, stream).unwrap();
    assert_eq!(rows[..6], [2, 2, 2, 0, 9, 9]);
    memory::free(block).unwrap();
}
