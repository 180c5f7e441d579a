//! Streams that the program made: no call hands one to the driver that it does not name. They may have
//! been destroyed, which the fake driver notices, and their handles may name other streams by now.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "reaches into the fake driver")]

use sconce_base::error::{Result, Status};
use sconce_runtime::context::runtime;
use sconce_runtime::stream::{self, Stream};
use sconce_runtime::{device, host_memory, memory};
use testkit::fake_cuda::streams::Program;
use testkit::fake_cuda::{self, Built};

const MIB: usize = 1 << 20;
/// A size with a segment of its own.
const LARGE: usize = 12 * MIB;

/// Runs a scenario on a driver in a variant, in a process of its own.
fn on_driver(test: &str, defines: &[&str], scenario: impl FnOnce(&Program)) {
    let path = std::env::var("SCONCE_LIBCUDA").ok().filter(|_| testkit::is_child());
    let defines: Vec<_> =
        ["CAPACITY=67108864", "DEVICE_COUNT=1"].iter().chain(defines).copied().collect();
    let built = path.is_none().then(|| Built::new("fake_cuda.c", "libcuda.so.1", &defines));
    let path = built.as_ref().map_or_else(|| path.unwrap_or_default(), Built::path);
    let environment = [
        ("SCONCE_BACKEND", "cuda"),
        ("SCONCE_LOG", "off"),
        ("SCONCE_LIBCUDA", path.as_str()),
        ("SCONCE_LIBNVML", "no-nvml-here.so"),
    ];
    testkit::in_child(test, &environment, || {
        device::set_current(0).unwrap();
        runtime().unwrap().driver().bind_device(sconce_base::types::DeviceIndex::ZERO).unwrap();
        let program = Program::open(&path);
        scenario(&program);
        program.assert_no_dead_stream_was_touched(test);
        memory::check::walk().unwrap();
    });
}

fn external(native: usize) -> Stream {
    stream::from_external(fake_cuda::stream(native), 0).unwrap()
}

fn alloc_native(bytes: usize, native: usize) -> Result<usize> {
    memory::alloc_native(bytes, 0, fake_cuda::stream(native))
}

fn active() -> i64 {
    memory::stats(0).unwrap().active.all.current
}

fn reserved() -> i64 {
    memory::stats(0).unwrap().reserved_bytes.all.current
}

/// Memory of the default stream that a stream uses, and that was freed.
fn freed_while_used_by(stream: Stream) -> usize {
    let address = memory::alloc(LARGE).unwrap();
    memory::record_stream(address, stream).unwrap();
    memory::free(address).unwrap();
    address
}

/// Whether a block is handed out now.
fn is_handed_out(address: usize) -> bool {
    let next = memory::alloc(LARGE).unwrap();
    memory::free(next).unwrap();
    next == address
}

/// RMM's test of a deleted stream, on every way by which memory goes back or is looked at.
#[test]
fn memory_of_a_destroyed_stream_is_given_back() {
    on_driver("memory_of_a_destroyed_stream_is_given_back", &[], |program| {
        let leave = |bytes| {
            let stream = program.create();
            let address = alloc_native(bytes, stream).unwrap();
            memory::free(address).unwrap();
            program.destroy(stream);
        };
        leave(LARGE);
        memory::snapshot().unwrap();
        memory::empty_cache().unwrap();
        program.assert_no_dead_stream_was_touched("empty_cache");
        assert_eq!(reserved(), 0);

        leave(LARGE);
        leave(LARGE);
        let error = memory::alloc(100 * MIB).unwrap_err();
        assert_eq!(error.status(), Status::OutOfMemory);
        program.assert_no_dead_stream_was_touched("an allocation that fails");

        leave(LARGE);
        leave(LARGE);
        let most = memory::alloc(60 * MIB).unwrap();
        program.assert_no_dead_stream_was_touched("an allocation that needs the memory");
        memory::free(most).unwrap();

        let pool = memory::pool::create().unwrap();
        memory::pool::begin(pool, 0).unwrap();
        memory::empty_cache().unwrap();
        leave(LARGE);
        memory::pool::end(pool, 0).unwrap();
        memory::pool::trim(pool).unwrap();
        memory::pool::destroy(pool).unwrap();
        program.assert_no_dead_stream_was_touched("a pool");

        memory::configure("garbage_collection_threshold:0.1").unwrap();
        memory::set_fraction(0.9, 0).unwrap();
        leave(LARGE);
        memory::free(memory::alloc(8 * MIB).unwrap()).unwrap();
        program.assert_no_dead_stream_was_touched("collecting old blocks");
    });
}

