//! Every driver call that pinned memory makes, failed at every point of a script: a call fails or
//! does what it says, nothing is handed out too early, and in the end nothing is lost.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use sconce::sim_controls as sim;
use sconce_base::error::{Error, Result, Status};
use sconce_compute::sleep_kernel;
use sconce_runtime::context::runtime;
use sconce_runtime::host_memory::{self, check};
use sconce_runtime::memory;
use sconce_runtime::stream::{self, Stream};
use testkit::fork::forked_result;

const MIB: usize = 1 << 20;

/// A failure that means no more than itself, and having no memory.
const CODES: [i32; 2] = [999, 2];

const CALLS: [&str; 13] = [
    "host_alloc",
    "host_free",
    "host_register",
    "host_unregister",
    "event_create",
    "event_record",
    "event_query",
    "event_synchronize",
    "event_destroy",
    "stream_is_capturing",
    "exchange_capture_mode",
    "context_is_active",
    "pointer_info",
];

struct Script {
    stream: Stream,
    /// Address and size.
    held: Vec<(usize, usize)>,
    /// Freed while the stream used them, which it still does.
    busy: Vec<(usize, usize)>,
    errors: Vec<Error>,
}

impl Script {
    fn note<T>(&mut self, result: Result<T>) -> Option<T> {
        check::walk().unwrap();
        result.map_err(|error| self.errors.push(error)).ok()
    }

    fn alloc(&mut self, bytes: usize) {
        let Some(address) = self.note(host_memory::alloc(bytes)) else { return };
        for (other, its) in self.held.iter().chain(&self.busy) {
            let apart = address + bytes <= *other || other + its <= address;
            assert!(apart, "{address:#x}+{bytes} overlaps {other:#x}+{its}");
        }
        self.held.push((address, bytes));
    }

    /// A free that fails may have freed the block or not; asking again tells, and does no harm.
    fn free(&mut self, place: usize, used: bool) {
        if place >= self.held.len() {
            return;
        }
        let block = self.held.swap_remove(place);
        if used && self.note(host_memory::record_stream(block.0, self.stream)).is_some() {
            self.busy.push(block);
        }
        if self.note(host_memory::free(block.0)).is_none()
            && let Err(again) = host_memory::free(block.0)
        {
            assert_eq!(again.status(), Status::InvalidArgument, "{again}");
        }
    }

    fn configure(&mut self, text: &str) {
        memory::configure(text).unwrap();
    }

    fn run(&mut self) {
        sim::set_manual(true).unwrap();
        sleep_kernel::sleep(runtime().unwrap(), self.stream, 1).unwrap();
        for bytes in [100, 300 << 10, 3 * MIB, 5 * MIB, 3 * MIB] {
            self.alloc(bytes);
        }
        self.free(2, true);
        self.free(0, true);
        self.alloc(3 * MIB);
        self.alloc(100);
        self.free(0, false);
        if let Some(&(address, _)) = self.held.last() {
            self.note(host_memory::is_pinned(address + 1));
        }
        // The stream's work completes; what is asked next finds it.
        sim::run_until_idle().unwrap();
        sim::set_manual(false).unwrap();
        self.busy.clear();
        self.alloc(3 * MIB);
        self.note(host_memory::empty_cache());
        self.configure("pinned_use_cuda_host_register:True,pinned_num_register_threads:2");
        self.alloc(7 * MIB);
        self.free(self.held.len().saturating_sub(1), false);
        self.configure("pinned_max_cached_size_mb:1,pinned_reserve_segment_size_mb:2");
        self.alloc(2 * MIB);
        self.alloc(200 << 10);
        self.free(self.held.len().saturating_sub(2), true);
        // The fault may strike the wait itself, which is then repeated.
        let wait = || stream::synchronize(runtime().unwrap(), self.stream);
        wait().or_else(|_| wait()).unwrap();
        self.busy.clear();
        self.alloc(400);
        self.configure("");
        self.alloc(24 * MIB);
        self.alloc(100 << 10);
        self.note(host_memory::empty_cache());
        self.note(host_memory::stats());
    }