#[test]
fn a_block_that_a_destroyed_stream_used_comes_back_with_the_device() {
    let test = "a_block_that_a_destroyed_stream_used_comes_back_with_the_device";
    on_driver(test, &[], |program| {
        for wait in [
            || device::synchronize(0),
            memory::empty_cache,
            // The driver has no more, so the request waits for what is parked.
            || memory::free(memory::alloc(60 * MIB)?),
        ] {
            let stream = program.create();
            let address = memory::alloc(LARGE).unwrap();
            memory::record_stream(address, external(stream)).unwrap();
            program.destroy(stream);
            memory::free(address).unwrap();
            assert_eq!(active(), 1);
            assert!(!is_handed_out(address), "its last work may be running");
            program.assert_no_dead_stream_was_touched("allocations");
            wait().unwrap();
            assert_eq!(active(), 0);
            memory::empty_cache().unwrap();
            assert_eq!(reserved(), 0);
        }
    });
}

#[test]
fn a_parked_block_comes_back_when_its_stream_is_named_again() {
    let test = "a_parked_block_comes_back_when_its_stream_is_named_again";
    on_driver(test, &[], |program| {
        let stream = program.create();
        let other = memory::alloc(512).unwrap();
        let names: [&dyn Fn(); 5] = [
            &|| _ = external(stream),
            &|| memory::record_stream(other, external(stream)).unwrap(),
            &|| stream::synchronize(runtime().unwrap(), external(stream)).unwrap(),
            &|| memory::free(alloc_native(512, stream).unwrap()).unwrap(),
            &|| memory::free(memory::alloc_on(512, external(stream)).unwrap()).unwrap(),
        ];
        for name in names {
            let address = freed_while_used_by(external(stream));
            let records = program.state().records;
            assert!(!is_handed_out(address));
            assert_eq!(program.state().records, records, "nobody named the stream");
            name();
            assert_eq!(program.state().records, records + 1);
            assert!(is_handed_out(address));
        }
        // Freed while the stream is current, it waits for nothing but the event.
        stream::set_current(external(stream));
        let records = program.state().records;
        let pooled = stream::from_pool(0, 0).unwrap();
        let address = memory::alloc_on(LARGE, pooled).unwrap();
        memory::record_stream(address, external(stream)).unwrap();
        memory::free(address).unwrap();
        assert_eq!(program.state().records, records + 1);
        stream::set_current(stream::default(0).unwrap());
    });
}

#[test]
fn a_handle_that_comes_again_is_another_stream() {
    on_driver("a_handle_that_comes_again_is_another_stream", &[], |program| {
        program.streams().reuse = 1;
        let first = program.create();
        let cached = alloc_native(LARGE, first).unwrap();
        let live = alloc_native(MIB, first).unwrap();
        memory::free(cached).unwrap();
        let used = freed_while_used_by(external(first));
        program.destroy(first);
        let second = program.create();
        assert_eq!(second, first);

        // What the first stream had queued may be running, and nothing orders the second after it.
        let records = program.state().records;
        let own = alloc_native(MIB, second).unwrap();
        memory::free(live).unwrap();
        let next = alloc_native(MIB, second).unwrap();
        assert_ne!(next, live);
        assert_eq!(program.state().records, records, "an event there would prove nothing");
        assert!(!is_handed_out(used));
        // It keeps what it frees itself.
        memory::free(own).unwrap();
        assert_eq!(memory::alloc_on(MIB, external(second)).unwrap(), own);
        for address in [own, next] {
            memory::free(address).unwrap();
        }
        device::synchronize(0).unwrap();
        assert!(is_handed_out(used));
        memory::empty_cache().unwrap();
        assert_eq!((active(), reserved()), (0, 0));

        // Each takes the place of the one before, and a request that needs it gets its memory.
        let mut last = second;
        for _ in 0..20 {
            program.destroy(last);
            last = program.create();
            let address = alloc_native(LARGE, last).unwrap();
            memory::free(address).unwrap();
        }
    });
}

#[test]
fn without_ids_only_the_device_tells_that_a_destroyed_stream_is_done() {
    let test = "without_ids_only_the_device_tells_that_a_destroyed_stream_is_done";
    on_driver(test, &["MISSING=\"cuStreamGetId\""], |program| {
        let stream = program.create();
        let address = freed_while_used_by(external(stream));
        let records = program.state().records;
        memory::free(alloc_native(512, stream).unwrap()).unwrap();
        assert_eq!(program.state().records, records, "the handle may be another stream's");
        assert!(!is_handed_out(address));
        device::synchronize(0).unwrap();
        assert!(is_handed_out(address));
        // A stream that is current at the free is taken for the one that was noted.
        let address = memory::alloc(LARGE).unwrap();
        memory::record_stream(address, external(stream)).unwrap();
        stream::set_current(external(stream));
        memory::free(address).unwrap();
        assert_eq!(program.state().records, records + 1);
        stream::set_current(stream::default(0).unwrap());
        // Memory follows the handle, as in torch.
        let own = alloc_native(MIB, stream).unwrap();
        memory::free(own).unwrap();
        assert_eq!(alloc_native(MIB, stream).unwrap(), own);
    });
}

#[test]
fn pinned_memory_that_a_destroyed_stream_used_waits_for_the_device() {
    let test = "pinned_memory_that_a_destroyed_stream_used_waits_for_the_device";
    on_driver(test, &[], |program| {
        let stream = program.create();
        let small = |stream| {
            let address = host_memory::alloc(4096).unwrap();
            host_memory::record_stream(address, external(stream)).unwrap();
            address
        };
        let is_free = |address| {
            let next = host_memory::alloc(4096).unwrap();
            host_memory::free(next).unwrap();
            next == address
        };
        let first = small(stream);
        let records = program.state().records;
        host_memory::free(first).unwrap();
        assert!(!is_free(first));
        assert_eq!(program.state().records, records, "nobody named the stream");
        let held = small(stream);
        assert_eq!(program.state().records, records + 1, "the next use names it");
        assert!(is_free(first));
        program.destroy(stream);
        host_memory::free(held).unwrap();
        assert!(!is_free(held));
        assert!(host_memory::stats().unwrap().active_bytes.current > 0);
        program.assert_no_dead_stream_was_touched("frees and allocations");
        host_memory::empty_cache().unwrap();
        assert_eq!(host_memory::stats().unwrap().active_bytes.current, 0);
        assert_eq!(host_memory::stats().unwrap().allocated_bytes.current, 0);

        let stream = program.create();
        let used = small(stream);
        program.destroy(stream);
        host_memory::free(used).unwrap();
        device::synchronize(0).unwrap();
        assert!(is_free(used));
        host_memory::check::walk().unwrap();
    });
}

#[test]
fn a_capture_is_seen_on_the_streams_that_a_call_names() {
    on_driver("a_capture_is_seen_on_the_streams_that_a_call_names", &[], |program| {
        let (gone, stream) = (program.create(), program.create());
        memory::free(alloc_native(LARGE, gone).unwrap()).unwrap();
        memory::free(alloc_native(LARGE, stream).unwrap()).unwrap();
        program.destroy(gone);
        program.capture(stream, true);
        // As an argument.
        let error = alloc_native(60 * MIB, stream).unwrap_err();
        assert_eq!(error.status(), Status::OutOfMemory);
        // As the current stream.
        stream::set_current(external(stream));
        assert_eq!(memory::empty_cache().unwrap_err().status(), Status::InvalidState);
        stream::set_current(stream::default(0).unwrap());
        assert_eq!(program.streams().spoiled, 0);
        // Within a private pool, which is how graphs are captured, other calls know of it too.
        let pool = memory::pool::create().unwrap();
        memory::pool::begin(pool, 0).unwrap();
        let kept = alloc_native(MIB, stream).unwrap();
        std::thread::scope(|scope| {
            let refused = scope.spawn(|| memory::empty_cache().unwrap_err().status());
            assert_eq!(refused.join().unwrap(), Status::InvalidState);
            let refused = scope.spawn(|| memory::alloc(60 * MIB).unwrap_err().status());
            assert_eq!(refused.join().unwrap(), Status::OutOfMemory);
        });
        assert_eq!(program.streams().spoiled, 0);
        memory::free(kept).unwrap();
        memory::pool::end(pool, 0).unwrap();
        // Nobody else may ask it: the driver refuses to wait, and the memory stays.
        let before = reserved();
        assert!(memory::empty_cache().is_err());
        assert_eq!((program.streams().spoiled > 0, reserved()), (true, before));
        program.capture(stream, false);
        memory::pool::destroy(pool).unwrap();
        memory::empty_cache().unwrap();
        assert_eq!(reserved(), 0);
    });
}

#[test]
fn a_use_of_a_part_of_a_block_counts_for_the_block() {
    on_driver("a_use_of_a_part_of_a_block_counts_for_the_block", &[], |program| {
        let stream = program.create();
        let address = memory::alloc(LARGE).unwrap();
        memory::record_stream(address + LARGE - 1, external(stream)).unwrap();
        memory::free(address).unwrap();
        assert_eq!(active(), 1);
        assert!(!is_handed_out(address));
        let error = memory::record_stream(address + 512, external(stream)).unwrap_err();
        assert!(error.message().contains("freed already"), "{error}");
        let _ = external(stream);
        assert!(is_handed_out(address));
        memory::record_stream(0x1234, external(stream)).unwrap();
    });
}