    /// Nothing fails any more: everything works, and all memory comes back but the reserve.
    fn finish(mut self) {
        self.errors.clear();
        self.alloc(4096);
        self.alloc(6 * MIB);
        while !self.held.is_empty() {
            self.free(0, self.held.len() == 3);
        }
        stream::synchronize(runtime().unwrap(), self.stream).unwrap();
        self.busy.clear();
        self.note(host_memory::empty_cache());
        assert!(self.errors.is_empty(), "after the fault: {:?}", self.errors);
        let stats = host_memory::stats().unwrap();
        assert_eq!(stats.active_requests.current, 0);
        assert!(stats.allocations.current <= 1, "{:?}", stats.allocations);
        assert_eq!(stats.allocated_bytes.current, stats.allocations.current * 2 * MIB as i64);
        assert_eq!(stats.allocations.allocated, stats.num_host_alloc);
        assert_eq!(stats.allocations.freed, stats.num_host_free);
    }
}

/// Runs the script in a process of its own with one fault; says what went wrong.
fn scenario(fault: Option<(&str, u64, i32)>) -> std::result::Result<(), String> {
    forked_result(|| {
        let stream = stream::from_pool(0, 0).unwrap();
        sleep_kernel::sleep(runtime().unwrap(), stream, 1).unwrap();
        let mut script = Script { stream, held: Vec::new(), busy: Vec::new(), errors: Vec::new() };
        stream::synchronize(runtime().unwrap(), stream).unwrap();
        sim::reset_call_counts().unwrap();
        if let Some((call, nth, code)) = fault {
            sim::fail_call(call, nth, code).unwrap();
        }
        script.run();
        let Some((call, nth, _)) = fault else {
            assert!(script.errors.is_empty(), "{:?}", script.errors);
            let counts =
                CALLS.iter().map(|call| format!("{call} {}\n", sim::call_count(call).unwrap()));
            let counts = counts.collect();
            script.finish();
            return Err(counts);
        };
        let struck = sim::call_count(call).unwrap() >= nth;
        sim::clear_faults().unwrap();
        for error in &script.errors {
            let expected = [Status::OutOfMemory, Status::Driver];
            assert!(expected.contains(&error.status()), "{error}");
        }
        script.finish();
        if struck { Ok(()) } else { Err("not struck".to_owned()) }
    })
}

#[test]
fn a_failure_of_the_driver_at_any_point_loses_no_pinned_memory() {
    testkit::in_child(
        "a_failure_of_the_driver_at_any_point_loses_no_pinned_memory",
        &[("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off"), ("RUST_BACKTRACE", "0")],
        || {
            let counts = scenario(None).unwrap_err();
            let mut scenarios = 0;
            let mut wrong = Vec::new();
            for line in counts.lines() {
                let (call, count) = line.split_once(' ').expect(&counts);
                let count: u64 = count.parse().unwrap_or_else(|_| panic!("{counts}"));
                println!("{call}: {count} calls");
                let never = ["event_synchronize", "event_destroy"];
                assert!(count > 0 || never.contains(&call), "{call} is never made");
                for (nth, code) in (1..=count).flat_map(|nth| CODES.map(|code| (nth, code))) {
                    match scenario(Some((call, nth, code))) {
                        Ok(()) => scenarios += 1,
                        Err(text) if text == "not struck" => {}
                        Err(text) => wrong.push(format!("{call} {nth}, code {code}: {text}")),
                    }
                }
            }
            assert!(wrong.is_empty(), "{} of {scenarios}:\n{}", wrong.len(), wrong.join("\n"));
            assert!(scenarios > 100, "only {scenarios} faults struck");
        },
    );
}

/// Runs in a process of its own.
fn alone(test: &str, act: impl FnOnce()) {
    testkit::in_child(test, &[("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off")], act);
}

fn pinned() -> i64 {
    host_memory::stats().unwrap().allocated_bytes.current
}

#[test]
fn out_of_memory_gives_free_segments_back_first() {
    alone("out_of_memory_gives_free_segments_back_first", || {
        let kept = host_memory::alloc(3 * MIB).unwrap();
        let large = host_memory::alloc(64 * MIB).unwrap();
        host_memory::free(large).unwrap();
        sim::reset_call_counts().unwrap();
        sim::fail_call("host_alloc", 1, 2).unwrap();
        let block = host_memory::alloc(65 * MIB).unwrap();
        assert_eq!(sim::call_count("host_alloc").unwrap(), 2);
        assert_eq!(pinned(), 68 * MIB as i64);
        check::walk().unwrap();
        host_memory::free(block).unwrap();
        host_memory::free(kept).unwrap();
    });
}

#[test]
fn out_of_memory_waits_for_the_streams_that_use_what_was_freed() {
    alone("out_of_memory_waits_for_the_streams_that_use_what_was_freed", || {
        let runtime = runtime().unwrap();
        let stream = stream::from_pool(0, 0).unwrap();
        let block = host_memory::alloc(64 * MIB).unwrap();
        sleep_kernel::sleep(runtime, stream, 50_000_000).unwrap();
        host_memory::record_stream(block + 5, stream).unwrap();
        host_memory::free(block).unwrap();
        for nth in [1, 2] {
            sim::fail_call("host_alloc", nth, 2).unwrap();
        }
        sim::reset_call_counts().unwrap();
        assert_eq!(host_memory::alloc(60 * MIB).unwrap(), block, "cut off what was waited for");
        assert_eq!(sim::call_count("event_synchronize").unwrap(), 1);
        assert!(stream::query(runtime, stream).unwrap());
        check::walk().unwrap();
        host_memory::free(block).unwrap();
    });
}

#[test]
fn out_of_memory_in_the_end_tells_the_figures() {
    alone("out_of_memory_in_the_end_tells_the_figures", || {
        let kept = host_memory::alloc(3 * MIB).unwrap();
        for nth in [1, 2, 3] {
            sim::fail_call("host_alloc", nth, 2).unwrap();
        }
        sim::reset_call_counts().unwrap();
        let error = host_memory::alloc(60 * MIB).unwrap_err();
        assert_eq!(error.status(), Status::OutOfMemory);
        for part in [60 * MIB, 3 * MIB] {
            assert!(error.message().contains(&part.to_string()), "{error}");
        }
        assert!(error.message().contains("ulimit -l"), "{error}");
        assert_eq!(pinned(), 3 * MIB as i64);
        check::walk().unwrap();
        sim::clear_faults().unwrap();
        host_memory::free(host_memory::alloc(60 * MIB).unwrap()).unwrap();
        host_memory::free(kept).unwrap();
    });
}

/// The first takes all events to wait for them; the second must not fail because it finds none.
#[test]
fn of_two_threads_without_memory_neither_gives_up_early() {
    alone("of_two_threads_without_memory_neither_gives_up_early", || {
        let runtime = runtime().unwrap();
        let stream = stream::from_pool(0, 0).unwrap();
        let blocks = [(); 2].map(|()| host_memory::alloc(32 * MIB).unwrap());
        sleep_kernel::sleep(runtime, stream, 100_000_000).unwrap();
        for block in blocks {
            host_memory::record_stream(block, stream).unwrap();
            host_memory::free(block).unwrap();
        }
        for nth in 1..=4 {
            sim::fail_call("host_alloc", nth, 2).unwrap();
        }
        sim::reset_call_counts().unwrap();
        let threads = [(); 2].map(|()| std::thread::spawn(|| host_memory::alloc(32 * MIB)));
        let mut got = threads.map(|thread| thread.join().unwrap().unwrap());
        got.sort_unstable();
        let mut blocks = blocks;
        blocks.sort_unstable();
        assert_eq!(got, blocks);
        check::walk().unwrap();
    });
}

#[test]
fn a_stream_that_is_gone_holds_no_memory_for_ever() {
    use sconce_base::types::DeviceIndex;
    use sconce_driver::{StreamFlags, StreamRef};
    alone("a_stream_that_is_gone_holds_no_memory_for_ever", || {
        let runtime = runtime().unwrap();
        let flags = StreamFlags { non_blocking: true };
        let handle = runtime.driver().stream_create(DeviceIndex::ZERO, flags, 0).unwrap();
        let stream = stream::from_external(handle, 0).unwrap();
        let block = host_memory::alloc(MIB).unwrap();
        sleep_kernel::sleep(runtime, stream, 20_000_000).unwrap();
        host_memory::record_stream(block, stream).unwrap();
        let made = StreamRef { device: DeviceIndex::ZERO, handle };
        runtime.driver().stream_destroy(made).unwrap();
        host_memory::free(block).unwrap();
        let other = host_memory::alloc(MIB).unwrap();
        assert_ne!(other, block, "the work may not be done");
        // Nothing but the end of its device's work tells, so hits are not kept looking.
        let looks = sim::call_count("stream_is_capturing").unwrap();
        host_memory::free(other).unwrap();
        assert_eq!(host_memory::alloc(MIB).unwrap(), other);
        assert_eq!(sim::call_count("stream_is_capturing").unwrap(), looks);
        host_memory::empty_cache().unwrap();
        assert_eq!(host_memory::stats().unwrap().active_requests.current, 1);
        assert_eq!(pinned(), MIB as i64);
        check::walk().unwrap();
    });
}
